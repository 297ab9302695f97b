"""The fairness quota of R5 in plain Python; see ``naive``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["fair"]

T = TypeVar("T")


def fair(ranking: Iterable[T], quota: int, source_of: Callable[[T], object]) -> list[T]:
    """R5, as the quadratic walk."""
    queue = list(ranking)
    emitted: list[T] = []
    while queue:
        head = source_of(queue[0])
        last = [source_of(item) for item in emitted[-quota:]]
        others = [index for index, item in enumerate(queue) if source_of(item) != head]
        row_is_full = last == [head] * quota
        emitted.append(queue.pop(others[0] if row_is_full and others else 0))
    return emitted
