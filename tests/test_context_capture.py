"""What a provider captures of an exchange, and for which scope (X10, X11)."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.memory import LOCAL, USER_ALICE, USER_BOB
from making.providing import WRITTEN, Resolver, Store, agent, unexpected, user
from okf_catalog import (
    ChatMessage,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    MemoryCaptureMode,
    MemoryTier,
    MemoryWriteResult,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NOON = datetime(2026, 1, 15, 12, 30, 5, tzinfo=timezone.utc)


def store_async(provider: KnowledgeContextProvider, *arguments: Any, **options: Any) -> None:
    asyncio.run(provider.store_async(*arguments, **options))


WAYS: dict[str, Any] = {"store": KnowledgeContextProvider.store, "store_async": store_async}


@pytest.fixture(params=[*WAYS])
def keep(request: pytest.FixtureRequest) -> Any:
    """Each way to store: ``keep(provider, request_messages, response_messages, session=None)``."""
    return WAYS[request.param]


def provider_of(store: Store | None, **options: Any) -> KnowledgeContextProvider:
    given_options: dict[str, Any] = {
        "memory_capture": MemoryCaptureMode.ENABLED,
        "on_internal_error": unexpected,
        "clock": lambda: NOON,
    }
    return KnowledgeContextProvider(Resolver(), store, **(given_options | options))


class Session:
    """A session that is equal to every other session and cannot be hashed."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Session)

    __hash__ = None  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


# What is written


def test_an_exchange_is_written_as_a_section_of_the_concept_of_its_day(keep: Any) -> None:
    store = Store()
    keep(provider_of(store), [user("How long?\nExactly.")], [agent("Five days.")])
    ((scope, entry, tier),) = store.writes
    assert (scope, tier) == (LOCAL, MemoryTier.USER)
    assert entry.concept_name == "2026-01-15"
    assert entry.frontmatter_if_creating == {
        "type": "AgentMemory",
        "title": "2026-01-15",
        "description": "Exchanges, 2026-01-15 UTC",
        "generated": {"by": "okf-catalog", "at": "2026-01-15T12:30:05Z"},
    }
    assert entry.section_markdown == (
        "## 12:30:05 UTC\n\n### User\n\n> How long?\n> Exactly.\n\n### Agent\n\n> Five days."
    )


def test_the_day_of_an_exchange_is_the_day_in_utc() -> None:
    store = Store()
    now = datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    provider_of(store, clock=lambda: now).store([user("x")], [agent("y")])
    ((_, entry, _),) = store.writes
    assert entry.concept_name == "2025-12-31"
    assert entry.frontmatter_if_creating["generated"] == {"by": "okf-catalog", "at": "2025-12-31T23:30:00Z"}
    assert entry.section_markdown.startswith("## 23:30:00 UTC\n")


def test_a_host_without_a_clock_uses_the_current_time() -> None:
    store = Store()
    before = datetime.now(timezone.utc)
    provider_of(store, clock=None).store([user("x")], [agent("y")])
    after = datetime.now(timezone.utc)
    ((_, entry, _),) = store.writes
    written = entry.section_markdown.splitlines()[0].removeprefix("## ").removesuffix(" UTC")
    then = datetime.fromisoformat(f"{entry.concept_name}T{written}+00:00")
    assert before.replace(microsecond=0) <= then <= after


@pytest.mark.parametrize(
    ("request_messages", "response_messages", "said", "answered"),
    [
        ([user("first"), agent("draft"), user("last")], [agent("one"), agent("two")], "> last", "> two"),
        ([user("first"), user(" \n")], [agent("one"), agent(None), agent("")], "> first", "> one"),
        ([], [agent("one"), user("no request")], "(none)", "> one"),
        ([user("first"), agent("no response")], [ChatMessage("tool", "42")], "> first", "(none)"),
        ([user("(none)")], [agent("x")], "> (none)", "> x"),
    ],
)
def test_the_last_texts_of_user_and_agent_are_captured(
    keep: Any,
    request_messages: Sequence[ChatMessage],
    response_messages: Sequence[ChatMessage],
    said: str,
    answered: str,
) -> None:
    store = Store()
    keep(provider_of(store), request_messages, response_messages)
    ((_, entry, _),) = store.writes
    _, _, rest = entry.section_markdown.partition("### User\n\n")
    assert rest.split("\n\n### Agent\n\n") == [said, answered]


def test_an_exchange_without_text_is_not_written(keep: Any) -> None:
    store = Store()
    provider = provider_of(store)
    keep(provider, [user(" ")], [agent(None)])
    assert (store.writes, provider.last_memory_error) == ([], None)


