"""The sources of a catalog, and the snapshot that holds them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from okf_catalog.choice import Choice
from okf_catalog.rows import SourceRow

__all__ = ["KnowledgeCatalogSnapshot", "KnowledgeCatalogSource", "MemoryTier", "SourceRole"]


@final
class SourceRole(Choice):
    """What a source is for. A resolver searches only sources of the role ``KNOWLEDGE`` (S1)."""

    KNOWLEDGE = "knowledge"
    MEMORY = "memory"


@final
class MemoryTier(Choice):
    """Who shares the memories of a memory source: one session, one user or one tenant."""

    SESSION = "session"
    USER = "user"
    TENANT = "tenant"


@final
@dataclass(frozen=True, slots=True)
class KnowledgeCatalogSource:
    """One entry of the manifest.

    ``path`` is as written there. A memory source has a ``tier``; other sources have none.
    """

    id: str
    path: str
    priority: int = 0
    enabled: bool = True
    role: SourceRole = SourceRole.KNOWLEDGE
    tier: MemoryTier | None = None


@final
@dataclass(frozen=True, slots=True)
class KnowledgeCatalogSnapshot:
    """The manifest as it was read once. ``sources`` keeps the order of the file (M2)."""

    version: int
    sources: tuple[KnowledgeCatalogSource, ...]
    manifest_directory: Path
    generation: int


def sources_of(rows: Iterable[SourceRow]) -> tuple[KnowledgeCatalogSource, ...]:
    """The values for the engine's rows."""
    return tuple(
        KnowledgeCatalogSource(
            source_id, path, priority, enabled, SourceRole(role), None if tier is None else MemoryTier(tier)
        )
        for source_id, path, priority, enabled, role, tier in rows
    )
