"""The capability for Pydantic AI, in its real agent with a scripted model."""

from __future__ import annotations

import asyncio
import json
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest
from making.memory import texts_below
from making.providing import EXCHANGE, Notebook, provider_of
from making.visibility import ACME, LOCAL
from okf_catalog import KnowledgeAccessScope, KnowledgeContextProvider, MemoryCaptureMode, RefusedTypeError

pytest.importorskip("pydantic_ai")

from okf_catalog.adapters.pydantic_ai import OkfCapability
from pydantic_ai import Agent, ImageUrl, ToolReturn
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextContent,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from okf_catalog import Knowledge, KnowledgeResolver
    from pydantic_ai.models.function import DeltaToolCalls

pytestmark = pytest.mark.usefixtures("offline")


class Script:
    """A model that gives scripted replies, and records the messages it gets."""

    def __init__(self, *replies: str | ToolCallPart | Exception) -> None:
        self.replies = list(replies)
        self.seen: list[list[str]] = []
        self.kinds: list[list[str]] = []
        self.instructions: list[str | None] = []
        self.model = FunctionModel(self.whole, stream_function=self.pieces)

    def next(self, messages: list[ModelMessage], info: AgentInfo) -> str | ToolCallPart:
        parts = [part for message in messages for part in message.parts]
        self.seen.append([str(part.content) for part in parts if isinstance(part, UserPromptPart | TextPart)])
        self.kinds.append([part.part_kind for part in parts])
        self.instructions.append(info.instructions)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        reply = self.next(messages, info)
        return ModelResponse(parts=[TextPart(reply) if isinstance(reply, str) else reply])

    async def pieces(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        reply = self.next(messages, info)
        if isinstance(reply, ToolCallPart):
            yield {0: DeltaToolCall(name=reply.tool_name, json_args=json.dumps(reply.args), tool_call_id="1")}
        else:
            yield reply


def capability(
    resolver: KnowledgeResolver, notebook: Notebook | None = None, **options: Any
) -> OkfCapability:
    return OkfCapability(provider_of(resolver, notebook, **options))


async def ask(agent: Agent[None, str], text: str, *, stream: bool, **options: Any) -> str:
    output: str
    if stream:
        async with agent.run_stream(text, **options) as answer:
            output = await answer.get_output()
    else:
        output = (await agent.run(text, **options)).output
    return output


def test_a_model_reads_what_was_found_before_the_question(resolver: KnowledgeResolver, stream: bool) -> None:
    script = Script("Indeed.")
    agent = Agent(
        script.model,
        instructions="Be brief.",
        capabilities=[capability(resolver, resolver_strategy="merged")],
    )
    assert asyncio.run(ask(agent, "word", stream=stream)) == "Indeed."
    [[context, question]] = script.seen
    assert context.startswith('<okf-context id="knowledge:few:best">\nword\n')
    assert context.count("</okf-context>") == 5
    assert question == "word"
    [instructions] = script.instructions
    assert instructions is not None
    assert instructions.startswith("Be brief.\n\nA message with reference data in okf-context blocks follows")


def test_a_run_without_matches_adds_nothing_to_the_messages(
    resolver: KnowledgeResolver, stream: bool
) -> None:
    script = Script("No idea.")
    agent = Agent(script.model, instructions="Be brief.", capabilities=[capability(resolver)])
    asyncio.run(ask(agent, "unheard", stream=stream))
    assert (script.seen, script.instructions) == ([["unheard"]], ["Be brief."])


def test_an_exchange_is_remembered_for_its_scope_alone(resolver: KnowledgeResolver, stream: bool) -> None:
    notebook, current = Notebook(), ContextVar("current", default=LOCAL)
    script = Script("It is kept.", "As before.", "Never heard.")
    agent = Agent(script.model, capabilities=[capability(resolver, notebook, scope_accessor=current.get)])

    async def ask_as(scope: KnowledgeAccessScope, text: str) -> None:
        current.set(scope)
        await ask(agent, text, stream=stream)

    asyncio.run(ask_as(ACME, "remember this"))
    assert [scope for scope, _, _ in notebook.writes] == [ACME]
    assert notebook.sections(ACME) == [EXCHANGE.format("remember this", "It is kept.")]
    asyncio.run(ask_as(ACME, "unheard"))
    assert "memory:memory:user:note" in script.seen[-1][0]
    asyncio.run(ask_as(KnowledgeAccessScope("other"), "unheard"))
    assert script.seen[-1] == ["unheard"]


def test_a_user_never_reads_what_files_remember_of_another(notes: Knowledge, stream: bool) -> None:
    alice, bob = KnowledgeAccessScope("acme", "alice"), KnowledgeAccessScope("acme", "bob")
    current = ContextVar("current", default=alice)
    script = Script("Blue, then.", "Blue.", "No idea.")
    knowledge = KnowledgeContextProvider(
        notes.resolver,
        notes.memory,
        scope_accessor=current.get,
        memory_capture=MemoryCaptureMode.ENABLED,
    )
    agent = Agent(script.model, capabilities=[OkfCapability(knowledge)])
    asyncio.run(ask(agent, "I like blue", stream=stream))
    [written] = texts_below(notes.catalog.catalog_root / "notes")
    assert "> I like blue\n" in written
    assert written.rstrip().endswith("> Blue, then.")
    asyncio.run(ask(agent, "blue or red?", stream=stream))
    assert "> I like blue" in script.seen[-1][0]
    current.set(bob)
    asyncio.run(ask(agent, "blue or red?", stream=stream))
    assert script.seen[-1] == ["blue or red?"]
    assert knowledge.last_memory_error is None


def test_concurrent_runs_write_to_their_own_scopes(resolver: KnowledgeResolver, stream: bool) -> None:
    notebook, current = Notebook(), ContextVar("current", default=LOCAL)
    scopes = [KnowledgeAccessScope(f"tenant{number}") for number in range(8)]
    script = Script(*["Noted."] * 8)
    agent = Agent(script.model, capabilities=[capability(resolver, notebook, scope_accessor=current.get)])

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
    agent = Agent(Script(ConnectionError("gone")).model, capabilities=[capability(resolver, notebook)])
    with pytest.raises(ConnectionError):
        asyncio.run(ask(agent, "word", stream=stream))
    assert notebook.writes == []


def test_the_history_of_a_conversation_never_holds_the_context(resolver: KnowledgeResolver) -> None:
    script, notebook = Script("One.", "Two."), Notebook()
    agent = Agent(script.model, capabilities=[capability(resolver, notebook, scope_accessor=lambda: ACME)])
    first = asyncio.run(agent.run("word"))
    assert b"</okf-context>" not in ModelMessagesTypeAdapter.dump_json(first.all_messages())
    second = asyncio.run(agent.run("secret word", message_history=first.all_messages()))
    assert b"</okf-context>" not in ModelMessagesTypeAdapter.dump_json(second.all_messages())
    assert [text for text in script.seen[1] if "okf-context" not in text] == ["word", "One.", "secret word"]
    assert ["okf-context" in text for text in script.seen[1]] == [False, False, True, False]
    assert notebook.sections(ACME) == [
        EXCHANGE.format("word", "One."),
        EXCHANGE.format("secret word", "Two."),
    ]


def test_a_run_with_tools_searches_once_and_remembers_the_answer(
    resolver: KnowledgeResolver, stream: bool
) -> None:
    notebook, asked = Notebook(), list[str]()

    def accessor() -> KnowledgeAccessScope:
        asked.append("scope")
        return ACME

    def weather(city: str) -> str:
        return f"rain in {city}; word secret"

    script = Script(ToolCallPart("weather", {"city": "Malmö"}, tool_call_id="1"), "It rains.")
    agent = Agent(
        script.model,
        tools=[weather],
        capabilities=[capability(resolver, notebook, scope_accessor=accessor)],
    )
    assert asyncio.run(ask(agent, "word", stream=stream)) == "It rains."
    assert asked == ["scope"]
    assert [seen[0].count("</okf-context>") for seen in script.seen] == [6, 6]
    assert script.kinds[1] == ["user-prompt", "user-prompt", "tool-call", "tool-return"]
    assert notebook.sections(ACME) == [EXCHANGE.format("word", "It rains.")]


def test_the_answer_of_a_tool_directly_follows_its_call(resolver: KnowledgeResolver) -> None:
    def look() -> ToolReturn:
        return ToolReturn("seen", content=["what it looks like"])

    script = Script(ToolCallPart("look", {}, tool_call_id="1"), "Done.")
    agent = Agent(script.model, tools=[look], capabilities=[capability(resolver)])
    asyncio.run(agent.run("word"))
    assert script.kinds[1][:4] == ["user-prompt", "tool-call", "tool-return", "user-prompt"]
    assert sum("okf-context" in text for text in script.seen[1]) == 1


def test_the_last_message_of_the_user_is_the_question(resolver: KnowledgeResolver) -> None:
    script = Script("Indeed.", "Indeed.", "Indeed.")
    agent = Agent(script.model, capabilities=[capability(resolver)])
    picture = ImageUrl("https://example.com/a.png")
    asyncio.run(agent.run(["word", picture]))
    assert script.seen[0][0].count("</okf-context>") == 5
    history: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("word")]),
        ModelResponse(parts=[TextPart("Yes?")]),
    ]
    asyncio.run(agent.run([picture], message_history=history))
    assert sum(text.count("</okf-context>") for text in script.seen[1]) == 5
    asyncio.run(agent.run([TextContent("word", metadata="as pasted"), picture]))
    assert script.seen[2][0].count("</okf-context>") == 5


