"""Fair timing: the two engines that are compared take turns in one run."""

from __future__ import annotations

import gc
import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

_TURN = 64
"""Questions that one engine answers before the other has its turn: enough to fill the processor's caches."""


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds of single calls."""

    seconds: list[float] = field(default_factory=list[float])

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        if len(self.seconds) < 2:
            return self.median
        return statistics.quantiles(self.seconds, n=20, method="inclusive")[-1]

    def __len__(self) -> int:
        return len(self.seconds)


@contextmanager
def quiet() -> Generator[None]:
    """Turns the garbage collector off, so that it does not visit a whole corpus during a measurement."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one call. Its result is freed after the clock was read."""
    start = clock()
    kept = call()
    seconds = clock() - start
    del kept
    return seconds


def each(ask: Callable[[str], Any], texts: Sequence[str], *, budget: float) -> Times:
    """One call for each text, until `budget` seconds have passed, but for at least twenty texts."""
    times = Times()
    deadline = time.perf_counter() + budget
    for number, text in enumerate(texts):
        if number >= 20 and time.perf_counter() > deadline:
            break
        times.seconds.append(_one(ask, text))
    return times


def in_turns(
    first: Callable[[str], Any], second: Callable[[str], Any], texts: Sequence[str], *, budget: float
) -> tuple[Times, Times]:
    """Asks both the same texts in turns, until `budget` seconds have passed.

    Both answer at least three texts, however long that takes.
    """
    one, two = turns((first, second), texts, budget=budget)
    return one, two


def turns(
    asks: Sequence[Callable[[str], Any]],
    texts: Sequence[str],
    *,
    budget: float,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Times]:
    """Asks any number of engines the same texts in turns, as `in_turns` does with two."""
    times = [Times() for _ in asks]
    deadline = time.perf_counter() + budget
    turn = 3
    start = 0
    while start < len(texts) and (start < 3 or time.perf_counter() < deadline):
        group = texts[start : start + turn]
        start += turn
        turn = _TURN
        for ask, asked in zip(asks, times, strict=True):
            asked.seconds.extend(_one(ask, text, clock) for text in group)
    return times


def _one(ask: Callable[[str], Any], text: str, clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    kept = ask(text)
    seconds = clock() - start
    del kept
    return seconds


def spoken(seconds: float) -> str:
    """A duration with three digits and a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def rate(per_second: float) -> str:
    return f"{_digits(per_second)} /s"


def factor(ratio: float) -> str:
    return f"{_digits(ratio)}×"


def _digits(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
