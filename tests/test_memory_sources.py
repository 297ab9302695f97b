"""Memories follow the manifest while a catalog is open (Y7), and lie apart from knowledge (Y8)."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from making.catalogs import write_manifest
from making.memory import (
    ALICE,
    ROOTS,
    TENANT,
    USER,
    entry,
    gone,
    memory_sources,
    open_memories,
    place,
    reads,
    wrote,
)
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeAccessScope,
    KnowledgeDiagnostic,
    KnowledgeDiagnosticCode,
    KnowledgeQuery,
    MemoryDeleteResult,
    MemoryOverlapError,
    MemoryReadResult,
    MemoryTier,
    MemoryWriteResult,
    StalePolicy,
    memory_path,
    open_knowledge,
)

# The catalog, live: Y7


def test_tiers_come_and_go_with_the_manifest(
    memories: FileKnowledgeCatalog, store: FileMemoryStore, tmp_path: Path
) -> None:
    wrote(store, ALICE, USER, "a word")
    wrote(store, ALICE, TENANT, "a word")
    docs = {"id": "docs", "path": "docs"}
    write_manifest(tmp_path, [docs, *memory_sources([TENANT])])
    assert len(reads(store, ALICE)) == 2
    memories.reload()
    assert reads(store, ALICE) == [("memory:tenant", "a word")]
    assert store.write(ALICE, entry(), USER) == MemoryWriteResult(
        written=False, error="the catalog has no enabled memory source of the tier 'user'"
    )
    assert (
        store.delete_scope(ALICE, USER).error == "the catalog has no enabled memory source of the tier 'user'"
    )
    (tenant,) = memory_sources([TENANT])
    write_manifest(tmp_path, [docs, {**tenant, "enabled": False}, *memory_sources([USER])])
    memories.reload()
    assert [concept.tier for concept in store.enumerate(ALICE)] == [USER]
    write_manifest(tmp_path, [docs])
    memories.reload()
    assert store.read(ALICE, "word") == MemoryReadResult((), ())
    assert store.enumerate(ALICE) == ()
    assert store.delete_scope(ALICE) == MemoryDeleteResult(0, None)


def test_a_host_has_a_memory_while_its_catalog_has_one(tmp_path: Path) -> None:
    open_memories(tmp_path).close()
    manifest = write_manifest(tmp_path, [{"id": "docs", "path": "docs"}])
    later = datetime(2030, 1, 1, tzinfo=timezone.utc)
    with open_knowledge(manifest, watch_for_changes=False, clock=lambda: later) as knowledge:

        def has_memory() -> bool:
            return knowledge.memory is not None

        assert not has_memory()
        write_manifest(tmp_path, [{"id": "docs", "path": "docs"}, *memory_sources()])
        knowledge.catalog.reload()
        memory = knowledge.memory
        assert memory is not None
        assert memory is knowledge.memory
        assert memory.write(ALICE, entry(stale_after="2029-01-01"), USER).written
        assert memory.read(ALICE, KnowledgeQuery("word", stale_policy=StalePolicy.STRICT)).passages == ()
        write_manifest(tmp_path, [{"id": "docs", "path": "docs"}])
        knowledge.catalog.reload()
        assert not has_memory()
        assert memory.read(ALICE, "word") == MemoryReadResult((), ())


# Apart from what others see: Y8


@pytest.mark.parametrize(
    ("docs", "memory"),
    [
        ("a/b", "a/b"),
        ("a/b", "a"),
        ("a", "a/b"),
        (".", "a"),
        ("a", "."),
        ("a/b", "A/B"),
        ("a/B/c", "A/b"),
        ("ä", "Ä/x"),
        ("a/../a", "./a/"),
    ],
)
def test_memories_that_would_be_published_are_refused(tmp_path: Path, docs: str, memory: str) -> None:
    sources = [
        {"id": "docs", "path": docs},
        {"id": "apart", "path": "apart"},
        {"id": "diary", "path": memory, "role": "memory", "tier": "user"},
    ]
    for source in sources:
        (tmp_path / source["path"]).mkdir(parents=True, exist_ok=True)
    manifest = write_manifest(tmp_path, sources)
    with open_knowledge(manifest, watch_for_changes=False) as knowledge:
        with pytest.raises(MemoryOverlapError) as raised:
            FileMemoryStore(knowledge.catalog)
        assert (raised.value.memory_source_id, raised.value.other_source_id) == ("diary", "docs")
        assert "'diary'" in str(raised.value)
        assert "'docs'" in str(raised.value)
        assert str(tmp_path) not in str(raised.value)
        with pytest.raises(MemoryOverlapError):
            _ = knowledge.memory


def test_memories_that_lie_apart_are_accepted(tmp_path: Path) -> None:
    sources: list[dict[str, Any]] = [
        {"id": "docs", "path": "a/docs"},
        {"id": "off", "path": "a", "enabled": False},
        {"id": "user", "path": "a/docs2", "role": "memory", "tier": "user"},
        {"id": "tenant", "path": "a/docs2", "role": "memory", "tier": "tenant"},
        {"id": "session", "path": "a/docs2/session", "role": "memory", "tier": "session"},
    ]
    for source in sources:
        (tmp_path / source["path"]).mkdir(parents=True, exist_ok=True)
    with FileKnowledgeCatalog(write_manifest(tmp_path, sources), watch_for_changes=False) as catalog:
        store = FileMemoryStore(catalog)
        for tier in MemoryTier:
            wrote(store, ALICE, tier, f"word {tier.value}")
        assert [source for source, _ in reads(store, ALICE)] == [
            "memory:session",
            "memory:user",
            "memory:tenant",
        ]
        assert store.delete_scope(ALICE, TENANT) == gone(1, 1)
        assert len(reads(store, ALICE)) == 2


def test_no_memory_source_lies_among_the_scopes_of_another(tmp_path: Path) -> None:
    sources = [
        {"id": "tenants", "path": "a", "role": "memory", "tier": "tenant"},
        {"id": "users", "path": "a/Memory-Tenant/acme", "role": "memory", "tier": "user"},
    ]
    (tmp_path / "a" / "Memory-Tenant" / "acme").mkdir(parents=True)
    with FileKnowledgeCatalog(write_manifest(tmp_path, sources), watch_for_changes=False) as catalog:
        with pytest.raises(MemoryOverlapError) as raised:
            FileMemoryStore(catalog)
        assert raised.value.args == ("tenants", "users")


def test_overlap_is_decided_by_the_real_directories(tmp_path: Path) -> None:
    """One directory, mounted at a second path that shares no component with the first."""
    for name in ("a/docs/below", "b"):
        (tmp_path / name).mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "--bind", tmp_path / "a/docs/below", tmp_path / "b"], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only some may mount")
    try:
        sources = [
            {"id": "docs", "path": "b"},
            {"id": "diary", "path": "a/docs", "role": "memory", "tier": "user"},
            {"id": "same", "path": "a/docs/below", "role": "memory", "tier": "tenant"},
        ]
        with FileKnowledgeCatalog(write_manifest(tmp_path, sources), watch_for_changes=False) as catalog:
            with pytest.raises(MemoryOverlapError) as raised:
                FileMemoryStore(catalog)
            assert raised.value.args == ("same", "docs")
    finally:
        subprocess.run(["umount", tmp_path / "b"], check=True)


def test_a_reload_that_would_publish_memories_disables_the_store(
    memories: FileKnowledgeCatalog, store: FileMemoryStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wrote(store, ALICE, USER, "a word")
    before = (place(tmp_path, USER, ALICE) / "monday.md").read_bytes()
    docs = {"id": "docs", "path": "docs"}
    write_manifest(tmp_path, [docs, {"id": "all", "path": "memories"}, *memory_sources()])
    memories.reload()
    (record,) = caplog.records
    assert record.getMessage().startswith("memory source 'remembers-session' and source 'all' overlap: ")
    result = store.read(ALICE, "word")
    message = result.diagnostics[0].message
    assert message.startswith("memory is unavailable: ")
    # The message names neither the sources nor the tier.
    assert not [
        word for word in ("remembers", "'", "all ", "docs", "memories", str(tmp_path)) if word in message
    ]
    unavailable = tuple(
        KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, f"memory:{tier.value}", message)
        for tier in MemoryTier
    )
    assert result == MemoryReadResult((), unavailable)
    listed = store.enumerate(ALICE)
    assert (listed, listed.diagnostics) == ((), unavailable)
    acme = store.enumerate(KnowledgeAccessScope("acme"))
    assert [one.source_id for one in acme.diagnostics] == ["memory:tenant"]
    assert store.text(ALICE, f"{memory_path(USER, ALICE)}/monday") is None
    assert store.write(ALICE, entry(), USER) == MemoryWriteResult(written=False, error=message)
    assert store.delete_scope(ALICE) == MemoryDeleteResult(0, message)
    assert store.delete_scope(ALICE, below=True) == MemoryDeleteResult(0, message)
    assert store.delete(ALICE, USER, "monday") == MemoryDeleteResult(0, message)
    assert (place(tmp_path, USER, ALICE) / "monday.md").read_bytes() == before
    write_manifest(tmp_path, [docs, *memory_sources()])
    memories.reload()
    assert reads(store, ALICE) == [("memory:user", "a word")]


@pytest.mark.parametrize("touched", [True, False])
def test_results_say_that_a_reload_would_publish_memories(tmp_path: Path, *, touched: bool) -> None:
    """The same for a store that was used before and one that was not."""
    open_memories(tmp_path).close()
    docs = {"id": "docs", "path": "docs"}
    manifest = write_manifest(tmp_path, [docs, *memory_sources()])
    with open_knowledge(manifest, watch_for_changes=False) as knowledge:
        if touched:
            assert knowledge.memory is not None
        write_manifest(tmp_path, [docs, {"id": "all", "path": "memories"}, *memory_sources()])
        knowledge.catalog.reload()
        memory = knowledge.memory
        assert memory is not None
        assert [one.source_id for one in memory.read(ALICE, "word").diagnostics] == [
            "memory:session",
            "memory:user",
            "memory:tenant",
        ]
        assert not memory.write(ALICE, entry(), USER).written
        # Making another store raises an error with the names: only a host does that.
        with pytest.raises(MemoryOverlapError, match="'all'"):
            FileMemoryStore(knowledge.catalog)
        write_manifest(tmp_path, [docs, *memory_sources()])
        knowledge.catalog.reload()
        wrote(memory, ALICE, USER, "a word")


def test_memories_never_expire(memories: FileKnowledgeCatalog) -> None:
    later = datetime.now(timezone.utc) + timedelta(days=36500)
    store = FileMemoryStore(memories, clock=lambda: later)
    wrote(store, ALICE, USER, "a word")
    assert store.write(ALICE, entry("stale word", "b", stale_after="2000-01-01"), USER).written
    assert len(reads(store, ALICE)) == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_report_counts_all_memories_and_neither_watches_nor_logs_them(
    tmp_path: Path, memories: FileKnowledgeCatalog, store: FileMemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    def watched() -> int:
        notes = Path("/proc/self/fdinfo").iterdir()
        return sum(note.read_text().count("inotify wd:") for note in notes if note.exists())

    memories.report()
    before = watched()
    for number in range(20):
        wrote(store, KnowledgeAccessScope("acme", f"user{number}"), USER, "a word")
    (tmp_path / ROOTS[USER] / "broken.md").write_bytes(b"a word\0")
    for _ in range(2):
        sources = {report.source.id: report for report in memories.report().sources}
        report = sources[f"remembers-{USER.value}"]
        assert (report.concepts, [problem.path for problem in report.problems]) == (20, ["broken.md"])
        assert report.compared_because is None
    assert watched() == before
    assert not caplog.records
