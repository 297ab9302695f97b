"""What ``catalog.json`` says."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from okf_catalog import _engine
from okf_catalog.checks import check_kind, check_str
from okf_catalog.choice import Choice
from okf_catalog.errors import RefusedValueError
from okf_catalog.rows import CatalogDiagnosticRow, SourceRow

__all__ = [
    "CatalogDiagnostic",
    "CatalogDiagnosticCode",
    "KnowledgeCatalogSnapshot",
    "KnowledgeCatalogSource",
    "MemoryTier",
    "SourceRole",
    "parse_manifest",
]

VERSION = 1


@final
class SourceRole(Choice):
    """What a source is for; only ``KNOWLEDGE`` is ever searched (S1)."""

    KNOWLEDGE = "knowledge"
    MEMORY = "memory"


@final
class MemoryTier(Choice):
    """How far a memory source reaches."""

    SESSION = "session"
    USER = "user"
    TENANT = "tenant"


@final
class CatalogDiagnosticCode(Choice):
    """The kind of a fault in a catalog (M1, C1)."""

    PARSE_ERROR = "PARSE_ERROR"
    UNKNOWN_ROOT_PROPERTY = "UNKNOWN_ROOT_PROPERTY"
    WRONG_VERSION = "WRONG_VERSION"
    EMPTY_SOURCES = "EMPTY_SOURCES"
    UNKNOWN_SOURCE_PROPERTY = "UNKNOWN_SOURCE_PROPERTY"
    INVALID_SOURCE_ID = "INVALID_SOURCE_ID"
    DUPLICATE_SOURCE_ID = "DUPLICATE_SOURCE_ID"
    EMPTY_PATH = "EMPTY_PATH"
    MALFORMED_PRIORITY = "MALFORMED_PRIORITY"
    MALFORMED_ENABLED = "MALFORMED_ENABLED"
    ILLEGAL_ROLE = "ILLEGAL_ROLE"
    ILLEGAL_TIER = "ILLEGAL_TIER"
    DUPLICATE_MEMORY_TIER = "DUPLICATE_MEMORY_TIER"
    EMBEDDED_NUL = "EMBEDDED_NUL"
    INVALID_PATH = "INVALID_PATH"
    ABSOLUTE_PATH = "ABSOLUTE_PATH"
    OUTSIDE_ROOT = "OUTSIDE_ROOT"
    TARGET_NOT_FOUND = "TARGET_NOT_FOUND"
    REPARSE_POINT_IN_PATH = "REPARSE_POINT_IN_PATH"


@final
@dataclass(frozen=True, slots=True)
class CatalogDiagnostic:
    """One fault of a catalog: its kind, and a sentence that says where it is and what would be right."""

    code: CatalogDiagnosticCode
    message: str


@final
@dataclass(frozen=True, slots=True)
class KnowledgeCatalogSource:
    """One entry of the manifest. ``path`` is as written; ``tier`` is set for memory, and only there."""

    id: str
    path: str
    priority: int = 0
    enabled: bool = True
    role: SourceRole = SourceRole.KNOWLEDGE
    tier: MemoryTier | None = None


@final
@dataclass(frozen=True, slots=True)
class KnowledgeCatalogSnapshot:
    """The manifest at one moment. ``sources`` keeps the order of the file (M2)."""

    version: int
    sources: tuple[KnowledgeCatalogSource, ...]
    manifest_directory: Path
    generation: int


def parse_manifest(
    text: str | bytes, *, manifest_directory: str | os.PathLike[str]
) -> KnowledgeCatalogSnapshot | tuple[CatalogDiagnostic, ...]:
    """The snapshot that a manifest describes, as generation 1, or everything that is wrong with it (M1).

    Nothing is looked up on disk; ``manifest_directory`` is only what the snapshot carries.

    Raises:
        RefusedTypeError: ``text`` is neither ``str`` nor ``bytes``, or the directory is no path.
    """
    check_kind("text", text, (str, bytes), "a str or bytes")
    # Half of a surrogate pair is no UTF-8, and is reported as such.
    content = check_str("text", text).encode(errors="surrogatepass") if isinstance(text, str) else text
    directory = path_text("manifest_directory", manifest_directory)
    sources, diagnostics = _engine.parse_manifest(content)
    if diagnostics:
        return diagnostics_of(diagnostics)
    return KnowledgeCatalogSnapshot(VERSION, sources_of(sources), Path(directory), 1)


def path_text(field: str, path: str | os.PathLike[str]) -> str:
    """The path as text.

    Raises:
        RefusedTypeError: it is neither a ``str`` nor a path of text.
    """
    expected = "a str or a path of text"
    check_kind(field, path, (str, os.PathLike), expected)
    text = check_str(field, os.fspath(path), expected)
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise RefusedValueError(
            f"{field} holds {text[error.start]!a}, which no path of this system can"
        ) from None
    return text


def diagnostics_of(rows: Iterable[CatalogDiagnosticRow]) -> tuple[CatalogDiagnostic, ...]:
    """The values for what the engine found wrong."""
    return tuple(CatalogDiagnostic(CatalogDiagnosticCode(code), message) for code, message in rows)


def sources_of(rows: Iterable[SourceRow]) -> tuple[KnowledgeCatalogSource, ...]:
    """The values for what the engine read."""
    return tuple(
        KnowledgeCatalogSource(
            source_id, path, priority, enabled, SourceRole(role), None if tier is None else MemoryTier(tier)
        )
        for source_id, path, priority, enabled, role, tier in rows
    )
