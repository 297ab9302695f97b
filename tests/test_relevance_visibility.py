"""What a caller may not see changes no byte of an answer, under either scoring (V6, S5)."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making.bundles import write_tree
from making.catalogs import open_catalog, write_manifest
from making.clocks import at_noon
from making.drawn import Tree, documents, trees
from making.drawn_texts import phrase_pools, texts
from making.memory import ALICE, BOB, SESSION, USER, memory_source, open_memories, place, put, wrote
from making.profiles import FEWER
from making.relevance import EVERYBODY, Caller, answers, bytes_of, queries_of
from naive_relevance import relevance_of
from okf_catalog import (
    FileMemoryStore,
    InMemoryKnowledgeCatalog,
    InMemorySource,
    KnowledgeAccessScope,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    KnowledgeUnit,
    MemoryTier,
    StalePolicy,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from okf_catalog import FileKnowledgeCatalog, KnowledgePassage

SEEN = ("seen", "also-seen")
HIDDEN = ("a-hidden", "z-hidden")
BY_CALLER = ("permitted", "policy", "policy of the host")
"""How a caller is kept from sources that the catalog searches for others."""
BY_CATALOG = ("disabled", "memory")

FEW = settings(max_examples=max(1, FEWER // 2))


class Drawn:
    """A few texts, bundles of them, and questions about them."""

    def __init__(self, data: st.DataObject) -> None:
        self.pool = data.draw(phrase_pools())
        self.contents = data.draw(st.lists(documents(self.pool), min_size=2, max_size=4))
        self.bundles = {name: self.tree(data) for name in (*SEEN, *HIDDEN)}
        self.queries = queries_of(data.draw(st.lists(texts(self.pool), min_size=1, max_size=2)))

    def tree(self, data: st.DataObject) -> Tree:
        return data.draw(trees(self.contents, max_files=6))

    def texts(self, name: str) -> dict[str, str]:
        """A bundle as the texts of a source in memory."""
        return {
            path.removesuffix(".md"): content.decode(errors="replace")
            for path, content in self.bundles[name].items()
            if path.endswith(".md")
        }


def rows_of(hiding: str) -> list[dict[str, Any]]:
    """Seen and hidden sources of one priority, so that ids decide; the hidden ones come first and last."""
    rows: list[dict[str, Any]] = [{"id": name, "path": name} for name in (HIDDEN[0], *SEEN, HIDDEN[1])]
    if hiding == "disabled":
        rows = [{**row, "enabled": row["id"] in SEEN} for row in rows]
    if hiding == "memory":
        tiers = dict(zip(HIDDEN, ("user", "session"), strict=True))
        rows = [
            {**row, "role": "memory", "tier": tiers[row["id"]]} if row["id"] in HIDDEN else row
            for row in rows
        ]
    return rows


@contextmanager
def opened(
    bundles: dict[str, Tree], rows: Sequence[dict[str, Any]]
) -> Generator[tuple[FileKnowledgeCatalog, Path]]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for bundle, tree in bundles.items():
            (root / bundle).mkdir()
            write_tree(root / bundle, tree)
        with open_catalog(write_manifest(root, rows)) as catalog:
            yield catalog, root


def replace_bundle(root: Path, name: str, tree: Tree) -> None:
    shutil.rmtree(root / name)
    (root / name).mkdir()
    write_tree(root / name, tree)


@settings(max_examples=FEWER)
@given(hiding=st.sampled_from(BY_CALLER + BY_CATALOG), data=st.data())
def test_files_of_hidden_sources_change_no_byte_of_an_answer(hiding: str, data: st.DataObject) -> None:
    drawn = Drawn(data)
    caller = Caller.of(hiding, SEEN) if hiding in BY_CALLER else EVERYBODY
    with opened(drawn.bundles, rows_of(hiding)) as (catalog, root):
        before = answers(catalog, caller, drawn.queries)
        for change in ("add", "change", "remove", "empty"):
            for name in HIDDEN:
                # What is hidden says what is seen, so that it would count.
                tree = {
                    "add": {**drawn.bundles[name], **drawn.bundles[SEEN[0]]},
                    "change": dict.fromkeys(
                        drawn.bundles[SEEN[1]], data.draw(st.sampled_from(drawn.contents))
                    ),
                    "remove": dict([*drawn.bundles[name].items()][:1]),
                    "empty": {},
                }[change]
                try:
                    replace_bundle(root, name, tree)
                except OSError:
                    # A file of one bundle stands where the other needs a directory.
                    replace_bundle(root, name, drawn.bundles[SEEN[0]])
            assert answers(catalog, caller, drawn.queries) == before, change
        shutil.rmtree(root / HIDDEN[0])
        assert answers(catalog, caller, drawn.queries) == before


@settings(max_examples=FEWER)
@given(hiding=st.sampled_from([*BY_CALLER, "disabled"]), data=st.data())
def test_texts_of_hidden_sources_change_no_byte_of_an_answer(hiding: str, data: st.DataObject) -> None:
    drawn = Drawn(data)
    caller = Caller.of(hiding, SEEN) if hiding in BY_CALLER else EVERYBODY
    sources = [
        InMemorySource(name, drawn.texts(name), enabled=hiding != "disabled" or name in SEEN)
        for name in (HIDDEN[0], *SEEN, HIDDEN[1])
    ]
    with InMemoryKnowledgeCatalog(sources) as catalog:
        before = answers(catalog, caller, drawn.queries)
        for name in HIDDEN:
            hidden = InMemorySource(name, drawn.texts(name), enabled=hiding != "disabled")
            for concepts in (drawn.texts(SEEN[0]), {**hidden.concepts, "more/of it": "a"}, {}):
                catalog.put(replace(hidden, concepts=concepts))
                assert answers(catalog, caller, drawn.queries) == before
            catalog.remove(name)
            assert answers(catalog, caller, drawn.queries) == before
    with InMemoryKnowledgeCatalog([source for source in sources if source.id in SEEN]) as catalog:
        assert answers(catalog, caller, drawn.queries) == before


def test_memories_that_are_written_change_no_byte_of_an_answer(tmp_path: Path) -> None:
    write_tree(tmp_path, {"seen/a.md": "a word", "seen/b.md": "a word, and a longer text about words"})
    (tmp_path / "notes").mkdir()
    rows = [{"id": "seen", "path": "seen"}, memory_source("user", "notes")]
    queries = queries_of(["word", "longer word", "nothing"])
    with open_catalog(write_manifest(tmp_path, rows)) as catalog:
        before = answers(catalog, EVERYBODY, queries)
        for number in range(3):
            wrote(FileMemoryStore(catalog), ALICE, USER, "a longer word " * number)
            assert answers(catalog, EVERYBODY, queries) == before


def test_memories_of_others_change_no_byte_of_what_a_scope_reads(tmp_path: Path) -> None:
    """The concepts that count are those of the scope's own memories, and their scores those of the model."""
    words = ["a word", "a word of two words", "another, longer text about restoring", "restore the word"]
    queries = [KnowledgeQuery("how to restore a word", scoring=scoring) for scoring in KnowledgeScoring]
    with open_memories(tmp_path) as catalog:
        store = FileMemoryStore(catalog)
        for number, (tier, text) in enumerate(product(MemoryTier, words)):
            put(tmp_path, tier, f"---\ntype: AgentMemory\n---\n{text}\n", f"note-{number}.md")
        before = [bytes_of(store.read(ALICE, query)) for query in queries]
        for number in range(3):
            wrote(store, BOB, USER, "restore the word " * (number + 1))
            wrote(store, KnowledgeAccessScope("other", "alice", "1"), SESSION, "a word to restore")
            write_tree(tmp_path / "docs", {f"{number}.md": "a word to restore"})
            assert [bytes_of(store.read(ALICE, query)) for query in queries] == before
        found = store.read(ALICE, queries[1]).passages
    bundles = [naive.read_bundle(place(tmp_path, tier, ALICE)) for tier in MemoryTier]
    relevance = relevance_of(queries[1].text, bundles)
    scores = [relevance.score(concept) for bundle in bundles for concept in bundle.concepts]
    assert sorted(passage.score for passage in found) == sorted(scores)
    assert len(scores) == 12


