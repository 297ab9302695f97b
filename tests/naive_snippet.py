"""The snippets of K7 and V7 in plain Python; see ``naive``."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import naive
from naive import WHITE_SPACE, fold, trim
from naive_relevance import normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

MOST = 320
BREAKS = re.compile("[\n-\r\x1c-\x1e\x85\u2028\u2029]")
BETWEEN_WORDS = ".,:;!?\"'()\u2010-\u2015\u2018-\u201f«»-"
TAG = re.compile("<[A-Za-z/!][^>]*>")
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class Term(NamedTuple):
    """Where the first term of a line begins, and how long it is."""

    start: int
    length: int


def snippet(document: naive.Document, terms: Sequence[str]) -> str:
    """K7; ``terms`` are folded."""
    return _snippet(document, dict.fromkeys(terms, 1), fold)


def snippet_of_rare_terms(document: naive.Document, rarities: Mapping[str, int]) -> str:
    """V7; the terms and their rarities are those of ``naive_relevance``."""
    return _snippet(document, rarities, normal)


def _snippet(document: naive.Document, weights: Mapping[str, int], form: Callable[[str], str]) -> str:
    """``form`` is how lines and terms compare."""
    best = _best_line(document, weights, form)
    if best is not None:
        return cut(best, first_term(best, weights, form))
    if document.description is not None and trim(document.description):
        line = one_line(document.description)
        return cut(line, first_term(line, weights, form))
    return cut(next(_shown_lines(document.body), ""), None)


def one_line(text: str) -> str:
    return " ".join(line for line in map(trim, BREAKS.split(text)) if line)


def first_term(line: str, terms: Iterable[str], form: Callable[[str], str] = fold) -> Term | None:
    compared = form(line)
    found = [(compared.index(term), len(term)) for term in terms if term in compared]
    if not found:
        return None
    start, length = min(found, key=lambda term: (term[0], -term[1]))
    if form is fold:
        return Term(start, length)
    # Where the form has another length: the characters of the line from which the term came.
    ends = [len(form(line[:end])) for end in range(len(line) + 1)]
    first = max(place for place, end in enumerate(ends) if end <= start)
    last = min(place for place, end in enumerate(ends) if end >= start + length)
    return Term(first, last - first)


def _best_line(
    document: naive.Document, weights: Mapping[str, int], form: Callable[[str], str]
) -> str | None:
    """The line with the greatest sum of the weights of its distinct terms, the first of equals."""
    lines = [
        line
        for line, text in _lines_and_headings(document.body)
        if line and not (text is not None and document.title is not None and is_title(text, document.title))
    ]
    sums = [sum(weight for term, weight in weights.items() if term in form(line)) for line in lines]
    most = max(sums, default=0)
    return lines[sums.index(most)] if most else None


def _lines_and_headings(body: str) -> Iterator[tuple[str, str | None]]:
    """Each line, trimmed, and its text if it is a heading."""
    lines = [trim(line) for line in body.split("\n")]
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        yield line, heading(line, below)


def heading(line: str, below: str) -> str | None:
    hashes = re.match("#*", line)
    assert hashes is not None
    rest = line[hashes.end() :]
    if 1 <= hashes.end() <= 6 and (not rest or rest[0] in WHITE_SPACE):
        text = trim(rest)
        open_text = text.rstrip("#")
        return trim(open_text) if not open_text or open_text[-1] in WHITE_SPACE else text
    if re.match("<[hH][1-6][> \t\n\f\r]", line):
        return line
    is_item = line[:1] in set("-*+") and line[1:2] in set(WHITE_SPACE) and len(line) > 1
    if below and set(below) in ({"="}, {"-"}) and not is_item and line[:1] not in ("", ">", "|"):
        return line
    return None


def is_title(text: str, title: str) -> bool:
    return bool(as_read(title)) and as_read(text) == as_read(title)


def as_read(text: str) -> str:
    """What a reader sees of a heading."""
    text = re.sub(r"\{[#.:][^{}]*\}\Z", "", trim(text))
    text = re.sub(r"\]\([^)]*\)", "", TAG.sub("", text))
    words = re.split(f"[{WHITE_SPACE}{BETWEEN_WORDS}]", re.sub(r"[*_`~\\\[\]]", "", text))
    return fold(" ".join(word for word in words if word))


def _shown_lines(body: str) -> Iterator[str]:
    """The lines that show text and are no heading."""
    in_comment = False
    for line, text in _lines_and_headings(body):
        hidden = in_comment or line.startswith("<!--")
        _, closed, after = line.partition("-->")
        in_comment = hidden and not closed
        shown = not hidden or (bool(closed) and not is_bare(trim(after)))
        if line and text is None and shown and not is_bare(line):
            yield line


def is_bare(line: str) -> bool:
    """Rules, fences, lone tags."""
    if line.startswith(("```", "~~~")):
        return True
    return all(character in PUNCTUATION or character in WHITE_SPACE for character in TAG.sub("", line))


def boundaries(line: str) -> set[int]:
    """The places at which no grapheme is cut."""
    regex: Any = importlib.import_module("regex")
    return {0, *(match.end() for match in regex.finditer(r"\X", line))}


def cut(line: str, first: Term | None) -> str:
    """A window of at most ``MOST`` code points."""
    if len(line) <= MOST:
        return BREAKS.sub(" ", line)
    allowed = boundaries(line)
    start = 0 if first is None else _start(line, first, allowed)
    end = _end(line, start, 0 if first is None else first.start + first.length, allowed)
    shown = BREAKS.sub(" ", line[start:end])
    return ("…" if start else "") + shown + ("…" if end < len(line) else "")


def _start(line: str, first: Term, allowed: set[int]) -> int:
    """A quarter of the window before the term, if the term leaves so much; near white space, if any."""
    lead = min(MOST // 4, max(MOST - 2 - first.length, 0))
    wish = max(first.start - lead, 0)
    if wish == 0:
        return 0
    wish = min(wish, len(line) - (MOST - 1))
    words = [
        place
        for place in range(wish, min(wish + MOST // 8, first.start) + 1)
        if line[place - 1] in WHITE_SPACE and line[place] not in WHITE_SPACE and place in allowed
    ]
    graphemes = [place for place in range(wish, first.start + 1) if place in allowed]
    before = [place for place in range(max(wish - MOST // 2, 0), wish + 1) if place in allowed]
    return [*words[:1], *graphemes[:1], *before[-1:], wish][0]


def _end(line: str, start: int, least: int, allowed: set[int]) -> int:
    """As far as there is room; near white space, if any, but not within or before the term."""
    room = MOST - (start > 0)
    if len(line) - start <= room:
        return len(line)
    wish = start + room - 1
    words = [
        place
        for place in range(max(wish - MOST // 8, min(least, wish), start + 1), wish + 1)
        if line[place] in WHITE_SPACE and line[place - 1] not in WHITE_SPACE and place in allowed
    ]
    graphemes = [place for place in range(start + 1, wish + 1) if place in allowed]
    return [*words[-1:], *graphemes[-1:], wish][0]
