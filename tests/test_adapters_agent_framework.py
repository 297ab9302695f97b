"""The context provider for the Microsoft Agent Framework, in its real agent with a scripted model."""

from __future__ import annotations

import asyncio
import re
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from making.memory import texts_below
from making.providing import EXCHANGE, Notebook, provider_of
from making.visibility import ACME, LOCAL
from okf_catalog import (
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    MemoryCaptureMode,
    MemoryTier,
    RefusedTypeError,
)

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    AgentLoopMiddleware,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    ContextProvider,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    ResponseStream,
)
from okf_catalog.adapters.agent_framework import OkfContextProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Mapping, Sequence

    from okf_catalog import Knowledge, KnowledgeResolver

pytestmark = pytest.mark.usefixtures("offline")

Reply: TypeAlias = str | Content | Exception


class Scripted(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """A model that gives scripted replies, and records the messages it gets."""

    def __init__(self, *script: Reply) -> None:
        super().__init__()
        self.script = list(script)
        self.seen: list[list[tuple[str, str]]] = []
        self.instructions: list[str | None] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Awaitable[ChatResponse] | ResponseStream[ChatResponseUpdate, ChatResponse]:
        self.seen.append([(message.role, message.text) for message in messages])
        self.instructions.append(options.get("instructions"))
        reply = self.script.pop(0)

        async def pieces() -> AsyncIterable[ChatResponseUpdate]:
            if isinstance(reply, Content):
                yield ChatResponseUpdate(role="assistant", contents=[reply])
                return
            # A failing stream fails after its reader has seen a part of it.
            for word in re.findall(r"\S+\s*", reply if isinstance(reply, str) else "Well, you"):
                yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(word)])
            if isinstance(reply, Exception):
                raise reply

        async def whole() -> ChatResponse:
            if isinstance(reply, Exception):
                raise reply
            return ChatResponse(messages=[Message("assistant", [reply])])

        return self._build_response_stream(pieces()) if stream else whole()

    def blocks(self, call: int = -1) -> int:
        """How many blocks of context the model got in one call."""
        return sum(text.count("</okf-context>") for _, text in self.seen[call])


def provider(
    resolver: KnowledgeResolver, notebook: Notebook | None = None, **options: Any
) -> OkfContextProvider:
    return OkfContextProvider(provider_of(resolver, notebook, **options))


async def ask(agent: Agent[Any], text: str, *, stream: bool, **options: Any) -> str:
    if not stream:
        return str(await agent.run(text, **options))
    answer = agent.run(text, stream=True, **options)
    return "".join([update.text async for update in answer])


def test_a_model_reads_what_was_found_before_the_question(resolver: KnowledgeResolver, stream: bool) -> None:
    client = Scripted("Indeed.")
    agent = Agent(client, "Be brief.", context_providers=[provider(resolver, resolver_strategy="merged")])
    assert asyncio.run(ask(agent, "word", stream=stream)) == "Indeed."
    [[(role, text), question]] = client.seen
    assert role == "user"
    assert text.startswith('<okf-context id="knowledge:few:best">\nword\n')
    assert text.count("</okf-context>") == 5
    assert question == ("user", "word")
    [instructions] = client.instructions
    assert instructions is not None
    assert instructions.startswith("Be brief.\nA message with reference data in okf-context blocks follows")


def test_a_run_without_matches_adds_nothing_to_the_messages(
    resolver: KnowledgeResolver, stream: bool
) -> None:
    client = Scripted("No idea.")
    agent = Agent(client, "Be brief.", context_providers=[provider(resolver)])
    asyncio.run(ask(agent, "unheard", stream=stream))
    assert client.seen == [[("user", "unheard")]]
    assert client.instructions == ["Be brief."]


def test_an_exchange_is_remembered_for_its_scope_alone(resolver: KnowledgeResolver, stream: bool) -> None:
    notebook, current = Notebook(), ContextVar("current", default=LOCAL)
    client = Scripted("It is kept.", "As before.", "Never heard.")
    agent = Agent(client, context_providers=[provider(resolver, notebook, scope_accessor=current.get)])

    async def ask_as(scope: KnowledgeAccessScope, text: str) -> None:
        current.set(scope)
        await ask(agent, text, stream=stream)

    asyncio.run(ask_as(ACME, "remember this"))
    [(scope, entry, tier)] = notebook.writes
    assert (scope, tier, entry.concept_name) == (ACME, MemoryTier.USER, "2026-03-01")
    assert entry.section_markdown == EXCHANGE.format("remember this", "It is kept.")
    asyncio.run(ask_as(ACME, "unheard"))
    assert "memory:memory:user:note" in client.seen[-1][0][1]
    asyncio.run(ask_as(KnowledgeAccessScope("other"), "unheard"))
    assert client.seen[-1] == [("user", "unheard")]


