"""Questions drawn from the words of a corpus. The same corpus and seed give the same questions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benches.documents import Corpus

ONE_LETTER = "etaoinsrhldcumfpgwybvkxjqz0123456789_-"
SHORTEST_INDEXED = 3
"""The least letters of a term that a trigram index can find."""
_SAMPLED_BYTES = 8_000_000
"""Words are drawn from bodies of about this many characters in all."""
_IS_NO_WORD = "zqxj{}vwq"
"""Occurs in no word. Added to a word, it makes one that no concept contains."""


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Questions of one kind."""

    name: str
    texts: tuple[str, ...]

    def first(self, count: int) -> QuerySet:
        return QuerySet(self.name, self.texts[:count])


class QueryMaker:
    """Draws questions from a corpus."""

    def __init__(self, corpus: Corpus, *, seed: int = 0) -> None:
        self._random = Random(seed)
        self._tokens = sampled_tokens(corpus.bodies, self._random)
        counts = Counter(self._tokens)
        long = sorted(token for token, count in counts.items() if count <= 2 and len(token) >= 6)
        self._selective = long or sorted(counts)
        self._everywhere = _in_all(corpus.bodies, counts) or [counts.most_common(1)[0][0]]

    def mixed(self, count: int) -> QuerySet:
        """One to eight terms of three or more letters, drawn by frequency; a third are pieces of words."""
        return QuerySet("mixed", self._distinct(count, self._mixed))

    def short(self, count: int) -> QuerySet:
        """One or two letters, alone or after a word: a trigram index cannot answer these."""
        return QuerySet("short terms", self._distinct(count, self._short))

    def everywhere(self, count: int) -> QuerySet:
        """Words that every concept contains."""
        return QuerySet("words in every concept", self._distinct(count, self._everywhere_words))

    def selective(self, count: int) -> QuerySet:
        """One or two words that few concepts contain."""
        return QuerySet("selective", self._distinct(count, self._selective_words))

    def misses(self, count: int) -> QuerySet:
        """Words that no concept contains."""
        return QuerySet("misses", self._distinct(count, self._miss))

    def all_kinds(self, count: int) -> QuerySet:
        """All kinds, shuffled: a tenth of each other kind, and the rest mixed."""
        tenth = max(1, count // 10)
        others = [self.short(tenth), self.everywhere(tenth), self.selective(tenth), self.misses(tenth)]
        texts = {text: None for kind in others for text in kind.texts}
        for text in self.mixed(count).texts:
            if len(texts) == count:
                break
            texts.setdefault(text)
        shuffled = list(texts)
        self._random.shuffle(shuffled)
        return QuerySet("all kinds", tuple(shuffled))

    def _distinct(self, count: int, draw: Callable[[], str]) -> tuple[str, ...]:
        # A small corpus may not have that many distinct questions. Then there are fewer.
        found: dict[str, None] = {}
        for _ in range(20 * count):
            found.setdefault(draw())
            if len(found) == count:
                break
        return tuple(found)

    def _mixed(self) -> str:
        return " ".join(self._long_term() for _ in range(self._random.randint(1, 8)))

    def _long_term(self) -> str:
        while True:
            term = self._random.choice(self._tokens)
            if len(term) > SHORTEST_INDEXED and self._random.random() < 1 / 3:
                start = self._random.randint(0, len(term) - SHORTEST_INDEXED)
                term = term[start : self._random.randint(start + SHORTEST_INDEXED, len(term))]
            if len(term) >= SHORTEST_INDEXED:
                # Mostly in lower case, as people type.
                return term.lower() if self._random.random() < 0.8 else term

    def _short(self) -> str:
        letters = [self._random.choice(ONE_LETTER) for _ in range(self._random.randint(1, 2))]
        if self._random.random() < 0.5:
            return "".join(letters)
        return f"{self._long_term()} {' '.join(letters)}"

    def _everywhere_words(self) -> str:
        return " ".join(self._random.choice(self._everywhere) for _ in range(self._random.randint(1, 8)))

    def _selective_words(self) -> str:
        return " ".join(self._random.choice(self._selective) for _ in range(self._random.randint(1, 2)))

    def _miss(self) -> str:
        return f"{self._random.choice(self._selective)}{_IS_NO_WORD}{self._random.randint(0, 999)}"


def are_all_long(text: str) -> bool:
    """Whether a trigram index can answer the question exactly."""
    return all(len(term) >= SHORTEST_INDEXED for term in text.split())


def sampled_tokens(bodies: Sequence[str], random: Random) -> list[str]:
    """The tokens of some bodies, with repeats, so that a random choice draws words by their frequency."""
    tokens: list[str] = []
    size = 0
    for index in random.sample(range(len(bodies)), len(bodies)):
        tokens += bodies[index].split()
        size += len(bodies[index])
        if size > _SAMPLED_BYTES:
            break
    return tokens


def _in_all(bodies: Iterable[str], counts: Counter[str]) -> list[str]:
    """Those of the 200 most frequent tokens that every body contains."""
    remaining = [token for token, _ in counts.most_common(200)]
    for body in bodies:
        remaining = [token for token in remaining if token in body]
        if not remaining:
            break
    return remaining
