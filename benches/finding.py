"""What was measured for a target, and whether it reaches it."""

from __future__ import annotations

from dataclasses import dataclass

from benches.timing import factor


@dataclass(frozen=True, slots=True)
class Finding:
    """One target on one corpus. ``met`` is ``None`` if there is no limit to meet."""

    target: str
    wanted: str
    measured: str
    met: bool | None = None

    @property
    def shown(self) -> str:
        """What was measured; bold if it misses its target."""
        return self.measured if self.met is not False else f"**{self.measured}**"


def at_most(target: str, value: float, limit: float) -> Finding:
    """A ratio that has an upper limit."""
    return Finding(target, f"≤ {factor(limit)}", factor(value), value <= limit)


def at_least(target: str, value: float, limit: float | None) -> Finding:
    """A ratio that has a lower limit, or none."""
    if limit is None:
        return Finding(target, "–", factor(value))
    return Finding(target, f"≥ {factor(limit)}", factor(value), value >= limit)
