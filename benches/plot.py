"""Draws latency against the size of the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benches.rivals import ALL, Exactness
from benches.rivals.base import module

if TYPE_CHECKING:
    from pathlib import Path

    from benches.targets import Run

_OURS = "#c1121f"
_EXACT = ("#1d3557", "#2a6f97", "#468faf", "#61a5c2", "#588157", "#3a5a40", "#6d597a")
_INEXACT = ("#6f6f6f", "#8a8a8a", "#a5a5a5")


def draw(run: Run, path: Path) -> bool:
    """Writes the picture; ``False`` if matplotlib is missing or there are fewer than two sizes."""
    if len(run.generated) < 2:
        return False
    try:
        matplotlib: Any = module("matplotlib")
    except ImportError:
        return False
    matplotlib.use("Agg")
    # The same figures give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "benches"
    pyplot: Any = module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(9.6, 5.4), layout="constrained")
    ends: list[tuple[float, float, str, str]] = []

    def line(name: str, points: list[tuple[float, float]], color: str, style: str, width: float) -> None:
        axes.plot(*zip(*points, strict=True), style, color=color, linewidth=width, marker="o", markersize=4)
        ends.append((*points[-1], name, color))

    colors = {True: iter(_EXACT), False: iter(_INEXACT)}
    for rival in ALL:
        points = [
            (float(measured.comparison.concepts), standing.single.median)
            for measured in run.generated
            if (standing := measured.comparison.of(rival)) is not None and standing.single is not None
        ]
        if points:
            exact = rival.exactness is not Exactness.INEXACT
            line(_short(rival.name), points, next(colors[exact], "#9a9a9a"), "-" if exact else "--", 1.4)
    for kind, name, style in (("mixed", "okf-catalog", "-"), ("selective", "okf-catalog, selective", ":")):
        line(
            name,
            [(float(one.comparison.concepts), one.comparison.kinds[kind].median) for one in run.generated],
            _OURS,
            style,
            2.4,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    _label(axes, ends)
    axes.set_xlabel("concepts")
    axes.set_ylabel("one query, median (seconds)")
    axes.set_title("Solid lines: exact answers. Dashed lines: inexact answers.", fontsize=10, loc="left")
    axes.grid(visible=True, which="major", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True


def _short(name: str) -> str:
    return name.split(" (", maxsplit=1)[0].replace("`", "")


def _label(axes: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Writes each line's name at its end, and moves names apart that would overlap."""
    low, high = (min(y for _, y, *_ in ends), max(y for _, y, *_ in ends))
    step = (high / low) ** (1 / (1.4 * len(ends))) if high > low else 1.1
    right = max(x for x, *_ in ends)
    above = 0.0
    for _, y, name, color in sorted(ends, key=lambda end: end[1]):
        above = max(y, above * step)
        axes.annotate(
            name,
            xy=(right, above),
            xytext=(10, 0),
            textcoords="offset points",
            color=color,
            fontsize=8.5,
            va="center",
            annotation_clip=False,
        )
