"""What a provider asks if the host words the question itself (X1, X9)."""

from __future__ import annotations

import asyncio
import threading
import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from making.frame import concepts
from making.providing import Notebook, Resolver, Store, Way, agent, passage, provider_of, unexpected, user
from okf_catalog import (
    ChatMessage,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    OkfCatalogError,
    ProvidedContext,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MESSAGES = [user("refunds?"), agent("By card?"), user("yes")]


def make(rewrite_query: Any, **options: Any) -> tuple[KnowledgeContextProvider, Resolver, Store]:
    resolver, store = Resolver([passage("a")]), Store([passage("m")])
    options.setdefault("on_internal_error", unexpected)
    return KnowledgeContextProvider(resolver, store, rewrite_query=rewrite_query, **options), resolver, store


def returning(answer: object) -> Callable[[object], Any]:
    """A function of the host that makes the same of all messages."""
    return lambda _: answer


def texts(resolver: Resolver) -> list[str]:
    return [query.text for query in resolver.queries]


def test_both_sides_are_asked_what_the_host_makes_of_the_messages(provide: Way) -> None:
    given: list[Sequence[ChatMessage]] = []

    def rewrite(messages: Sequence[ChatMessage]) -> str:
        given.append(messages)
        return "refunds by card"

    provider, resolver, store = make(rewrite, scoring="weighted_terms", fairness_quota=2)
    assert concepts(provide(provider, iter(MESSAGES))) == ["a", "m"]
    (query,) = resolver.queries
    assert (query.text, query.scoring, query.fairness_quota) == ("refunds by card", "weighted_terms", 2)
    assert store.reads == [(KnowledgeAccessScope.LOCAL, query)]
    assert given == [tuple(MESSAGES)]


@pytest.mark.parametrize("answer", [None, "", " \n\t\u3000"])
def test_nothing_is_asked_if_the_host_makes_no_question(provide: Way, answer: str | None) -> None:
    scopes = list[KnowledgeAccessScope]()

    def scope() -> KnowledgeAccessScope:
        scopes.append(KnowledgeAccessScope("acme"))
        return scopes[-1]

    provider, resolver, store = make(returning(answer), scope_accessor=scope)
    assert provide(provider, MESSAGES) == ProvidedContext()
    assert (resolver.queries, store.reads, len(scopes)) == ([], [], 1)


@pytest.mark.parametrize(
    "error", [ValueError("secret"), OSError(2, "/secret"), StopIteration(), TypeError()], ids=repr
)
def test_an_error_of_the_host_is_reported_and_the_context_is_empty(provide: Way, error: Exception) -> None:
    errors: list[Exception] = []

    def rewrite(_: object) -> NoReturn:
        raise error

    provider, resolver, store = make(rewrite, on_internal_error=errors.append)
    assert provide(provider, MESSAGES) == ProvidedContext()
    assert errors == [error]
    assert (resolver.queries, store.reads, provider.last_memory_error) == ([], [], None)


async def later(_: object) -> str:
    return "refunds"


@pytest.mark.parametrize(
    ("rewrite", "name"),
    [
        (returning(3), "int"),
        (returning(False), "bool"),
        (returning(b"refunds"), "bytes"),
        (returning(["refunds"]), "list"),
        (returning(user("refunds")), "ChatMessage"),
        (later, "coroutine"),
    ],
    ids=["int", "bool", "bytes", "list", "message", "coroutine"],
)
def test_anything_but_a_text_or_none_is_reported_and_the_context_is_empty(
    provide: Way, rewrite: Callable[[object], object], name: str
) -> None:
    errors: list[Exception] = []
    provider, resolver, store = make(rewrite, on_internal_error=errors.append)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert provide(provider, MESSAGES) == ProvidedContext()
    (error,) = errors
    assert isinstance(error, OkfCatalogError)
    assert str(error) == f"what rewrite_query returns is a str or None, not {name}"
    assert (resolver.queries, store.reads) == ([], [])


def test_an_exception_that_ends_the_process_passes_to_the_caller() -> None:
    def rewrite(_: object) -> NoReturn:
        raise KeyboardInterrupt

    provider, *_ = make(rewrite)
    with pytest.raises(KeyboardInterrupt):
        provider.provide(MESSAGES)


def test_the_host_is_not_asked_without_messages_or_a_budget(provide: Way) -> None:
    def never(_: object) -> NoReturn:
        pytest.fail("called")

    assert provide(make(never)[0], []) == ProvidedContext()
    for budget in (0, -1):
        assert provide(make(never, token_budget=budget)[0], MESSAGES) == ProvidedContext()


def test_the_host_may_make_a_question_when_the_user_said_nothing(provide: Way) -> None:
    def rewrite(messages: Sequence[ChatMessage]) -> str:
        return messages[-1].role

    provider, resolver, _ = make(rewrite)
    provide(provider, [user(None), agent("answer")])
    assert texts(resolver) == ["assistant"]


def test_a_text_of_the_host_is_asked_as_one_of_the_user_would_be(provide: Way) -> None:
    class Short(Resolver):
        max_question_bytes = 10

    class Text(str):
        __slots__ = ()

        def __str__(self) -> str:
            return "other"

    resolver = Short()
    for text in ("half \ud83d", Text("some words too many"), " spaces "):
        provider = KnowledgeContextProvider(resolver, rewrite_query=returning(text))
        provide(provider, MESSAGES)
    assert texts(resolver) == ["half \ufffd", "some words", " spaces "]
    assert {type(text) for text in texts(resolver)} == {str}


def test_the_messages_cannot_be_changed_by_the_host(provide: Way) -> None:
    given: list[Any] = []
    provider, *_ = make(given.append)
    provide(provider, MESSAGES)
    assert type(given[0]) is tuple


def test_what_the_user_said_is_captured_and_not_what_was_asked() -> None:
    notebook = Notebook()
    provider = provider_of(Resolver(), notebook, rewrite_query=returning("refunds by card"))
    provider.provide(MESSAGES)
    provider.store(MESSAGES, [agent("Five days.")])
    (section,) = notebook.sections(KnowledgeAccessScope.LOCAL)
    assert "> yes" in section
    assert "by card" not in section


def test_the_event_loop_goes_on_while_the_host_makes_a_question() -> None:
    """A host may wait for a model. Its function sees the context of the caller."""
    caller: ContextVar[str] = ContextVar("caller")
    goes_on = threading.Event()
    reported: list[int] = []

    def report(_: Exception) -> None:
        reported.append(threading.get_ident())

    def rewrite(_: object) -> str:
        assert goes_on.wait(60)
        if caller.get() == "failing":
            raise ValueError
        return caller.get()

    provider, resolver, _ = make(rewrite, on_internal_error=report)

    async def run(name: str) -> None:
        caller.set(name)
        waiting = asyncio.ensure_future(provider.provide_async(MESSAGES))
        await asyncio.sleep(0)
        goes_on.set()
        await waiting

    asyncio.run(run("alice"))
    assert texts(resolver) == ["alice"]
    asyncio.run(run("failing"))
    assert reported == [threading.get_ident()]
