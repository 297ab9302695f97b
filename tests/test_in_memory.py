"""A catalog of texts answers as one of directories with the same files, and changes as a whole (A2)."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import posixpath
import tempfile
import threading
import weakref
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import naive
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.drawn import World, questions, trees, worlds
from making.model import answer_of, assert_answers_of_the_model, expected, query_of, router_of
from making.profiles import FEWER
from okf_catalog import (
    CatalogClosedError,
    ChatMessage,
    FileKnowledgeCatalog,
    FileMemoryStore,
    GroupedKnowledgeResolver,
    InMemoryKnowledgeCatalog,
    InMemorySource,
    KnowledgeCatalog,
    KnowledgeContextProvider,
    KnowledgeQuery,
    MergedKnowledgeResolver,
    RefusedTypeError,
    RefusedValueError,
    TrustTier,
)
from okf_catalog._engine import InMemoryCatalog
from okf_catalog.catalog.handle import opened_catalog
from okf_catalog.rows import TextSourceRow

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from okf_catalog._engine import Snapshot
    from okf_catalog.catalog.generation import Generation


def concepts_of(tree: Mapping[str, bytes]) -> dict[str, str]:
    """The texts of a directory by concept id; other files are no concepts in either kind of catalog."""
    return {
        path.removesuffix(".md"): content.decode()
        for path, content in tree.items()
        if path.endswith(".md") and "\0" not in path
    }


def subtree(tree: Mapping[str, bytes], directory: str) -> dict[str, bytes]:
    """Files below a directory, as texts that both kinds of catalogs can hold."""
    return {
        path.removeprefix(directory): content.decode(errors="replace").encode()
        for path, content in tree.items()
        if path.startswith(directory) and path.isascii()
    }


@contextmanager
def both(world: World) -> Generator[tuple[InMemoryKnowledgeCatalog, naive.NaiveCatalog]]:
    """A catalog of texts, and the model over directories with the same contents, one for each source."""
    rows = [row for row in world.rows if row.role == "knowledge"]
    assume(rows)
    sources = list[InMemorySource]()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for place, row in enumerate(rows):
            bundle, _, inner = posixpath.normpath(row.path).partition("/")
            tree = subtree(world.bundles.get(bundle, {}), f"{inner}/" if inner else "")
            (directory / str(place)).mkdir()
            write_tree(directory / str(place), tree)
            rows[place] = replace(row, path=str(place))
            sources.append(InMemorySource(row.id, concepts_of(tree), row.priority, row.enabled))
        manifest = write_manifest(directory, [row.as_json() for row in rows])
        with InMemoryKnowledgeCatalog(sources) as catalog:
            yield catalog, naive.NaiveCatalog(manifest).load()


@given(worlds())
def test_every_question_gets_the_answer_of_the_model(world: World) -> None:
    with both(world) as (catalog, model):
        assert_answers_of_the_model(catalog, model, world)


@settings(max_examples=FEWER)
@given(worlds(), st.sampled_from([None, 0, 1, 2, 100]))
def test_a_batch_and_a_stream_answer_as_each_question_alone(world: World, limit: int | None) -> None:
    with both(world) as (catalog, model):
        queries = [query_of(question) for question in world.questions]
        router = router_of(catalog, world.host)
        for contexts in (
            router.search_batch(queries, limit=limit),
            [*router.search_stream(queries, limit=limit)],
        ):
            for context, question in zip(contexts, world.questions, strict=True):
                passages, diagnostics = expected(model, question, world.host)
                assert answer_of(context) == (passages[:limit], diagnostics), question


@settings(max_examples=FEWER)
@given(worlds())
def test_the_report_counts_what_the_model_read(world: World) -> None:
    with both(world) as (catalog, model):
        for source in catalog.report().sources:
            assert source.directory is None
            assert source.failure is None
            if source.source.enabled:
                bundle = model.bundle(source.source.id)
                assert bundle is not None
                assert source.concepts == len(bundle.concepts)
                assert {problem.path for problem in source.problems} == bundle.problems


@settings(max_examples=FEWER)
@given(st.data())
def test_after_any_changes_the_answer_is_that_of_a_new_catalog(data: st.DataObject) -> None:
    contents = [b"word", b"---\ntitle: word\n---\n", b"other words"]
    held = dict[str, InMemorySource]()
    with InMemoryKnowledgeCatalog() as catalog:
        for step in range(data.draw(st.integers(1, 5))):
            source_id = data.draw(st.sampled_from("abc"))
            if source_id in held and data.draw(st.booleans()):
                del held[source_id]
                catalog.remove(source_id)
            else:
                tree = subtree(data.draw(trees(contents)), "")
                priority = data.draw(st.integers(-1, 1))
                held[source_id] = InMemorySource(source_id, concepts_of(tree), priority)
                assert catalog.put(held[source_id]).generation == step + 2
            assert [source.id for source in catalog.current.sources] == [*held]
        with InMemoryKnowledgeCatalog(held.values()) as fresh:
            query = query_of(data.draw(questions(["word", "other"])))
            query = replace(query, permitted_source_ids=None, source_visibility_policy=None)
            found, again = (
                answer_of(GroupedKnowledgeResolver(one).search(query)) for one in (catalog, fresh)
            )
            assert found == again


@pytest.fixture
def catalog() -> Generator[InMemoryKnowledgeCatalog]:
    sources = [
        InMemorySource("low", {"a": "word", "b/c": "---\ntitle: word\n---\n"}),
        InMemorySource("high", {"a": "---\ndescription: word\n---\nword"}, priority=1),
        InMemorySource("off", {"a": "word"}, priority=2, enabled=False),
    ]
    with InMemoryKnowledgeCatalog(sources) as catalog:
        yield catalog


def found(catalog: KnowledgeCatalog) -> list[str]:
    passages = MergedKnowledgeResolver(catalog).search("word").passages
    return [f"{passage.source_id}:{passage.concept_id}" for passage in passages]


def test_sources_are_searched_by_priority_and_disabled_ones_are_not(
    catalog: InMemoryKnowledgeCatalog,
) -> None:
    assert found(catalog) == ["high:a", "low:b/c", "low:a"]
    assert catalog.current.generation == 1
    assert [source.id for source in catalog.current.sources] == ["low", "high", "off"]


def test_a_source_that_is_put_again_is_replaced_whole_in_its_place(catalog: InMemoryKnowledgeCatalog) -> None:
    snapshot = catalog.put(InMemorySource("low", {"new": "word word"}))
    assert snapshot is catalog.current
    assert (snapshot.generation, [source.id for source in snapshot.sources]) == (2, ["low", "high", "off"])
    assert found(catalog) == ["high:a", "low:new"]


def test_a_removed_source_is_not_found_and_one_that_is_not_there_is_refused(
    catalog: InMemoryKnowledgeCatalog,
) -> None:
    assert [source.id for source in catalog.remove("low").sources] == ["high", "off"]
    assert found(catalog) == ["high:a"]
    with pytest.raises(RefusedValueError, match="source_id is the id of a source of this catalog, not 'low'"):
        catalog.remove("low")
    assert catalog.current.generation == 2


def test_an_answer_keeps_what_it_found_whatever_changes_later(catalog: InMemoryKnowledgeCatalog) -> None:
    context = MergedKnowledgeResolver(catalog).search("word")
    catalog.remove("low")
    catalog.remove("high")
    assert [passage.concept_id for passage in context.passages] == ["a", "b/c", "a"]
    assert (context.generation, catalog.current.generation) == (1, 3)


def test_texts_that_would_be_no_concepts_by_their_name_are_passed_over() -> None:
    names = ["log", "a/index", "a/log", ".hidden", ".git/a", "a/.b/c", "index", "Index", "a.md", "x"]
    with InMemoryKnowledgeCatalog([InMemorySource("s", dict.fromkeys(names, "word"))]) as catalog:
        assert sorted(found(catalog)) == ["s:Index", "s:a.md", "s:x"]


@pytest.mark.parametrize(
    ("version", "tier"), [("0.2", TrustTier.HUMAN_REVIEWED), ("0.3", TrustTier.UNVERIFIED)]
)
def test_the_index_says_which_version_the_source_declares(version: str, tier: TrustTier) -> None:
    front = "generated: {at: 2026-02-01}\nverified: [{by: 'human:a', at: 2026-01-01}]"
    texts = {"index": f"---\nokf_version: '{version}'\n---\n", "a": f"---\n{front}\n---\nword"}
    with InMemoryKnowledgeCatalog([InMemorySource("s", texts)]) as catalog:
        (passage,) = MergedKnowledgeResolver(catalog).search("word").passages
        assert passage.trust_tier is tier


@pytest.mark.parametrize("is_put", [True, False])
def test_texts_that_cannot_be_served_are_problems_and_logged_once(
    caplog: pytest.LogCaptureFixture, is_put: bool
) -> None:
    source = InMemorySource("s", {"large": "word" * 3, "binary": "wo\0rd", "fits": "word word!"})
    with InMemoryKnowledgeCatalog([] if is_put else [source], max_file_bytes=10) as catalog:
        if is_put:
            catalog.put(source)
        (report,) = catalog.report().sources
        assert [problem.path for problem in report.problems] == ["binary.md", "large.md"]
        assert found(catalog) == ["s:fits"]
    messages = [record.getMessage() for record in caplog.records]
    assert [message.split(" is left out")[0] for message in messages] == [
        "source 's': 'binary.md'",
        "source 's': 'large.md'",
    ]


def test_an_index_that_is_too_large_declares_nothing() -> None:
    front = "generated: {at: 2026-02-01}\nverified: [{by: 'human:a', at: 2026-01-01}]"
    texts = {"index": "---\nokf_version: '0.3'\n---\n" + " " * 500, "a": f"---\n{front}\n---\nword"}
    with InMemoryKnowledgeCatalog([InMemorySource("s", texts)], max_file_bytes=400) as catalog:
        (passage,) = MergedKnowledgeResolver(catalog).search("word").passages
        assert passage.trust_tier is TrustTier.HUMAN_REVIEWED


def test_a_closed_catalog_refuses_every_call(catalog: InMemoryKnowledgeCatalog) -> None:
    resolver = MergedKnowledgeResolver(catalog)
    catalog.close()
    catalog.close()
    source = InMemorySource("s", {})
    for call in (
        lambda: resolver.search("word"),
        lambda: resolver.search_batch(["word"]),
        lambda: [*resolver.search_stream(["word"])],
        lambda: catalog.put(source),
        lambda: catalog.remove("low"),
        catalog.report,
        catalog.refresh,
    ):
        with pytest.raises(CatalogClosedError):
            call()
    assert catalog.closed
    assert repr(catalog) == "<InMemoryKnowledgeCatalog, closed>"


def test_a_catalog_is_an_async_context_manager_and_searched_without_blocking() -> None:
    async def act() -> list[str]:
        async with InMemoryKnowledgeCatalog([InMemorySource("s", {"a": "word"})]) as catalog:
            context = await GroupedKnowledgeResolver(catalog).search_async("word")
        assert catalog.closed
        return [passage.concept_id for passage in context.passages]

    assert asyncio.run(act()) == ["a"]


def test_a_long_question_is_answered_too(catalog: InMemoryKnowledgeCatalog) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    passages = MergedKnowledgeResolver(catalog).search(f"{words} word").passages
    assert [passage.source_id for passage in passages] == ["high", "low", "low"]


def test_a_context_provider_takes_the_resolver_of_texts(catalog: InMemoryKnowledgeCatalog) -> None:
    provider = KnowledgeContextProvider(MergedKnowledgeResolver(catalog))
    provided = provider.provide([ChatMessage("user", "word")])
    assert [block.source_id for block in provided.blocks] == ["low", "high", "low"]


def test_both_kinds_are_knowledge_catalogs_and_a_memory_store_takes_directories_only(
    catalog: InMemoryKnowledgeCatalog, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"a/x.md": "word"})
    with FileKnowledgeCatalog(write_manifest(tmp_path, [{"id": "a", "path": "a"}])) as files:
        assert isinstance(catalog, KnowledgeCatalog)
        assert isinstance(files, KnowledgeCatalog)
    with pytest.raises(RefusedTypeError, match="catalog is a FileKnowledgeCatalog"):
        FileMemoryStore(catalog)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_searches_see_every_change_whole_while_others_change_the_source() -> None:
    def source(round_number: int) -> InMemorySource:
        return InMemorySource("s", {str(number): f"word round{round_number}" for number in range(20)})

    with InMemoryKnowledgeCatalog([source(0)]) as catalog:
        resolver = GroupedKnowledgeResolver(catalog)
        stop = threading.Event()

        def change() -> None:
            number = 1
            while not stop.is_set():
                catalog.put(source(number))
                number += 1

        threads = [threading.Thread(target=change) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(100):
                excerpts = {passage.excerpt for passage in resolver.search("word").passages}
                assert len(excerpts) == 1
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert len(resolver.search("word").passages) == 20


def test_a_forked_child_searches_and_changes_its_own_copy(catalog: InMemoryKnowledgeCatalog) -> None:
    child = os.fork()
    if child == 0:
        catalog.put(InMemorySource("child", {"a": "word"}, priority=9))
        os._exit(0 if found(catalog)[0] == "high:a" and len(found(catalog)) == 4 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(found(catalog)) == 3


def test_a_stream_that_is_taken_slowly_holds_no_later_generation(catalog: InMemoryKnowledgeCatalog) -> None:
    stream = MergedKnowledgeResolver(catalog).search_stream(["word"] * 1000, limit=1)
    next(stream)
    snapshots: list[weakref.ref[Generation]] = []
    for number in range(5):
        catalog.put(InMemorySource("low", {"a": f"word{number}"}))
        snapshots.append(weakref.ref(opened_catalog(catalog).generation()))
    gc.collect()
    assert [snapshot() is None for snapshot in snapshots] == [True] * 4 + [False]
    assert {passage.excerpt for context in stream for passage in context.passages} == {"word"}


def test_a_call_returns_although_others_never_stop_changing(
    catalog: InMemoryKnowledgeCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time the snapshot is asked for, another change comes in between."""
    engine = opened_catalog(catalog).engine
    resolver = GroupedKnowledgeResolver(catalog)

    class Busy:
        def __getattr__(self, name: str) -> object:
            return getattr(engine, name)

        def snapshot(self) -> Snapshot:
            handle = engine.snapshot()
            assert isinstance(engine, InMemoryCatalog)
            engine.put(TextSourceRow("low", [("a", "word")], 0, enabled=True))
            return handle

    monkeypatch.setattr(opened_catalog(catalog), "engine", Busy())
    generations = [resolver.search("word").generation for _ in range(20)]
    assert generations == sorted(generations)
    assert len(set(generations)) == 20


