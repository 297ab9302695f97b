"""What one scope writes, another never reads, enumerates or deletes; and no resolver ever finds it."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asking import RESOLVERS, WAYS
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from memories import ALICE, LOCAL, ROOTS, SESSION, TENANT, USER, entry, open_memories
from okf_catalog import (
    FileMemoryStore,
    KnowledgeAccessScope,
    KnowledgeQuery,
    MemoryDeleteResult,
    MemoryTier,
)
from profiles import FEWER

if TYPE_CHECKING:
    from collections.abc import Generator

IDS = ("ann", "Ann", "ANN", "anna", "an", "ann-", "a", "_", "local", "ann.md", "ann-" + "0" * 16)
"""Easily taken for one another: by case, as prefixes, or for what stands in a path."""

scopes = st.builds(KnowledgeAccessScope, *[st.none() | st.sampled_from(IDS)] * 3)

OWN = {TENANT: 1, USER: 2, SESSION: 3}
"""How many ids, the tenant's first, tell the scopes of a tier apart."""


def own(tier: MemoryTier, scope: KnowledgeAccessScope) -> tuple[str | None, ...] | None:
    """Whose memory of a tier a scope has; ``None`` if the tier does not apply."""
    ids = (scope.tenant_id, scope.user_id, scope.session_id)[: OWN[tier]]
    return ids if scope == LOCAL or ids[-1] is not None else None


@contextmanager
def new_store() -> Generator[FileMemoryStore]:
    with tempfile.TemporaryDirectory() as name, open_memories(Path(name)) as catalog:
        yield FileMemoryStore(catalog)


def seen(store: FileMemoryStore, scope: KnowledgeAccessScope) -> set[tuple[MemoryTier, str]]:
    """Tier and text of everything that a scope gets to see, in whatever way."""
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
def test_scopes_share_only_what_the_same_ids_remember(
    one: KnowledgeAccessScope, other: KnowledgeAccessScope
) -> None:
    assume(one != other)
    with new_store() as store:
        for scope, text in ((one, "word of one"), (other, "word of other")):
            for tier in MemoryTier:
                # Each writes a concept of its own, and one that both have.
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
        assert store.delete_scope(other) == MemoryDeleteResult(count, None)
        assert seen(store, other) == set()
        kept = {
            (tier, "word of one") for tier in MemoryTier if own(tier, one) not in (None, own(tier, other))
        }
        assert seen(store, one) == kept


def test_scopes_that_differ_in_case_are_apart_where_case_makes_no_difference() -> None:
    """Nothing that is made has a name that differs from another only in case."""
    with tempfile.TemporaryDirectory() as name, open_memories(Path(name)) as catalog:
        store = FileMemoryStore(catalog)
        for who in ("ann", "Ann", "ANN", "aNN"):
            assert store.write(KnowledgeAccessScope(who, who, who), entry(f"word {who}"), SESSION).written
        made = [str(path).casefold() for path in (Path(name) / ROOTS[SESSION]).rglob("*")]
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
