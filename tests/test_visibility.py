"""Who may see which source, and that what they may not see leaves no trace (S2, S3, S5, D1)."""

import asyncio
import contextvars
import gc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from catalogs import MENTIONED, codes, found, make_catalog
from okf_catalog import (
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgeAccessScope,
    KnowledgeCatalogSource,
    KnowledgeContext,
    KnowledgeQuery,
    KnowledgeResolver,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    MergedKnowledgeResolver,
    PriorityWeightedKnowledgeResolver,
    RefusedTypeError,
)

SECRET = "tenant-northwind"
SCOPE = KnowledgeAccessScope("acme", user_id="alice")
Call = tuple[KnowledgeAccessScope, KnowledgeCatalogSource]

Make = Callable[..., KnowledgeResolver]


def routed(strategy: KnowledgeResolverStrategy) -> Make:
    def make(catalog: FileKnowledgeCatalog, **options: Any) -> KnowledgeResolver:
        return KnowledgeResolverRouter(catalog, default_strategy=strategy, **options)

    return make


def always(answer: Any) -> Callable[[KnowledgeAccessScope, KnowledgeCatalogSource], Any]:
    """A policy with one answer."""

    def policy(scope: KnowledgeAccessScope, source: KnowledgeCatalogSource) -> Any:
        return answer

    return policy


RESOLVERS: dict[str, Make] = {
    "grouped": GroupedKnowledgeResolver,
    "merged": MergedKnowledgeResolver,
    "weighted": PriorityWeightedKnowledgeResolver,
    **{f"routed to {strategy.value}": routed(strategy) for strategy in KnowledgeResolverStrategy},
}
under_every_strategy = pytest.mark.parametrize("make", RESOLVERS.values(), ids=RESOLVERS)


@pytest.fixture
def catalog(tmp_path: Path) -> FileKnowledgeCatalog:
    files = {"x.md": MENTIONED}
    return make_catalog(
        tmp_path,
        {
            "b": {"files": files},
            SECRET: {"files": files, "priority": 1},
            "a": {"files": files},
            "off": {"files": files, "enabled": False, "priority": 9},
            "memory": {"files": files, "role": "memory", "tier": "user", "priority": 9},
            "top": {"files": files, "priority": 8},
        },
    )


CANDIDATES = ["top", SECRET, "a", "b"]
"""The searchable sources, in order S1."""


