"""What a provider gives and says when a resolver, a store or a count fails (X8)."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest
from making.frame import concepts, text_of
from making.providing import Resolver, Store, Way, agent, later, passage, unexpected, user
from okf_catalog import (
    FileKnowledgeCatalog,
    KnowledgeContextProvider,
    KnowledgeResolverRouter,
    MemoryCaptureMode,
    ProvidedContext,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


FAILURES = [OSError(2, "No such file", "/secret/place"), ValueError("secret")]


@pytest.mark.parametrize("error", FAILURES, ids=repr)
def test_a_provider_gives_memory_when_the_resolver_fails(provide: Way, error: Exception) -> None:
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
def test_a_provider_gives_knowledge_when_the_store_fails(provide: Way, error: Exception) -> None:
    errors: list[Exception] = []
    provider = KnowledgeContextProvider(
        Resolver([passage("a", "A")]), Store(error=error), on_internal_error=errors.append
    )
    context = provide(provider, [user("word")])
    assert concepts(context) == ["a"]
    assert errors == [error]
    assert provider.last_memory_error == f"memory could not be read: {type(error).__name__}"


def test_a_provider_gives_no_message_when_both_sides_fail(provide: Way) -> None:
    errors: list[Exception] = []
    one, other = ValueError("knowledge"), ValueError("memory")
    provider = KnowledgeContextProvider(
        Resolver(error=one), Store(error=other), on_internal_error=errors.append
    )
    assert provide(provider, [user("word")]) == ProvidedContext()
    assert errors == [one, other]


class Breaking(tuple[Any, ...]):
    """Passages whose last one raises an error."""

    __slots__ = ()

    def __iter__(self) -> Any:
        yield from self[:-1]
        raise OSError("the disk is gone")


def test_a_side_whose_passages_cannot_be_read_is_empty(provide: Way) -> None:
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
def test_a_side_with_an_invalid_answer_is_empty(answer: Any) -> None:
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
def test_an_invalid_token_count_makes_the_context_empty(provide: Way, count: Any) -> None:
    errors: list[Exception] = []
    provider = KnowledgeContextProvider(
        Resolver([passage("a")]), Store([passage("m")]), count_tokens=count, on_internal_error=errors.append
    )
    assert provide(provider, [user("word")]) == ProvidedContext(left_out=2)
    (error,) = errors
    assert "not in the vocabulary" in str(error) or "what count_tokens returns is" in str(error)


def test_an_error_handler_that_raises_is_logged(provide: Way, caplog: pytest.LogCaptureFixture) -> None:
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


def test_a_failure_without_an_error_handler_is_logged(provide: Way, caplog: pytest.LogCaptureFixture) -> None:
    provider = KnowledgeContextProvider(Resolver(error=ValueError("inside")))
    with caplog.at_level(logging.WARNING, "okf_catalog"):
        assert provide(provider, [user("word")]) == ProvidedContext()
    assert "inside" in caplog.text


def test_a_provider_over_a_closed_catalog_raises_nothing(provide: Way, shelf: Path) -> None:
    catalog = FileKnowledgeCatalog(shelf / "catalog.json", watch_for_changes=False)
    errors: list[Exception] = []
    provider = KnowledgeContextProvider(KnowledgeResolverRouter(catalog), on_internal_error=errors.append)
    assert provide(provider, [user("word")]).messages
    catalog.close()
    assert provide(provider, [user("word")]) == ProvidedContext()
    assert [type(error).__name__ for error in errors] == ["CatalogClosedError"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_exceptions_that_end_a_program_pass_through_a_provider(kind: type[BaseException]) -> None:
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


def test_cancellation_passes_through_a_provider() -> None:
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


def test_async_methods_call_async_methods_and_the_others_do_not() -> None:
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
