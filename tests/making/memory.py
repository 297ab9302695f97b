"""Catalogs that have memories, scopes that own them, and what is written there."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeAccessScope,
    MemoryDeleteResult,
    MemoryEntry,
    MemoryTier,
    memory_path,
)

from making.bundles import write_tree
from making.catalogs import open_catalog, write_manifest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from pathlib import Path

SESSION, USER, TENANT = MemoryTier

LOCAL = KnowledgeAccessScope.LOCAL
ALICE = KnowledgeAccessScope("acme", "alice", "1")
BOB = KnowledgeAccessScope("acme", "bob", "1")
USER_ALICE = KnowledgeAccessScope("acme", "alice")
"""Alice in no session."""
USER_BOB = KnowledgeAccessScope("acme", "bob")

FRONT = {"type": "AgentMemory", "title": "Monday", "description": "What was said"}

MARK = ".okf-memory"
"""The marker file. No reader of knowledge enters a directory that holds one (Y10)."""

ROOTS = {tier: f"memories/{tier.value}" for tier in MemoryTier}
"""The path of each tier's memory source below the catalog."""

BELOW = memory_path(USER, ALICE)
"""Where the memories of the user Alice are, below the root of their source."""
ALICES_DIRECTORY = f"{ROOTS[USER]}/{BELOW}"
"""The same below the catalog."""

OWN_IDS = {TENANT: 1, USER: 2, SESSION: 3}
"""How many ids, the tenant's first, tell the scopes of a tier apart."""


def own_ids(tier: MemoryTier, scope: KnowledgeAccessScope) -> tuple[str | None, ...]:
    """The ids of ``scope`` that say whose memory of ``tier`` it has."""
    return (scope.tenant_id, scope.user_id, scope.session_id)[: OWN_IDS[tier]]


def entry(section: str = "a word", name: str = "monday", **front: str) -> MemoryEntry:
    return MemoryEntry(name, {**FRONT, **front}, section)


def memory_source(tier: MemoryTier | str, id: str, path: str | None = None, **more: Any) -> dict[str, Any]:
    """A memory source as a manifest says it; its path is its id unless it is given."""
    return {"id": id, "path": path or id, "role": "memory", "tier": MemoryTier(tier).value, **more}


def memory_sources(tiers: Iterable[MemoryTier] = MemoryTier) -> list[dict[str, Any]]:
    return [memory_source(tier, f"remembers-{tier.value}", ROOTS[tier]) for tier in tiers]


def open_memories(
    directory: Path, others: Iterable[Mapping[str, Any]] = (), **options: Any
) -> FileKnowledgeCatalog:
    """A catalog of one knowledge source, ``docs``, with a memory source for each tier."""
    sources = [{"id": "docs", "path": "docs"}, *memory_sources(), *others]
    for source in sources:
        (directory / source["path"]).mkdir(parents=True, exist_ok=True)
    return open_catalog(write_manifest(directory, sources), **options)


def place(directory: Path, tier: MemoryTier, scope: KnowledgeAccessScope) -> Path:
    """Where a scope's memories of a tier are, in a catalog that :func:`open_memories` opens."""
    return directory / ROOTS[tier] / memory_path(tier, scope)


def put(directory: Path, tier: MemoryTier, text: str | bytes, name: str = "monday.md") -> Path:
    """Writes a file among Alice's memories, as an editor would."""
    write_tree(place(directory, tier, ALICE), {name: text})
    return place(directory, tier, ALICE) / name


def wrote(store: FileMemoryStore, scope: KnowledgeAccessScope, tier: MemoryTier, *sections: str) -> None:
    """Writes sections, each of which must be accepted."""
    for section in sections:
        result = store.write(scope, entry(section), tier)
        assert (result.written, result.error) == (True, None)


def reads(store: FileMemoryStore, scope: KnowledgeAccessScope, text: str = "word") -> list[tuple[str, str]]:
    """Source and excerpt of every passage that a scope finds; nothing may be unavailable."""
    result = store.read(scope, text)
    assert result.diagnostics == ()
    return [(passage.source_id, passage.excerpt) for passage in result.passages]


def gone(tiers: int, concepts: int, scopes: int | None = None) -> MemoryDeleteResult:
    """The result of deleting so much without an error."""
    return MemoryDeleteResult(tiers, None, concepts, tiers if scopes is None else scopes)


def texts_below(directory: Path) -> list[str]:
    """The texts of all concepts below a directory, in the order of their paths."""
    return [path.read_text(encoding="utf-8") for path in sorted(directory.rglob("*.md"))]


def names_in(directory: Path) -> list[str]:
    """The names in a directory, without the marker file."""
    return [path.name for path in directory.iterdir() if path.name != MARK]


def files_in(directory: Path) -> list[str]:
    """The path of every file below the memory sources of a catalog, without marker files."""
    found = (path for path in (directory / "memories").rglob("*") if not path.is_dir() or path.is_symlink())
    return sorted(str(path.relative_to(directory)) for path in found if path.name != MARK)


@contextmanager
def locked(directory: Path) -> Generator[None]:
    """The directory while another process writes there: it holds the lock."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
