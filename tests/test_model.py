"""The engine gives the answers of the model, on drawn catalogs and questions."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import tempfile
import unicodedata
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import naive
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from making.bundles import write_tree
from making.catalogs import problems_of, write_manifest
from making.clocks import at_noon
from making.drawn import (
    CONCEPTS,
    Host,
    Tree,
    World,
    documents,
    hosts,
    questions,
    trees,
    without_clashes,
    worlds,
)
from making.drawn_texts import phrase_pools
from making.model import answer_of, assert_answers_of_the_model, expected, policy_of, query_of, router_of
from making.profiles import FEWER
from okf_catalog import (
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    MergedKnowledgeResolver,
    PriorityWeightedKnowledgeResolver,
)

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def opened(world: World, **options: Any) -> Generator[tuple[FileKnowledgeCatalog, naive.NaiveCatalog]]:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for bundle, tree in world.bundles.items():
            (directory / bundle).mkdir()
            write_tree(directory / bundle, tree)
        manifest = write_manifest(directory, [row.as_json() for row in world.rows])
        with FileKnowledgeCatalog(manifest, watch_for_changes=False, **options) as catalog:
            for bundle in world.gone:
                shutil.rmtree(directory / bundle)
            yield catalog, naive.NaiveCatalog(manifest).load()


@given(worlds())
def test_every_question_gets_the_answer_of_the_model(world: World) -> None:
    with opened(world) as (catalog, model):
        assert_answers_of_the_model(catalog, model, world)


@settings(max_examples=FEWER)
@given(worlds())
def test_a_concrete_resolver_uses_its_own_strategy(world: World) -> None:
    with opened(world) as (catalog, model):
        policy = policy_of(world.host.admitted)
        resolvers = {
            naive.GROUPED: GroupedKnowledgeResolver(
                catalog,
                default_source_visibility_policy=policy,
                default_scoring=world.host.scoring,
                clock=at_noon,
            ),
            naive.MERGED: MergedKnowledgeResolver(
                catalog,
                default_fairness_quota=world.host.quota,
                default_source_visibility_policy=policy,
                default_scoring=world.host.scoring,
                clock=at_noon,
            ),
            naive.PRIORITY_WEIGHTED: PriorityWeightedKnowledgeResolver(
                catalog,
                default_fairness_quota=world.host.quota,
                default_source_visibility_policy=policy,
                default_scoring=world.host.scoring,
                clock=at_noon,
            ),
        }
        for question in world.questions:
            for strategy, resolver in resolvers.items():
                answer = answer_of(resolver.search(query_of(question)))
                assert answer == expected(model, question, world.host, strategy), (strategy, question)


@given(worlds(), st.sampled_from([None, 0, 1, 2, 100]))
def test_a_batch_answers_as_each_question_alone(world: World, limit: int | None) -> None:
    with opened(world) as (catalog, model):
        queries = [query_of(question) for question in world.questions]
        batch = router_of(catalog, world.host).search_batch(queries, limit=limit)
        assert len(batch) == len(queries)
        for query, context, question in zip(queries, batch, world.questions, strict=True):
            passages, diagnostics = expected(model, question, world.host)
            assert context.query == query
            assert answer_of(context) == (passages[:limit], diagnostics), question


@settings(max_examples=FEWER)
@given(worlds(), st.sampled_from([1, 2, 5]), st.sampled_from([None, 2]))
def test_many_threads_get_the_answers_of_the_model(world: World, max_threads: int, limit: int | None) -> None:
    drawn = [replace(q, scoring=scoring) for q in world.questions for scoring in naive.SCORINGS]
    with opened(world, max_threads=max_threads) as (catalog, model), ThreadPoolExecutor(4) as pool:
        router = router_of(catalog, world.host)
        queries = [query_of(question) for question in drawn]
        alone = pool.map(router.search, queries)
        batches = pool.map(partial(router.search_batch, limit=limit), [queries, queries[::-1]])
        wanted = [expected(model, question, world.host) for question in drawn]
        assert [*map(answer_of, alone)] == wanted
        for batch, answers in zip(batches, [wanted, wanted[::-1]], strict=True):
            for context, (passages, diagnostics) in zip(batch, answers, strict=True):
                assert answer_of(context) == (passages[:limit], diagnostics)


@settings(max_examples=FEWER)
@given(worlds())
def test_the_report_counts_what_the_model_read(world: World) -> None:
    with opened(world) as (catalog, model):
        for source in catalog.report().sources:
            if source.source.enabled and source.source.role.name == "KNOWLEDGE":
                bundle = model.bundle(source.source.id)
                assert (source.failure is not None) == (bundle is None)
                if bundle is not None:
                    assert source.concepts == len(bundle.concepts)
                    assert {problem.path for problem in source.problems} == bundle.problems
                    assert all(problem.reason for problem in source.problems)


@settings(max_examples=FEWER)
@given(worlds())
def test_the_same_question_gets_the_same_answer_to_the_byte(world: World) -> None:
    with opened(world) as (catalog, _):
        router = router_of(catalog, world.host)
        for question in world.questions:
            contexts = [router.search(query_of(question)) for _ in range(2)]
            first, second = (pickle.dumps((*context.passages, *context.diagnostics)) for context in contexts)
            assert first == second


@settings(max_examples=FEWER)
@given(worlds())
def test_an_invisible_source_changes_no_answer(world: World) -> None:
    """S5: the answer is that of a catalog which has only the permitted sources."""
    with opened(replace(world, gone=frozenset())) as (catalog, model):
        router = router_of(catalog, world.host)
        for question in world.questions:
            permitted = [
                row for row in world.rows if question.permitted is None or row.id in question.permitted
            ]
            if not any(row.enabled and row.role == "knowledge" for row in permitted):
                continue
            write_manifest(model.directory, [row.as_json() for row in permitted])
            with FileKnowledgeCatalog(model.manifest, watch_for_changes=False) as other:
                query = query_of(question)
                context, expected = router.search(query), router_of(other, world.host).search(query)
                assert context == expected
                assert pickle.dumps(context.diagnostics) == pickle.dumps(expected.diagnostics)
                assert pickle.dumps(context.passages) == pickle.dumps(expected.passages)


@pytest.mark.parametrize("strategy", KnowledgeResolverStrategy)
@pytest.mark.parametrize("permitted", [{"open"}, set[str](), {"unknown"}])
def test_nothing_of_an_invisible_source_is_in_an_answer(
    tmp_path: Path, strategy: KnowledgeResolverStrategy, permitted: set[str], caplog: pytest.LogCaptureFixture
) -> None:
    """S5: neither its id, its directory, its text nor its problems."""
    secrets = ("hidden", "vault", "treasure", "cursed", "lost")
    write_tree(
        tmp_path,
        {"b/a.md": "word", "vault/treasure.md": "word treasure", "vault/cursed.md": "---\n", "lost/a.md": ""},
    )
    rows: list[dict[str, object]] = [
        {"id": "open", "path": "b"},
        {"id": "hidden", "path": "vault", "priority": 9},
        {"id": "hidden-too", "path": "lost"},
    ]
    with FileKnowledgeCatalog(write_manifest(tmp_path, rows), watch_for_changes=False) as catalog:
        shutil.rmtree(tmp_path / "lost")
        context = KnowledgeResolverRouter(catalog).search(
            KnowledgeQuery("word", resolver_strategy=strategy, permitted_source_ids=frozenset(permitted))
        )
    assert len(context.passages) == (permitted == {"open"})
    told = repr(context) + str(context) + repr(tuple(context.passages)) + caplog.text
    told += pickle.dumps(context).decode("latin-1")
    assert not [secret for secret in secrets if secret in told]


class EditedBundles(RuleBasedStateMachine):
    """F1: two bundles change under an open catalog; the model reads all files again each time."""

    def __init__(self) -> None:
        super().__init__()
        self._temporary = tempfile.TemporaryDirectory()
        self.root = Path(self._temporary.name)
        self.pool = ["a"]

    @initialize(data=st.data(), host=hosts())
    def open(self, data: st.DataObject, host: Host) -> None:
        self.pool = data.draw(phrase_pools())
        contents = data.draw(st.lists(documents(self.pool), min_size=1, max_size=3))
        self.host = host
        for name in "xy":
            (self.root / name).mkdir()
            write_tree(self.root / name, data.draw(trees(contents, max_files=3)))
        self.manifest = write_manifest(self.root, self.rows("a", "B"))
        self.catalog = FileKnowledgeCatalog(self.manifest, watch_for_changes=False)
        self.router = router_of(self.catalog, host)
        self.model = naive.NaiveCatalog(self.manifest)

    def rows(self, *ids: str) -> list[dict[str, object]]:
        return [
            {"id": source_id, "path": path, "priority": -n}
            for n, (source_id, path) in enumerate(zip(ids, "xy", strict=True))
        ]

    def files(self) -> list[Path]:
        return sorted(path for path in self.root.glob("*/**/*") if path.is_file() and not path.is_symlink())

    def tree(self) -> Tree:
        return {path.relative_to(self.root).as_posix(): b"" for path in self.files()}

    @rule(data=st.data(), name=st.sampled_from("xy"), path=st.sampled_from(CONCEPTS))
    def write(self, data: st.DataObject, name: str, path: str) -> None:
        target = self.root / name / path
        if target.is_dir() or len(without_clashes({**self.tree(), f"{name}/{path}": b""})) != len(
            {*self.tree(), f"{name}/{path}"}
        ):
            return
        write_tree(self.root / name, {path: data.draw(documents(self.pool))})

    @precondition(lambda self: self.files())
    @rule(data=st.data(), hides=st.booleans())
    def edit_without_changing_the_size(self, data: st.DataObject, hides: bool) -> None:
        path = data.draw(st.sampled_from(self.files()))
        before = path.stat()
        content = path.read_bytes()
        swapped = content.translate(bytes.maketrans(b"abAB", b"baBA"))
        path.write_bytes(swapped)
        if hides:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @precondition(lambda self: self.files())
    @rule(data=st.data())
    def edit_by_replacing(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(self.files()))
        scratch = self.root / "scratch"
        scratch.write_bytes(data.draw(documents(self.pool)))
        scratch.replace(path)

    @precondition(lambda self: self.files())
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.files())).unlink()

    @precondition(lambda self: self.files())
    @rule(data=st.data(), name=st.sampled_from(["c.md", "d.md", "d.txt", ".e.md"]))
    def rename(self, data: st.DataObject, name: str) -> None:
        path = data.draw(st.sampled_from(self.files()))
        path.rename(path.with_name(name))

    @precondition(lambda self: len(self.files()) > 1)
    @rule(data=st.data())
    def exchange(self, data: st.DataObject) -> None:
        one, other = (data.draw(st.sampled_from(self.files())) for _ in range(2))
        scratch = self.root / "scratch"
        one.rename(scratch)
        if other.exists():
            other.rename(one)
        scratch.rename(other)

    @rule()
    def exchange_directories(self) -> None:
        (self.root / "x").rename(self.root / "scratch")
        (self.root / "y").rename(self.root / "x")
        (self.root / "scratch").rename(self.root / "y")

    @precondition(lambda self: self.files())
    @rule(data=st.data(), name=st.sampled_from(["link.md", "e.md"]))
    def link(self, data: st.DataObject, name: str) -> None:
        path = self.root / "x" / name
        if path.is_symlink() or not path.exists():
            path.unlink(missing_ok=True)
            path.symlink_to(data.draw(st.sampled_from(self.files())))

    @rule(name=st.sampled_from("xy"))
    def empty(self, name: str) -> None:
        shutil.rmtree(self.root / name)
        (self.root / name).mkdir()

    @rule(ids=st.sampled_from([("a", "B"), ("B", "a"), ("a", "c")]))
    def reload(self, ids: tuple[str, str]) -> None:
        write_manifest(self.root, self.rows(*ids))
        generation = self.catalog.current.generation
        assert self.catalog.reload().generation == generation + 1

    @rule(name=st.sampled_from("xy"), data=st.data())
    def search_while_a_source_is_away(self, name: str, data: st.DataObject) -> None:
        away = self.root / "away"
        (self.root / name).rename(away)
        self.search(data)
        away.rename(self.root / name)
        self.search(data)

    @rule(data=st.data())
    def search(self, data: st.DataObject) -> None:
        drawn, limit = data.draw(questions(self.pool)), data.draw(st.sampled_from([None, 1, 3]))
        note(str({path: (self.root / path).read_bytes() for path in self.tree()}))
        self.model.load()
        asked = [replace(drawn, scoring=scoring) for scoring in (drawn.scoring, *naive.SCORINGS)]
        wanted = [expected(self.model, question, self.host) for question in asked]
        queries = [query_of(question) for question in asked]
        assert [answer_of(self.router.search(query)) for query in queries] == wanted
        best = [answer_of(context) for context in self.router.search_batch(queries, limit=limit)]
        assert best == [(passages[:limit], diagnostics) for passages, diagnostics in wanted]

    @rule()
    def report(self) -> None:
        problems = problems_of(self.catalog)
        self.model.load()
        for source_id, reasons in problems.items():
            bundle = self.model.bundle(source_id)
            assert bundle is not None
            assert set(reasons) == bundle.problems

    def teardown(self) -> None:
        if hasattr(self, "catalog"):
            self.catalog.close()
        self._temporary.cleanup()


TestEditedBundles = EditedBundles.TestCase
TestEditedBundles.settings = settings(stateful_step_count=25, max_examples=2 * FEWER)


def assigned() -> list[str]:
    """The characters that Python's tables know and that can be written into a word."""
    unusable = {"Cn", "Cs"}
    characters = (chr(code_point) for code_point in range(sys.maxunicode + 1))
    return [c for c in characters if unicodedata.category(c) not in unusable and naive.trim(c)]


