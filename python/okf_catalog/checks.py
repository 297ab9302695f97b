"""Refusals that several values share, in one wording, and the plain values that are kept.

What a caller gives is taken by its type, not by what it says of itself: a mock may claim to be a ``bool``,
and a subclass of ``str`` or ``int`` may answer differently each time it is asked. Such a subclass is
accepted, but what is kept is the plain value, taken once.
"""

from __future__ import annotations

from types import CoroutineType
from typing import cast

from okf_catalog.errors import RefusedTypeError, RefusedValueError

__all__ = [
    "check_bool",
    "check_callable",
    "check_count",
    "check_int",
    "check_kind",
    "check_number",
    "check_str",
    "check_text",
    "drop_coroutine",
    "is_kind",
    "keep_plain",
    "type_name",
]


def is_kind(value: object, kind: type | tuple[type, ...]) -> bool:
    """Whether the type of ``value`` is ``kind``, or derived from it, whatever ``value`` claims to be."""
    if isinstance(kind, tuple):
        return any(is_kind(value, one) for one in kind)
    # What a protocol asks for may also be an attribute of the one object.
    if getattr(kind, "_is_protocol", False):
        return isinstance(value, kind)
    return issubclass(type(value), kind)


def check_kind(field: str, value: object, kind: type | tuple[type, ...], expected: str) -> None:
    """Refuses what is not an instance of ``kind``.

    Raises:
        RefusedTypeError: it is not; the message says that ``field`` is ``expected``.
    """
    if type(value) is not kind and not is_kind(value, kind):
        raise RefusedTypeError(f"{field} is {expected}, not {_other_name(value, expected)}")


def check_callable(field: str, value: object, how: str) -> None:
    """Refuses what cannot be called; ``None`` is no callable, and is let pass.

    Raises:
        RefusedTypeError: it cannot; the message says ``how`` it would be called.
    """
    if value is not None and not callable(value):
        raise RefusedTypeError(f"{field} is called {how}; {type(value).__name__} is not callable")


def check_bool(field: str, value: object) -> bool:
    """The value, if it is ``True`` or ``False``.

    Raises:
        RefusedTypeError: it is neither.
    """
    if value is not True and value is not False:
        raise RefusedTypeError(f"{field} is a bool, not {_other_name(value, 'a bool')}")
    return value


def check_str(field: str, value: object, expected: str = "a str") -> str:
    """The plain text that ``value`` is.

    Raises:
        RefusedTypeError: ``value`` is not a ``str``.
    """
    if type(value) is str:
        return value
    if not is_kind(value, str):
        raise RefusedTypeError(f"{field} is {expected}, not {_other_name(value, expected)}")
    return str.__str__(cast("str", value))


def check_text(field: str, value: object) -> str:
    """The plain text that ``value`` is, if it can be searched.

    Raises:
        RefusedTypeError: ``value`` is not a ``str``.
        RefusedValueError: it holds half of a surrogate pair, which is no character.
    """
    text = value if type(value) is str else check_str(field, value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise RefusedValueError(
                f"{field} holds a lone surrogate at index {error.start}, which is no character; "
                "decode the text without 'surrogateescape'"
            ) from None
    return text


def check_count(field: str, value: object, *, least: int) -> int:
    """The plain number that ``value`` is, if it is a whole one of at least ``least``.

    Raises:
        RefusedTypeError: ``value`` is not an ``int``, or is a ``bool``.
        RefusedValueError: it is too small.
    """
    number = check_int(field, value, f"an int of at least {least}")
    if number < least:
        raise RefusedValueError(f"{field} is at least {least}, not {number}")
    return number


def check_int(field: str, value: object, expected: str) -> int:
    """The plain number that ``value`` is, if it is a whole one.

    Raises:
        RefusedTypeError: ``value`` is not an ``int``, or is a ``bool``.
    """
    if type(value) is int:
        return value
    if not is_kind(value, int) or type(value) is bool:
        raise RefusedTypeError(f"{field} is {expected}, not {_other_name(value, expected)}")
    return int.__int__(cast("int", value))


def check_number(field: str, value: object, expected: str) -> float:
    """The plain number that ``value`` is.

    Raises:
        RefusedTypeError: ``value`` is neither an ``int`` nor a ``float``, or is a ``bool``.
    """
    if is_kind(value, float):
        return float.__float__(cast("float", value))
    return check_int(field, value, expected)


def keep_plain(value: object, field: str, plain: object) -> None:
    """Sets a field of a frozen value to what was made of it."""
    object.__setattr__(value, field, plain)


def type_name(value: object) -> str:
    """What a reader can look up: ``numpy.bool``, but ``str``."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _other_name(value: object, expected: str) -> str:
    """The name of a type, with its module where the name alone is what was expected (``numpy.bool``)."""
    name = type(value).__name__
    return type_name(value) if name in expected.split() else name


def drop_coroutine(answer: object) -> None:
    """Ends a coroutine that is refused as an answer: it is never awaited, and should not warn of that."""
    if type(answer) is CoroutineType:
        answer.close()
