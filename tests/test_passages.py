"""``passages`` behaves as a tuple, but makes a passage when it is read."""

from __future__ import annotations

import copy
import gc
import itertools
import operator
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from making.asking import outcome
from making.bundles import write_tree
from making.catalogs import write_manifest
from okf_catalog import (
    ConceptStatus,
    FileKnowledgeCatalog,
    KnowledgeBatch,
    KnowledgeContext,
    KnowledgePassage,
    KnowledgeResolverRouter,
    TrustTier,
)
from okf_catalog._engine import passage_body

COUNT = 7


@pytest.fixture(scope="module")
def resolver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeResolverRouter]:
    directory = tmp_path_factory.mktemp("passages")
    write_tree(directory / "b", {f"{n}.md": f"---\ntitle: word\n---\nword {n}" for n in range(COUNT)})
    manifest = write_manifest(directory, [{"id": "s", "path": "b"}])
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        yield KnowledgeResolverRouter(catalog)


@pytest.fixture(params=["all", "some", "one", "none", "reversed", "every other"])
def passages(resolver: KnowledgeResolverRouter, request: pytest.FixtureRequest) -> Sequence[KnowledgePassage]:
    whole = resolver.search("word").passages
    parts: dict[str, Sequence[KnowledgePassage]] = {
        "all": whole,
        "some": whole[2:5],
        "one": resolver.search("3").passages,
        "none": resolver.search("nothing").passages,
        "reversed": whole[::-1],
        "every other": whole[1::2],
    }
    return parts[request.param]


def test_passages_have_the_length_truth_and_order_of_the_tuple(passages: Sequence[KnowledgePassage]) -> None:
    whole = tuple(passages)
    assert len(passages) == len(whole)
    assert bool(passages) == bool(whole)
    assert [*passages] == [*whole]
    assert [*reversed(passages)] == [*reversed(whole)]
    assert operator.length_hint(iter(passages)) == len(whole)


def test_passages_are_a_sequence(passages: Sequence[KnowledgePassage]) -> None:
    assert isinstance(passages, Sequence)
    match passages:
        case [*items]:
            assert items == [*passages]
        case _:
            pytest.fail("a sequence matches a sequence pattern")


@pytest.mark.parametrize("index", [*range(-COUNT - 2, COUNT + 2), 2**31, -(2**31), 2**63, -(2**70), True])
def test_an_index_gives_what_the_tuple_gives(passages: Sequence[KnowledgePassage], index: int) -> None:
    assert outcome(operator.getitem, passages, index) == outcome(operator.getitem, tuple(passages), index)


@pytest.mark.parametrize("index", ["0", 1.0, None, (0, 1), object()])
def test_passages_refuse_the_indices_that_a_tuple_refuses(passages: Any, index: object) -> None:
    assert outcome(operator.getitem, passages, index) is TypeError


def test_any_object_with_dunder_index_is_an_index(passages: Any) -> None:
    class One:
        def __index__(self) -> int:
            return -1

    assert outcome(operator.getitem, passages, One()) == outcome(operator.getitem, tuple(passages), -1)


def test_every_slice_is_the_slice_of_the_tuple(passages: Sequence[KnowledgePassage]) -> None:
    bounds = [None, *range(-COUNT - 1, COUNT + 2), 2**63, -(2**63)]
    steps = [None, 1, 2, 3, COUNT, 2**63, -1, -2, -3, -(2**63)]
    whole = tuple(passages)
    for start, stop, step in itertools.product(bounds, bounds, steps):
        part = slice(start, stop, step)
        assert tuple(passages[part]) == whole[part], part
        assert passages[part] == whole[part], part
    assert outcome(operator.getitem, passages, slice(None, None, 0)) is ValueError


def test_a_slice_of_a_slice_of_a_slice_is_one_of_the_tuple(passages: Sequence[KnowledgePassage]) -> None:
    whole = tuple(passages)
    parts = [slice(None, None, -1), slice(1, None), slice(None, -1), slice(None, None, 2), slice(-3, None)]
    for first, second, third in itertools.product(parts, repeat=3):
        assert passages[first][second][third] == whole[first][second][third]


def test_membership_is_by_value(
    passages: Sequence[KnowledgePassage], resolver: KnowledgeResolverRouter
) -> None:
    for passage in resolver.search("word").passages:
        assert (passage in passages) == (passage in tuple(passages))
        assert (copy.copy(passage) in passages) == (passage in tuple(passages))
    assert None not in passages
    assert "s" not in passages


