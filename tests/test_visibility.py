"""Who may see what (S1 to S3, S5): restrictions apply alike at every entrance."""

from __future__ import annotations

import gc
import logging
import shutil
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast
from unittest.mock import MagicMock, Mock

import pytest
from making.asking import GROUPED, MERGED, RESOLVERS, WEIGHTED, Entrance, codes, names
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.visibility import never
from okf_catalog import (
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgeAccessScope,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    RefusedTypeError,
    RefusedValueError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CANDIDATES = ["high", "also", "low"]
"""In order S1."""


class Recorder:
    """A policy that remembers how it was called."""

    def __init__(self, *visible: str) -> None:
        self.visible = visible
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *arguments: Any, **named: Any) -> bool:
        self.calls.append((arguments, named))
        return arguments[1].id in self.visible

    @property
    def asked(self) -> list[str]:
        return [arguments[1].id for arguments, _ in self.calls]


def sources(context: Any) -> set[str]:
    return {passage.source_id for passage in context.passages}


# Which restriction is in force


def test_a_search_without_restrictions_sees_every_candidate(ask: Entrance) -> None:
    assert sources(ask("word")) == set(CANDIDATES)
    assert sources(ask(KnowledgeQuery("word", scope=KnowledgeAccessScope("acme")))) == set(CANDIDATES)


def test_permitted_ids_restrict(ask: Entrance) -> None:
    for ids in ({"high"}, {"low", "also"}, {*CANDIDATES}, {"low", "unknown", ""}):
        context = ask(KnowledgeQuery("word", permitted_source_ids=ids))
        assert sources(context) == ids & set(CANDIDATES)
        assert codes(context) == []


def test_permitted_ids_add_no_candidates(ask: Entrance) -> None:
    context = ask(KnowledgeQuery("word", permitted_source_ids={"off", "diary"}))
    assert codes(context) == [("NO_ENABLED_SOURCES", None)]


def test_an_empty_set_and_unknown_ids_permit_nothing(ask: Entrance) -> None:
    for ids in ([], ["unknown"], ["HIGH"], ["high "]):
        context = ask(KnowledgeQuery("word", permitted_source_ids=ids))
        assert names(context) == []
        assert codes(context) == [("NO_ENABLED_SOURCES", None)]


def test_permitted_ids_beat_the_policy_of_the_host(ask: Entrance) -> None:
    query = KnowledgeQuery("word", permitted_source_ids={"high"})
    assert sources(ask(query, default_source_visibility_policy=never)) == {"high"}
    query = KnowledgeQuery("word", permitted_source_ids=())
    assert sources(ask(query, default_source_visibility_policy=never)) == set()


def test_the_policy_of_the_question_beats_the_one_of_the_host(ask: Entrance) -> None:
    policy = Recorder("low")
    query = KnowledgeQuery("word", source_visibility_policy=policy)
    assert sources(ask(query, default_source_visibility_policy=never)) == {"low"}
    assert policy.asked == CANDIDATES


def test_the_policy_of_the_host_applies_to_a_question_without_one(ask: Entrance) -> None:
    for query in ("word", KnowledgeQuery("word")):
        policy = Recorder("also")
        assert sources(ask(query, default_source_visibility_policy=policy)) == {"also"}
        assert policy.asked == CANDIDATES


def test_two_restrictions_at_once_are_refused() -> None:
    for strategy in (None, GROUPED, MERGED, WEIGHTED):
        with pytest.raises(
            RefusedValueError,
            match=r"^permitted_source_ids and source_visibility_policy exclude each other; give one of them$",
        ):
            KnowledgeQuery(
                "word",
                resolver_strategy=strategy,
                permitted_source_ids={"high"},
                source_visibility_policy=never,
            )


# How a policy is asked


@pytest.mark.parametrize("of_host", [True, False])
def test_a_policy_is_called_with_scope_and_source_once_for_each_candidate(
    ask: Entrance, of_host: bool
) -> None:
    policy = Recorder(*CANDIDATES)
    scope = KnowledgeAccessScope("acme", "alice", "s-1")
    if of_host:
        ask(KnowledgeQuery("word", scope=scope), default_source_visibility_policy=policy)
    else:
        ask(KnowledgeQuery("word", scope=scope, source_visibility_policy=policy))
    low, _, high, _, also = ask.catalog.current.sources
    assert [arguments for arguments, _ in policy.calls] == [(scope, high), (scope, also), (scope, low)]
    assert all(arguments[0] is scope for arguments, _ in policy.calls)
    assert [named for _, named in policy.calls] == [{}] * 3