def has_case(character: str) -> bool:
    variants = {character.upper(), character.lower(), character.title(), character.casefold()}
    return variants != {character}


def test_characters_match_exactly_if_their_simple_uppercase_is_equal(tmp_path: Path) -> None:
    """K2, for every character that has case: a concept for each, and a question for each."""
    cased = [character for character in assigned() if has_case(character)]
    assert len(cased) > 2500
    classes: dict[str, set[str]] = defaultdict(set)
    for character in cased:
        classes[naive.fold(character)].add(character)
    # Files are named by number: a file system may have its own idea of case.
    write_tree(tmp_path / "b", {f"{ord(character)}.md": character for character in cased})
    catalog = write_manifest(tmp_path, [{"id": "s", "path": "b"}])
    with FileKnowledgeCatalog(catalog, watch_for_changes=False) as opened:
        resolver = GroupedKnowledgeResolver(opened)
        for character, context in zip(cased, resolver.search_batch(cased), strict=True):
            found = {chr(int(passage.concept_id)) for passage in context.passages}
            assert found == classes[naive.fold(character)], f"U+{ord(character):04X}"

        # A character without case matches none of them. Large ranges of similar characters are left out.
        alike = ("CJK", "HANGUL", "TANGUT", "NUSHU", "EGYPTIAN", "YI ", "KHITAN", "CUNEIFORM", "ANATOLIAN")
        uncased = [
            character
            for character in assigned()
            if not has_case(character)
            and unicodedata.category(character) != "Co"
            and not unicodedata.name(character, "").startswith(alike)
        ]
        chunks = [" ".join(uncased[start : start + 500]) for start in range(0, len(uncased), 500)]
        for chunk, context in zip(chunks, resolver.search_batch(chunks), strict=True):
            assert not context.passages, (chunk, context.passages[0])


