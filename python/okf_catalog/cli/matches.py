"""Where the terms of a query are in a text.

The engine decides what matches. This module repeats its rules for terms (K1, V2) and equal characters (K2),
to show the reader the matches. Folding keeps the number of characters, so an index into the folded text is
also one into the text.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import NamedTuple
from unicodedata import category, normalize

from rich.text import Text

from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.cli.screen import visible

__all__ = ["Span", "clip", "fold", "marked", "spans", "terms_of"]

# The Unicode property White_Space. ``\s`` and ``str.split`` would also split at U+001C..U+001F.
_TERM = re.compile("[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

# Thai, Lao, Myanmar, Khmer, Hiragana, Katakana and Han, which are written without spaces.
_WITHOUT_SPACES = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd"
    "\u3005\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_OPENING = "\"'([{<«“‘„「『（"
_CLOSING = "\"')]}>»”’“」』）.,;:!?…。、！？"

ELLIPSIS = "..."
LOOKED_AT = 64
"""A match is looked for in this many times the length that is shown, even if the text is longer."""


class Span(NamedTuple):
    """The characters of a text from ``start`` up to ``end``."""

    start: int
    end: int


def fold(text: str) -> str:
    """The simple uppercase of each character (K2). A search takes texts with equal folds for equal."""
    return "".join(map(_fold_character, text))


@cache
def _fold_character(character: str) -> str:
    if character in "\u0131\u017f":
        return character
    # Python has only the full mappings. If one is longer (ß to SS), title case may be the simple mapping.
    for full in (character.upper(), character.title()):
        if len(full) == 1:
            return full
    return character


def terms_of(text: str, scoring: KnowledgeScoring | None = None) -> frozenset[str]:
    """The folded terms of a query that are marked."""
    pieces = _TERM.findall(fold(normalize("NFC", text) if scoring is KnowledgeScoring.BM25F else text))
    if scoring is not KnowledgeScoring.BM25F:
        return frozenset(pieces)
    terms = frozenset(term for piece in pieces for term in _terms_of_piece(piece))
    # A letter alone stands in nearly every word, and hides what matters if it is marked there.
    longer = frozenset(term for term in terms if len(term) > 1 or _WITHOUT_SPACES.match(term))
    return longer or terms or frozenset(pieces)


def _terms_of_piece(piece: str) -> Iterator[str]:
    """The words of a text without white space, about as the engine finds them; the text, if it has more."""
    for is_word, characters in groupby(piece, _is_of_word):
        if is_word:
            yield from _terms_of_word("".join(characters))
    bare = piece.lstrip(_OPENING).rstrip(_CLOSING)
    if bare and not all(map(_is_of_word, bare)):
        yield bare


def _is_of_word(character: str) -> bool:
    return character == "_" or category(character)[0] in "LMN"


def _terms_of_word(word: str) -> Iterator[str]:
    """A word, or the pairs of characters of a part that is written without spaces."""
    done = 0
    for run in _WITHOUT_SPACES.finditer(word):
        yield from filter(None, [word[done : run.start()]])
        yield from (run[0][place : place + 2] for place in range(max(len(run[0]) - 1, 1)))
        done = run.end()
    yield from filter(None, [word[done:]])


def spans(text: str, terms: frozenset[str]) -> list[Span]:
    """The spans of all terms, in order. Spans that overlap or touch are joined to one."""
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
    """The text, safe for a terminal, with its matches in ``style``; without a style between ``**``."""
    shown = Text()
    done = 0
    for start, end in spans(text, terms):
        match = visible(text[start:end])
        shown.append(visible(text[done:start]))
        shown.append(f"**{match}**" if style is None else match, style=style)
        done = end
    return shown.append(visible(text[done:]))
