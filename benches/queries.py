"""Questions about a corpus, drawn from its own words: always the same for the same corpus and seed."""

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
"""What a trigram index needs: shorter terms are beyond it."""
_SAMPLED_BYTES = 8_000_000
_IS_NO_WORD = "zqxj{}vwq"


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
        self._tokens = _sampled_tokens(corpus.bodies, self._random)
        counts = Counter(self._tokens)
        long = sorted(token for token, count in counts.items() if count <= 2 and len(token) >= 6)
        self._selective = long or sorted(counts)
        self._everywhere = _in_all(corpus.bodies, counts) or [counts.most_common(1)[0][0]]

    def mixed(self, count: int) -> QuerySet:
        """One to eight words of three or more letters, as frequent as in the text, a third cut to a piece."""
        return QuerySet("mixed", self._distinct(count, self._mixed))

    def short(self, count: int) -> QuerySet:
        """One letter, or two, or a word and a letter: what no trigram index can answer."""
        return QuerySet("short terms", self._distinct(count, self._short))

    def everywhere(self, count: int) -> QuerySet:
        """Words that are in every concept."""
        return QuerySet("words in every concept", self._distinct(count, self._everywhere_words))

    def selective(self, count: int) -> QuerySet:
        """A word that few concepts have, or two."""
        return QuerySet("selective", self._distinct(count, self._selective_words))

    def misses(self, count: int) -> QuerySet:
        """Words that no concept has."""
        return QuerySet("misses", self._distinct(count, self._miss))

    def all_kinds(self, count: int) -> QuerySet:
        """Everything a caller might ask: mostly mixed, a tenth each of the other kinds, shuffled."""
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
        # A small corpus may not have so many: then there are fewer.
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
                # As people type.
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
    """Whether a trigram index can answer exactly."""
    return all(len(term) >= SHORTEST_INDEXED for term in text.split())


def _sampled_tokens(bodies: Sequence[str], random: Random) -> list[str]:
    """The tokens of some bodies: a draw from them is a draw by frequency."""
    tokens: list[str] = []
    size = 0
    for index in random.sample(range(len(bodies)), len(bodies)):
        tokens += bodies[index].split()
        size += len(bodies[index])
        if size > _SAMPLED_BYTES:
            break
    return tokens


def _in_all(bodies: Iterable[str], counts: Counter[str]) -> list[str]:
    """Those of the most frequent tokens that no body lacks."""
    remaining = [token for token, _ in counts.most_common(200)]
    for body in bodies:
        remaining = [token for token in remaining if token in body]
        if not remaining:
            break
    return remaining
