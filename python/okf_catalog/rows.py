"""The rows that cross between Python and the engine, as dictionaries with field names.

``_engine.pyi`` uses these names, and the binding has a struct of the same name and fields for each. The
functions that turn rows into public values are next to those values.

A *position* is the index of a source in the snapshot, which keeps the order of the manifest (M2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "CatalogDiagnosticRow",
    "ConceptTitleRow",
    "DeletionRow",
    "DocumentRow",
    "FrontmatterRow",
    "KnowledgeDiagnosticRow",
    "LineRemarkRow",
    "ListingRow",
    "MarkingRow",
    "OverlapRow",
    "ProblemRow",
    "Progress",
    "RemarkCountRow",
    "RemarkRow",
    "ReportRow",
    "SourceProblemRow",
    "SourceRow",
    "TextSourceRow",
]

# From Python to the engine

Progress: TypeAlias = "Callable[[str, int, int], object]"
"""Called with a source id, how many of its files are read, and how many there are to read."""

FrontmatterRow: TypeAlias = "tuple[str, str | Sequence[tuple[str, str]]]"
"""Key, and its value: a text, or pairs of key and text."""


class TextSourceRow(NamedTuple):
    """A source made of texts (A2)."""

    id: str
    concepts: list[tuple[str, str]]
    """Pairs of concept id and text."""
    priority: int
    enabled: bool


# From the engine to Python


class SourceRow(TypedDict):
    """A source, as the manifest or the host names it."""

    id: str
    path: str
    priority: int
    enabled: bool
    role: str
    tier: str | None


class CatalogDiagnosticRow(TypedDict):
    """One fault of a manifest."""

    code: str
    message: str


class KnowledgeDiagnosticRow(TypedDict):
    """Something the caller should know about an answer."""

    code: str
    source_id: str | None
    message: str


class ProblemRow(TypedDict):
    """A file that is left out (B7), by its path below the root of its source."""

    path: str
    reason: str


class SourceProblemRow(TypedDict):
    """A file that is left out (B7), and its source."""

    source_id: str
    path: str
    reason: str


class RemarkRow(TypedDict):
    """A remark on one file, or on a name that is passed over."""

    path: str
    line: int | None
    code: str
    sentence: str


class RemarkCountRow(TypedDict):
    """How many remarks there are of one code."""

    code: str
    count: int


class ReportRow(TypedDict):
    """The report on one source."""

    source: int
    """The position of the source."""
    directory: str | None
    concepts: int
    problems: list[ProblemRow]
    remarks: list[RemarkRow]
    remark_counts: list[RemarkCountRow]
    duplicate_of: str | None
    failure: str | None
    compared_because: str | None
    """Why the directory is compared with the disk, instead of waiting for the kernel's events."""


class OverlapRow(TypedDict):
    """Two sources that overlap, by position (Y8)."""

    memory: int
    other: int


class MarkingRow(TypedDict):
    """What marking the directories of one memory source did (Y10)."""

    source: int
    marked: int
    failed: int
    first_failure: ProblemRow | None


class ConceptTitleRow(TypedDict):
    """A concept in a directory of memories."""

    id: str
    title: str | None


class ListingRow(TypedDict):
    """What one tier holds of a scope."""

    concepts: list[ConceptTitleRow]
    unread: list[str]
    """What could not be listed, one sentence each."""
    problems: list[ProblemRow]
    """Files that were not reported before."""


class DeletionRow(TypedDict):
    """What was deleted, and why something could not be."""

    scopes: int
    concepts: int
    failure: str | None


class LineRemarkRow(TypedDict):
    """A remark on a line of one file."""

    line: int | None
    code: str
    sentence: str


class DocumentRow(TypedDict):
    """What one file says."""

    title: str | None
    description: str | None
    tags: list[str]
    concept_type: str | None
    status: str
    stale_after: str | None
    trust_tier: str
    trust_tier_since_generated: str
    """The trust tier in a bundle that declares a version from which on verifications are dated (L5)."""
    okf_version: str | None
    body: str
    remarks: list[LineRemarkRow]
    nodes: list[tuple[str, str]]
    """The frontmatter, in order, as pairs of kind (text, null, alias, list, mapping or end) and text."""