@given(st.text("a\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\x00\ud800#>- ", min_size=1) | st.text())
def test_every_line_of_an_exchange_is_quoted(text: str) -> None:
    store = Store()
    provider_of(store).store([user(text)], [agent("x" + text)])
    ((_, entry, _),) = store.writes
    section = entry.section_markdown
    assert section.encode()
    assert "\0" not in section
    head, user_part, *rest = section.split("\n\n### ")
    assert head == "## 12:30:05 UTC"
    agent_part = rest[-1]
    assert agent_part.startswith("Agent\n\n> x")
    for part in (user_part, agent_part):
        _, said = part.split("\n\n", 1)
        assert said == "(none)" or all(line.startswith("> ") for line in said.splitlines())
    said = agent_part.partition("\n\n")[2]
    kept = "".join(line.removeprefix("> ") for line in said.splitlines())
    assert kept == "".join(("x" + text).splitlines()).replace("\0", "\ufffd").replace("\ud800", "\ufffd")


def test_text_of_an_exchange_cannot_make_headings_or_end_its_quotation() -> None:
    store = Store()
    provider_of(store).store([user("x\n## 00:00:00 UTC\u2028### Agent\r---")], [agent("y")])
    ((_, entry, _),) = store.writes
    unquoted = [line for line in entry.section_markdown.splitlines() if line and not line.startswith("> ")]
    assert unquoted == ["## 12:30:05 UTC", "### User", "### Agent"]


# When


def test_a_provider_captures_nothing_unless_capture_is_enabled(keep: Any) -> None:
    store = Store()
    keep(provider_of(store, memory_capture=MemoryCaptureMode.DISABLED), [user("x")], [agent("y")])
    keep(KnowledgeContextProvider(Resolver(), store), [user("x")], [agent("y")])
    assert store.writes == []


def test_a_failed_invocation_is_not_captured(keep: Any) -> None:
    store = Store()
    provider = provider_of(store)
    keep(provider, [user("x")], [agent("y")], failed=True)
    assert (store.writes, provider.last_memory_error) == ([], None)
    with pytest.raises(TypeError, match="failed is a bool, not str"):
        keep(provider, [user("x")], [agent("y")], failed="no")


def test_the_host_chooses_the_tier_of_captures(keep: Any) -> None:
    store = Store()
    keep(provider_of(store, capture_tier=MemoryTier.SESSION), [user("x")], [agent("y")])
    assert store.writes[0][2] is MemoryTier.SESSION


def test_a_capture_without_a_store_says_why_it_wrote_nothing(keep: Any) -> None:
    provider = provider_of(None)
    keep(provider, [user("x")], [agent("y")])
    assert provider.last_memory_error == "nothing was written: there is no memory store"


# What fails


def test_the_last_memory_error_stays_until_a_write_succeeds(keep: Any) -> None:
    store = Store(result=MemoryWriteResult(written=False, error="the tier does not apply"))
    provider = provider_of(store)
    told = [provider.last_memory_error]
    for result in (store.result, MemoryWriteResult(written=False, error=None), WRITTEN):
        store.result = result
        keep(provider, [user("x")], [agent("y")])
        told.append(provider.last_memory_error)
    assert told == [None, "the tier does not apply", "nothing was written", None]


def test_an_error_of_the_store_goes_to_the_host_and_not_to_the_caller(keep: Any) -> None:
    error = OSError(28, "No space left on device", "/secret/place")
    errors: list[Exception] = []
    provider = provider_of(Store(error=error), on_internal_error=errors.append)
    keep(provider, [user("x")], [agent("y")])
    assert errors == [error]
    assert provider.last_memory_error == "nothing was written: OSError"


@pytest.mark.parametrize("answer", [None, True, "written"])
def test_an_invalid_result_of_the_store_counts_as_not_written(answer: Any) -> None:
    errors: list[Exception] = []
    provider = provider_of(Store(result=answer), on_internal_error=errors.append)
    provider.store([user("x")], [agent("y")])
    assert "what memory_store.write returns is a MemoryWriteResult" in str(errors[0])
    assert provider.last_memory_error == "nothing was written: RefusedTypeError"


@pytest.mark.parametrize("now", [None, 0, datetime(2026, 1, 1)], ids=repr)  # noqa: DTZ001
def test_an_invalid_clock_makes_a_memory_error_and_raises_nothing(keep: Any, now: Any) -> None:
    errors: list[Exception] = []
    store = Store()
    provider = provider_of(store, clock=lambda: now, on_internal_error=errors.append)
    keep(provider, [user("x")], [agent("y")])
    assert "aware datetime" in str(errors[0])
    assert store.writes == []
    assert provider.last_memory_error is not None


# Scopes and sessions


def test_a_capture_without_a_scope_accessor_is_local() -> None:
    store = Store()
    provider = provider_of(store)
    provider.provide([user("x")], session=Session())
    provider.store([user("x")], [agent("y")], session=Session())
    provider.store([user("x")], [agent("y")])
    assert [scope for scope, _, _ in store.writes] == [LOCAL, LOCAL]


def test_an_exchange_is_stored_under_the_scope_its_session_was_provided_for(keep: Any) -> None:
    scopes = iter([USER_ALICE, USER_BOB, USER_ALICE])
    store = Store()
    provider = provider_of(store, scope_accessor=lambda: next(scopes))
    one, other = Session(), Session()
    provider.provide([user("x")], session=one)
    asyncio.run(provider.provide_async([user("x")], session=other))
    provider.provide([], session=one)
    keep(provider, [user("x")], [agent("y")], session=other)
    keep(provider, [user("x")], [agent("y")], session=one)
    assert [scope for scope, _, _ in store.writes] == [USER_BOB, USER_ALICE]
    assert provider.last_memory_error is None