def test_membership_uses_the_equality_of_both_objects(passages: Sequence[KnowledgePassage]) -> None:
    class Everything:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

    assert (Everything() in passages) == (len(passages) > 0)


def test_equality_holds_both_ways_round(passages: Sequence[KnowledgePassage]) -> None:
    whole = tuple(passages)
    assert passages == passages
    assert passages == whole
    assert whole == passages
    assert not operator.ne(passages, whole)
    assert not operator.ne(whole, passages)
    assert passages == pickle.loads(pickle.dumps(passages))
    for other in ([*whole], (*whole, 1), (*whole[1:], 1), None, 1, "s"):
        assert passages != other
        assert other != passages


def test_equal_answers_have_equal_passages_and_hashes(
    passages: Sequence[KnowledgePassage], resolver: KnowledgeResolverRouter
) -> None:
    assert hash(passages) == hash(tuple(passages))
    again = resolver.search("word").passages
    assert again == resolver.search("word").passages
    assert hash(again) == hash(resolver.search("word").passages)
    assert {again: 1}[tuple(again)] == 1


def test_index_and_count_take_the_bounds_of_the_tuple(
    passages: Any, resolver: KnowledgeResolverRouter
) -> None:
    whole = tuple(passages)
    bounds = [(), (1,), (-2,), (0, 2), (2, 100), (-100, -1), (2**63, 2**70)]
    for passage in (*resolver.search("word").passages, None):
        assert passages.count(passage) == whole.count(passage)
        for bound in bounds:
            mine = outcome(passages.index, passage, *bound)
            assert mine == outcome(whole.index, passage, *bound)
    assert outcome(passages.index) is TypeError


def test_addition_and_repetition_give_tuples(passages: Any) -> None:
    whole = tuple(passages)
    sums = [
        (passages + passages, whole + whole),
        (passages + whole, whole + whole),
        (whole + passages, whole + whole),
        (operator.add(passages, ()), whole),
        (operator.add((1,), passages), (1, *whole)),
        (passages * 2, whole * 2),
        (2 * passages, whole * 2),
        (passages * 0, ()),
        (passages * -1, ()),
    ]
    for result, expected in sums:
        assert type(result) is tuple
        assert result == expected
    for other in ([], [*whole], None, "s"):
        assert outcome(operator.add, passages, other) is TypeError
        assert outcome(operator.mul, passages, other) is TypeError


def test_order_is_the_order_of_tuples(passages: Any) -> None:
    whole = tuple(passages)
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        for other in (whole, whole[:1], (), (*whole, 1), [*whole], None):
            mine, theirs = (outcome(compare, it, other) for it in (passages, whole))
            assert mine == theirs, (compare, other)
            mine, theirs = (outcome(compare, other, it) for it in (passages, whole))
            assert mine == theirs, (compare, other)


def test_passages_pickle_and_copy(passages: Sequence[KnowledgePassage]) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        loaded = pickle.loads(pickle.dumps(passages, protocol))
        assert loaded == passages
        assert isinstance(loaded, Sequence)
        assert [*loaded] == [*passages]
    assert copy.copy(passages) == passages
    assert copy.deepcopy(passages) == passages


def test_passages_cannot_be_changed(passages: Any) -> None:
    def assign() -> None:
        passages[0] = None

    def delete() -> None:
        del passages[0]

    def extend() -> None:
        passages.other = 1

    assert outcome(assign) is TypeError
    assert outcome(delete) is TypeError
    assert outcome(extend) is AttributeError
    for name in ("append", "extend", "insert", "pop", "clear", "sort"):
        assert not hasattr(passages, name)


def test_a_passage_cannot_be_changed(resolver: KnowledgeResolverRouter) -> None:
    passage = resolver.search("word").passages[0]
    for name in ("source_id", "title", "score", "other"):
        with pytest.raises(AttributeError):
            setattr(passage, name, "x")
        with pytest.raises(AttributeError):
            delattr(passage, name)


def test_the_repr_of_passages_says_what_they_are_and_how_many(passages: Sequence[KnowledgePassage]) -> None:
    assert str(len(passages)) in repr(passages)
    assert len(repr(passages)) < 300


def test_the_repr_of_a_passage_can_be_typed(resolver: KnowledgeResolverRouter) -> None:
    import okf_catalog

    for passage in resolver.search("word").passages:
        assert eval(repr(passage), vars(okf_catalog).copy()) == passage