class Policy:
    """Answers from a set, and writes down what it was asked."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids
        self.calls: list[Call] = []

    def __call__(self, scope: KnowledgeAccessScope, source: KnowledgeCatalogSource, /) -> bool:
        self.calls.append((scope, source))
        return source.id in self.ids


class Grants(dict[str, bool]):
    """A table that is a policy: false in the eyes of Python while it is empty."""

    def __call__(self, scope: KnowledgeAccessScope, source: KnowledgeCatalogSource) -> bool:
        return self.get(source.id, False)


def sources(context: KnowledgeContext) -> list[str]:
    return [passage.source_id for passage in context.passages]


@under_every_strategy
def test_nothing_configured_nothing_restricted(catalog: FileKnowledgeCatalog, make: Make) -> None:
    assert sources(make(catalog).search("word")) == CANDIDATES


@under_every_strategy
@pytest.mark.parametrize("ids", [["a"], ["b", "a"], ["a", "nothing-like-it"], [SECRET, "top", "a", "b"]])
def test_permitted_ids_restrict(catalog: FileKnowledgeCatalog, make: Make, ids: list[str]) -> None:
    query = KnowledgeQuery("word", permitted_source_ids=frozenset(ids))
    assert sources(make(catalog).search(query)) == [one for one in CANDIDATES if one in ids]


@under_every_strategy
@pytest.mark.parametrize("ids", [[], ["nothing-like-it"], ["A"], ["\ud800"], ["off", "memory"]])
def test_an_empty_or_unknown_permission_permits_nothing(
    catalog: FileKnowledgeCatalog, make: Make, ids: list[str]
) -> None:
    context = make(catalog).search(KnowledgeQuery("word", permitted_source_ids=frozenset(ids)))
    assert sources(context) == []
    assert codes(context) == [("NO_ENABLED_SOURCES", None)]


@under_every_strategy
def test_a_policy_of_the_question_is_asked_once_for_each_candidate(
    catalog: FileKnowledgeCatalog, make: Make
) -> None:
    policy = Policy("a", "top", "off", "memory")
    query = KnowledgeQuery("word", scope=SCOPE, source_visibility_policy=policy)
    assert sources(make(catalog).search(query)) == ["top", "a"]
    assert [source.id for _, source in policy.calls] == CANDIDATES
    assert all(scope is SCOPE for scope, _ in policy.calls)
    by_id = {source.id: source for source in catalog.current.sources}
    assert all(source is by_id[source.id] for _, source in policy.calls)


@under_every_strategy
def test_the_policy_of_the_host_applies_if_the_question_names_neither(
    catalog: FileKnowledgeCatalog, make: Make
) -> None:
    policy = Policy("b")
    resolver = make(catalog, default_source_visibility_policy=policy)
    assert sources(resolver.search(KnowledgeQuery("word", scope=SCOPE))) == ["b"]
    assert [(scope, source.id) for scope, source in policy.calls] == [(SCOPE, one) for one in CANDIDATES]


@under_every_strategy
def test_the_policy_of_the_question_beats_that_of_the_host(catalog: FileKnowledgeCatalog, make: Make) -> None:
    host, own = Policy("b"), Policy("a")
    resolver = make(catalog, default_source_visibility_policy=host)
    assert sources(resolver.search(KnowledgeQuery("word", source_visibility_policy=own))) == ["a"]
    assert host.calls == []


@under_every_strategy
@pytest.mark.parametrize("ids", [frozenset[str](), frozenset({"a"})])
def test_permitted_ids_beat_the_policy_of_the_host(
    catalog: FileKnowledgeCatalog, make: Make, ids: frozenset[str]
) -> None:
    host = Policy("b")
    resolver = make(catalog, default_source_visibility_policy=host)
    assert sources(resolver.search(KnowledgeQuery("word", permitted_source_ids=ids))) == sorted(ids)
    assert host.calls == []


@under_every_strategy
def test_a_policy_that_is_false_is_asked_all_the_same(catalog: FileKnowledgeCatalog, make: Make) -> None:
    """S2: an empty table of grants grants nothing; taken for no policy at all it would grant everything."""
    assert not Grants()
    query = KnowledgeQuery("word", source_visibility_policy=Grants())
    assert sources(make(catalog).search(query)) == []
    everyone = make(catalog, default_source_visibility_policy=always(True))
    assert sources(everyone.search(query)) == []
    assert sources(make(catalog, default_source_visibility_policy=Grants()).search("word")) == []


class Truthy:
    def __bool__(self) -> bool:
        return True


class NumpyBool(int):
    """Like the ones of numpy: prints and acts as a bool, and is none."""


async def allow(scope: object, source: object) -> bool:
    return True


ANSWERS: list[tuple[str, Any]] = [
    ("NoneType", None),
    ("int", 1),
    ("int", 0),
    ("str", "yes"),
    ("str", ""),
    ("list", [True]),
    ("Truthy", Truthy()),
    ("NumpyBool", NumpyBool(1)),
]


@under_every_strategy
@pytest.mark.parametrize(("kind", "answer"), ANSWERS)
def test_only_a_bool_is_an_answer(catalog: FileKnowledgeCatalog, make: Make, kind: str, answer: Any) -> None:
    """S3: yes by accident does not exist; S5: the refusal names no source."""
    with pytest.raises(RefusedTypeError) as raised:
        make(catalog).search(KnowledgeQuery("word", source_visibility_policy=always(answer)))
    assert str(raised.value) == f"source_visibility_policy answers with a bool, not {kind}"
    with pytest.raises(
        RefusedTypeError, match=r"^default_source_visibility_policy answers with a bool, not "
    ):
        make(catalog, default_source_visibility_policy=always(answer)).search("word")


@under_every_strategy
def test_a_coroutine_is_no_answer_and_is_not_left_waiting(catalog: FileKnowledgeCatalog, make: Make) -> None:
    policy: Any = allow
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RefusedTypeError, match="not coroutine; write it without 'async'") as raised:
            make(catalog).search(KnowledgeQuery("word", source_visibility_policy=policy))
        assert SECRET not in str(raised.value)
        del raised
        gc.collect()
    assert caught == []


@under_every_strategy
def test_in_a_batch_the_refusal_names_the_question_and_no_source(
    catalog: FileKnowledgeCatalog, make: Make
) -> None:
    query = KnowledgeQuery("word", source_visibility_policy=always("yes"))
    with pytest.raises(RefusedTypeError) as raised:
        make(catalog).search_batch(["word", "word", query])
    assert str(raised.value) == "queries[2]: source_visibility_policy answers with a bool, not str"


class RefusalError(Exception):
    """Of the host's own making."""


@under_every_strategy
@pytest.mark.parametrize(
    "error", [RefusalError("no"), ValueError("no"), KeyboardInterrupt(), StopIteration()]
)
def test_what_a_policy_raises_passes_unchanged(
    catalog: FileKnowledgeCatalog, make: Make, error: BaseException
) -> None:
    def policy(scope: object, source: object) -> bool:
        raise error

    for resolver, query in (
        (make(catalog), KnowledgeQuery("word", source_visibility_policy=policy)),
        (make(catalog, default_source_visibility_policy=policy), KnowledgeQuery("word")),
    ):
        with pytest.raises(type(error)) as raised:
            resolver.search(query)
        assert raised.value is error
        with pytest.raises(type(error)) as raised:
            resolver.search_batch(["word", query])
        assert raised.value is error


