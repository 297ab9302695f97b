"""Which tiers apply to a scope (Y2), and how memories are read (Y3)."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from making.asking import RESOLVERS
from making.bundles import write_tree
from making.memory import (
    ALICE,
    BOB,
    LOCAL,
    ROOTS,
    SESSION,
    TENANT,
    USER,
    entry,
    gone,
    names_in,
    open_memories,
    place,
    put,
    reads,
    wrote,
)
from making.processes import in_child
from okf_catalog import (
    CatalogClosedError,
    FileKnowledgeCatalog,
    FileMemoryStore,
    Freshness,
    KnowledgeAccessScope,
    KnowledgeQuery,
    MemoryDeleteResult,
    MemoryReadResult,
    MemoryTier,
    MemoryWriteResult,
    RefusedTypeError,
    RefusedValueError,
    StalePolicy,
    memory_path,
)

if TYPE_CHECKING:
    from pathlib import Path

# Which tiers: Y2


@pytest.mark.parametrize(
    ("scope", "tiers"),
    [
        (LOCAL, [SESSION, USER, TENANT]),
        (ALICE, [SESSION, USER, TENANT]),
        (KnowledgeAccessScope("acme"), [TENANT]),
        (KnowledgeAccessScope("acme", "alice"), [USER, TENANT]),
        (KnowledgeAccessScope(user_id="alice"), [USER]),
        (KnowledgeAccessScope(session_id="1"), [SESSION]),
        (KnowledgeAccessScope("acme", session_id="1"), [SESSION, TENANT]),
    ],
)
def test_a_tier_applies_to_scopes_that_carry_its_id(
    store: FileMemoryStore, tmp_path: Path, scope: KnowledgeAccessScope, tiers: list[MemoryTier]
) -> None:
    for tier in MemoryTier:
        result = store.write(scope, entry(f"word {tier.value}"), tier)
        assert result.written == (tier in tiers)
        if tier not in tiers:
            assert result.error is not None
            assert f"{tier.value!r} does not apply" in result.error
            assert store.delete_scope(scope, tier) == MemoryDeleteResult(0, result.error)
            # The memories of the local scope are not touched either.
            assert names_in(tmp_path / ROOTS[tier]) == []
    assert reads(store, scope) == [(f"memory:{tier.value}", f"word {tier.value}") for tier in tiers]
    assert [concept.tier for concept in store.enumerate(scope)] == tiers
    assert store.delete_scope(scope) == gone(len(tiers), len(tiers))
    assert store.delete_scope(scope) == MemoryDeleteResult(0, None)
    assert store.enumerate(scope) == ()


def test_a_tier_that_does_not_apply_is_never_read_or_deleted(store: FileMemoryStore) -> None:
    for tier in MemoryTier:
        wrote(store, LOCAL, tier, "a word")
    acme = KnowledgeAccessScope("acme")
    assert reads(store, acme) == []
    assert store.enumerate(acme) == ()
    assert store.delete_scope(acme) == MemoryDeleteResult(0, None)
    assert len(reads(store, LOCAL)) == 3


# How it is found: Y3


def test_a_read_gives_tier_by_tier_each_with_its_own_ranking(store: FileMemoryStore) -> None:
    for tier in (TENANT, SESSION, USER):
        for name, title, section in (("b-c", "word", ""), ("a", "x", "a word")):
            assert store.write(ALICE, entry(section, name, title=title), tier).written
    assert [
        (passage.source_id, passage.concept_id.rpartition("/")[2], passage.score)
        for passage in store.read(ALICE, "word").passages
    ] == [
        (f"memory:{tier}", name, score)
        for tier in ("session", "user", "tenant")
        for name, score in (("b-c", 3), ("a", 1))
    ]


def test_a_read_and_enumerate_give_the_same_ids_in_order(store: FileMemoryStore, tmp_path: Path) -> None:
    for name in ("a-b.md", "a/b.md", "a.md", "index.md", ".hidden.md", "notes.txt"):
        put(tmp_path, USER, "word", name)
    below = memory_path(USER, ALICE)
    found = [passage.concept_id for passage in store.read(ALICE, "word").passages]
    assert found == [f"{below}/a", f"{below}/a/b", f"{below}/a-b"]
    assert [concept.concept_id for concept in store.enumerate(ALICE)] == found
    assert {concept.title for concept in store.enumerate(ALICE)} == {None}


def test_a_read_without_memories_has_no_diagnostic(store: FileMemoryStore, tmp_path: Path) -> None:
    empty = MemoryReadResult((), ())
    assert store.read(ALICE, "word") == empty
    wrote(store, ALICE, USER, "other")
    assert store.read(ALICE, "word") == empty
    assert names_in(tmp_path / ROOTS[TENANT]) == []
    long = KnowledgeAccessScope("x" * 300)
    assert store.read(long, "word") == empty
    assert store.enumerate(long) == ()
    assert store.delete_scope(long) == MemoryDeleteResult(0, None)
    error = store.write(long, entry(), TENANT).error
    assert error is not None
    assert "file name too long" in error


def test_the_text_tag_and_stale_policy_of_a_question_count(memories: FileKnowledgeCatalog) -> None:
    now = datetime(2026, 3, 1, tzinfo=timezone.utc)
    store = FileMemoryStore(memories, clock=lambda: now)
    assert store.write(ALICE, entry("a word", "old", stale_after="2026-02-28", tags="x"), USER).written
    assert store.write(ALICE, entry("a word", "new", stale_after="2026-03-02"), USER).written

    def found(query: KnowledgeQuery) -> list[str]:
        return [passage.concept_id.rpartition("/")[2] for passage in store.read(ALICE, query).passages]

    assert found(KnowledgeQuery("word")) == ["new", "old"]
    assert found(KnowledgeQuery("word", "X")) == ["old"]
    assert found(KnowledgeQuery("word", stale_policy=StalePolicy.STRICT)) == ["new"]
    assert found(KnowledgeQuery("word", stale_policy=StalePolicy.tolerate(2))) == ["new", "old"]
    assert found(KnowledgeQuery("nothing")) == []


def test_a_read_ignores_the_restrictions_of_the_question(store: FileMemoryStore) -> None:
    wrote(store, ALICE, USER, "a word of alice")
    wrote(store, BOB, USER, "a word of bob")

    def never(*arguments: object) -> bool:
        pytest.fail(f"called with {arguments}")

    for query in (
        KnowledgeQuery("word", scope=BOB),
        KnowledgeQuery("word", permitted_source_ids=()),
        KnowledgeQuery("word", source_visibility_policy=never),
        KnowledgeQuery("word", resolver_strategy="merged", fairness_quota=1),
    ):
        assert [passage.excerpt for passage in store.read(ALICE, query).passages] == ["a word of alice"]


def test_a_read_sees_every_change_of_the_files(store: FileMemoryStore, tmp_path: Path) -> None:
    wrote(store, ALICE, USER, "a word")
    assert reads(store, ALICE) == [("memory:user", "a word")]
    written = put(tmp_path, USER, "one word")
    assert reads(store, ALICE) == [("memory:user", "one word")]
    written.write_text("two word", encoding="utf-8")
    assert reads(store, ALICE) == [("memory:user", "two word")]
    written.unlink()
    assert reads(store, ALICE) == []
    put(tmp_path, USER, "deep word", "a/b/c.md")
    assert reads(store, ALICE) == [("memory:user", "deep word")]
    assert store.delete_scope(ALICE, USER) == gone(1, 1)
    assert reads(store, ALICE) == []
    wrote(store, ALICE, USER, "word again")
    assert reads(store, ALICE) == [("memory:user", "word again")]


def test_a_host_reads_what_it_wrote_with_any_freshness(tmp_path: Path) -> None:
    with open_memories(tmp_path, freshness=Freshness.manual()) as catalog:
        store = FileMemoryStore(catalog)
        for text in ("one word", "two word"):
            wrote(store, ALICE, USER, text)
            assert reads(store, ALICE, text.split()[0]) == [("memory:user", text)]


def test_one_bad_file_hides_no_other_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with open_memories(tmp_path, max_file_bytes=300) as catalog:
        store = FileMemoryStore(catalog)
        wrote(store, ALICE, USER, "a word")
        put(tmp_path, USER, "word " * 100, "bad.md")
        for _ in range(2):
            assert [passage.excerpt for passage in store.read(ALICE, "word").passages] == ["a word"]
            assert len(store.enumerate(ALICE)) == 1
    # It is logged once, and reported by every read.
    assert [record.getMessage() for record in caplog.records] == [
        f"source 'memory:user': '{memory_path(USER, ALICE)}/bad.md' is left out: it has more than 300 bytes"
    ]


def test_thousands_of_scopes_are_remembered(store: FileMemoryStore, tmp_path: Path) -> None:
    """More scopes than the store keeps open at a time."""
    scopes = [KnowledgeAccessScope("acme", f"user{n}") for n in range(1000)]
    for n, scope in enumerate(scopes):
        write_tree(place(tmp_path, USER, scope), {"it.md": f"word {n}"})
    for _ in range(2):
        for n, scope in enumerate(scopes):
            assert reads(store, scope) == [("memory:user", f"word {n}")]


def test_a_store_refuses_the_questions_that_resolvers_refuse(
    memories: FileKnowledgeCatalog, store: FileMemoryStore
) -> None:
    resolver = RESOLVERS["router"](memories)
    for query in ("", " \u3000", "\ud800", None, 1, b"word", ["word"]):
        wrong: Any = query
        with pytest.raises((RefusedValueError, RefusedTypeError)) as expected:
            resolver.search(wrong)
        with pytest.raises(type(expected.value)) as raised:
            store.read(ALICE, wrong)
        assert str(raised.value) == str(expected.value)


def test_a_store_refuses_arguments_of_the_wrong_type(
    memories: FileKnowledgeCatalog, store: FileMemoryStore
) -> None:
    wrong: Any = "user"
    for act, message in (
        (lambda: store.read(wrong, "word"), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.enumerate(wrong), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.delete_scope(wrong), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.text(wrong, "a"), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.write(wrong, entry(), USER), "scope is a KnowledgeAccessScope, not str"),
        (lambda: store.write(ALICE, wrong, USER), "entry is a MemoryEntry, not str"),
        (lambda: store.write(ALICE, entry(), wrong), "tier is a MemoryTier, not str"),
        (lambda: store.delete_scope(ALICE, wrong), "tier is a MemoryTier or None, not str"),
        (lambda: FileMemoryStore(wrong), "catalog is a FileKnowledgeCatalog, not str"),
        (
            lambda: FileMemoryStore(memories, clock=wrong),
            "clock is called without arguments; str is not callable",
        ),
    ):
        with pytest.raises(RefusedTypeError) as raised:
            act()
        assert str(raised.value) == message


def test_text_is_shown_to_its_scope_alone(store: FileMemoryStore) -> None:
    wrote(store, ALICE, USER, "a word")
    (concept,) = store.enumerate(ALICE)
    assert store.text(ALICE, concept.concept_id) == "a word"
    assert store.text(BOB, concept.concept_id) is None
    for other in ("monday", "", f"{memory_path(USER, ALICE)}/../x", f"{memory_path(USER, ALICE)}/tuesday"):
        assert store.text(ALICE, other) is None
    with pytest.raises(RefusedValueError, match="concept_id holds a lone surrogate"):
        store.text(ALICE, "\ud800")


# Async, closing, forking


def test_the_async_methods_of_a_store_give_the_same(store: FileMemoryStore) -> None:
    async def act() -> None:
        assert await store.write_async(ALICE, entry(), USER) == MemoryWriteResult(written=True, error=None)
        assert await store.read_async(ALICE, "word") == store.read(ALICE, "word")
        assert await store.enumerate_async(ALICE) == store.enumerate(ALICE) != ()
        assert await store.delete_scope_async(ALICE, USER) == gone(1, 1)

    asyncio.run(act())


def test_a_store_of_a_closed_catalog_says_so(memories: FileKnowledgeCatalog, store: FileMemoryStore) -> None:
    memories.close()
    for act in (
        lambda: store.read(ALICE, "word"),
        lambda: store.write(ALICE, entry(), USER),
        lambda: store.delete_scope(ALICE),
        lambda: store.enumerate(ALICE),
        lambda: store.text(ALICE, "a"),
        lambda: FileMemoryStore(memories),
    ):
        with pytest.raises(CatalogClosedError, match="is closed; open it again"):
            act()


def test_a_forked_child_writes_and_reads_memories(store: FileMemoryStore) -> None:
    wrote(store, ALICE, USER, "a word")
    assert reads(store, ALICE) == [("memory:user", "a word")]

    def act() -> object:
        wrote(store, ALICE, USER, "from the child")
        return store.delete_scope(BOB), reads(store, ALICE, "child")

    assert in_child(act) == (MemoryDeleteResult(0, None), [("memory:user", "from the child")])
    assert reads(store, ALICE, "child") == [("memory:user", "from the child")]