def test_closing_frees_the_texts_and_keeps_answers(catalog: InMemoryKnowledgeCatalog) -> None:
    context = MergedKnowledgeResolver(catalog).search("word")
    snapshot = catalog.current
    catalog.close()
    assert catalog.current is snapshot
    assert len([passage.excerpt for passage in context.passages]) == 3
    with pytest.raises(CatalogClosedError, match="a search needs an open one"):
        catalog.put(InMemorySource("s", {}))


def test_problems_of_a_disabled_source_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    source = InMemorySource("s", {"a": "wo\0rd"}, enabled=False)
    with InMemoryKnowledgeCatalog([source]) as catalog:
        catalog.put(source)
    assert not caplog.records


# Values and refusals


def test_a_source_is_a_value() -> None:
    source = InMemorySource("s", {"a": "text"}, 3)
    assert source == InMemorySource("s", {"a": "text"}, priority=3, enabled=True)
    assert hash(source) == hash(pickle.loads(pickle.dumps(source)))
    assert pickle.loads(pickle.dumps(source)) == source
    assert source.concepts == {"a": "text"}
    assert repr(source) == "InMemorySource(id='s', concepts={'a': 'text'}, priority=3, enabled=True)"


def test_a_source_does_not_change_with_the_mapping_it_was_made_of() -> None:
    texts = {"a": "text"}
    source = InMemorySource("s", texts)
    texts["b"] = "more"
    assert source.concepts == {"a": "text"}
    with pytest.raises(TypeError):
        source.concepts["c"] = "x"  # type: ignore[index]  # pyright: ignore[reportIndexIssue]


