"""One generation of a catalog: a snapshot, and what all searches of it have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, final

from okf_catalog._engine import Catalog, InMemoryCatalog, Memory, Snapshot
from okf_catalog.catalog.source import (
    KnowledgeCatalogSnapshot,
    KnowledgeCatalogSource,
    SourceRole,
    sources_of,
)

__all__ = ["Engine", "Generation"]

Engine: TypeAlias = Catalog | InMemoryCatalog
"""The compiled catalog: over bundle directories, or over texts."""


@final
class Generation:
    """One state of the manifest.

    ``handle`` is the engine's snapshot, ``snapshot`` the public value that was made from it. ``positions``
    are the sources that can be searched, in order S1; ``candidates`` are the same as pairs of position and
    source. ``memories`` has the positions of the enabled memory sources. ``overlap`` names a memory source,
    enabled or not, and another source through which others could read it (Y8).
    """

    __slots__ = ("__weakref__", "candidates", "handle", "memories", "overlap", "positions", "snapshot")

    def __init__(self, handle: Snapshot, engine: Engine) -> None:
        sources = sources_of(handle.sources)
        self.handle = handle
        self.snapshot = KnowledgeCatalogSnapshot(
            handle.version, sources, Path(handle.manifest_directory), handle.generation
        )
        self.positions = tuple(handle.candidates)
        self.candidates = tuple((position, sources[position]) for position in self.positions)
        self.memories = {
            source.tier: position
            for position, source in enumerate(sources)
            if source.enabled and source.tier is not None
        }
        # Checked once per generation: the directories are resolved at loading, and no link changes where
        # they lead later (C1).
        has_memory = any(source.role is SourceRole.MEMORY for source in sources)
        self.overlap: tuple[str, str] | None = None
        if has_memory and isinstance(engine, Catalog):
            self.overlap = _overlap(engine.memory(handle), sources)


def _overlap(memory: Memory, sources: Sequence[KnowledgeCatalogSource]) -> tuple[str, str] | None:
    row = memory.overlap()
    return None if row is None else (sources[row["memory"]].id, sources[row["other"]].id)
