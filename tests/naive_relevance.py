"""BM25F in plain Python (V2 to V7), written from the words of ``docs/relevance.md``; see ``naive``."""

from __future__ import annotations

import importlib
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from naive import WHITE_SPACE, fold, trim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from naive import Bundle, Concept

_regex: Any = importlib.import_module("regex")

# The constants of the formula

K = 2
B_PARTS, B_OF = 3, 4
"""b is ``B_PARTS / B_OF``."""
COVERAGE_PARTS, COVERAGE_OF = 3, 4
"""What a concept with all terms gets on top of its sum."""
FIELD_WEIGHTS = (3, 2, 1)
"""Title; tags and description; body."""
WORD_WEIGHT, OTHER_WEIGHT, WEIGHT_OF = 4, 2, 4
"""Of words, and of pairs and terms as written, in ``WEIGHT_OF``ths."""
WHOLE, BEGINNING, INSIDE, STEM = 8, 5, 2, 1
"""The points of an occurrence."""
MOST_POINTS = 255
LONGEST_WITH_STEM = 63

MOST = 2**32 - 1
"""Where sums stop."""
MOST_NORM = 2**23 - 1
LN_2 = 2977044471
"""The natural logarithm of 2, with 32 bits behind the point."""

# Normal form, and kinds of characters

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_FULL_WIDTH_WORDS = {
    full: code for full, code in _FULL_WIDTH.items() if chr(code).isalnum() or code == ord("_")
}
_PUNCTUATION = {**_FULL_WIDTH, ord("’"): ord("'")}


def normal(text: str) -> str:
    """The form in which texts and questions are compared."""
    folded = fold(unicodedata.normalize("NFD", fold(text)))
    composed = unicodedata.normalize("NFC", folded.translate(_FULL_WIDTH_WORDS))
    return composed.translate(_PUNCTUATION)


def _kind(pattern: str) -> Callable[[str], bool]:
    """A function that says whether a character is of a kind."""
    matches = _regex.compile(pattern, _regex.V1).fullmatch

    @cache
    def is_of_kind(character: str) -> bool:
        return matches(character) is not None

    return is_of_kind


SPACELESS = "".join(
    rf"\p{{Script={script}}}" for script in ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")
)
is_spaceless = _kind(f"[{SPACELESS}ー]")
is_of_words = _kind(r"[\p{L}\p{M}\p{N}_]")
is_opening = _kind(r"""["'`*\p{Pi}\p{Pf}\p{Ps}¿¡]""")
is_closing = _kind(r"""["'`*\p{Pi}\p{Pf}\p{Pe}\p{Terminal_Punctuation}…]""")


def is_of_spaced_words(character: str) -> bool:
    return is_of_words(character) and not is_spaceless(character)


def stretches(text: str, kind: Callable[[str], bool]) -> Iterator[str]:
    """The longest parts of a text of which all characters are of a kind."""
    part = ""
    for character in text:
        if kind(character):
            part += character
        elif part:
            yield part
            part = ""
    if part:
        yield part


# The terms of a question (V2)


def terms_of(question: str) -> dict[str, int]:
    """The terms of a question and their weights."""
    weights: dict[str, int] = {}

    def add(term: str, weight: int) -> None:
        weights[term] = max(weight, weights.get(term, 0))

    pieces = [piece for piece in re.split(f"[{WHITE_SPACE}]", normal(question)) if piece]
    for piece in pieces:
        for run in stretches(piece, is_spaceless):
            for term in [run[at : at + 2] for at in range(len(run) - 1)] or [run]:
                add(term, OTHER_WEIGHT)
        for run in stretches(piece, lambda character: not is_spaceless(character)):
            for word in stretches(run, is_of_words):
                add(word, WORD_WEIGHT)
            bare = without_enclosing(run)
            if not all(map(is_of_words, bare)):
                add(bare, OTHER_WEIGHT)
    return weights or dict.fromkeys(pieces, WORD_WEIGHT)