@FEW
@given(data=st.data())
def test_the_order_of_the_manifest_changes_no_byte_of_an_answer(data: st.DataObject) -> None:
    drawn = Drawn(data)
    rows: list[dict[str, Any]] = [
        {"id": name, "path": data.draw(st.sampled_from(SEEN)), "priority": data.draw(st.integers(0, 1))}
        for name in ("a", "B", "c", "d")
    ]
    with opened(drawn.bundles, rows) as (catalog, root):
        before = answers(catalog, EVERYBODY, drawn.queries)
        for _ in range(2):
            write_manifest(root, data.draw(st.permutations(rows)))
            with open_catalog(root / "catalog.json") as again:
                assert answers(again, EVERYBODY, drawn.queries) == before
        catalog.reload()
        assert answers(catalog, EVERYBODY, drawn.queries) == before


@FEW
@given(data=st.data())
def test_callers_who_see_the_same_sources_get_the_same_bytes(data: st.DataObject) -> None:
    """Each of another catalog, kept from other sources in another way."""
    drawn = Drawn(data)
    seen = [{"id": name, "path": name} for name in SEEN]
    with opened(drawn.bundles, seen) as (catalog, root):
        alone = answers(catalog, EVERYBODY, drawn.queries)
        for way, hidden in zip(BY_CALLER, (HIDDEN[:1], HIDDEN[1:], HIDDEN), strict=True):
            rows = data.draw(st.permutations([*seen, *({"id": name, "path": name} for name in hidden)]))
            with open_catalog(write_manifest(root, rows)) as other:
                assert answers(other, Caller.of(way, SEEN), drawn.queries) == alone
    sources = [InMemorySource(name, drawn.texts(name)) for name in (*HIDDEN, *SEEN)]
    with InMemoryKnowledgeCatalog(sources) as catalog:
        by_way = [answers(catalog, Caller.of(way, SEEN), drawn.queries) for way in BY_CALLER]
        assert by_way[1:] == by_way[:-1]


