"""What a provider asks, for whom, and what it does when something fails (X1, X2, X8, X9)."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.catalogs import make_catalog
from making.memory import USER_ALICE
from making.providing import Resolver, Store, agent, concepts, passage, text_of, unexpected, user
from okf_catalog import (
    ChatMessage,
    FileKnowledgeCatalog,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    KnowledgeDiagnostic,
    KnowledgeDiagnosticCode,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    MemoryCaptureMode,
    OkfCatalogError,
    ProvidedContext,
    StalePolicy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def provide_async(provider: KnowledgeContextProvider, *arguments: Any, **options: Any) -> ProvidedContext:
    return asyncio.run(provider.provide_async(*arguments, **options))


WAYS = {"provide": KnowledgeContextProvider.provide, "provide_async": provide_async}

Way = Any
"""What the fixture is: ``provide(provider, messages, session=None)``."""


@pytest.fixture(params=[*WAYS])
def provide(request: pytest.FixtureRequest) -> Way:
    """Each way to be provided."""
    return WAYS[request.param]


# The question


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([user("first"), agent("answer"), user("last")], "last"),
        ([user("first"), agent("answer")], "first"),
        ([user("first"), user(None), user(""), user(" \n\t\u3000")], "first"),
        ([ChatMessage("system", "be good"), user("first"), ChatMessage("tool", "42")], "first"),
        ([user("  spaces and\nlines stay ")], "  spaces and\nlines stay "),
        ([user("half \ud83d a character")], "half \ufffd a character"),
    ],
)
def test_the_question_is_the_last_text_of_the_user(
    provide: Way, messages: Sequence[ChatMessage], text: str
) -> None:
    resolver, store = Resolver(), Store()
    provide(KnowledgeContextProvider(resolver, store), messages)
    assert resolver.queries == [KnowledgeQuery(text)]
    assert store.reads == [(KnowledgeAccessScope.LOCAL, KnowledgeQuery(text))]
    provide(KnowledgeContextProvider(resolver, store), (message for message in messages))
    assert len(resolver.queries) == 2


@pytest.mark.parametrize(
    "messages", [[], [agent("answer")], [user(None)], [user(" \u2028"), user("")], [ChatMessage("User", "x")]]
)
def test_without_a_question_nothing_is_asked(provide: Way, messages: Sequence[ChatMessage]) -> None:
    resolver, store = Resolver([passage("a")]), Store([passage("m")])
    assert provide(KnowledgeContextProvider(resolver, store), messages) == ProvidedContext()
    assert (resolver.queries, store.reads) == ([], [])


@pytest.mark.parametrize("budget", [0, -1, -(10**30)])
def test_without_a_budget_nothing_is_asked(provide: Way, budget: int) -> None:
    resolver, store = Resolver([passage("a")]), Store([passage("m")])
    provider = KnowledgeContextProvider(resolver, store, token_budget=budget)
    assert provide(provider, [user("word")]) == ProvidedContext()
    assert (resolver.queries, store.reads) == ([], [])


def test_strategy_quota_and_staleness_are_those_of_the_question(provide: Way) -> None:
    resolver = Resolver()
    provider = KnowledgeContextProvider(
        resolver, resolver_strategy="merged", fairness_quota=2, stale_policy=StalePolicy.STRICT
    )
    provide(provider, [user("word")])
    assert resolver.queries == [
        KnowledgeQuery(
            "word",
            resolver_strategy=KnowledgeResolverStrategy.MERGED,
            fairness_quota=2,
            stale_policy=StalePolicy.STRICT,
        )
    ]


# The scope


def test_a_scope_is_taken_once_and_goes_to_both_sides(provide: Way) -> None:
    scopes = [KnowledgeAccessScope("acme", name) for name in ("alice", "bob")]
    taken = iter(scopes)
    resolver, store = Resolver(), Store()
    provider = KnowledgeContextProvider(resolver, store, scope_accessor=lambda: next(taken))
    for scope in scopes:
        provide(provider, [user("word")])
        query = KnowledgeQuery("word", scope=scope)
        assert (resolver.queries[-1], store.reads[-1]) == (query, (scope, query))
    assert next(taken, None) is None


def test_a_raising_accessor_passes_to_the_caller(provide: Way) -> None:
    error = LookupError("nobody is logged in")

    def nobody() -> NoReturn:
        raise error

    provider = KnowledgeContextProvider(Resolver(), scope_accessor=nobody, on_internal_error=unexpected)
    # Also where nothing would be asked: who forgot to say who asks should learn of it at once.
    for messages in ([user("word")], []):
        with pytest.raises(LookupError) as raised:
            provide(provider, messages)
        assert raised.value is error


async def later() -> KnowledgeAccessScope:
    return USER_ALICE


@pytest.mark.parametrize("answer", [None, "acme", ("acme", "alice")])
def test_what_is_no_scope_is_refused_and_never_taken_for_nobody(provide: Way, answer: Any) -> None:
    resolver = Resolver()
    provider = KnowledgeContextProvider(resolver, scope_accessor=lambda: answer)
    with pytest.raises(TypeError, match="what scope_accessor returns is a KnowledgeAccessScope, not"):
        provide(provider, [user("word")])
    assert resolver.queries == []


def test_an_async_accessor_is_refused(provide: Way) -> None:
    accessor: Any = later
    with pytest.raises(TypeError, match="not coroutine"):
        provide(KnowledgeContextProvider(Resolver(), scope_accessor=accessor), [user("word")])


def test_an_accessor_is_called_where_the_caller_is(provide: Way) -> None:
    threads: list[int] = []

    def here() -> KnowledgeAccessScope:
        threads.append(threading.get_ident())
        return USER_ALICE

    provide(KnowledgeContextProvider(Resolver(), scope_accessor=here), [user("word")])
    assert threads == [threading.get_ident()]


# Arguments


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"token_budget": 1.5}, "token_budget is an int, not float"),
        ({"token_budget": True}, "token_budget is an int, not bool"),
        ({"token_budget": None}, "token_budget is an int, not NoneType"),
        ({"knowledge_budget_share": "0.5"}, "knowledge_budget_share is a number from 0 to 1, not str"),
        ({"knowledge_budget_share": True}, "knowledge_budget_share is a number from 0 to 1, not bool"),
        ({"memory_budget_share": Decimal("0.4")}, "memory_budget_share is a number from 0 to 1, not Decimal"),
        ({"memory_budget_share": None}, "memory_budget_share is a number from 0 to 1, not NoneType"),
        ({"memory_capture": True}, "memory_capture is a MemoryCaptureMode, not bool"),
        ({"memory_capture": "enabled"}, "memory_capture is a MemoryCaptureMode, not str"),
        ({"capture_tier": "user"}, "capture_tier is a MemoryTier, not str"),
        (
            {"scope_accessor": USER_ALICE},
            "scope_accessor is called without arguments; KnowledgeAccessScope is not",
        ),
        ({"count_tokens": 4}, "count_tokens is called with a text; int is not callable"),
        ({"on_internal_error": []}, "on_internal_error is called with an exception; list is not callable"),
        ({"clock": 0}, "clock is called without arguments; int is not callable"),
        ({"memory_store": "store"}, "memory_store is a MemoryStore or None, not str"),
        ({"resolver": None}, "resolver is a KnowledgeResolver, not NoneType"),
        ({"resolver": "catalog.json"}, "resolver is a KnowledgeResolver, not str"),
        ({"stale_policy": "use"}, "stale_policy"),
        ({"resolver_strategy": 1}, "resolver_strategy is a KnowledgeResolverStrategy, not int"),
        ({"fairness_quota": 1.0}, "fairness_quota is an int of at least 1, not float"),
    ],
)
def test_a_wrong_kind_is_refused_at_construction(options: dict[str, Any], message: str) -> None:
    options.setdefault("resolver", Resolver())
    with pytest.raises(TypeError, match=message) as raised:
        KnowledgeContextProvider(**options)
    assert isinstance(raised.value, OkfCatalogError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"knowledge_budget_share": -0.1}, r"knowledge_budget_share is a number from 0 to 1, not -0\.1"),
        ({"memory_budget_share": -1}, "memory_budget_share is a number from 0 to 1, not -1"),
        ({"knowledge_budget_share": float("nan")}, "knowledge_budget_share is a number from 0 to 1, not nan"),
        ({"memory_budget_share": float("inf")}, "memory_budget_share is a number from 0 to 1, not inf"),
        ({"knowledge_budget_share": 0.61}, r"are at most 1 together, not 1\.01"),
        ({"knowledge_budget_share": 1, "memory_budget_share": 1}, "are at most 1 together, not 2"),
        ({"resolver_strategy": "best"}, "resolver_strategy is one of 'grouped_by_source', 'merged'"),
        ({"fairness_quota": 0}, "fairness_quota is at least 1, not 0"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_at_construction(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        KnowledgeContextProvider(Resolver(), **options)
    assert isinstance(raised.value, OkfCatalogError)


@pytest.mark.parametrize("field", ["stale_policy", "resolver_strategy", "fairness_quota"])
@pytest.mark.parametrize("value", ["wrong", -1, [], 0.5])
def test_what_a_query_refuses_is_refused_in_its_words(field: str, value: Any) -> None:
    options: dict[str, Any] = {field: value}
    with pytest.raises((TypeError, ValueError)) as expected:
        KnowledgeQuery("word", **options)
    with pytest.raises(type(expected.value)) as raised:
        KnowledgeContextProvider(Resolver(), **options)
    assert str(raised.value) == str(expected.value)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_shares_that_make_one_in_decimals_do_not_make_more(part: int, whole: int) -> None:
    if part > whole:
        part, whole = whole, part
    share, rest = part / whole, (whole - part) / whole
    KnowledgeContextProvider(Resolver(), knowledge_budget_share=share, memory_budget_share=rest)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ("word", "messages is an iterable of ChatMessage, not one str"),
        (user("word"), "messages is an iterable of ChatMessage, not one ChatMessage"),
        (None, "messages is an iterable of ChatMessage, not one NoneType"),
        ([user("word"), "word"], r"messages\[1\] is a ChatMessage, not str"),
        ([{"role": "user", "content": "word"}], r"messages\[0\] is a ChatMessage, not dict"),
    ],
)
def test_what_is_no_messages_is_refused(provide: Way, messages: Any, message: str) -> None:
    provider = KnowledgeContextProvider(Resolver(), Store(), memory_capture=MemoryCaptureMode.ENABLED)
    with pytest.raises(TypeError, match=message):
        provide(provider, messages)
    with pytest.raises(TypeError, match=f"request_{message}"):
        provider.store(messages, [])
    with pytest.raises(TypeError, match=f"response_{message}"):
        asyncio.run(provider.store_async([], messages))


def test_a_message_is_a_role_and_perhaps_a_text() -> None:
    for role, text in ((1, "x"), (None, "x"), ("user", 1), ("user", b"x")):
        wrong: Any = role, text
        with pytest.raises(TypeError, match="is a str"):
            ChatMessage(*wrong)


# What fails


FAILURES = [OSError(2, "No such file", "/secret/place"), ValueError("secret")]


@pytest.mark.parametrize("error", FAILURES, ids=repr)
def test_a_failing_resolver_leaves_memory(provide: Way, error: Exception) -> None:
    errors: list[Exception] = []
    provider = KnowledgeContextProvider(
        Resolver(error=error), Store([passage("m", "M")]), on_internal_error=errors.append
    )
    context = provide(provider, [user("word")])
    assert concepts(context) == ["m"]
    assert errors == [error]
    assert "secret" not in text_of(context)
    assert provider.last_memory_error is None


@pytest.mark.parametrize("error", FAILURES, ids=repr)
def test_a_failing_store_leaves_knowledge(provide: Way, error: Exception) -> None:
    errors: list[Exception] = []
    provider = KnowledgeContextProvider(
        Resolver([passage("a", "A")]), Store(error=error), on_internal_error=errors.append
    )
    context = provide(provider, [user("word")])
    assert concepts(context) == ["a"]
    assert errors == [error]
    assert provider.last_memory_error == f"memory could not be read: {type(error).__name__}"


def test_where_both_fail_there_is_no_message(provide: Way) -> None:
    errors: list[Exception] = []
    one, other = ValueError("knowledge"), ValueError("memory")
    provider = KnowledgeContextProvider(
        Resolver(error=one), Store(error=other), on_internal_error=errors.append
    )
    assert provide(provider, [user("word")]) == ProvidedContext()
    assert errors == [one, other]


class Breaking(tuple[Any, ...]):
    """Passages of which the last cannot be made."""

    __slots__ = ()

    def __iter__(self) -> Any:
        yield from self[:-1]
        raise OSError("the disk is gone")


def test_passages_that_cannot_be_made_make_their_side_empty(provide: Way) -> None:
    good, bad = [passage("a", "A"), passage("b", "B")], Breaking([passage("c", "C")] * 3)
    errors: list[Exception] = []
    options: dict[str, Any] = {"on_internal_error": errors.append}
    assert concepts(
        provide(KnowledgeContextProvider(Resolver(good), Store(bad), **options), [user("x")])
    ) == [
        "a",
        "b",
    ]
    assert concepts(
        provide(KnowledgeContextProvider(Resolver(bad), Store(good), **options), [user("x")])
    ) == [
        "a",
        "b",
    ]
    assert [str(error) for error in errors] == ["the disk is gone"] * 2
    provider = KnowledgeContextProvider(Resolver(bad), Store(bad), **options)
    assert provide(provider, [user("x")]) == ProvidedContext()
    assert provider.last_memory_error == "memory could not be read: OSError"
    assert len(errors) == 4


@pytest.mark.parametrize("answer", [None, 3, later], ids=repr)
def test_an_answer_that_is_none_makes_its_side_empty(answer: Any) -> None:
    class Nonsense(Resolver):
        def search(self, query: Any, /) -> Any:
            return answer() if callable(answer) else answer

        def read(self, scope: Any, query: Any) -> Any:
            return self.search(query)

    store: Any = Nonsense()
    errors: list[Exception] = []
    provider = KnowledgeContextProvider(Nonsense(), store, on_internal_error=errors.append)
    assert provider.provide([user("word")]) == ProvidedContext()
    assert len(errors) == 2


async def counted_later(text: str) -> int:
    return len(text)


def raising(text: str) -> int:
    raise ValueError("not in the vocabulary")


WRONG_COUNTS: dict[str, Callable[[str], object]] = {
    "raises": raising,
    "float": lambda text: len(text) / 4,
    "bool": lambda text: True,
    "none": lambda text: None,
    "negative": lambda text: -1,
    "nan": lambda text: float("nan"),
    "coroutine": counted_later,
}


@pytest.mark.parametrize("count", WRONG_COUNTS.values(), ids=WRONG_COUNTS.keys())
def test_a_count_that_is_none_makes_the_context_empty(provide: Way, count: Any) -> None:
    errors: list[Exception] = []
    provider = KnowledgeContextProvider(
        Resolver([passage("a")]), Store([passage("m")]), count_tokens=count, on_internal_error=errors.append
    )
    assert provide(provider, [user("word")]) == ProvidedContext(left_out=2)
    (error,) = errors
    assert "not in the vocabulary" in str(error) or "what count_tokens returns is" in str(error)


def test_a_handler_that_raises_breaks_nothing_and_is_logged(
    provide: Way, caplog: pytest.LogCaptureFixture
) -> None:
    def handler(error: Exception) -> None:
        raise RuntimeError("no handler") from error

    provider = KnowledgeContextProvider(
        Resolver(error=ValueError("inside")), Store([passage("m")]), on_internal_error=handler
    )
    with caplog.at_level(logging.WARNING, "okf_catalog"):
        assert concepts(provide(provider, [user("word")])) == ["m"]
    assert "on_internal_error raised" in caplog.text
    assert "no handler" in caplog.text
    assert "inside" in caplog.text


def test_without_a_handler_a_failure_is_logged(provide: Way, caplog: pytest.LogCaptureFixture) -> None:
    provider = KnowledgeContextProvider(Resolver(error=ValueError("inside")))
    with caplog.at_level(logging.WARNING, "okf_catalog"):
        assert provide(provider, [user("word")]) == ProvidedContext()
    assert "inside" in caplog.text


def test_a_closed_catalog_is_no_exception(provide: Way, shelf: Path) -> None:
    catalog = FileKnowledgeCatalog(shelf / "catalog.json", watch_for_changes=False)
    errors: list[Exception] = []
    provider = KnowledgeContextProvider(KnowledgeResolverRouter(catalog), on_internal_error=errors.append)
    assert provide(provider, [user("word")]).messages
    catalog.close()
    assert provide(provider, [user("word")]) == ProvidedContext()
    assert [type(error).__name__ for error in errors] == ["CatalogClosedError"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_what_ends_a_program_passes(kind: type[BaseException]) -> None:
    for resolver, store in ((Resolver(error=kind()), Store()), (Resolver(), Store(error=kind()))):
        provider = KnowledgeContextProvider(
            resolver, store, on_internal_error=unexpected, memory_capture=MemoryCaptureMode.ENABLED
        )
        with pytest.raises(kind):
            provider.provide([user("word")])
        if store.error is not None:
            with pytest.raises(kind):
                provider.store([user("word")], [agent("answer")])

    def count(text: str) -> int:
        raise kind

    with pytest.raises(kind):
        KnowledgeContextProvider(Resolver([passage("a")]), count_tokens=count).provide([user("word")])


def test_cancellation_passes_wherever_it_waits() -> None:
    class Waiting:
        waiting: asyncio.Event

        async def forever(self, *arguments: object) -> None:
            self.waiting.set()
            await asyncio.Event().wait()

        search_async = read_async = write_async = search = read = forever

    async def cancelled(start: Callable[[KnowledgeContextProvider], Any], resolver: Any, store: Any) -> None:
        Waiting.waiting = asyncio.Event()
        provider = KnowledgeContextProvider(
            resolver, store, on_internal_error=unexpected, memory_capture=MemoryCaptureMode.ENABLED
        )
        task = asyncio.create_task(start(provider))
        await asyncio.wait_for(Waiting.waiting.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    def provides(provider: KnowledgeContextProvider) -> Any:
        return provider.provide_async([user("word")])

    def stores(provider: KnowledgeContextProvider) -> Any:
        return provider.store_async([user("word")], [agent("answer")])

    asyncio.run(cancelled(provides, Waiting(), Store()))
    asyncio.run(cancelled(provides, Resolver(), Waiting()))
    asyncio.run(cancelled(stores, Resolver(), Waiting()))


def test_the_event_loop_goes_on_while_blocks_are_counted() -> None:
    async def run() -> int:
        asked, answered = threading.Event(), threading.Event()

        def count(text: str) -> int:
            asked.set()
            assert answered.wait(30)
            return len(text)

        provider = KnowledgeContextProvider(Resolver([passage("a")]), count_tokens=count)
        task = asyncio.create_task(provider.provide_async([user("word")]))
        turns = 0
        while not asked.is_set():
            await asyncio.sleep(0.001)
            turns += 1
        answered.set()
        assert concepts(await task) == ["a"]
        return turns

    assert asyncio.run(run()) > 0


def test_async_ways_ask_the_async_twins_and_the_others_do_not() -> None:
    asked: list[str] = []

    class Telling:
        def __init__(self, asked_of: Any) -> None:
            self.asked_of = asked_of

        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(self.asked_of, name)

    resolver, store = Telling(Resolver([passage("a")])), Telling(Store([passage("m")]))
    any_resolver, any_store = cast("Any", resolver), cast("Any", store)
    provider = KnowledgeContextProvider(
        any_resolver, any_store, memory_capture=MemoryCaptureMode.ENABLED, on_internal_error=unexpected
    )

    async def run() -> None:
        assert concepts(await provider.provide_async([user("word")])) == ["a", "m"]
        await provider.store_async([user("word")], [agent("answer")])

    asked.clear()
    asyncio.run(run())
    assert asked == ["search_async", "read_async", "write_async"]
    asked.clear()
    assert concepts(provider.provide([user("word")])) == ["a", "m"]
    provider.store([user("word")], [agent("answer")])
    assert asked == ["search", "read", "write"]


# What comes back


def test_diagnostics_of_both_sides_come_back_for_the_host(provide: Way) -> None:
    one = KnowledgeDiagnostic(KnowledgeDiagnosticCode.NO_MATCHES, None, "nothing matches")
    other = KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, "memory:user", "it is a link")
    provider = KnowledgeContextProvider(Resolver(diagnostics=(one,)), Store(diagnostics=(other,)))
    assert provide(provider, [user("word")]) == ProvidedContext(diagnostics=(one, other))


def test_without_a_store_there_is_knowledge_alone(provide: Way) -> None:
    assert concepts(provide(KnowledgeContextProvider(Resolver([passage("a")])), [user("word")])) == ["a"]


def test_the_context_of_a_catalog_names_its_sources_and_concepts(
    provide: Way, catalog: FileKnowledgeCatalog
) -> None:
    context = provide(KnowledgeContextProvider(KnowledgeResolverRouter(catalog)), [user("word")])
    assert text_of(context).startswith(
        '<okf-context id="knowledge:high:strong">\nword\nword\n</okf-context>\n'
    )
    # The memory source of the catalog is never among them.
    assert [(block.source_id, block.concept_id) for block in context.blocks] == [
        ("high", "strong"),
        ("high", "weak"),
        ("also", "middle"),
        ("low", "strong"),
        ("low", "weak"),
    ]


PROLIFIC = {
    f"guide-{number}.md": f"---\ntitle: Refund guide {number}\n---\nrefund {'and so on ' * 8}"
    for number in range(9)
}
SMALL = {"policy.md": "---\ntitle: Refund policy\ntags: [refund]\n---\nA refund takes five days."}


def test_a_prolific_source_starves_a_small_one_unless_merged_fairly(provide: Way, tmp_path: Path) -> None:
    """The scenario that justifies strategies and quotas, in a real budget."""
    sources: dict[str, Any] = {
        "prolific": {"files": PROLIFIC, "priority": 10},
        "small": {"files": SMALL},
    }
    with make_catalog(tmp_path, sources) as catalog:
        seen = dict[str, set[str]]()
        for strategy, quota in (("grouped_by_source", None), ("merged", 1)):
            provider = KnowledgeContextProvider(
                KnowledgeResolverRouter(catalog),
                token_budget=120,
                knowledge_budget_share=1.0,
                memory_budget_share=0.0,
                resolver_strategy=strategy,
                fairness_quota=quota,
            )
            context = provide(provider, [user("refund")])
            assert 60 < context.tokens <= 120
            seen[strategy] = {block.source_id for block in context.blocks}
            assert all(f"knowledge:{source}:" in text_of(context) for source in seen[strategy])
    assert seen == {"grouped_by_source": {"prolific"}, "merged": {"prolific", "small"}}


# Threads and processes


def test_many_threads_are_each_provided_their_own(catalog: FileKnowledgeCatalog) -> None:
    scope = threading.local()
    store = Store([passage("m", "M")])
    provider = KnowledgeContextProvider(
        KnowledgeResolverRouter(catalog), store, scope_accessor=lambda: scope.value
    )

    def work(number: int) -> str:
        scope.value = KnowledgeAccessScope("acme", f"u{number}")
        for _ in range(20):
            context = provider.provide([user("word")], session=threading.current_thread())
            assert concepts(context) == ["strong", "weak", "middle", "strong", "weak", "m"]
        return f"u{number}"

    with ThreadPoolExecutor(8) as pool:
        users = list(pool.map(work, range(32)))
    assert {read_scope.user_id for read_scope, _ in store.reads} == set(users)
    for read_scope, query in store.reads:
        assert isinstance(query, KnowledgeQuery)
        assert query.scope == read_scope


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_provided_too(catalog: FileKnowledgeCatalog) -> None:
    session = threading.Event()
    store = Store()
    provider = KnowledgeContextProvider(
        KnowledgeResolverRouter(catalog),
        store,
        scope_accessor=lambda: USER_ALICE,
        memory_capture=MemoryCaptureMode.ENABLED,
    )
    expected = provider.provide([user("word")], session=session)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            provider.store([user("word")], [agent("answer")], session=session)
            if provider.provide([user("word")], session=session) == expected and len(store.writes) == 1:
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_there_is_no_room_for_is_not_made_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []

    def neutralised(text: str) -> str:
        lengths.append(len(text))
        return text.replace("<", "&lt;")

    monkeypatch.setattr("okf_catalog.provider.frame.neutralised", neutralised)
    long = passage("a", "A title", "<" * 1_000_000)
    context = KnowledgeContextProvider(Resolver([long]), token_budget=50).provide([user("x")])
    assert [block.truncated for block in context.blocks] == [True]
    assert max(lengths) < 500


class Shy(tuple[Any, ...]):  # noqa: SLOT001
    """Says only once how many there are."""

    asked = False

    def __len__(self) -> int:
        if self.asked:
            raise OSError("a secret")
        self.asked = True
        return super().__len__()


def test_an_answer_that_fails_late_is_told_like_any_other() -> None:
    told: list[Exception] = []
    resolver = Resolver(Shy([passage("a", None, "x")]))
    provider = KnowledgeContextProvider(resolver, on_internal_error=told.append)
    context = provider.provide([user("x")])
    assert "secret" not in text_of(context)
    assert all(isinstance(error, OSError) for error in told)