def test_a_question_without_a_scope_is_local(ask: Entrance) -> None:
    policy = Recorder()
    ask("word", default_source_visibility_policy=policy)
    assert all(arguments[0] is KnowledgeAccessScope.LOCAL for arguments, _ in policy.calls)


def test_every_search_calls_the_policy_again(catalog: FileKnowledgeCatalog) -> None:
    policy = Recorder("high")
    resolver = GroupedKnowledgeResolver(catalog, default_source_visibility_policy=policy)
    assert sources(resolver.search("word")) == {"high"}
    policy.visible = ("low",)
    assert sources(resolver.search("word")) == {"low"}
    assert policy.asked == CANDIDATES * 2


class EmptyPolicy(list[str]):
    """A falsy policy object, like an empty list, that answers no for every source."""

    def __call__(self, scope: object, source: Any) -> bool:
        return source.id in self


def test_a_policy_object_that_is_falsy_is_called(ask: Entrance) -> None:
    policy = EmptyPolicy()
    assert not policy
    context = ask(KnowledgeQuery("word", source_visibility_policy=policy))
    assert codes(context) == [("NO_ENABLED_SOURCES", None)]
    context = ask("word", default_source_visibility_policy=policy)
    assert codes(context) == [("NO_ENABLED_SOURCES", None)]
    query = KnowledgeQuery("word", source_visibility_policy=policy)
    assert sources(ask(query, default_source_visibility_policy=never)) == set()


def test_a_policy_can_search_the_same_catalog(catalog: FileKnowledgeCatalog) -> None:
    inner = GroupedKnowledgeResolver(catalog)

    def policy(scope: object, source: Any) -> bool:
        found = inner.search(KnowledgeQuery("word", permitted_source_ids={source.id})).passages
        return found[0].score > 3

    outer = GroupedKnowledgeResolver(catalog, default_source_visibility_policy=policy)
    assert sources(outer.search("word")) == {"high", "low"}


# What a policy answers


class LikeTrue:
    """Like a boolean of numpy: true, equal to ``True``, and no ``bool``."""

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return other is True

    def __hash__(self) -> int:
        return 1


class numpy_bool:  # noqa: N801  (named as the real one is)
    """A class with the module and the name of numpy's boolean."""

    __module__ = "numpy"
    __qualname__ = "bool"

    def __bool__(self) -> bool:
        return True


class NoBool(int):
    """An int whose ``__class__`` claims to be bool."""

    __class__ = bool  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


def not_asked(_: object) -> NoReturn:
    raise AssertionError("only the type of an answer is looked at")


Awkward = type(
    "Awkward", (), {"__class__": property(not_asked), "__bool__": not_asked, "__module__": __name__}
)
"""An object that raises when its class or its truth is read."""


def real_numpy() -> list[object]:
    """Real values of numpy, if it is installed."""
    try:
        import numpy as np
    except ImportError:
        return []
    return [np.True_, np.False_, np.array([True])]


ANSWERS: list[object] = [
    None,
    1,
    0,
    1.0,
    "yes",
    "",
    "True",
    [],
    [True],
    LikeTrue(),
    NotImplemented,
    bool,
    never,
    numpy_bool(),
    NoBool(1),
    Awkward(),
    Mock(spec=bool),
    MagicMock(spec=True),
    Decimal(1),
    Fraction(1),
    *real_numpy(),
]


def named(answer: object) -> str:
    """How a refusal names what was answered, and what would be right."""
    kind = type(answer)
    if kind.__module__ == "builtins":
        return f"{kind.__qualname__}; return True or False"
    return f"{kind.__module__}.{kind.__qualname__}; return bool(...) of it"