class Canned(AbstractCapability[Any]):
    """Answers instead of the model."""

    async def wrap_model_request(self, ctx: Any, **_: Any) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Closed today.")])


def test_a_run_that_calls_no_model_is_not_remembered(resolver: KnowledgeResolver) -> None:
    script, notebook = Script(), Notebook()
    agent = Agent(script.model, capabilities=[Canned(), capability(resolver, notebook)])
    assert asyncio.run(ask(agent, "word", stream=False)) == "Closed today."
    assert notebook.writes == []


def test_an_error_of_the_scope_accessor_ends_the_run(resolver: KnowledgeResolver, stream: bool) -> None:
    def accessor() -> KnowledgeAccessScope:
        raise LookupError("nobody is signed in")

    script = Script("Indeed.")
    agent = Agent(script.model, capabilities=[capability(resolver, scope_accessor=accessor)])
    with pytest.raises(LookupError, match="nobody is signed in"):
        asyncio.run(ask(agent, "word", stream=stream))
    assert script.seen == []


def test_an_adapter_refuses_anything_but_a_context_provider(resolver: KnowledgeResolver) -> None:
    not_one: Any = resolver
    with pytest.raises(RefusedTypeError, match="provider is a KnowledgeContextProvider, not"):
        OkfCapability(not_one)
