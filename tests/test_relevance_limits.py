"""The best of an answer are the top of the whole ranking, whatever is skipped to find them (V8).

The corpora are larger than the blocks in which concepts are scored, and hard to skip in: equal scores, titles
full of common words, concepts that are gone, tags that few have, sources whose files changed under the index.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import naive
from hypothesis import given, settings
from hypothesis import strategies as st
from making.bundles import write_tree
from making.catalogs import open_catalog, write_manifest
from making.clocks import NOON, at_noon
from making.profiles import FEWER
from okf_catalog import (
    FileKnowledgeCatalog,
    InMemoryKnowledgeCatalog,
    InMemorySource,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    StalePolicy,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from okf_catalog import KnowledgeCatalog, KnowledgePassage

SHAPES = ("mixed", "equal", "common titles", "short", "without spaces")
SIZES = (513, 700, 1100, 1700)
TAGS = ("common", "rare", "none has it")
FEW = settings(max_examples=max(1, FEWER // 2))


class Words:
    """Words of which few stand everywhere and many stand in few places."""

    def __init__(self, chance: random.Random, shape: str) -> None:
        self.chance = chance
        self.shape = shape
        if shape == "without spaces":
            self.common = [chr(0x4E00 + n) for n in range(6)]
            self.rare = [chr(0x5000 + n) for n in range(300)]
        else:
            self.common = ["the", "of", "a", "is", "how", "to", "in", "do"]
            self.rare = [f"{stem}{end}" for stem in ("restor", "polic", "cluster", "x1") for end in ENDINGS]

    def some(self, common: int, rare: int) -> str:
        words = [self.chance.choice(self.common) for _ in range(common)]
        # The smaller of two numbers: some of the rare words are less rare.
        words += [
            self.rare[min(self.chance.randrange(len(self.rare)) for _ in range(2))] for _ in range(rare)
        ]
        self.chance.shuffle(words)
        return ("" if self.shape == "without spaces" else " ").join(words)

    def document(self) -> str:
        chance, shape = self.chance, self.shape
        if shape == "equal":
            return f"the {chance.choice(['restore', 'cluster', 'of'])} is in the {chance.choice(['a', 'of'])}"
        long = 3 if shape == "short" else chance.choice([5, 5, 40])
        title = self.some(chance.randint(2, 6), 0) if shape == "common titles" else self.some(1, 1)
        front = f"title: '{title}'\n" if chance.random() < 0.8 else ""
        tags = [tag for tag, odds in zip(TAGS, (0.5, 0.01, 0), strict=True) if chance.random() < odds]
        front += f"tags: {tags}\n" if tags else ""
        front += "stale_after: 2020-01-01\n" if chance.random() < 0.3 else ""
        front += f"description: '{self.some(2, chance.randint(0, 1))}'\n" if chance.random() < 0.3 else ""
        return f"---\n{front}---\n{self.some(long, chance.randint(0, 4))}\n"

    def question(self) -> str:
        return self.some(self.chance.randint(0, 10), self.chance.randint(0, 4)) or "the"


ENDINGS = ("e", "es", "ed", "ing", "ation", "y", "ies", "", *(f"-{n}" for n in range(60)))


class Corpus(NamedTuple):
    catalog: FileKnowledgeCatalog
    manifest: Path
    words: Words


@contextmanager
def corpora(shape: str, size: int, edits: int, seed: int) -> Generator[Corpus]:
    """Two sources, of which one is large; files are added, changed and removed after the first search."""
    chance = random.Random(seed)
    words = Words(chance, shape)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        write_tree(root / "large", {f"{n % 7}/{n}.md": words.document() for n in range(size)})
        write_tree(root / "small", {f"{n}.md": words.document() for n in range(40)})
        rows: list[dict[str, object]] = [
            {"id": "large", "path": "large"},
            {"id": "small", "path": "small", "priority": 1},
        ]
        manifest = write_manifest(root, rows)
        with open_catalog(manifest, max_threads=chance.choice([1, 2])) as catalog:
            resolver = KnowledgeResolverRouter(catalog)
            for edit in range(edits):
                resolver.search_batch(
                    [KnowledgeQuery("the", scoring=scoring) for scoring in KnowledgeScoring]
                )
                for number in chance.sample(range(size), size // 8):
                    (root / "large" / f"{number % 7}/{number}.md").unlink(missing_ok=True)
                changed = chance.sample(range(size), size // 8)
                write_tree(root / "large", {f"{n % 7}/{n}.md": words.document() for n in changed})
                write_tree(root / "large", {f"new/{edit}-{n}.md": words.document() for n in range(9)})
            yield Corpus(catalog, manifest, words)


def queries_of(words: Words, count: int) -> list[KnowledgeQuery]:
    chance = words.chance
    return [
        KnowledgeQuery(
            words.question(),
            tag=chance.choice([None, None, *TAGS]),
            stale_policy=chance.choice([StalePolicy.USE, StalePolicy.USE, StalePolicy.STRICT]),
            resolver_strategy=chance.choice([*KnowledgeResolverStrategy]),
            fairness_quota=chance.choice([None, None, 1, 3]),
            permitted_source_ids=chance.choice([None, None, {"large"}]),
            scoring=scoring,
        )
        for _ in range(count)
        for scoring in KnowledgeScoring
    ]


def keyed(passages: Sequence[KnowledgePassage]) -> list[tuple[str, str, int]]:
    return [(passage.source_id, passage.concept_id, passage.score) for passage in passages]


def assert_best_are_the_top(catalog: KnowledgeCatalog, queries: list[KnowledgeQuery]) -> None:
    router = KnowledgeResolverRouter(catalog, clock=at_noon)
    whole = [keyed(router.search(query).passages) for query in queries]
    for limit in (1, 2, 7, 10, 20, 50):
        for ask in (router.search_batch, router.search_stream):
            best = [keyed(context.passages) for context in ask(queries, limit=limit)]
            assert best == [passages[:limit] for passages in whole], limit
        # A batch of one is answered in another way.
        for query, passages in zip(queries[:4], whole, strict=False):
            (context,) = router.search_batch([query], limit=limit)
            assert keyed(context.passages) == passages[:limit], (limit, query)


@settings(max_examples=FEWER)
@given(st.sampled_from(SHAPES), st.sampled_from(SIZES), st.integers(0, 2), st.integers(0, 2**32))
def test_the_best_are_the_top_of_the_whole_ranking(shape: str, size: int, edits: int, seed: int) -> None:
    with corpora(shape, size, edits, seed) as corpus:
        assert_best_are_the_top(corpus.catalog, queries_of(corpus.words, 12))


@FEW
@given(st.sampled_from(SHAPES), st.sampled_from(SIZES), st.integers(0, 2), st.integers(0, 2**32))
def test_the_best_are_those_of_the_model(shape: str, size: int, edits: int, seed: int) -> None:
    with corpora(shape, size, edits, seed) as corpus:
        router = KnowledgeResolverRouter(corpus.catalog, clock=at_noon)
        model = naive.NaiveCatalog(corpus.manifest).load()
        queries = queries_of(corpus.words, 4)
        for query, context in zip(queries, router.search_batch(queries, limit=30), strict=True):
            answer = model.search(
                query.text,
                tag=query.tag,
                grace_days=0 if query.stale_policy == StalePolicy.STRICT else None,
                now=NOON,
                strategy=(query.resolver_strategy or KnowledgeResolverStrategy.MERGED).value,
                quota=query.fairness_quota,
                scoring=(query.scoring or KnowledgeScoring.BM25F).value,
                permitted=query.permitted_source_ids,
            )
            wanted = [(passage.source_id, passage.concept_id, passage.score) for passage in answer.passages]
            assert keyed(context.passages) == wanted[:30], query
            assert keyed(router.search(query).passages) == wanted, query


@FEW
@given(st.sampled_from(SHAPES), st.sampled_from(SIZES), st.integers(0, 2**32))
def test_the_best_of_texts_are_the_top_of_the_whole_ranking(shape: str, size: int, seed: int) -> None:
    words = Words(random.Random(seed), shape)
    texts = {str(n): words.document() for n in range(size)}
    with InMemoryKnowledgeCatalog([InMemorySource("large", texts)]) as catalog:
        assert_best_are_the_top(catalog, queries_of(words, 8))
        kept = {name: text for name, text in texts.items() if words.chance.random() < 0.6}
        catalog.put(InMemorySource("large", kept))
        catalog.put(InMemorySource("small", dict([*texts.items()][:50]), priority=-1))
        assert_best_are_the_top(catalog, queries_of(words, 8))


def test_all_equal_concepts_are_cut_in_the_order_of_their_ids(tmp_path: Path) -> None:
    """A limit among 2,000 equal scores keeps the ids that come first, in the order of the strategy."""
    write_tree(tmp_path / "a", {f"{n % 3}-{n}/x.md": "the word" for n in range(2000)})
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    rows = [{"id": "a", "path": "a"}, {"id": "b", "path": "b"}]
    with open_catalog(write_manifest(tmp_path, rows)) as catalog:
        queries = [
            KnowledgeQuery("how is the word", resolver_strategy=strategy, scoring=scoring)
            for strategy in KnowledgeResolverStrategy
            for scoring in KnowledgeScoring
        ]
        assert_best_are_the_top(catalog, queries)