def both_policies(policy: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """The policy as that of the question and as that of the host: field, question, settings of the host."""
    yield "source_visibility_policy", KnowledgeQuery("word", source_visibility_policy=policy), {}
    yield "default_source_visibility_policy", "word", {"default_source_visibility_policy": policy}


def test_a_policy_answer_that_is_no_bool_is_refused(ask: Entrance) -> None:
    answer: object = None
    calls: list[object] = []

    def policy(scope: object, source: object) -> Any:
        calls.append(source)
        return answer

    for answer in ANSWERS:
        for field, query, defaults in both_policies(policy):
            calls.clear()
            with pytest.raises(RefusedTypeError) as raised:
                ask(query, **defaults)
            assert type(raised.value) is RefusedTypeError
            assert ask.text(raised.value) == f"{field} answers with a bool, not {named(answer)}"
            assert len(calls) == 1


def given(answer: object, *_: object) -> object:
    return answer


def test_a_refused_policy_answer_is_named_with_its_module(ask: Entrance) -> None:
    for answer, expected in (
        (numpy_bool(), "not numpy.bool; return bool(...) of it"),
        (Mock(spec=bool), "not unittest.mock.Mock; return bool(...) of it"),
    ):
        assert isinstance(answer, bool) or bool(answer)
        with pytest.raises(RefusedTypeError) as raised:
            ask(KnowledgeQuery("word", source_visibility_policy=cast("Any", partial(given, answer))))
        assert str(raised.value).endswith(expected)


def test_one_policy_answer_that_is_no_bool_refuses_the_search(ask: Entrance) -> None:
    def policy(scope: object, source: Any) -> Any:
        return source.id != "low" or None

    with pytest.raises(RefusedTypeError, match="NoneType"):
        ask("word", default_source_visibility_policy=policy)


def test_an_async_policy_is_refused(ask: Entrance) -> None:
    async def policy(scope: object, source: object) -> bool:
        return True

    for field, query, defaults in both_policies(policy):
        with pytest.raises(RefusedTypeError) as raised:
            ask(query, **defaults)
        hint = "write it without 'async'"
        assert ask.text(raised.value) == f"{field} answers with a bool, not coroutine; {hint}"


def test_refusing_an_async_policy_makes_no_warning(catalog: FileKnowledgeCatalog) -> None:
    async def policy(scope: object, source: object) -> bool:
        return True

    for _, query, defaults in both_policies(policy):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(RefusedTypeError):
                GroupedKnowledgeResolver(catalog, **defaults).search(query)
            gc.collect()
        assert caught == []


class MyError(Exception):
    pass


def test_an_error_of_a_policy_passes_unchanged(ask: Entrance) -> None:
    error: Exception = MyError()

    def policy(scope: object, source: Any) -> bool:
        if source.id == "also":
            raise error
        return True

    for error in (MyError("mine"), RefusedTypeError("mine"), RefusedValueError("mine"), OSError(2, "mine")):
        arguments = error.args
        for _, query, defaults in both_policies(policy):
            with pytest.raises(type(error)) as raised:
                ask(query, **defaults)
            assert raised.value is error
            assert error.args == arguments


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit])
def test_an_exception_that_ends_programs_passes_through_a_policy_unchanged(
    catalog: FileKnowledgeCatalog, kind: type[BaseException]
) -> None:
    def policy(scope: object, source: object) -> bool:
        raise kind

    resolver = GroupedKnowledgeResolver(catalog, default_source_visibility_policy=policy)
    asks: list[Callable[[], object]] = [
        lambda: resolver.search("word"),
        lambda: resolver.search_batch(["word"]),
    ]
    for act in asks:
        with pytest.raises(kind):
            act()


# What is not visible leaves no trace


def only(*ids: str) -> dict[str, Any]:
    return {"permitted_source_ids": ids}


def by_policy(*ids: str) -> dict[str, Any]:
    return {"source_visibility_policy": Recorder(*ids)}


@pytest.mark.parametrize("restrict", [only, by_policy])
def test_an_invisible_source_that_is_broken_leaves_no_trace(
    ask: Entrance, shelf: Path, caplog: pytest.LogCaptureFixture, restrict: Callable[..., dict[str, Any]]
) -> None:
    shutil.rmtree(shelf / "high")
    write_tree(shelf, {"low/bad.md": b"\0", "low/worse.md": b"\0"})
    whole = ask(KnowledgeQuery("word", **restrict("also")))
    nothing = ask(KnowledgeQuery("nowhere", **restrict("also")))
    assert names(whole) == ["also/middle"]
    assert codes(whole) == []
    assert codes(nothing) == [("NO_MATCHES", None)]
    for context in (whole, nothing):
        told = f"{context.diagnostics!r} {context.passages!r} {[*context.passages]!r}"
        assert not [name for name in ("high", "low", "bad.md", str(shelf)) if name in told]
    assert caplog.records == []