def test_a_user_never_reads_what_files_remember_of_another(notes: Knowledge, stream: bool) -> None:
    alice, bob = KnowledgeAccessScope("acme", "alice"), KnowledgeAccessScope("acme", "bob")
    current = ContextVar("current", default=alice)
    client = Scripted("Blue, then.", "Blue.", "No idea.")
    knowledge = KnowledgeContextProvider(
        notes.resolver,
        notes.memory,
        scope_accessor=current.get,
        memory_capture=MemoryCaptureMode.ENABLED,
    )
    agent = Agent(client, context_providers=[OkfContextProvider(knowledge)])
    asyncio.run(ask(agent, "I like blue", stream=stream))
    [written] = texts_below(notes.catalog.catalog_root / "notes")
    assert "> I like blue\n" in written
    assert written.rstrip().endswith("> Blue, then.")
    asyncio.run(ask(agent, "blue or red?", stream=stream))
    assert "> I like blue" in client.seen[-1][0][1]
    current.set(bob)
    asyncio.run(ask(agent, "blue or red?", stream=stream))
    assert client.seen[-1] == [("user", "blue or red?")]
    assert knowledge.last_memory_error is None


def test_concurrent_runs_write_to_their_own_scopes(resolver: KnowledgeResolver, stream: bool) -> None:
    notebook, current = Notebook(), ContextVar("current", default=LOCAL)
    scopes = [KnowledgeAccessScope(f"tenant{number}") for number in range(8)]
    agent = Agent(
        Scripted(*["Noted."] * 8),
        context_providers=[provider(resolver, notebook, scope_accessor=current.get)],
    )

    async def ask_as(scope: KnowledgeAccessScope) -> None:
        current.set(scope)
        await ask(agent, f"I am {scope.tenant_id}", stream=stream)

    async def all_at_once() -> None:
        await asyncio.gather(*map(ask_as, scopes))

    asyncio.run(all_at_once())
    assert {scope: notebook.sections(scope) for scope in scopes} == {
        scope: [EXCHANGE.format(f"I am {scope.tenant_id}", "Noted.")] for scope in scopes
    }


def test_a_failed_run_writes_no_memory(resolver: KnowledgeResolver, stream: bool) -> None:
    notebook = Notebook()
    agent = Agent(Scripted(ConnectionError("gone")), context_providers=[provider(resolver, notebook)])
    with pytest.raises(ConnectionError):
        asyncio.run(ask(agent, "word", stream=stream))
    assert notebook.writes == []


def test_a_stream_closed_early_is_remembered_up_to_where_it_was_read(resolver: KnowledgeResolver) -> None:
    notebook = Notebook()
    agent = Agent(Scripted("Indeed it is."), context_providers=[provider(resolver, notebook)])

    async def read_a_little() -> str:
        async with agent.run("word", stream=True) as answer:
            async for update in answer:
                return update.text
        raise AssertionError

    assert asyncio.run(read_a_little()) == "Indeed "
    # The framework ends such a run like any other; its own history does the same.
    assert notebook.sections(LOCAL) == [EXCHANGE.format("word", "Indeed ")]


def test_the_history_of_a_conversation_never_holds_the_context(
    resolver: KnowledgeResolver, stream: bool
) -> None:
    client, notebook, session = Scripted("One.", "Two."), Notebook(), AgentSession()
    agent = Agent(
        client,
        context_providers=[
            InMemoryHistoryProvider(),
            provider(resolver, notebook, scope_accessor=lambda: ACME),
        ],
    )

    async def talk() -> None:
        await ask(agent, "word", stream=stream, session=session)
        await ask(agent, "secret word", stream=stream, session=session)

    asyncio.run(talk())
    assert [text for _, text in client.seen[1] if "okf-context" not in text] == [
        "word",
        "One.",
        "secret word",
    ]
    assert sum("okf-context" in text for _, text in client.seen[1]) == 1
    assert notebook.sections(ACME) == [
        EXCHANGE.format("word", "One."),
        EXCHANGE.format("secret word", "Two."),
    ]


def test_a_session_that_changes_its_scope_is_not_remembered_again(resolver: KnowledgeResolver) -> None:
    notebook, session = Notebook(), AgentSession()
    scopes = iter([ACME, KnowledgeAccessScope("other"), ACME])
    knowledge = provider_of(resolver, notebook, scope_accessor=lambda: next(scopes))
    agent = Agent(Scripted("One.", "Two.", "Three."), context_providers=[OkfContextProvider(knowledge)])
    for _ in range(3):
        asyncio.run(ask(agent, "word", stream=False, session=session))
    assert [scope for scope, _, _ in notebook.writes] == [ACME]
    assert "two scopes" in (knowledge.last_memory_error or "")
    assert weakref.ref(session)() is session


