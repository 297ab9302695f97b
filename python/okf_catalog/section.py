"""A part of a concept that can be read alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, final

from okf_catalog.checks import check_count, check_text, is_kind, keep_plain
from okf_catalog.errors import RefusedTypeError, RefusedValueError

__all__ = ["KnowledgeSection"]


@final
@dataclass(frozen=True, slots=True)
class KnowledgeSection:
    """The section of a concept that a passage shows (V9), if the query asked for sections.

    ``heading`` are the headings above the section and its own, the outermost first, as plain text.
    ``text`` is the section as it is written. It begins on line ``first_line`` and ends on line ``last_line``
    of the file, counted from 1.

    Example:
        >>> section = KnowledgeSection(["Refunds", "By card"], "Five days.", 12, 12)
        >>> section.heading
        ('Refunds', 'By card')

    Raises:
        RefusedTypeError: a field has the wrong type.
        RefusedValueError: a line is below 1, the last line is before the first one, or a text holds a lone
            surrogate.
    """

    heading: tuple[str, ...]
    text: str
    first_line: int
    last_line: int

    if TYPE_CHECKING:
        # `heading` accepts more types than the field holds afterwards, which a dataclass cannot say.
        def __init__(self, heading: Iterable[str], text: str, first_line: int, last_line: int) -> None: ...

    def __post_init__(self) -> None:
        keep_plain(self, "heading", _headings(self.heading))
        keep_plain(self, "text", check_text("text", self.text))
        first = check_count("first_line", self.first_line, least=1)
        last = check_count("last_line", self.last_line, least=1)
        if last < first:
            raise RefusedValueError(f"last_line is not before first_line, {first}; it is {last}")
        keep_plain(self, "first_line", first)
        keep_plain(self, "last_line", last)


def _headings(value: object) -> tuple[str, ...]:
    if is_kind(value, (str, bytes)) or not is_kind(value, Iterable):
        raise RefusedTypeError(f"heading is a sequence of str, not one {type(value).__name__}")
    return tuple(check_text("each of heading", one) for one in cast("Iterable[object]", value))