def test_a_caller_who_sees_no_source_learns_nothing(ask: Entrance, shelf: Path) -> None:
    shutil.rmtree(shelf / "low")
    (diagnostic,) = ask("word", default_source_visibility_policy=Recorder()).diagnostics
    assert diagnostic.code.name == "NO_ENABLED_SOURCES"
    assert diagnostic.source_id is None
    assert "visible" in diagnostic.message
    assert not [name for name in (*CANDIDATES, "off", "diary") if name in diagnostic.message]


def test_an_answer_equals_that_of_a_catalog_without_invisible_sources(
    ask: Entrance, tmp_path_factory: pytest.TempPathFactory, shelf: Path
) -> None:
    """Order and scores too are those of the smaller catalog."""
    alone = tmp_path_factory.mktemp("alone")
    shutil.copytree(shelf / "low", alone / "low")
    shutil.copytree(shelf / "also", alone / "also")
    manifest = write_manifest(
        alone, [{"id": "low", "path": "low", "priority": 1}, {"id": "also", "path": "also", "priority": 1}]
    )
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        for text in ("word", "nowhere"):
            query = KnowledgeQuery(text, fairness_quota=1, permitted_source_ids={"low", "also"})
            assert ask(query) == Entrance(catalog, ask.resolver, ask.way)(query)


def test_a_visible_source_answers_for_the_directory_of_an_invisible_one(
    catalog: FileKnowledgeCatalog, shelf: Path
) -> None:
    """The source that answers for a directory is a visible one (R4): hiding the first hides no concept."""
    write_manifest(shelf, [{"id": "secret", "path": "high", "priority": 9}, {"id": "open", "path": "./high"}])
    catalog.reload()
    for strategy in (GROUPED, MERGED, WEIGHTED):
        query = KnowledgeQuery("word", resolver_strategy=strategy, permitted_source_ids={"open"})
        assert names(KnowledgeResolverRouter(catalog).search(query)) == ["open/strong", "open/weak"]


# Batches


def test_each_question_of_a_batch_has_its_own_restriction(catalog: FileKnowledgeCatalog) -> None:
    default, own = Recorder("high"), Recorder("low")
    scope = KnowledgeAccessScope("acme")
    queries: list[KnowledgeQuery | str] = [
        "word",
        KnowledgeQuery("word", permitted_source_ids={"also"}),
        KnowledgeQuery("word", source_visibility_policy=own, scope=scope),
        KnowledgeQuery("word", permitted_source_ids=()),
        KnowledgeQuery("word", scope=scope),
    ]
    for name, make in RESOLVERS.items():
        default.calls, own.calls = [], []
        batch = make(catalog, default_source_visibility_policy=default).search_batch(queries)
        assert [sources(context) for context in batch] == [{"high"}, {"also"}, {"low"}, set(), {"high"}], name
        assert default.asked == CANDIDATES * 2
        assert [arguments[0] for arguments, _ in default.calls] == [KnowledgeAccessScope.LOCAL] * 3 + [
            scope
        ] * 3
        assert own.asked == CANDIDATES


def test_a_batch_names_the_question_whose_policy_answered_wrongly(catalog: FileKnowledgeCatalog) -> None:
    def answer_none(scope: object, source: object) -> Any:
        return None

    own = KnowledgeQuery("word", source_visibility_policy=answer_none)
    with pytest.raises(RefusedTypeError) as raised:
        GroupedKnowledgeResolver(catalog).search_batch(["word", "word", own])
    expected = "source_visibility_policy answers with a bool, not NoneType; return True or False"
    assert str(raised.value) == f"queries[2]: {expected}"


def test_problems_of_an_invisible_source_are_logged_once_a_caller_sees_it(
    catalog: FileKnowledgeCatalog, shelf: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tree(shelf, {"low/bad.md": b"\0"})
    resolver = GroupedKnowledgeResolver(catalog)
    resolver.search_batch([KnowledgeQuery("word", permitted_source_ids={"high"})])
    assert caplog.records == []
    with caplog.at_level(logging.WARNING, "okf_catalog"):
        resolver.search_batch([KnowledgeQuery("word", permitted_source_ids={"high"}), "word"])
    assert len(caplog.records) == 1
    assert "bad.md" in caplog.text
