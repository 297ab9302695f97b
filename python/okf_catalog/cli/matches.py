"""Where the terms of a query stand in a text.

The engine decides what matches; this repeats its notion of a term (K1) and of equal characters (K2) to
show the reader where. Both keep the number of characters, so a position in one text is one in the other.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rich.text import Text

from okf_catalog.cli.screen import visible

__all__ = ["Span", "clip", "fold", "marked", "spans", "terms_of"]

# The Unicode property White_Space. ``\s`` and ``str.split`` would also split at U+001C..U+001F.
_TERM = re.compile("[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

ELLIPSIS = "..."
LOOKED_AT = 64
"""A match is looked for in so many times the length that is shown, however long a text is."""


class Span(NamedTuple):
    """Characters ``start`` up to ``end`` of a text."""

    start: int
    end: int


def fold(text: str) -> str:
    """Each character as its simple uppercase (K2); texts of equal folds are equal to a search."""
    return "".join(map(_fold_character, text))


@cache
def _fold_character(character: str) -> str:
    if character in "\u0131\u017f":
        return character
    # Python has only the full mappings. Where they grow (ß to SS), title case is the simple one, if any.
    for full in (character.upper(), character.title()):
        if len(full) == 1:
            return full
    return character


def terms_of(text: str) -> frozenset[str]:
    """The folded terms of a query (K1)."""
    return frozenset(_TERM.findall(fold(text)))


def spans(text: str, terms: frozenset[str]) -> list[Span]:
    """Where any of the terms stands, in order; what overlaps or touches is one span."""
    found: list[Span] = []
    folded = fold(text)
    for span in sorted(span for term in terms for span in _occurrences(folded, term)):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def _occurrences(folded: str, term: str) -> Iterator[Span]:
    start = folded.find(term)
    while start >= 0:
        yield Span(start, start + len(term))
        start = folded.find(term, start + 1)


def clip(text: str, terms: frozenset[str], *, length: int) -> str:
    """At most about ``length`` characters of a text, among them the first match if it is near enough."""
    if len(text) <= length:
        return text
    folded = fold(text[: LOOKED_AT * length])
    starts = ((folded.find(term), len(term)) for term in terms)
    first = min((Span(start, start + width) for start, width in starts if start >= 0), default=Span(0, 0))
    start = 0 if first.end <= length else max(first.start - length // 4, 0)
    end = start + length
    return (ELLIPSIS if start else "") + text[start:end] + (ELLIPSIS if end < len(text) else "")


def marked(text: str, terms: frozenset[str], *, style: str | None) -> Text:
    """The text, made harmless, its matches in a style; without one, between ``**``, as in markdown."""
    shown = Text()
    done = 0
    for start, end in spans(text, terms):
        match = visible(text[start:end])
        shown.append(visible(text[done:start]))
        shown.append(f"**{match}**" if style is None else match, style=style)
        done = end
    return shown.append(visible(text[done:]))