def test_exactly_white_space_separates_terms_and_is_trimmed(tmp_path: Path) -> None:
    """K1, K6, for every character of the basic plane: no other plane has white space."""
    characters = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    spaces = sorted(naive.WHITE_SPACE)
    # A carriage return ends a line as a newline does; no file that is read holds a NUL.
    odd = [*spaces, *"\x1c\x1d\x1e\x1f\u200b\u2060\ufeff\u180e"]
    lines = {f"{ord(space)}.md": f"-\n{space}{space}trimmed{space}\n" for space in odd}
    write_tree(tmp_path / "b", {"left.md": "left", **lines})
    catalog = write_manifest(tmp_path, [{"id": "s", "path": "b"}])
    with FileKnowledgeCatalog(catalog, watch_for_changes=False) as opened:
        resolver = GroupedKnowledgeResolver(opened)
        contexts = resolver.search_batch(f"left{character}right" for character in characters)
        separating = [c for c, context in zip(characters, contexts, strict=True) if context.passages]
        assert separating == spaces
        excerpts = {chr(int(p.concept_id)): p.excerpt for p in resolver.search("trimmed").passages}
        assert excerpts == {c: "trimmed" if c in spaces else f"{c}{c}trimmed{c}" for c in odd}


def test_titles_tags_and_excerpts_fold_alike(tmp_path: Path) -> None:
    write_tree(
        tmp_path / "b",
        {
            "greek.md": "---\ntitle: ΣΊΣΥΦΟΣ\ntags: [Ὀδυσσεύς]\n---\n\nὁ σίσυφος\n",
            "turkish.md": "---\ntitle: ılık İstanbul\n---\nDIŞ\n",
            "long.md": "---\ntitle: ſtraße\n---\nSTRASSE\n",
        },
    )
    catalog = write_manifest(tmp_path, [{"id": "s", "path": "b"}])
    with FileKnowledgeCatalog(catalog, watch_for_changes=False) as opened:
        resolver = GroupedKnowledgeResolver(opened)
        rows: list[tuple[str, str | None, list[str]]] = [
            ("σίσυφοσ", None, ["greek"]),
            ("ΣΊΣΥΦΟΣ", "ὈΔΥΣΣΕΎΣ", ["greek"]),
            ("ilik", None, []),
            ("ıLıK", None, ["turkish"]),
            ("istanbul", None, []),
            ("İSTANBUL", None, ["turkish"]),
            ("straße", None, []),
            ("ſTRAßE", None, ["long"]),
            ("strasse", None, ["long"]),
        ]
        for text, tag, ids in rows:
            context = resolver.search(KnowledgeQuery(text, tag))
            assert [passage.concept_id for passage in context.passages] == ids, text
        assert resolver.search("σίσυφοσ").passages[0].excerpt == "ὁ σίσυφος"
