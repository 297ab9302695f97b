"""Hypothesis strategies for what concepts and questions say.

A drawn world is made of a few *phrases*, and those of one *palette*: a few characters that are easily
confused. In such a tiny alphabet, texts often match by chance, and matches are where rules can differ.
"""

from __future__ import annotations

import unicodedata
from functools import partial
from typing import TYPE_CHECKING

import naive
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

COLLIDING = (
    "aAbB",
    "éÉe\u0301",
    "σΣς",
    "iIıİ",
    "sSſ",
    "ßẞsS",
    "kK\u212a",
    "aＡａA",
    "ǅǆǄdž",
    "ᾳᾼα\u0345ιΙ",
    "\u00b5μΜ",
    "Ꭰꭰ",
    "აᲐ",
    "\u212b\u00c5\u00e5a\u030a",
    "数字",
    "\U00010400\U00010428",
    "\x1cab",
    "\u200b\ufeffa",
    # What BM25F compares in a form of its own, or cuts into pairs.
    "a'’＇",
    "1１_＿",
    "+＋!！（(",
    "東京ー\u30fb",
    "かが\u3099カ",
    "\uff76\uff9eガ",
    "กาท",
    "\u1780\u17b6។",
    "ကခ၊",
    "한국어",
    "\u1100\u1161가",
    "々〇㍿",
    "§±b",
    "²½a",
    "\u00adab",
)
"""Groups of characters that fold to the same one, with others that only look alike."""

PUNCTUATION = "-_/.,:#'\"[]{}\\%+?!¿»…。"


@st.composite
def palettes(draw: DrawFn) -> str:
    groups = st.sampled_from(COLLIDING)
    mark: str = draw(st.sampled_from(["", *PUNCTUATION]))
    return draw(groups) + draw(groups) + mark


def words(palette: str) -> SearchStrategy[str]:
    """Short words, and a few longer ones that have their beginnings in common."""
    short = st.text(st.sampled_from(palette), min_size=1, max_size=3)
    beginnings = st.sampled_from([(palette[:2] * 9)[:length] for length in (2, 4, 6)])
    endings = st.text(st.sampled_from(palette), max_size=3)
    return short | short | st.builds(str.__add__, beginnings, endings)


def phrases(palette: str, spaces: str) -> SearchStrategy[str]:
    """Words with white space between and around them, or nothing."""
    gaps = st.sampled_from([*spaces, spaces])
    some = st.lists(st.tuples(words(palette), gaps), min_size=1, max_size=3)
    parts = some | st.just(list[tuple[str, str]]())
    return st.builds(_phrase, st.just("") | gaps, parts, st.booleans())


def _phrase(before: str, parts: Sequence[tuple[str, str]], is_open: bool) -> str:
    text = before + "".join(word + gap for word, gap in parts)
    return text if is_open else text[:-1]


@st.composite
def phrase_pools(draw: DrawFn) -> list[str]:
    """The phrases of one world; each character that occurs is a phrase too."""
    spaces = " " + draw(st.sampled_from(naive.WHITE_SPACE))
    drawn = draw(st.lists(phrases(draw(palettes()), spaces), min_size=3, max_size=6))
    return drawn + [character for character in sorted(set("".join(drawn))) if naive.trim(character)]


def lines(pool: Sequence[str]) -> SearchStrategy[str]:
    """Phrases, of which some are headings or stand above what makes them one."""
    frames = ("{}",) * 6 + ("# {}", "# {} #", "## {}", "{}\n===", "```\n# {}", "    # {}", "{0} {0}")
    return st.builds(str.format, st.sampled_from(frames), st.sampled_from(pool))


def full_width(text: str) -> str:
    return "".join(
        chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else character for character in text
    )


WRITTEN: tuple[Callable[[str], str], ...] = (
    *(str, str, str, str.upper, str.lower, str.title, full_width),
    *(partial(unicodedata.normalize, form) for form in ("NFC", "NFD", "NFKD")),
    *("({})?".format, '"{}"'.format, "¿{}!".format, "{}'s".format, "{0} {0}".format),
)
"""How a question may write a phrase."""


@st.composite
def texts(draw: DrawFn, pool: Sequence[str]) -> str:
    """The text of a question: a phrase, perhaps written in another way or with a second phrase."""
    said = st.sampled_from([phrase for phrase in pool if naive.trim(phrase)] or ["a"])
    return (
        draw(st.sampled_from(WRITTEN))(draw(said))
        + draw(st.sampled_from(["", " ", "\u3000", "\x1c"]))
        + draw(st.just("") | said)
    )