REFUSED_SOURCES: list[tuple[tuple[Any, ...], type[Exception], str]] = [
    (("a b", {}), RefusedValueError, "id is one segment"),
    ((5, {}), RefusedTypeError, "id is a str"),
    (("s", ["a"]), RefusedTypeError, "concepts is a mapping"),
    (("s", "text"), RefusedTypeError, "concepts is a mapping"),
    (("s", {1: "x"}), RefusedTypeError, "each key of concepts is a str"),
    (("s", {"a": b"x"}), RefusedTypeError, r"concepts\['a'\] is a str, not bytes"),
    (("s", {"a": "\ud800"}), RefusedValueError, r"concepts\['a'\] holds a lone surrogate"),
    (("s", {"": "x"}), RefusedValueError, "it is empty, or a part of it is"),
    (("s", {"/a": "x"}), RefusedValueError, "it is empty, or a part of it is"),
    (("s", {"a//b": "x"}), RefusedValueError, "it is empty, or a part of it is"),
    (("s", {"../a": "x"}), RefusedValueError, r"'\.' and '\.\.' lead elsewhere"),
    (("s", {"a/./b": "x"}), RefusedValueError, r"'\.' and '\.\.' lead elsewhere"),
    (("s", {"a\0": "x"}), RefusedValueError, "it holds a NUL"),
    (("s", {"a": "x"}, "1"), RefusedTypeError, "priority is an int"),
    (("s", {"a": "x"}, True), RefusedTypeError, "priority is an int"),
    (("s", {"a": "x"}, 2**31), RefusedValueError, "priority is an integer of 32 bits"),
    (("s", {"a": "x"}, 10**5000), RefusedValueError, "not a number of 16610 bits"),
    (("s", {"a": "x"}, 1, 1), RefusedTypeError, "enabled is a bool"),
    (("s", {"ok": "a", "\ud800": "x"}), RefusedValueError, "key 1 of concepts holds a lone surrogate"),
]


