"""Limits that a catalog has unless the host chooses others."""

from datetime import timedelta

from okf_catalog.checks import check_count

__all__ = ["MAX_FILE_BYTES", "MAX_QUESTION_BYTES", "RELOAD_DEBOUNCE"]

MAX_FILE_BYTES = 16 * 1024 * 1024
"""A larger file is not read, and is a problem of its source (B9)."""

MAX_QUESTION_BYTES = 64 * 1024
"""A question with a longer text or tag, in bytes of UTF-8, is refused."""

RELOAD_DEBOUNCE = timedelta(milliseconds=250)
"""The manifest is reloaded when it has not changed for this time (C4)."""

MOST_FILE_BYTES = 1 << 40
"""The engine's largest limit for a file, in bytes: a terabyte."""

MOST_THREADS = 1024
"""One call uses at most this many threads."""


def plain_limits(
    max_file_bytes: object, max_threads: object, max_question_bytes: object
) -> tuple[int, int | None, int]:
    """The limits that both kinds of catalogs have, within what the engine takes.

    Raises:
        RefusedTypeError: a limit is not an ``int``; ``max_threads`` may be ``None``.
        RefusedValueError: a limit is less than 1.
    """
    file_bytes = min(check_count("max_file_bytes", max_file_bytes, least=1), MOST_FILE_BYTES)
    threads = None
    if max_threads is not None:
        threads = min(check_count("max_threads", max_threads, least=1), MOST_THREADS)
    return file_bytes, threads, check_count("max_question_bytes", max_question_bytes, least=1)