def without_enclosing(run: str) -> str:
    while run and is_opening(run[0]):
        run = run[1:]
    while run and is_closing(run[-1]):
        run = run[:-1]
    return run


def stem_of(term: str) -> str | None:
    if not all(map(is_of_spaced_words, term)) or len(term) > LONGEST_WITH_STEM:
        return None
    if not unicodedata.category(term[-1]).startswith("L"):
        return None
    if "\uac00" <= term[-1] <= "\ud7a3":
        return {1: None, 2: None, 3: term[:-1]}.get(len(term), term[:-2])
    if len(term) < 6:
        return None
    return term[:-2] if len(term) <= 8 else term[:-3]


# What a concept has of a term (V3, V4)


def goes_on(one: str, other: str) -> bool:
    """Whether two neighbours stand in one word; the empty text is the end of a field."""
    return all(character and is_of_spaced_words(character) for character in (one, other))


def begins_word(text: str, at: int) -> bool:
    return not goes_on(text[at - 1 : at], text[at])


def ends_word(text: str, end: int) -> bool:
    return not goes_on(text[end - 1], text[end : end + 1])


def occurrences(text: str, term: str) -> Iterator[int]:
    """Where a term begins; they do not overlap."""
    at = text.find(term)
    while at >= 0:
        yield at
        at = text.find(term, at + len(term))


def stands_in(text: str, stem: str | None) -> bool:
    return stem is not None and any(begins_word(text, at) for at in occurrences(text, stem))


def points_in_body(body: str, term: str) -> int:
    stem = stem_of(term)
    short = len(term.encode()) <= 2 and all(map(is_of_words, term))
    points = INSIDE if short and term in body else 0
    for at in occurrences(body, term):
        if begins_word(body, at) and ends_word(body, at + len(term)):
            points += WHOLE
        elif not short:
            points += BEGINNING if begins_word(body, at) else INSIDE
    if stem is not None:
        for at in occurrences(body, stem):
            if begins_word(body, at) and not body.startswith(term, at):
                points += STEM
    return min(points, MOST_POINTS)


def points_in(texts: Iterable[str], term: str) -> int:
    """Of a title, or of tags and description."""
    if any(term in text for text in texts):
        return WHOLE
    return STEM if any(stands_in(text, stem_of(term)) for text in texts) else 0


def length_of(text: str) -> int:
    words = sum(1 for _ in stretches(text, is_of_spaced_words))
    return words + sum(map(is_spaceless, text))


def title_of(concept: Concept) -> str:
    """V3: the title for this scoring only."""
    title = concept.document.title
    if title is not None and trim(title):
        return title
    heading = first_heading(concept.document.body)
    return heading or concept.id.split("/")[-1].replace("-", " ").replace("_", " ")


def first_heading(body: str) -> str | None:
    """The text of the first level-one heading outside fenced code that has one."""
    fence = above = ""
    for line in body.split("\n"):
        text = "" if re.match(" {4}| {0,3}\t", line) else trim(line)
        marks = re.match("`{3,}(?=[^`]*$)|~{3,}", text)
        if fence:
            fence = "" if text.startswith(fence) and set(text) == set(fence) else fence
            above = ""
            continue
        if re.match("#[ \t]", text):
            heading = trim(re.sub("[ \t]#+$", "", text[1:]))
            if heading:
                return heading
        if above and text and set(text) == {"="}:
            return above
        fence = marks[0] if marks else ""
        above = "" if marks or re.match(r"[#>|<]|([-*+]|[0-9]{1,9}[.)])([ \t]|$)", text) else text
    return None