@pytest.mark.parametrize("needs", [1, 3])
def test_a_policy_takes_scope_and_source_by_position(catalog: FileKnowledgeCatalog, needs: int) -> None:
    def one(scope: object) -> bool:
        return True

    def three(scope: object, source: object, more: object) -> bool:
        return True

    wrong: Any = {1: one, 3: three}[needs]
    with pytest.raises(TypeError):
        KnowledgeResolverRouter(catalog, default_source_visibility_policy=wrong).search("word")


def test_a_policy_is_given_nothing_else(catalog: FileKnowledgeCatalog) -> None:
    def exactly(*arguments: object, **named: object) -> bool:
        return len(arguments) == 2 and not named

    router = KnowledgeResolverRouter(catalog, default_source_visibility_policy=exactly)
    assert sources(router.search("word")) == CANDIDATES


@under_every_strategy
@pytest.mark.parametrize("how", ["permitted", "policy", "host"])
def test_an_invisible_source_leaves_no_trace(
    catalog: FileKnowledgeCatalog, tmp_path: Path, make: Make, how: str
) -> None:
    """S5: neither where it works nor where it fails."""
    shown = ("a", "b", "top")
    policy = Policy(*shown)
    resolver = make(catalog, **({"default_source_visibility_policy": policy} if how == "host" else {}))
    options: dict[str, dict[str, Any]] = {
        "permitted": {"permitted_source_ids": frozenset(shown)},
        "policy": {"source_visibility_policy": policy},
        "host": {},
    }
    for step in range(2):
        if step:
            (tmp_path / SECRET / "x.md").unlink()
            (tmp_path / SECRET).rmdir()
        for text in ("word", "nothing"):
            context = resolver.search(KnowledgeQuery(text, **options[how]))
            assert SECRET not in repr(context.passages) + repr(context.diagnostics)
            assert codes(context) == ([] if text == "word" else [("NO_MATCHES", None)])


def test_if_nothing_is_visible_the_answer_speaks_of_visibility_and_names_nothing(
    catalog: FileKnowledgeCatalog,
) -> None:
    """D1."""
    for query in (
        KnowledgeQuery("word", permitted_source_ids=frozenset()),
        KnowledgeQuery("word", permitted_source_ids=frozenset({"guess"})),
        KnowledgeQuery("word", source_visibility_policy=always(False)),
    ):
        (diagnostic,) = KnowledgeResolverRouter(catalog).search(query).diagnostics
        assert "visib" in diagnostic.message
        assert not any(repr(one) in diagnostic.message for one in (*CANDIDATES, "guess"))
        assert SECRET not in diagnostic.message


def test_each_question_of_a_batch_asks_its_own_policy(catalog: FileKnowledgeCatalog) -> None:
    host, own = Policy("b"), Policy("a")
    router = KnowledgeResolverRouter(catalog, default_source_visibility_policy=host)
    other = KnowledgeAccessScope("other")
    batch = router.search_batch(
        [
            KnowledgeQuery("word", scope=SCOPE),
            KnowledgeQuery("word", scope=other, source_visibility_policy=own),
            KnowledgeQuery("word", permitted_source_ids=frozenset({"top"})),
            "word",
        ]
    )
    assert [found(context) for context in batch] == [["b/x"], ["a/x"], ["top/x"], ["b/x"]]
    local = KnowledgeAccessScope.LOCAL
    assert [(scope, source.id) for scope, source in host.calls] == [
        (scope, one) for scope in (SCOPE, local) for one in CANDIDATES
    ]
    assert [(scope, source.id) for scope, source in own.calls] == [(other, one) for one in CANDIDATES]


def test_a_policy_may_change_its_mind_between_searches(catalog: FileKnowledgeCatalog) -> None:
    """No answer of a policy is remembered."""
    grants = Grants({SECRET: True})
    router = KnowledgeResolverRouter(catalog, default_source_visibility_policy=grants)
    assert sources(router.search("word")) == [SECRET]
    grants.clear()
    assert sources(router.search("word")) == []


def test_a_policy_may_search_itself(catalog: FileKnowledgeCatalog) -> None:
    """No lock is held while it is called."""
    inner = KnowledgeResolverRouter(catalog)

    def policy(scope: object, source: KnowledgeCatalogSource) -> bool:
        query = KnowledgeQuery("word", permitted_source_ids=frozenset({source.id}))
        return len(inner.search(query).passages) == 1 and catalog.report().generation == 1

    query = KnowledgeQuery("word", source_visibility_policy=policy)
    assert sources(KnowledgeResolverRouter(catalog).search(query)) == CANDIDATES


def test_an_asynchronous_search_asks_in_the_context_of_its_caller(catalog: FileKnowledgeCatalog) -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who")

    def policy(scope: object, source: KnowledgeCatalogSource) -> bool:
        return source.id == who.get()

    router = KnowledgeResolverRouter(catalog, default_source_visibility_policy=policy)

    async def ask(name: str) -> list[str]:
        who.set(name)
        return sources(await router.search_async("word"))

    async def ask_both() -> list[list[str]]:
        return [*await asyncio.gather(ask("a"), ask("b"))]

    assert asyncio.run(ask_both()) == [["a"], ["b"]]
