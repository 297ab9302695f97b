"""Rivals: other ways to answer, each with an adapter that is a `benches.rivals.base.Rival`."""

from __future__ import annotations

from benches.rivals.automaton import AhoCorasick
from benches.rivals.base import Exactness, Ranking, Rival
from benches.rivals.engines import Bm25s, Bm25sStemmed, Tantivy, TantivyOneField, TantivyPairs, pairs_of
from benches.rivals.frames import Polars
from benches.rivals.fts5 import TrigramFts5
from benches.rivals.ripgrep import Ripgrep
from benches.rivals.scan import TextScan, VocabularyScan
from benches.rivals.simd import SimdScan
from benches.rivals.stateless import Stateless

ALL: tuple[type[Rival], ...] = (
    Stateless,
    TextScan,
    Ripgrep,
    SimdScan,
    TrigramFts5,
    VocabularyScan,
    Polars,
    AhoCorasick,
    Tantivy,
    TantivyOneField,
    Bm25s,
)
"""The rivals of `make bench`, in the order of its table. Other programs measure the others."""

__all__ = [
    "ALL",
    "AhoCorasick",
    "Bm25s",
    "Bm25sStemmed",
    "Exactness",
    "Polars",
    "Ranking",
    "Ripgrep",
    "Rival",
    "SimdScan",
    "Stateless",
    "Tantivy",
    "TantivyOneField",
    "TantivyPairs",
    "TextScan",
    "TrigramFts5",
    "VocabularyScan",
    "pairs_of",
]
