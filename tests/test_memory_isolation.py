"""What one scope writes, another never reads, enumerates or deletes; and no resolver ever finds it."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from making.asking import RESOLVERS, WAYS
from making.catalogs import write_manifest
from making.memory import (
    ALICE,
    LOCAL,
    MARK,
    ROOTS,
    SESSION,
    USER,
    entry,
    gone,
    memory_sources,
    open_memories,
    own_ids,
)
from making.profiles import FEWER
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    Freshness,
    GroupedKnowledgeResolver,
    KnowledgeAccessScope,
    KnowledgeQuery,
    MemoryTier,
    RemarkCode,
    memory_path,
)

if TYPE_CHECKING:
    from collections.abc import Generator

IDS = ("ann", "Ann", "ANN", "anna", "an", "ann-", "a", "_", "local", "ann.md", "ann-" + "0" * 16)
"""Ids that are easily confused: by case, as prefixes, or with parts of a path."""

scopes = st.builds(KnowledgeAccessScope, *[st.none() | st.sampled_from(IDS)] * 3)


def own(tier: MemoryTier, scope: KnowledgeAccessScope) -> tuple[str | None, ...] | None:
    """The ids whose memory of a tier a scope reads; ``None`` if the tier does not apply."""
    ids = own_ids(tier, scope)
    return ids if scope == LOCAL or ids[-1] is not None else None


@contextmanager
def new_store() -> Generator[FileMemoryStore]:
    with tempfile.TemporaryDirectory() as name, open_memories(Path(name)) as catalog:
        yield FileMemoryStore(catalog)


def seen(store: FileMemoryStore, scope: KnowledgeAccessScope) -> set[tuple[MemoryTier, str]]:
    """Tier and text of every memory that a scope sees by read, enumerate and text."""
    result = store.read(scope, "word")
    assert result.diagnostics == ()
    read = {(passage.source_id, passage.concept_id, passage.excerpt) for passage in result.passages}
    listed = {
        (f"memory:{concept.tier.value}", concept.concept_id, store.text(scope, concept.concept_id))
        for concept in store.enumerate(scope)
    }
    assert read == listed
    return {(MemoryTier(source.removeprefix("memory:")), text) for source, _, text in read}


@settings(max_examples=FEWER)
@given(one=scopes, other=scopes)
@example(one=KnowledgeAccessScope("acme", "ann", "1"), other=KnowledgeAccessScope("acme", "anna", "1"))
@example(one=KnowledgeAccessScope("acme", "ann", "1"), other=KnowledgeAccessScope("acme", "Ann", "1"))
@example(one=KnowledgeAccessScope("acme", "ann", "1"), other=KnowledgeAccessScope("umbrella", "ann", "1"))
@example(one=LOCAL, other=KnowledgeAccessScope("acme"))
@example(one=LOCAL, other=KnowledgeAccessScope(session_id="1"))
def test_scopes_share_memories_only_by_equal_ids(
    one: KnowledgeAccessScope, other: KnowledgeAccessScope
) -> None:
    assume(one != other)
    with new_store() as store:
        for scope, text in ((one, "word of one"), (other, "word of other")):
            for tier in MemoryTier:
                # Each scope writes a concept of its own, and one whose name both have.
                name = text.rpartition(" ")[2]
                result = store.write(scope, entry(text, name), tier)
                assert result.written == (own(tier, scope) is not None)
        expected = {
            (reader, tier, text)
            for reader in (one, other)
            for writer, text in ((one, "word of one"), (other, "word of other"))
            for tier in MemoryTier
            if own(tier, writer) is not None and own(tier, writer) == own(tier, reader)
        }
        for reader in (one, other):
            assert seen(store, reader) == {(tier, text) for who, tier, text in expected if who == reader}
        count = sum(own(tier, other) is not None for tier in MemoryTier)
        concepts = len(seen(store, other))
        assert store.delete_scope(other) == gone(count, concepts)
        assert seen(store, other) == set()
        kept = {
            (tier, "word of one") for tier in MemoryTier if own(tier, one) not in (None, own(tier, other))
        }
        assert seen(store, one) == kept


def test_scopes_that_differ_in_case_are_apart_on_case_insensitive_file_systems() -> None:
    """No two names on the disk differ only in case."""
    with tempfile.TemporaryDirectory() as name, open_memories(Path(name)) as catalog:
        store = FileMemoryStore(catalog)
        for who in ("ann", "Ann", "ANN", "aNN"):
            assert store.write(KnowledgeAccessScope(who, who, who), entry(f"word {who}"), SESSION).written
        below = (path for path in (Path(name) / ROOTS[SESSION]).rglob("*") if path.name != MARK)
        made = [str(path).casefold() for path in below]
        assert len(made) == len({*made}) == 1 + 4 * 4
        for who in ("ann", "Ann", "ANN", "aNN"):
            assert seen(store, KnowledgeAccessScope(who, who, who)) == {(SESSION, f"word {who}")}


@settings(max_examples=FEWER)
@given(
    scope=scopes,
    permitted=st.none()
    | st.frozensets(st.sampled_from(["docs", *(f"remembers-{t.value}" for t in MemoryTier)])),
    resolver=st.sampled_from(sorted(RESOLVERS)),
    way=st.sampled_from(sorted(WAYS)),
)
def test_no_resolver_finds_a_memory(
    scope: KnowledgeAccessScope, permitted: frozenset[str] | None, resolver: str, way: str
) -> None:
    with tempfile.TemporaryDirectory() as name, open_memories(Path(name)) as catalog:
        store = FileMemoryStore(catalog)
        (Path(name) / "docs" / "a.md").write_text("a word in the docs", encoding="utf-8")
        for tier in MemoryTier:
            for n, who in enumerate((scope, ALICE, LOCAL)):
                store.write(who, entry("a word that is remembered", str(n), title="word"), tier)
        seen(store, scope)
        query: Any = KnowledgeQuery("word", scope=scope, permitted_source_ids=permitted)
        answer = WAYS[way](RESOLVERS[resolver](catalog), query)
        found = [(passage.source_id, passage.concept_id) for passage in answer.passages]
        assert found == ([("docs", "a")] if permitted is None or "docs" in permitted else [])
        catalog.refresh()
        assert WAYS[way](RESOLVERS[resolver](catalog), query).passages == answer.passages


SECRET = "ultramarine"


def found(catalog: FileKnowledgeCatalog) -> set[tuple[str, str]]:
    """Source and concept of every passage found for the secret, by search, batch and stream."""
    resolver = GroupedKnowledgeResolver(catalog)
    contexts = [
        resolver.search(SECRET),
        *resolver.search_batch([SECRET]),
        *resolver.search_stream([SECRET]),
    ]
    seen = [{(one.source_id, one.concept_id) for one in context.passages} for context in contexts]
    assert seen[0] == seen[1] == seen[2]
    return seen[0]


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        (".", {("kb", "own"), ("kb", "memories/user/own")}),
        ("memories", {("kb", "user/own")}),
        (ROOTS[USER], {("kb", "own")}),
        (f"{ROOTS[USER]}/memory-user", set[Any]()),
        (f"{ROOTS[USER]}/memory-user/acme-822b33ad87c148a0", set[Any]()),
    ],
)
def test_a_reload_that_puts_memories_among_knowledge_publishes_none(
    tmp_path: Path, path: str, kept: set[tuple[str, str]]
) -> None:
    with open_memories(tmp_path) as catalog:
        assert FileMemoryStore(catalog).write(ALICE, entry(f"alice likes {SECRET}"), USER).written
        (tmp_path / "own.md").write_text(SECRET)
        (tmp_path / ROOTS[USER] / "own.md").write_text(SECRET)
        write_manifest(tmp_path, [{"id": "kb", "path": path}, *memory_sources()])
        catalog.reload()
        assert found(catalog) == kept
        # The same for files that are written there afterwards.
        scope = tmp_path / ROOTS[USER] / memory_path(USER, ALICE)
        (scope / "later.md").write_text(SECRET)
        (scope / "deeper").mkdir()
        (scope / "deeper" / "later.md").write_text(SECRET)
        assert found(catalog) == kept
        report = next(report for report in catalog.report().sources if report.source.id == "kb")
        assert report.problems == ()
        assert RemarkCode.MEMORIES_LEFT_OUT in {remark.code for remark in report.remarks}
        assert report.failure is None or "memories" in report.failure


def test_an_indexed_directory_that_becomes_a_memory_is_no_longer_found(tmp_path: Path) -> None:
    scope = tmp_path / "kb" / memory_path(USER, ALICE)
    scope.mkdir(parents=True)
    (scope / "x.md").write_text(SECRET)
    (tmp_path / "kb" / "own.md").write_text(SECRET)
    knowledge = {"id": "kb", "path": "kb"}
    manifest = write_manifest(tmp_path, [knowledge])
    for freshness in (Freshness.EXACT, Freshness.manual()):
        write_manifest(tmp_path, [knowledge])
        for mark in tmp_path.rglob(MARK):
            mark.unlink()
        with FileKnowledgeCatalog(manifest, watch_for_changes=False, freshness=freshness) as catalog:
            assert len(found(catalog)) == 2
            memory = {"id": "diary", "path": "kb", "role": "memory", "tier": "user"}
            write_manifest(tmp_path, [knowledge, memory])
            catalog.reload()
            assert found(catalog) == {("kb", "own")}
            # The same when the manifest no longer names the memory (Y10).
            write_manifest(tmp_path, [knowledge])
            catalog.reload()
            assert found(catalog) == {("kb", "own")}


@pytest.mark.parametrize("inwards", [True, False])
def test_a_mount_publishes_no_memory(tmp_path: Path, *, inwards: bool) -> None:
    (tmp_path / "kb" / "private").mkdir(parents=True)
    with open_memories(tmp_path, [{"id": "kb", "path": "kb"}]) as catalog:
        store = FileMemoryStore(catalog)
        assert store.write(ALICE, entry(f"alice likes {SECRET}"), USER).written
        memories, place = tmp_path / ROOTS[USER], tmp_path / "kb" / "private"
        source = memories if inwards else memories / "memory-user"
        mounted = subprocess.run(["mount", "--bind", source, place], capture_output=True, check=False)
        if mounted.returncode:
            pytest.skip("only some may mount")
        try:
            assert found(catalog) == set()
        finally:
            subprocess.run(["umount", place], check=True)
