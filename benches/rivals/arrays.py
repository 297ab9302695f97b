"""Ranks an array of scores. The rivals that use numpy share this."""

from __future__ import annotations

from typing import Any

from benches.rivals.base import Ranking, module


def empty_scores(size: int) -> Any:
    # 16 bits are enough, and numpy sorts them with a radix sort.
    return module("numpy").zeros(size, dtype="int16")


def ranking_of(scores: Any, limit: int | None) -> Ranking:
    """The positions with a score, best first; equal scores are ordered by position."""
    numpy = module("numpy")
    if limit is None:
        matched = numpy.flatnonzero(scores)
    else:
        # Only positions with at least the score of the last place are sorted.
        counts = numpy.bincount(scores)[::-1]
        places = numpy.cumsum(counts)
        last = len(counts) - 1 - int(numpy.searchsorted(places, limit))
        matched = numpy.flatnonzero(scores >= max(last, 1))
    order = numpy.argsort(-scores[matched], kind="stable")[:limit]
    positions = matched[order]
    return Ranking(positions, scores[positions])
