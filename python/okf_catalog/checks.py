"""Checks of arguments, each with one wording for its error message.

A check looks at the type of an argument, not at what the object says about itself: a mock can claim to be a
``bool``, and a subclass of ``str`` or ``int`` can return a different value at each call. Such a subclass is
accepted, but the check returns the plain value, which is read once.
"""

from __future__ import annotations

import os
import re
from types import CoroutineType
from typing import TYPE_CHECKING, TypeVar, cast

from okf_catalog.errors import RefusedTypeError, RefusedValueError

if TYPE_CHECKING:
    from okf_catalog.choice import TextChoice

__all__ = [
    "check_bool",
    "check_callable",
    "check_choice",
    "check_count",
    "check_int",
    "check_kind",
    "check_number",
    "check_path",
    "check_segment",
    "check_str",
    "check_text",
    "drop_coroutine",
    "is_kind",
    "keep_plain",
    "shown_int",
    "shown_text",
    "type_name",
]


def is_kind(value: object, kind: type | tuple[type, ...]) -> bool:
    """Whether the type of ``value`` is ``kind`` or a subclass, whatever ``value.__class__`` says."""
    if isinstance(kind, tuple):
        return any(is_kind(value, one) for one in kind)
    # A member that a protocol asks for may be set on the object alone, and not on its class.
    if getattr(kind, "_is_protocol", False):
        return isinstance(value, kind)
    return issubclass(type(value), kind)


def check_kind(field: str, value: object, kind: type | tuple[type, ...], expected: str) -> None:
    """Raises if ``value`` is not an instance of ``kind``.

    Raises:
        RefusedTypeError: it is not. The message says that ``field`` is ``expected``.
    """
    if type(value) is not kind and not is_kind(value, kind):
        raise RefusedTypeError(f"{field} is {expected}, not {_other_name(value, expected)}")


def check_callable(field: str, value: object, how: str) -> None:
    """Raises if ``value`` cannot be called; ``None`` is accepted and means that there is no callback.

    Raises:
        RefusedTypeError: it cannot. The message says ``how`` it would be called.
    """
    if value is not None and not callable(value):
        raise RefusedTypeError(f"{field} is called {how}; {type(value).__name__} is not callable")


def check_bool(field: str, value: object) -> bool:
    """Returns ``value`` if it is ``True`` or ``False``.

    Raises:
        RefusedTypeError: it is neither.
    """
    if value is not True and value is not False:
        raise RefusedTypeError(f"{field} is a bool, not {_other_name(value, 'a bool')}")
    return value


def check_str(field: str, value: object, expected: str = "a str") -> str:
    """Returns ``value`` as a plain ``str``.

    Raises:
        RefusedTypeError: ``value`` is not a ``str``.
    """
    if type(value) is str:
        return value
    if not is_kind(value, str):
        raise RefusedTypeError(f"{field} is {expected}, not {_other_name(value, expected)}")
    return str.__str__(cast("str", value))


def check_text(field: str, value: object) -> str:
    """Returns ``value`` as a plain ``str`` that can be encoded as UTF-8.

    Raises:
        RefusedTypeError: ``value`` is not a ``str``.
        RefusedValueError: it holds a lone surrogate, which is not a character.
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


_Choice = TypeVar("_Choice", bound="TextChoice")


def check_choice(field: str, value: object, kind: type[_Choice]) -> _Choice:
    """Returns the member of ``kind`` that ``value`` is, or whose value it is.

    Raises:
        RefusedTypeError: it is neither a member nor a ``str``.
        RefusedValueError: no member has this value.
    """
    if type(value) is kind:
        return value
    name = check_str(field, value, f"a {kind.__name__}")
    try:
        return kind(name)
    except ValueError:
        choices = ", ".join(repr(member.value) for member in kind)
        raise RefusedValueError(f"{field} is one of {choices}, not {name!r}") from None


_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)


def check_segment(field: str, text: str) -> None:
    """Raises if ``text`` is not one segment (M2).

    Raises:
        RefusedValueError: it is not.
    """
    if _SEGMENT.fullmatch(text) is None:
        raise RefusedValueError(
            f"{field} is one segment of letters, digits, '_', '.' and '-' that starts with "
            f"a letter, a digit or '_', not {shown_text(text)}"
        )


def check_count(field: str, value: object, *, least: int) -> int:
    """Returns ``value`` as a plain ``int`` of at least ``least``.

    Raises:
        RefusedTypeError: ``value`` is not an ``int``, or is a ``bool``.
        RefusedValueError: it is less than ``least``.
    """
    number = check_int(field, value, f"an int of at least {least}")
    if number < least:
        raise RefusedValueError(f"{field} is at least {least}, not {shown_int(number)}")
    return number


def shown_int(number: int) -> str:
    """A number as a message shows it: Python does not print one of thousands of digits."""
    bits = number.bit_length()
    return str(number) if bits <= MOST_SHOWN_BITS else f"a number of {bits} bits"


MOST_SHOWN_BITS = 128
"""A number of more bits is not shown, only how many bits it has."""


def shown_text(text: str) -> str:
    """A text as a message quotes it: only the beginning of a long one."""
    return repr(text) if len(text) <= MOST_SHOWN_CHARACTERS else f"{text[:MOST_SHOWN_CHARACTERS]!r}…"


MOST_SHOWN_CHARACTERS = 200
"""A message quotes at most this many characters of a refused text."""


def check_int(field: str, value: object, expected: str) -> int:
    """Returns ``value`` as a plain ``int``.

    Raises:
        RefusedTypeError: ``value`` is not an ``int``, or is a ``bool``.
    """
    if type(value) is int:
        return value
    if not is_kind(value, int) or type(value) is bool:
        raise RefusedTypeError(f"{field} is {expected}, not {_other_name(value, expected)}")
    return int.__int__(cast("int", value))


def check_number(field: str, value: object, expected: str) -> float:
    """Returns ``value`` as a plain ``float`` or ``int``.

    Raises:
        RefusedTypeError: ``value`` is neither an ``int`` nor a ``float``, or is a ``bool``.
    """
    if is_kind(value, float):
        return float.__float__(cast("float", value))
    return check_int(field, value, expected)


def check_path(field: str, path: object) -> str:
    """Returns a path as text.

    Raises:
        RefusedTypeError: ``path`` is neither a ``str`` nor a path of text.
        RefusedValueError: it holds a character that paths of this system cannot have.
    """
    expected = "a str or a path of text"
    check_kind(field, path, (str, os.PathLike), expected)
    text = check_str(field, os.fspath(cast("str | os.PathLike[str]", path)), expected)
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise RefusedValueError(
            f"{field} holds {text[error.start]!a}, which no path of this system can"
        ) from None
    return text


def keep_plain(value: object, field: str, plain: object) -> None:
    """Replaces a field of a frozen dataclass by its checked, plain value."""
    object.__setattr__(value, field, plain)


def type_name(value: object) -> str:
    """The name of the type of ``value``, with its module unless it is a builtin: ``numpy.bool``, ``str``."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _other_name(value: object, expected: str) -> str:
    """The name of the type of ``value``.

    The module comes with it where the bare name is also what was expected, as for ``numpy.bool``.
    """
    name = type(value).__name__
    return type_name(value) if name in expected.split() else name


def drop_coroutine(answer: object) -> None:
    """Closes ``answer`` if it is a coroutine, so that Python does not warn that it was never awaited.

    Hosts sometimes pass an ``async`` function as a callback. Its answer is refused, and never awaited.
    """
    if type(answer) is CoroutineType:
        answer.close()
