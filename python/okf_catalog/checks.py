"""Refusals that several values share, in one wording."""

from __future__ import annotations

import inspect

from okf_catalog.errors import RefusedTypeError, RefusedValueError

__all__ = ["check_callable", "check_count", "check_int", "check_kind", "check_text", "drop_coroutine"]


def check_kind(field: str, value: object, kind: type | tuple[type, ...], expected: str) -> None:
    """Refuses what is not an instance of ``kind``.

    Raises:
        RefusedTypeError: it is not; the message says that ``field`` is ``expected``.
    """
    if not isinstance(value, kind):
        raise RefusedTypeError(f"{field} is {expected}, not {type(value).__name__}")


def check_callable(field: str, value: object, how: str) -> None:
    """Refuses what cannot be called; ``None`` is no callable, and is let pass.

    Raises:
        RefusedTypeError: it cannot; the message says ``how`` it would be called.
    """
    if value is not None and not callable(value):
        raise RefusedTypeError(f"{field} is called {how}; {type(value).__name__} is not callable")


def check_text(field: str, value: object) -> None:
    """Refuses what is no text, or no text that can be searched.

    Raises:
        RefusedTypeError: ``value`` is not a ``str``.
        RefusedValueError: it holds half of a surrogate pair, which is no character.
    """
    if not isinstance(value, str):
        raise RefusedTypeError(f"{field} is a str, not {type(value).__name__}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise RefusedValueError(
                f"{field} holds a lone surrogate at index {error.start}, which is no character; "
                "decode the text without 'surrogateescape'"
            ) from None


def check_count(field: str, value: object, *, least: int) -> None:
    """Refuses what is no whole number of at least ``least``.

    Raises:
        RefusedTypeError: ``value`` is not an ``int``, or is a ``bool``.
        RefusedValueError: it is too small.
    """
    if check_int(field, value, f"an int of at least {least}") < least:
        raise RefusedValueError(f"{field} is at least {least}, not {value}")


def check_int(field: str, value: object, expected: str) -> int:
    """The value, if it is a whole number.

    Raises:
        RefusedTypeError: ``value`` is not an ``int``, or is a ``bool``.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise RefusedTypeError(f"{field} is {expected}, not {type(value).__name__}")
    return value


def drop_coroutine(answer: object) -> None:
    """Ends a coroutine that is refused as an answer: it is never awaited, and should not warn of that."""
    if inspect.iscoroutine(answer):
        answer.close()