def test_a_run_with_tools_searches_once_and_remembers_the_answer(
    resolver: KnowledgeResolver, stream: bool
) -> None:
    notebook, asked = Notebook(), list[str]()

    def accessor() -> KnowledgeAccessScope:
        asked.append("scope")
        return ACME

    def weather(city: str) -> str:
        """Tells the weather."""
        return f"rain in {city}; word secret"

    call = Content.from_function_call("call-1", "weather", arguments={"city": "Malmö", "tenant_id": "other"})
    client = Scripted(call, "It rains.")
    agent = Agent(
        client, tools=[weather], context_providers=[provider(resolver, notebook, scope_accessor=accessor)]
    )
    assert asyncio.run(ask(agent, "word", stream=stream)) == "It rains."
    assert asked == ["scope"]
    assert [client.blocks(0), client.blocks(1)] == [6, 6]
    assert notebook.sections(ACME) == [EXCHANGE.format("word", "It rains.")]


# The framework warns that its loop is experimental.
@pytest.mark.filterwarnings("ignore:.*AgentLoopMiddleware is experimental")
def test_a_loop_of_calls_is_remembered_as_one_exchange(resolver: KnowledgeResolver, stream: bool) -> None:
    notebook, session = Notebook(), AgentSession()

    def should_continue(*, iteration: int, **_: Any) -> bool:
        return iteration < 2

    client = Scripted("Half of it.", "All of it.")
    agent = Agent(
        client,
        context_providers=[provider(resolver, notebook, scope_accessor=lambda: ACME)],
        middleware=[AgentLoopMiddleware(should_continue)],
    )
    asyncio.run(ask(agent, "word", stream=stream, session=session))
    assert len(client.seen) == 2
    assert notebook.sections(ACME) == [EXCHANGE.format("word", "All of it.")]


class Meddler(ContextProvider):
    """Another provider, which adds a message of the user."""

    async def before_run(self, *, context: Any, **_: Any) -> None:
        context.extend_messages(self, [Message("user", ["word"])])


PICTURE = Message("user", [Content.from_uri("https://example.com/a.png", media_type="image/png")])


def test_messages_of_other_providers_are_not_asked(resolver: KnowledgeResolver) -> None:
    client, notebook = Scripted("A cat.", "No idea."), Notebook()
    agent = Agent(client, context_providers=[Meddler("meddler"), provider(resolver, notebook)])

    async def ask() -> None:
        await agent.run(PICTURE)
        await agent.run("unheard")

    asyncio.run(ask())
    assert client.blocks(0) == 0
    first, second = notebook.sections(LOCAL)
    assert first == EXCHANGE.format("", "A cat.").replace("> \n", "(none)\n")
    assert second == EXCHANGE.format("unheard", "No idea.")


def test_the_last_message_of_the_user_is_the_question(resolver: KnowledgeResolver) -> None:
    client = Scripted("Indeed.")
    agent = Agent(client, context_providers=[provider(resolver)])
    messages = [
        Message("user", ["unheard"]),
        Message("assistant", ["Yes?"]),
        Message("user", ["word"]),
        PICTURE,
    ]

    async def ask() -> None:
        await agent.run(messages)

    asyncio.run(ask())
    assert client.blocks() == 5


def test_an_error_of_the_scope_accessor_ends_the_run(resolver: KnowledgeResolver, stream: bool) -> None:
    def accessor() -> KnowledgeAccessScope:
        raise LookupError("nobody is signed in")

    client = Scripted("Indeed.")
    agent = Agent(client, context_providers=[provider(resolver, scope_accessor=accessor)])
    with pytest.raises(LookupError, match="nobody is signed in"):
        asyncio.run(ask(agent, "word", stream=stream))
    assert client.seen == []


def test_one_provider_works_under_two_names(resolver: KnowledgeResolver) -> None:
    client = Scripted("Indeed.")
    knowledge = KnowledgeContextProvider(resolver)
    agent = Agent(
        client,
        context_providers=[OkfContextProvider(knowledge), OkfContextProvider(knowledge, source_id="again")],
    )
    asyncio.run(ask(agent, "word", stream=False))
    assert [provider.source_id for provider in agent.context_providers] == ["okf_catalog", "again"]
    assert client.blocks() == 10


def test_an_adapter_refuses_anything_but_a_context_provider(resolver: KnowledgeResolver) -> None:
    not_one: Any = resolver
    with pytest.raises(RefusedTypeError, match="provider is a KnowledgeContextProvider, not"):
        OkfContextProvider(not_one)
