"""The limit for the length of a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okf_catalog.errors import RefusedValueError

if TYPE_CHECKING:
    from okf_catalog.ask.query import KnowledgeQuery

__all__ = ["check_length", "limit_of", "shortened"]

_MOST_BYTES = 4
"""UTF-8 uses at most this many bytes for one character."""


def check_length(query: KnowledgeQuery, most: int, *, where: str = "") -> None:
    """Raises if the text or the tag of a query is too long.

    Raises:
        RefusedValueError: one of them has more than ``most`` bytes of UTF-8. The message begins with
            ``where``.
    """
    # Most queries are so short that their bytes need not be counted.
    if _MOST_BYTES * len(query.text) > most:
        _check("text", query.text, most, where)
    if query.tag is not None and _MOST_BYTES * len(query.tag) > most:
        _check("tag", query.tag, most, where)


def _check(field: str, text: str, most: int, where: str) -> None:
    length = _length(text)
    if length > most:
        raise RefusedValueError(
            f"{where}{field} has {length} bytes as UTF-8, and this catalog takes at most {most}; "
            "ask for less, or open the catalog with a larger max_question_bytes"
        )


def limit_of(*asked: object) -> int | None:
    """The most bytes that a question to all of these objects may have; ``None`` if none has a limit."""
    limits: list[object] = [getattr(one, "max_question_bytes", None) for one in asked]
    return min((limit for limit in limits if type(limit) is int), default=None)


def shortened(text: str, most: int | None) -> str:
    """The beginning of a text, of at most ``most`` bytes of UTF-8.

    The text is cut at white space or, if its first word is too long, between two characters.
    """
    if most is None or _MOST_BYTES * len(text) <= most or _length(text) <= most:
        return text
    text = text.strip()
    head = text.encode()[:most].decode(errors="ignore")
    if len(head) == len(text) or text[len(head)].isspace() or head[-1:].isspace():
        return head
    words = head.rsplit(None, 1)
    return words[0] if len(words) > 1 else head


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
