"""What a provider asks, for which scope, and what it gives (X1, X2, X9)."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from making.catalogs import make_catalog
from making.frame import concepts, text_of
from making.memory import USER_ALICE
from making.providing import Resolver, Store, Way, agent, later, passage, unexpected, user
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
    KnowledgeScoring,
    MemoryCaptureMode,
    ProvidedContext,
    StalePolicy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


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
def test_a_provider_asks_the_last_text_of_the_user(
    provide: Way, messages: Sequence[ChatMessage], text: str
) -> None:
    resolver, store = Resolver(), Store()
    provide(KnowledgeContextProvider(resolver, store), messages)
    query = KnowledgeQuery(text, scoring="bm25f")
    assert resolver.queries == [query]
    assert store.reads == [(KnowledgeAccessScope.LOCAL, query)]
    provide(KnowledgeContextProvider(resolver, store), (message for message in messages))
    assert len(resolver.queries) == 2


@pytest.mark.parametrize(
    "messages", [[], [agent("answer")], [user(None)], [user(" \u2028"), user("")], [ChatMessage("User", "x")]]
)
def test_a_provider_without_a_question_asks_nothing(provide: Way, messages: Sequence[ChatMessage]) -> None:
    resolver, store = Resolver([passage("a")]), Store([passage("m")])
    assert provide(KnowledgeContextProvider(resolver, store), messages) == ProvidedContext()
    assert (resolver.queries, store.reads) == ([], [])


@pytest.mark.parametrize("budget", [0, -1, -(10**30)])
def test_a_provider_without_a_budget_asks_nothing(provide: Way, budget: int) -> None:
    resolver, store = Resolver([passage("a")]), Store([passage("m")])
    provider = KnowledgeContextProvider(resolver, store, token_budget=budget)
    assert provide(provider, [user("word")]) == ProvidedContext()
    assert (resolver.queries, store.reads) == ([], [])


def test_a_provider_asks_with_its_strategy_quota_stale_policy_and_scoring(provide: Way) -> None:
    resolver = Resolver()
    provider = KnowledgeContextProvider(
        resolver,
        resolver_strategy="merged",
        fairness_quota=2,
        stale_policy=StalePolicy.STRICT,
        scoring="weighted_terms",
    )
    provide(provider, [user("word")])
    assert resolver.queries == [
        KnowledgeQuery(
            "word",
            resolver_strategy=KnowledgeResolverStrategy.MERGED,
            fairness_quota=2,
            stale_policy=StalePolicy.STRICT,
            scoring=KnowledgeScoring.WEIGHTED_TERMS,
        )
    ]


# The scope


def test_a_provider_reads_the_scope_once_for_both_sides(provide: Way) -> None:
    scopes = [KnowledgeAccessScope("acme", name) for name in ("alice", "bob")]
    taken = iter(scopes)
    resolver, store = Resolver(), Store()
    provider = KnowledgeContextProvider(resolver, store, scope_accessor=lambda: next(taken))
    for scope in scopes:
        provide(provider, [user("word")])
        query = KnowledgeQuery("word", scope=scope, scoring="bm25f")
        assert (resolver.queries[-1], store.reads[-1]) == (query, (scope, query))
    assert next(taken, None) is None


def test_an_error_of_the_scope_accessor_passes_to_the_caller(provide: Way) -> None:
    error = LookupError("nobody is logged in")

    def nobody() -> NoReturn:
        raise error

    provider = KnowledgeContextProvider(Resolver(), scope_accessor=nobody, on_internal_error=unexpected)
    # Even without a question: a host that forgot the scope should learn of it at once.
    for messages in ([user("word")], []):
        with pytest.raises(LookupError) as raised:
            provide(provider, messages)
        assert raised.value is error


@pytest.mark.parametrize("answer", [None, "acme", ("acme", "alice")])
def test_a_scope_accessor_must_return_a_scope(provide: Way, answer: Any) -> None:
    resolver = Resolver()
    provider = KnowledgeContextProvider(resolver, scope_accessor=lambda: answer)
    with pytest.raises(TypeError, match="what scope_accessor returns is a KnowledgeAccessScope, not"):
        provide(provider, [user("word")])
    assert resolver.queries == []


def test_an_async_accessor_is_refused(provide: Way) -> None:
    accessor: Any = later
    with pytest.raises(TypeError, match="not coroutine"):
        provide(KnowledgeContextProvider(Resolver(), scope_accessor=accessor), [user("word")])


def test_the_scope_accessor_is_called_in_the_callers_thread_and_context(provide: Way) -> None:
    threads: list[int] = []

    def here() -> KnowledgeAccessScope:
        threads.append(threading.get_ident())
        return USER_ALICE

    provide(KnowledgeContextProvider(Resolver(), scope_accessor=here), [user("word")])
    assert threads == [threading.get_ident()]


# What comes back


def test_the_host_gets_the_diagnostics_of_both_sides(provide: Way) -> None:
    one = KnowledgeDiagnostic(KnowledgeDiagnosticCode.NO_MATCHES, None, "nothing matches")
    other = KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, "memory:user", "it is a link")
    provider = KnowledgeContextProvider(Resolver(diagnostics=(one,)), Store(diagnostics=(other,)))
    assert provide(provider, [user("word")]) == ProvidedContext(diagnostics=(one, other))


def test_a_provider_without_a_store_gives_knowledge(provide: Way) -> None:
    assert concepts(provide(KnowledgeContextProvider(Resolver([passage("a")])), [user("word")])) == ["a"]


def test_the_context_of_a_catalog_names_its_sources_and_concepts(
    provide: Way, catalog: FileKnowledgeCatalog
) -> None:
    context = provide(KnowledgeContextProvider(KnowledgeResolverRouter(catalog)), [user("word")])
    assert text_of(context).startswith(
        '<okf-context id="knowledge:high:strong">\nword\nword\n</okf-context>\n'
    )
    # The memory source of the catalog is not listed.
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
    """The case for strategies and quotas: one source fills a real budget."""
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


def test_each_thread_gets_the_context_of_its_own_scope(catalog: FileKnowledgeCatalog) -> None:
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
def test_a_provider_works_in_a_forked_process(catalog: FileKnowledgeCatalog) -> None:
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


def test_passages_without_room_are_not_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
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
    """A tuple whose length can be read once."""

    asked = False

    def __len__(self) -> int:
        if self.asked:
            raise OSError("a secret")
        self.asked = True
        return super().__len__()


def test_an_answer_that_fails_late_is_handled_like_any_failure() -> None:
    told: list[Exception] = []
    resolver = Resolver(Shy([passage("a", None, "x")]))
    provider = KnowledgeContextProvider(resolver, on_internal_error=told.append)
    context = provider.provide([user("x")])
    assert "secret" not in text_of(context)
    assert all(isinstance(error, OSError) for error in told)
