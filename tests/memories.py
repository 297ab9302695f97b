"""A catalog that remembers, and who writes there."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import warnings
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
from trees import write_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

SESSION, USER, TENANT = MemoryTier

LOCAL = KnowledgeAccessScope.LOCAL
ALICE = KnowledgeAccessScope("acme", "alice", "1")
BOB = KnowledgeAccessScope("acme", "bob", "1")

FRONT = {"type": "AgentMemory", "title": "Monday", "description": "What was said"}

MARK = ".okf-memory"
"""The name of the file by which every reader of knowledge stays out of a directory (Y10)."""

ROOTS = {tier: f"memories/{tier.value}" for tier in MemoryTier}


def entry(section: str = "a word", name: str = "monday", **front: str) -> MemoryEntry:
    return MemoryEntry(name, {**FRONT, **front}, section)


def memory_sources(tiers: Iterable[MemoryTier] = MemoryTier) -> list[dict[str, Any]]:
    return [
        {"id": f"remembers-{tier.value}", "path": ROOTS[tier], "role": "memory", "tier": tier.value}
        for tier in tiers
    ]


def open_memories(
    directory: Path, others: Iterable[Mapping[str, Any]] = (), **options: Any
) -> FileKnowledgeCatalog:
    """A catalog of one knowledge source, ``docs``, with a memory source for each tier."""
    sources = [{"id": "docs", "path": "docs"}, *memory_sources(), *others]
    for source in sources:
        (directory / source["path"]).mkdir(parents=True, exist_ok=True)
    options.setdefault("watch_for_changes", False)
    return FileKnowledgeCatalog(write_manifest(directory, sources), **options)


def place(directory: Path, tier: MemoryTier, scope: KnowledgeAccessScope) -> Path:
    """Where a tier remembers for a scope, in a catalog that :func:`open_memories` opens."""
    return directory / ROOTS[tier] / memory_path(tier, scope)


def wrote(store: FileMemoryStore, scope: KnowledgeAccessScope, tier: MemoryTier, *sections: str) -> None:
    for section in sections:
        result = store.write(scope, entry(section), tier)
        assert (result.written, result.error) == (True, None)


def reads(store: FileMemoryStore, scope: KnowledgeAccessScope, text: str = "word") -> list[tuple[str, str]]:
    """Source and excerpt of everything that is found, when nothing is in the way."""
    result = store.read(scope, text)
    assert result.diagnostics == ()
    return [(passage.source_id, passage.excerpt) for passage in result.passages]


def gone(tiers: int, concepts: int, scopes: int | None = None) -> MemoryDeleteResult:
    """That so much was forgotten, and nothing was in the way."""
    return MemoryDeleteResult(tiers, None, concepts, tiers if scopes is None else scopes)


def fork(act: Callable[[int], None]) -> tuple[int, int]:
    """A child that does something, and the end of a pipe that it writes to."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python warns of threads at every fork; that it works all the same is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reading)
            act(writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    return pid, reading


def in_child(act: Callable[[], object], *, seconds: float = 30) -> Any:
    """What a forked child makes of something; it is killed if that takes too long."""
    pid, reading = fork(lambda writing: _write_all(writing, pickle.dumps(act())))
    deadline = time.monotonic() + seconds
    answer = b""
    try:
        while select.select([reading], [], [], max(deadline - time.monotonic(), 0))[0]:
            part = os.read(reading, 1 << 16)
            if not part:
                break
            answer += part
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert answer, "the child gave no answer"
    return pickle.loads(answer)


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def without_privileges(act: Callable[[], object]) -> Any:
    """What becomes of something that is done by nobody in particular, for whom file modes count."""

    def unprivileged() -> object:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        return act()

    return in_child(unprivileged)