@FEW
@given(data=st.data())
def test_a_directory_that_two_sources_share_counts_once(data: st.DataObject) -> None:
    """R4 comes before V6: what is searched once is counted once. Grouped answers show it twice."""
    drawn = Drawn(data)
    queries = [
        q for q in drawn.queries if q.resolver_strategy is not KnowledgeResolverStrategy.GROUPED_BY_SOURCE
    ]
    rows: list[dict[str, Any]] = [{"id": name, "path": name} for name in SEEN]
    with opened(drawn.bundles, rows) as (catalog, root):
        before = answers(catalog, EVERYBODY, queries)
        again = [{"id": "z-again", "path": name, "priority": -1} for name in SEEN[:1]]
        with open_catalog(write_manifest(root, [*again, *rows])) as other:
            assert answers(other, EVERYBODY, queries) == before


def keyed(passages: Sequence[KnowledgePassage]) -> list[tuple[str, str, int]]:
    return [(passage.source_id, passage.concept_id, passage.score) for passage in passages]


@settings(max_examples=FEWER)
@given(data=st.data())
def test_filters_change_no_score_and_no_order_of_what_remains(data: st.DataObject) -> None:
    """V6: statistics are taken before tag and staleness filters."""
    drawn = Drawn(data)
    tags = [naive.fold(tag) for tag in drawn.pool]
    rows = [{"id": name, "path": name} for name in (*SEEN, *HIDDEN)]
    with opened(drawn.bundles, rows) as (catalog, _):
        router = KnowledgeResolverRouter(catalog, clock=at_noon)
        whole = [query for query in drawn.queries if query.unit is KnowledgeUnit.CONCEPT]
        queries = [query for query in whole if query.fairness_quota is None]
        filters: list[dict[str, Any]] = [
            {"stale_policy": StalePolicy.STRICT},
            {"stale_policy": StalePolicy.tolerate(1)},
            *({"tag": tag} for tag in tags[:3] if naive.trim(tag)),
        ]
        for query in queries:
            everything = keyed(router.search(query).passages)
            for fields in filters:
                filtered = replace(query, **fields)
                kept = keyed(router.search(filtered).passages)
                assert kept == [row for row in everything if row in set(kept)]
                (best,) = router.search_batch([filtered], limit=2)
                assert keyed(best.passages) == kept[:2]


@pytest.mark.parametrize("scoring", KnowledgeScoring)
def test_stale_and_untagged_concepts_count_although_they_are_left_out(scoring: KnowledgeScoring) -> None:
    """V6, in numbers: the word is as rare with the filter as without it."""
    stale = "---\nstale_after: 2020-01-01\ntags: [old]\n---\nword"
    concepts = {"fresh": "---\ntags: [new]\n---\nword and more", **{f"stale-{n}": stale for n in range(5)}}
    with InMemoryKnowledgeCatalog([InMemorySource("s", concepts)]) as catalog:
        router = KnowledgeResolverRouter(catalog, default_scoring=scoring, clock=at_noon)
        everything = {passage.concept_id: passage.score for passage in router.search("word more").passages}
        assert len(everything) == 6
        for query in (
            KnowledgeQuery("word more", stale_policy=StalePolicy.STRICT),
            KnowledgeQuery("word more", "new"),
        ):
            (passage,) = router.search(query).passages
            assert passage.score == everything["fresh"]
    with InMemoryKnowledgeCatalog([InMemorySource("s", {"fresh": concepts["fresh"]})]) as catalog:
        (alone,) = KnowledgeResolverRouter(catalog, default_scoring=scoring).search("word more").passages
        # Where statistics count, a concept among others scores differently from one alone.
        assert (alone.score == everything["fresh"]) == (scoring is KnowledgeScoring.WEIGHTED_TERMS)
