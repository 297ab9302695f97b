"""The rows that cross between Python and the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "CatalogDiagnosticRow",
    "ConceptTitleRow",
    "DeletionRow",
    "KnowledgeDiagnosticRow",
    "ListingRow",
    "MarkingRow",
    "OverlapRow",
    "PathRow",
    "ProblemRow",
    "Progress",
    "Question",
    "RemarkRow",
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


class RemarkRow(TypedDict):
    """A remark."""

    path: str
    line: int | None
    code: str
    sentence: str


class ReportRow(TypedDict):
    """What is known of one source, which is named by its position."""

    source: int
    directory: str | None
    concepts: int
    problems: list[tuple[str, str]]
    """Path, reason."""
    remarks: list[RemarkRow]
    remark_counts: list[tuple[str, int]]
    """Code, how many there are."""
    duplicate_of: str | None
    failure: str | None
    unwatched: str | None


Progress: TypeAlias = "Callable[[str, int, int], object]"
"""Called with a source id, how many of its files are read, and how many there are to read."""

Question: TypeAlias = "tuple[str, str | None, int | None, str, int | None, Sequence[int]]"
"""Text, tag, grace days (``None``: stale ones too), strategy, quota, positions of the visible sources."""


class PathRow(TypedDict):
    """A path below the directory of a source, and a reason."""

    path: str
    reason: str


class OverlapRow(TypedDict):
    """Two sources that overlap, by position (Y8)."""

    memory: int
    other: int


class MarkingRow(TypedDict):
    """What marking the directories of one memory source did (Y10)."""

    source: int
    marked: int
    failed: int
    first_failure: PathRow | None


class ConceptTitleRow(TypedDict):
    """A concept in a directory of memories."""

    id: str
    title: str | None


class ListingRow(TypedDict):
    """What one tier holds of a scope."""

    concepts: list[ConceptTitleRow]
    unread: list[str]
    """What could not be listed, one sentence each."""
    problems: list[PathRow]
    """Files that were not reported before."""


class DeletionRow(TypedDict):
    """How many directories of scopes and how many concepts are deleted, and why others are not."""

    scopes: int
    concepts: int
    failure: str | None
