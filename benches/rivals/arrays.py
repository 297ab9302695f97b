"""Ranking an array of scores: what the rivals with numpy share."""

from __future__ import annotations

from typing import Any

from benches.rivals.base import Ranking, module


def empty_scores(size: int) -> Any:
    # Sixteen bits are enough, and numpy sorts those by counting.
    return module("numpy").zeros(size, dtype="int16")


def ranking_of(scores: Any, limit: int | None) -> Ranking:
    """Best first, equal scores in the order of positions, zeros left out."""
    numpy = module("numpy")
    if limit is None:
        matched = numpy.flatnonzero(scores)
    else:
        # All that are above the last score that still has a place, then those that have it.
        counts = numpy.bincount(scores)[::-1]
        places = numpy.cumsum(counts)
        last = len(counts) - 1 - int(numpy.searchsorted(places, limit))
        matched = numpy.flatnonzero(scores >= max(last, 1))
    order = numpy.argsort(-scores[matched], kind="stable")[:limit]
    positions = matched[order]
    return Ranking(positions, scores[positions])