def test_passages_compare_by_value_and_pickle(resolver: KnowledgeResolverRouter) -> None:
    one, other = (resolver.search("word").passages[0] for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != resolver.search("word").passages[1]
    assert one != resolver.search("word 0").passages[0]
    loaded = pickle.loads(pickle.dumps(one))
    assert loaded == one
    assert hash(loaded) == hash(one)
    assert type(loaded) is KnowledgePassage
    assert copy.deepcopy(one) == one


def made(**fields: Any) -> KnowledgePassage:
    needed: dict[str, Any] = {
        "source_id": "s",
        "concept_id": "a",
        "title": None,
        "excerpt": "",
        "score": 1,
        "bundle_relative_path": "a.md",
        "trust_tier": TrustTier.UNVERIFIED,
        "status": ConceptStatus.STABLE,
        "stale_after": None,
        "concept_type": None,
        "description": None,
    }
    return KnowledgePassage(**needed | fields)


def test_equality_of_passages_includes_snippet_and_staleness() -> None:
    assert made(snippet="a") == made(snippet="a")
    assert hash(made(snippet="a")) == hash(made(snippet="a"))
    assert made(snippet="a") != made(snippet="b")
    assert made(is_stale=True) != made(is_stale=False)
    for passage in (made(snippet="a", is_stale=True), made(excerpt="b")):
        assert pickle.loads(pickle.dumps(passage)) == passage


def test_a_passage_made_without_a_snippet_shows_excerpt_or_description() -> None:
    assert made().snippet == ""
    assert made(excerpt="line", description="what").snippet == "line"
    assert made(excerpt=" ", description=" what\nit is\n").snippet == "what it is"
    assert made(excerpt="word " * 100).snippet == "word " * 63 + "word…"
    assert made(excerpt="line", snippet="").snippet == ""
    assert made(snippet="as\ngiven").snippet == "as\ngiven"
    assert made().is_stale is False


def test_a_passage_refuses_an_unknown_trust_tier_or_status() -> None:
    assert made(trust_tier="human_reviewed", status="draft").trust_tier is TrustTier.HUMAN_REVIEWED
    for field in ("trust_tier", "status"):
        for value in ("unknown", None, 1):
            with pytest.raises(ValueError, match="is not a valid"):
                made(**{field: value})


def test_members_of_enums_are_the_same_objects_at_each_access(resolver: KnowledgeResolverRouter) -> None:
    for passage in (*resolver.search("word").passages, made(), pickle.loads(pickle.dumps(made()))):
        assert passage.trust_tier is TrustTier.UNVERIFIED
        assert passage.status is ConceptStatus.STABLE


def test_the_body_of_a_found_passage_can_be_read(resolver: KnowledgeResolverRouter) -> None:
    found = resolver.search("word 3").passages[0]
    assert passage_body(found) == "word 3"
    assert passage_body(pickle.loads(pickle.dumps(found))) is None
    assert passage_body(made()) is None


def test_iterators_are_independent_and_outlive_the_answer(resolver: KnowledgeResolverRouter) -> None:
    context = resolver.search("word")
    whole = tuple(context.passages)
    one, other = iter(context.passages), iter(context.passages)
    assert iter(one) is one
    assert next(one) == next(other) == whole[0]
    del context
    gc.collect()
    assert [*one] == [*other] == [*whole[1:]]
    assert next(one, None) is None


def test_contexts_compare_pickle_and_hash(resolver: KnowledgeResolverRouter) -> None:
    one, other = (resolver.search("word") for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != resolver.search("word 1")
    loaded = pickle.loads(pickle.dumps(one))
    assert loaded == one
    assert isinstance(loaded, KnowledgeContext)
    assert (loaded.query, loaded.generation) == (one.query, one.generation)


def test_a_batch_implements_the_sequence_protocol(resolver: KnowledgeResolverRouter) -> None:
    texts = ["word", "nothing", "1", "word"]
    batch = resolver.search_batch(texts)
    alone = [resolver.search(text) for text in texts]
    assert isinstance(batch, KnowledgeBatch)
    assert isinstance(batch, Sequence)
    assert len(batch) == 4
    assert [*batch] == alone
    assert [*reversed(batch)] == alone[::-1]
    assert batch[-1] == batch[0] == alone[0]
    assert [*batch[1:3]] == alone[1:3]
    assert alone[1] in batch
    assert batch.index(alone[1]) == 1
    assert batch.count(alone[0]) == 2
    assert outcome(operator.getitem, batch, 4) is IndexError
    assert [*resolver.search_batch([])] == []
