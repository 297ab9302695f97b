"""A scan with a string library that uses SIMD instructions."""

from __future__ import annotations

from typing import Any

from benches.documents import Corpus, terms_of
from benches.rivals.base import Exactness, Ranking, Rival, module
from benches.rivals.scan import BODY, META, TITLE


class _Field:
    """One field of all concepts in one buffer."""

    def __init__(self, texts: list[str], worth: int) -> None:
        numpy = module("numpy")
        pieces = [text.encode() for text in texts]
        self.worth = worth
        self.text: Any = module("stringzilla").Str(b"\n".join(pieces))
        self.ends: list[int] = (numpy.cumsum([len(piece) + 1 for piece in pieces])).tolist()

    def positions_with(self, term: str) -> list[int]:
        """Jumps from one match to the end of its concept, and on."""
        raise NotImplementedError