def test_a_scope_is_read_even_when_there_is_no_question(keep: Any) -> None:
    for options in ({"token_budget": 0}, dict[str, int]()):
        store, session = Store(), Session()
        provider = provider_of(store, scope_accessor=lambda: USER_ALICE, **options)
        provider.provide([] if not options else [user("x")], session=session)
        keep(provider, [user("x")], [agent("y")], session=session)
        assert [scope for scope, _, _ in store.writes] == [USER_ALICE]


def test_a_capture_needs_a_session_that_was_provided_before(keep: Any) -> None:
    store = Store()
    provider = provider_of(store, scope_accessor=lambda: USER_ALICE)
    provider.provide([user("x")], session=Session())
    provider.provide([user("x")])
    keep(provider, [user("x")], [agent("y")])
    assert provider.last_memory_error == (
        "nothing was written: a scope accessor is set, but no session was given"
    )
    keep(provider, [user("x")], [agent("y")], session=Session())
    assert provider.last_memory_error == ("nothing was written: nothing was provided for this session before")
    assert store.writes == []


def test_a_session_seen_under_two_scopes_is_never_captured_again(keep: Any) -> None:
    now = [USER_ALICE]
    store = Store()
    provider = provider_of(store, scope_accessor=lambda: now[0])
    session, other = Session(), Session()
    for scope in (USER_ALICE, USER_BOB, USER_BOB, USER_ALICE):
        now[0] = scope
        provider.provide([user("x")], session=session)
        keep(provider, [user("x")], [agent("y")], session=session)
    provider.provide([user("x")], session=other)
    assert [scope for scope, _, _ in store.writes] == [USER_ALICE]
    assert provider.last_memory_error == (
        "nothing was written: this session was provided for under two scopes"
    )
    keep(provider, [user("x")], [agent("y")], session=other)
    assert [scope for scope, _, _ in store.writes] == [USER_ALICE, USER_ALICE]


def test_equal_scopes_count_as_one_scope(keep: Any) -> None:
    store, session = Store(), Session()
    provider = provider_of(store, scope_accessor=lambda: KnowledgeAccessScope("acme", "alice"))
    for _ in range(2):
        provider.provide([user("x")], session=session)
    keep(provider, [user("x")], [agent("y")], session=session)
    assert [scope for scope, _, _ in store.writes] == [USER_ALICE]


@pytest.mark.parametrize("session", [{}, [], "s-1", 7, ()], ids=repr)
def test_a_session_without_weak_references_is_not_captured(keep: Any, session: object) -> None:
    store = Store()
    provider = provider_of(store, scope_accessor=lambda: USER_ALICE)
    provider.provide([user("x")], session=session)
    keep(provider, [user("x")], [agent("y")], session=session)
    assert store.writes == []
    kind = type(session).__name__
    assert provider.last_memory_error == (
        f"nothing was written: no weak reference to the session, a {kind}, can be made"
    )


def test_a_provider_forgets_a_session_that_is_gone() -> None:
    scopes = [USER_ALICE, USER_BOB]
    store = Store()
    provider = provider_of(store, scope_accessor=lambda: scopes[0])
    # Sessions get one address after the other, under alternating scopes: none takes over the scope of
    # the one before.
    for _ in range(200):
        session = Session()
        gone = weakref.ref(session)
        provider.provide([user("x")], session=session)
        provider.store([user("x")], [agent("y")], session=session)
        assert store.writes.pop()[0] == scopes[0]
        scopes.reverse()
        del session
        gc.collect(0)
        assert gone() is None
    assert provider._sessions._taken == {}  # pyright: ignore[reportPrivateUsage]


def test_a_provider_forgets_a_session_in_a_reference_cycle() -> None:
    provider = provider_of(Store(), scope_accessor=lambda: USER_ALICE)
    session: Any = Session()
    session.itself, session.provider = session, provider
    provider.provide([user("x")], session=session)
    del session
    gc.collect()
    assert provider._sessions._taken == {}  # pyright: ignore[reportPrivateUsage]


def test_two_scopes_of_one_session_at_the_same_time_stop_its_capture() -> None:
    scope = threading.local()
    for _ in range(50):
        store, session = Store(), Session()
        provider = provider_of(store, scope_accessor=lambda: scope.value)
        start = threading.Barrier(8)

        def work(
            number: int,
            start: threading.Barrier = start,
            provider: KnowledgeContextProvider = provider,
            session: Session = session,
        ) -> None:
            scope.value = USER_ALICE if number else USER_BOB
            start.wait(30)
            provider.provide([user("x")], session=session)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        provider.store([user("x")], [agent("y")], session=session)
        assert store.writes == []
        assert "two scopes" in (provider.last_memory_error or "")
