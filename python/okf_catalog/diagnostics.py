"""Diagnostics: faults that are reported as values and not raised.

A catalog diagnostic says what is wrong with a manifest or with the path of a source. A knowledge diagnostic
comes with an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from okf_catalog.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Iterable

    from okf_catalog.rows import CatalogDiagnosticRow, KnowledgeDiagnosticRow

__all__ = ["CatalogDiagnostic", "CatalogDiagnosticCode", "KnowledgeDiagnostic", "KnowledgeDiagnosticCode"]


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
class KnowledgeDiagnosticCode(Choice):
    """The kind of a diagnostic that comes with an answer (D1 to D3)."""

    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"
    NO_MATCHES = "NO_MATCHES"
    NO_ENABLED_SOURCES = "NO_ENABLED_SOURCES"


@final
@dataclass(frozen=True, slots=True)
class KnowledgeDiagnostic:
    """Something the caller should know about an answer. The message has no absolute path in it (D4)."""

    code: KnowledgeDiagnosticCode
    source_id: str | None
    message: str


def catalog_diagnostics(rows: Iterable[CatalogDiagnosticRow]) -> tuple[CatalogDiagnostic, ...]:
    """The values for the engine's rows."""
    return tuple(CatalogDiagnostic(CatalogDiagnosticCode(code), message) for code, message in rows)


def knowledge_diagnostics(rows: Iterable[KnowledgeDiagnosticRow]) -> tuple[KnowledgeDiagnostic, ...]:
    """The values for the engine's rows."""
    return tuple(
        KnowledgeDiagnostic(KnowledgeDiagnosticCode(code), source_id, message)
        for code, source_id, message in rows
    )
