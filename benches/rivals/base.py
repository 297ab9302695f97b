"""The interface of every rival, so that one loop can ask them all."""

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
    """Which answers of a rival are the same as the contract's."""

    EXACT = "yes"
    LONG_TERMS = "terms of 3+ characters"
    SET_ONLY = "set only"
    INEXACT = "no"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Positions in the corpus, best first, and the score of each.

    Both are the rival's own sequences. Turning an array into a list would add time that is not the rival's.
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
    """Modules that must be installed."""
    answers_single: ClassVar[bool] = True
    """Whether it is fair to ask the rival one question alone."""
    most_concepts: ClassVar[int | None] = None
    """With more concepts than this, the rival would take minutes, and is not run."""
    remark: ClassVar[str] = ""
    """What the table says behind the name."""

    @classmethod
    def missing(cls) -> str | None:
        """Why the rival cannot run here; ``None`` if it can."""
        absent = [package for package in cls.packages if importlib.util.find_spec(package) is None]
        return f"not installed: {', '.join(absent)}" if absent else None

    @abstractmethod
    def load(self, corpus: Corpus) -> None:
        """Does everything that can be done before the first question."""

    @abstractmethod
    def search(self, text: str, *, limit: int | None = None) -> Ranking: ...

    def batch(self, texts: Sequence[str], *, limit: int) -> list[Ranking]:
        """All answers. A rival without a better way answers one question after the other."""
        return [self.search(text, limit=limit) for text in texts]

    def can_answer(self, text: str) -> bool:
        return self.exactness is not Exactness.LONG_TERMS or are_all_long(text)


def module(name: str) -> Any:
    """Imports an optional package by name, so that types can be checked without the package."""
    return importlib.import_module(name)
