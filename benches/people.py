"""Questions as people ask them: whole sentences, most of whose words are in nearly every concept."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

from benches.queries import sampled_tokens

if TYPE_CHECKING:
    from benches.documents import Texts

LEAST_WORDS, MOST_WORDS = 8, 15

_OPENINGS_TEXT = """\
how do i|how can i|how does the|how many of the|what is the|what are the|what happens to a|what should i do
why is the|why does a|where do i find the|where is the|when should i|when is the|which of the|who may see the
can i use the|is it possible to|is there a|do i need the|should the|could not find the|i want to see all of"""
_OPENINGS = [opening.split() for line in _OPENINGS_TEXT.splitlines() for opening in line.split("|")]
_ENDS = ("?", "?", "?", "", ".")
_ENCLOSING = ".,:;`()*[]|#"
_SPACELESS = re.compile(r"[々〆぀-ヿ㐀-鿿]{2,}")
_SPACELESS_ENDS = ("か?", "ですか?", "吗?", "?", "")


class SentenceMaker:
    """Draws questions of 8 to 15 words: how a question begins, then words by their frequency in the texts.

    The same texts and seed give the same questions.
    """

    def __init__(self, texts: Texts, *, seed: int = 0) -> None:
        self._random = Random(seed)
        self._tokens = [
            word for token in sampled_tokens(texts.bodies, self._random) if (word := _word(token))
        ]

    def take(self, count: int) -> list[str]:
        return [self._sentence() for _ in range(count)]

    def _sentence(self) -> str:
        drawn = list(self._random.choice(_OPENINGS))
        size = self._random.randint(LEAST_WORDS, MOST_WORDS)
        drawn += [self._random.choice(self._tokens) for _ in range(size - len(drawn))]
        sentence = " ".join(drawn)
        return f"{sentence[0].upper()}{sentence[1:]}{self._random.choice(_ENDS)}"


class SpacelessMaker:
    """Draws questions in scripts without spaces: two or three phrases of the texts, and an ending."""

    def __init__(self, texts: Texts, *, seed: int = 0) -> None:
        self._random = Random(seed)
        bodies = self._random.sample(texts.bodies, min(len(texts), 500))
        self._runs: list[str] = [run for body in bodies for run in _SPACELESS.findall(body)]

    def take(self, count: int) -> list[str]:
        return [self._question() for _ in range(count)]

    def _question(self) -> str:
        phrases = "".join(self._phrase() for _ in range(self._random.randint(2, 3)))
        return f"{phrases}{self._random.choice(_SPACELESS_ENDS)}"

    def _phrase(self) -> str:
        run = self._random.choice(self._runs)
        size = self._random.randint(3, 8)
        start = self._random.randint(0, max(0, len(run) - size))
        return run[start : start + size]


def _word(token: str) -> str:
    """The word of a token as people type it, without markup and punctuation around it; blank for a link."""
    word = token.strip(_ENCLOSING).lower()
    return "" if "](" in word or not any(letter.isalnum() for letter in word) else word
