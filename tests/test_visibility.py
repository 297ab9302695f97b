"""Who may see what (S1 to S3, S5): restrictions hold alike wherever a question is put."""

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


def test_where_nothing_is_configured_nothing_is_restricted(ask: Entrance) -> None:
    assert sources(ask("word")) == set(CANDIDATES)
    assert sources(ask(KnowledgeQuery("word", scope=KnowledgeAccessScope("acme")))) == set(CANDIDATES)


def test_permitted_ids_restrict(ask: Entrance) -> None:
    for ids in ({"high"}, {"low", "also"}, {*CANDIDATES}, {"low", "unknown", ""}):
        context = ask(KnowledgeQuery("word", permitted_source_ids=ids))
        assert sources(context) == ids & set(CANDIDATES)
        assert codes(context) == []


def test_permitted_ids_make_nothing_a_candidate(ask: Entrance) -> None:
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


def test_the_policy_of_the_host_holds_where_the_question_names_none(ask: Entrance) -> None:
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


def test_who_names_nobody_is_local(ask: Entrance) -> None:
    policy = Recorder()
    ask("word", default_source_visibility_policy=policy)
    assert all(arguments[0] is KnowledgeAccessScope.LOCAL for arguments, _ in policy.calls)


def test_a_policy_is_asked_again_by_every_search(catalog: FileKnowledgeCatalog) -> None:
    policy = Recorder("high")
    resolver = GroupedKnowledgeResolver(catalog, default_source_visibility_policy=policy)
    assert sources(resolver.search("word")) == {"high"}
    policy.visible = ("low",)
    assert sources(resolver.search("word")) == {"low"}
    assert policy.asked == CANDIDATES * 2


class EmptyPolicy(list[str]):
    """An object that is false, as an empty list of the permitted is, and says no to everything."""

    def __call__(self, scope: object, source: Any) -> bool:
        return source.id in self


def test_a_policy_that_counts_as_false_is_asked_all_the_same(ask: Entrance) -> None:
    policy = EmptyPolicy()
    assert not policy
    context = ask(KnowledgeQuery("word", source_visibility_policy=policy))
    assert codes(context) == [("NO_ENABLED_SOURCES", None)]
    context = ask("word", default_source_visibility_policy=policy)
    assert codes(context) == [("NO_ENABLED_SOURCES", None)]
    query = KnowledgeQuery("word", source_visibility_policy=policy)
    assert sources(ask(query, default_source_visibility_policy=never)) == set()


def test_a_policy_may_search_itself(catalog: FileKnowledgeCatalog) -> None:
    inner = GroupedKnowledgeResolver(catalog)

    def policy(scope: object, source: Any) -> bool:
        found = inner.search(KnowledgeQuery("word", permitted_source_ids={source.id})).passages
        return found[0].score > 3

    outer = GroupedKnowledgeResolver(catalog, default_source_visibility_policy=policy)
    assert sources(outer.search("word")) == {"high", "low"}


# What a policy answers


class LikeTrue:
    """What numpy's booleans are: true, equal to ``True``, and no ``bool``."""

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return other is True

    def __hash__(self) -> int:
        return 1


class numpy_bool:  # noqa: N801  (named as the real one is)
    """As numpy calls its own, by module and name."""

    __module__ = "numpy"
    __qualname__ = "bool"

    def __bool__(self) -> bool:
        return True


class NoBool(int):
    """A class that says of itself that it is another one."""

    __class__ = bool  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


def not_asked(_: object) -> NoReturn:
    raise AssertionError("only the type of an answer is looked at")


Awkward = type(
    "Awkward", (), {"__class__": property(not_asked), "__bool__": not_asked, "__module__": __name__}
)
"""What raises when it is asked what it is, or whether it is true."""