@pytest.mark.parametrize(("arguments", "error", "part"), REFUSED_SOURCES)
def test_a_source_that_makes_no_sense_is_refused(
    arguments: tuple[Any, ...], error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        InMemorySource(*arguments)


@pytest.mark.parametrize(
    ("sources", "error", "part"),
    [
        (
            [InMemorySource("s", {}), InMemorySource("s", {})],
            RefusedValueError,
            r"sources\[1\] has the id 's'",
        ),
        ([{"id": "s"}], RefusedTypeError, r"sources\[0\] is an InMemorySource, not dict"),
        (InMemorySource("s", {}), RefusedTypeError, "sources is an iterable of InMemorySource"),
        ("s", RefusedTypeError, "sources is an iterable of InMemorySource, not str"),
        (None, RefusedTypeError, "sources is an iterable of InMemorySource, not NoneType"),
    ],
)
def test_a_catalog_of_sources_that_make_no_sense_is_refused(
    sources: Any, error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        InMemoryKnowledgeCatalog(sources)


@pytest.mark.parametrize(
    "arguments", [("x" * 10**6 + " ", {}), ("s", {"k" * 10**6: 1}), ("s", {"k" * 10**6 + "//": "x"})]
)
def test_a_refusal_quotes_only_the_beginning_of_a_long_text(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((RefusedValueError, RefusedTypeError)) as refusal:
        InMemorySource(*arguments)
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize("items", [None, 5, [1], [("a",)], ["ab"], [("a", "b", "c")]])
def test_a_mapping_whose_items_are_no_pairs_is_refused(items: Any) -> None:
    class Odd(dict[str, str]):
        def items(self) -> Any:
            return items

    with pytest.raises(RefusedTypeError, match=r"^concepts is a mapping"):
        InMemorySource("s", Odd(a="text"))


def test_a_catalog_without_sources_says_so() -> None:
    with InMemoryKnowledgeCatalog() as catalog:
        context = GroupedKnowledgeResolver(catalog).search(KnowledgeQuery("word"))
        assert [diagnostic.code.name for diagnostic in context.diagnostics] == ["NO_ENABLED_SOURCES"]


def test_a_catalog_cannot_be_pickled(catalog: InMemoryKnowledgeCatalog) -> None:
    with pytest.raises(TypeError, match="make it from its sources in the other process"):
        pickle.dumps(catalog)
