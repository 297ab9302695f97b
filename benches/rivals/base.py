"""What every rival offers, so that one loop can ask them all."""

from __future__ import annotations

import importlib
import importlib.util
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from benches.queries import are_all_long

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benches.documents import Corpus


class Exactness(Enum):
    """How far a rival's answers are the contract's."""

    EXACT = "yes"
    LONG_TERMS = "terms of 3+ characters"
    SET_ONLY = "set only"
    INEXACT = "no"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Positions in the corpus, best first, and the score of each.

    Whatever sequences the rival has them in: turning an array into a list is no part of the answer.
    """

    positions: Sequence[int]
    scores: Sequence[float]

    def rows(self) -> list[tuple[int, int]]:
        return [(int(p), int(s)) for p, s in zip(self.positions, self.scores, strict=True)]


class Rival(ABC):
    """One way to answer the questions."""

    name: ClassVar[str]
    exactness: ClassVar[Exactness]
    packages: ClassVar[tuple[str, ...]] = ()
    """Modules that must be there."""
    answers_single: ClassVar[bool] = True
    """Whether one question alone is a fair thing to ask."""
    most_concepts: ClassVar[int | None] = None
    """Above, it would take minutes."""
    remark: ClassVar[str] = ""

    @classmethod
    def missing(cls) -> str | None:
        """Why it cannot run here, if it cannot."""
        absent = [package for package in cls.packages if importlib.util.find_spec(package) is None]
        return f"not installed: {', '.join(absent)}" if absent else None

    @abstractmethod
    def load(self, corpus: Corpus) -> None:
        """Everything that can be done before the first question."""

    @abstractmethod
    def search(self, text: str, *, limit: int | None = None) -> Ranking: ...

    def batch(self, texts: Sequence[str], *, limit: int) -> list[Ranking]:
        """All the answers; one after the other, where there is no better way."""
        return [self.search(text, limit=limit) for text in texts]

    def can_answer(self, text: str) -> bool:
        return self.exactness is not Exactness.LONG_TERMS or are_all_long(text)


def module(name: str) -> Any:
    """An optional package, which may well be absent where types are checked."""
    return importlib.import_module(name)