def real_numpy() -> list[object]:
    """numpy's own, where there is numpy."""
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
    """As the question's and as the host's: the field, what is asked, what the host sets."""
    yield "source_visibility_policy", KnowledgeQuery("word", source_visibility_policy=policy), {}
    yield "default_source_visibility_policy", "word", {"default_source_visibility_policy": policy}


def test_anything_but_a_bool_is_refused(ask: Entrance) -> None:
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


def test_what_claims_to_be_a_bool_is_named_so_that_it_can_be_looked_up(ask: Entrance) -> None:
    for answer, expected in (
        (numpy_bool(), "not numpy.bool; return bool(...) of it"),
        (Mock(spec=bool), "not unittest.mock.Mock; return bool(...) of it"),
    ):
        assert isinstance(answer, bool) or bool(answer)
        with pytest.raises(RefusedTypeError) as raised:
            ask(KnowledgeQuery("word", source_visibility_policy=cast("Any", partial(given, answer))))
        assert str(raised.value).endswith(expected)


def test_one_answer_that_is_no_bool_refuses_all(ask: Entrance) -> None:
    def policy(scope: object, source: Any) -> Any:
        return source.id != "low" or None

    with pytest.raises(RefusedTypeError, match="NoneType"):
        ask("word", default_source_visibility_policy=policy)


def test_a_promise_is_no_answer(ask: Entrance) -> None:
    async def policy(scope: object, source: object) -> bool:
        return True

    for field, query, defaults in both_policies(policy):
        with pytest.raises(RefusedTypeError) as raised:
            ask(query, **defaults)
        hint = "write it without 'async'"
        assert ask.text(raised.value) == f"{field} answers with a bool, not coroutine; {hint}"


def test_nothing_warns_of_a_promise(catalog: FileKnowledgeCatalog) -> None:
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


def test_what_a_policy_raises_passes_unchanged(ask: Entrance) -> None:
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
def test_even_what_ends_programs_passes_unchanged(
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


def test_who_sees_nothing_learns_nothing(ask: Entrance, shelf: Path) -> None:
    shutil.rmtree(shelf / "low")
    (diagnostic,) = ask("word", default_source_visibility_policy=Recorder()).diagnostics
    assert diagnostic.code.name == "NO_ENABLED_SOURCES"
    assert diagnostic.source_id is None
    assert "visible" in diagnostic.message
    assert not [name for name in (*CANDIDATES, "off", "diary") if name in diagnostic.message]


def test_an_answer_is_the_one_of_a_catalog_without_the_invisible(
    ask: Entrance, tmp_path_factory: pytest.TempPathFactory, shelf: Path
) -> None:
    """Not even order and score tell that there is something else."""
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


def test_an_invisible_twin_is_not_missed(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    """The survivor of one directory is chosen among the visible (R4): hiding the first hides no concept."""
    write_manifest(shelf, [{"id": "secret", "path": "high", "priority": 9}, {"id": "open", "path": "./high"}])
    catalog.reload()
    for strategy in (GROUPED, MERGED, WEIGHTED):
        query = KnowledgeQuery("word", resolver_strategy=strategy, permitted_source_ids={"open"})
        assert names(KnowledgeResolverRouter(catalog).search(query)) == ["open/strong", "open/weak"]


# Batches


def test_each_question_of_a_batch_sees_its_own(catalog: FileKnowledgeCatalog) -> None:
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


def test_a_batch_says_whose_policy_answered_wrongly(catalog: FileKnowledgeCatalog) -> None:
    def answer_none(scope: object, source: object) -> Any:
        return None

    own = KnowledgeQuery("word", source_visibility_policy=answer_none)
    with pytest.raises(RefusedTypeError) as raised:
        GroupedKnowledgeResolver(catalog).search_batch(["word", "word", own])
    expected = "source_visibility_policy answers with a bool, not NoneType; return True or False"
    assert str(raised.value) == f"queries[2]: {expected}"


def test_problems_of_what_is_invisible_are_logged_when_somebody_looks(
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