class Searched:
    """The three fields of a concept as BM25F looks at them."""

    def __init__(self, concept: Concept) -> None:
        document = concept.document
        self.title = normal(title_of(concept))
        self.described = [normal(text) for text in (*document.tags, document.description or "")]
        self.body = normal(document.body)
        self.lengths = (
            length_of(title_of(concept)),
            sum(map(length_of, document.tags)) + length_of(document.description or ""),
            length_of(document.body),
        )
        self._points: dict[str, tuple[int, int, int]] = {}

    def has(self, term: str) -> bool:
        return any(term in text for text in (self.title, *self.described, self.body))

    def points(self, term: str) -> tuple[int, int, int]:
        if term not in self._points:
            self._points[term] = (
                points_in([self.title], term),
                points_in(self.described, term),
                points_in_body(self.body, term),
            )
        return self._points[term]


_SEARCHED: WeakKeyDictionary[Concept, Searched] = WeakKeyDictionary()


def searched_of(concept: Concept) -> Searched:
    if concept not in _SEARCHED:
        _SEARCHED[concept] = Searched(concept)
    return _SEARCHED[concept]


# How the score is made of these (V4 to V6)


def log2(number: int) -> int:
    """With 24 bits behind the point."""
    whole = number.bit_length() - 1
    rest = number * 2**31 // 2**whole
    bits = whole
    for _ in range(24):
        rest = rest * rest // 2**31
        bits *= 2
        if rest >= 2**32:
            rest //= 2
            bits += 1
    return bits


def rarity_of(having: int, concepts: int, weight: int) -> int:
    """In 1024ths; ``having`` concepts of all have the term."""
    distance = log2(2 * concepts + 2) - log2(2 * having + 1)
    return max(1, (distance * LN_2 // 2**46) * weight // WEIGHT_OF)


class Relevance(NamedTuple):
    """A question to the concepts of all sources that are visible and searched (V6)."""

    rarities: dict[str, int]
    factors: tuple[int, ...]
    """Of each field: what its length is multiplied with."""

    def score(self, concept: Concept) -> int:
        total = coverage = 0
        searched = searched_of(concept)
        for term, rarity in self.rarities.items():
            points = searched.points(term)
            worths = (
                weight * worth(field, length, factor)
                for weight, field, length, factor in zip(
                    FIELD_WEIGHTS, points, searched.lengths, self.factors, strict=True
                )
            )
            total += rarity * sum(worths) // 1024
            coverage += rarity if any(points) else 0
        if not coverage:
            return 0
        total, coverage = min(total, MOST), min(coverage, MOST)
        whole = max(min(sum(self.rarities.values()), MOST), 1)
        inverse = COVERAGE_PARTS * 2**32 // (COVERAGE_OF * whole)
        return min(max(total * 1000 * (65536 + coverage * inverse // 65536) // 2**26, 1), MOST)


def relevance_of(question: str, bundles: Iterable[Bundle | None]) -> Relevance:
    """``None`` stands for a source that cannot be read."""
    concepts = [searched_of(concept) for bundle in bundles if bundle for concept in bundle.concepts]
    count = len(concepts)
    rarities = {
        term: rarity_of(sum(concept.has(term) for concept in concepts), count, weight)
        for term, weight in terms_of(question).items()
    }
    totals = [sum(concept.lengths[field] for concept in concepts) for field in range(3)]
    return Relevance(rarities, tuple(factor_of(total, count) for total in totals))


def factor_of(total: int, concepts: int) -> int:
    """``total`` is the length of a field in all concepts."""
    if not total:
        return 0
    slope = 8 * K * B_PARTS * 2**24 // B_OF
    return min(slope * concepts // total, MOST_NORM * 2**20)


def worth(points: int, length: int, factor: int) -> int:
    base = 128 * K * (B_OF - B_PARTS) // B_OF
    norm = min(base + length * factor // 2**20, MOST_NORM)
    return (K + 1) * 16 * 1024 * points // (16 * points + norm)


# The line that is shown (K6)


def excerpt(body: str, terms: Iterable[str]) -> str:
    """K6, with the terms of BM25F in the normal form of each line."""
    for line in body.split("\n"):
        shown = trim(line)
        text = normal(shown)
        if any(term in text for term in terms):
            return shown
    return ""
