"""Limits that a catalog has unless the host chooses others."""

from datetime import timedelta

__all__ = ["MAX_FILE_BYTES", "MAX_QUESTION_BYTES", "RELOAD_DEBOUNCE"]

MAX_FILE_BYTES = 16 * 1024 * 1024
"""A larger file is not read, and is a problem of its source (B9)."""

MAX_QUESTION_BYTES = 64 * 1024
"""A question with a longer text or tag, in bytes of UTF-8, is refused."""

RELOAD_DEBOUNCE = timedelta(milliseconds=250)
"""The manifest is reloaded when it has not changed for this time (C4)."""
