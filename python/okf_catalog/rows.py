"""The rows that cross between Python and the engine, in both directions.

A row is a plain tuple or dict, so that the engine needs no Python class for it. ``_engine.pyi`` uses these
names. The functions that turn rows into public values are next to those values.

A *position* is the index of a source in the snapshot, which keeps the order of the manifest (M2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "CatalogDiagnosticRow",
    "DeletedRow",
    "FrontmatterRow",
    "KnowledgeDiagnosticRow",
    "ListedRow",
    "MarkedRow",
    "MemoryPlace",
    "ProblemRow",
    "Progress",
    "Question",
    "RemarkRow",
    "ReportRow",
    "SourceRow",
]

# From Python to the engine

Question: TypeAlias = "tuple[str, str | None, int | None, str, int | None, Sequence[int]]"
"""A query as the engine takes it.

Text, tag, grace days (``None``: stale concepts are admitted), strategy, quota, and the positions of the
sources that it may see, in order S1.
"""

Progress: TypeAlias = "Callable[[str, int, int], object]"
"""Called with a source id, how many of its files are read, and how many there are to read."""

MemoryPlace: TypeAlias = "tuple[int, str]"
"""Where one tier keeps the memories of one scope: position of the memory source, directory below its root."""

FrontmatterRow: TypeAlias = "tuple[str, str | Sequence[tuple[str, str]]]"
"""Key, and its value: a text, or pairs of key and text."""

# From the engine to Python

SourceRow: TypeAlias = "tuple[str, str, int, bool, str, str | None]"
"""Id, path, priority, enabled, role, tier."""

CatalogDiagnosticRow: TypeAlias = "tuple[str, str]"
"""Code, message."""

KnowledgeDiagnosticRow: TypeAlias = "tuple[str, str | None, str]"
"""Code, source id, message."""

ProblemRow: TypeAlias = "tuple[str, str, str]"
"""Source id, path below the bundle root, reason."""

MarkedRow: TypeAlias = "tuple[int, int, int, tuple[str, str] | None]"
"""Position of a memory source, how many of its directories were marked, how many could not be marked, and the
path and reason of the first of those."""

ListedRow: TypeAlias = "tuple[list[tuple[str, str | None]], list[str], list[tuple[str, str]]]"
"""Concepts as id and title, messages about what could not be listed, problem files as path and reason."""

DeletedRow: TypeAlias = "tuple[int, int, str | None]"
"""How many directories of scopes and how many concepts were deleted, and why something could not be."""


class RemarkRow(TypedDict):
    """A remark on one file, or on a name that is passed over."""

    path: str
    line: int | None
    code: str
    sentence: str


class ReportRow(TypedDict):
    """The report on one source."""

    source: int
    """The position of the source."""
    directory: str | None
    concepts: int
    problems: list[tuple[str, str]]
    """Path, reason."""
    remarks: list[RemarkRow]
    remark_counts: list[tuple[str, int]]
    """Code, how many remarks there are of it."""
    duplicate_of: str | None
    failure: str | None
    unwatched: str | None
    """Why the directory is compared with the disk, instead of waiting for the kernel's events."""
