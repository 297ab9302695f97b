"""The rows that cross between Python and the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "CatalogDiagnosticRow",
    "KnowledgeDiagnosticRow",
    "ProblemRow",
    "Progress",
    "Question",
    "ReportRow",
    "SourceRow",
]

SourceRow: TypeAlias = "tuple[str, str, int, bool, str, str | None]"
"""Id, path, priority, enabled, role, tier."""

CatalogDiagnosticRow: TypeAlias = "tuple[str, str]"
"""Code, message."""

KnowledgeDiagnosticRow: TypeAlias = "tuple[str, str | None, str]"
"""Code, source id, message."""

ProblemRow: TypeAlias = "tuple[str, str, str]"
"""Source id, path below the bundle root, reason."""

ReportRow: TypeAlias = (
    "tuple[int, str | None, int, list[tuple[str, str]], str | None, str | None, str | None]"
)
"""Position of the source, directory, concepts, problems (path, reason), what it repeats, failure, why it is
not watched."""

Progress: TypeAlias = "Callable[[str, int, int], object]"
"""Called with a source id, how many of its files are read, and how many there are to read."""

Question: TypeAlias = "tuple[str, str | None, int | None, str, int | None, Sequence[int]]"
"""Text, tag, grace days (``None``: stale ones too), strategy, quota, positions of the visible sources."""
