"""A capability for Pydantic AI: ``pip install "okf-catalog[pydantic-ai]"``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

from okf_catalog.adapters import missing
from okf_catalog.checks import check_kind
from okf_catalog.provider.messages import ChatMessage
from okf_catalog.provider.provider import KnowledgeContextProvider

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import InstructionPart, ModelRequest, TextContent, UserPromptPart
except ModuleNotFoundError as error:
    raise missing("pydantic_ai", "pydantic-ai-slim", "pydantic-ai") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic_ai import AgentRunResult, RunContext
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestContext

    from okf_catalog.provider.context import ProvidedContext

__all__ = ["OkfCapability"]


@final
class OkfCapability(AbstractCapability[Any]):
    """Gives a model the message of ``provider``, and lets it store the exchange afterwards.

    The message is made once for each run, and is put before the user's question in every request of the run.
    It never becomes part of the message history. The scope is that of the ``provider``'s accessor, which is
    called in the task of the run. Nothing is stored for a run that fails.

    Example:
        >>> Agent(model, capabilities=[OkfCapability(provider)])  # doctest: +SKIP

    Raises:
        RefusedTypeError: ``provider`` is not a ``KnowledgeContextProvider``.
    """

    def __init__(self, provider: KnowledgeContextProvider, *, id: str | None = None) -> None:
        check_kind("provider", provider, KnowledgeContextProvider, "a KnowledgeContextProvider")
        self.id = id
        self._provider = provider
        self._said: list[ChatMessage] = []
        self._provided: ProvidedContext | None = None

    async def for_run(self, ctx: RunContext[Any]) -> OkfCapability:
        """A new capability for each run. It is also the session object for the provider."""
        return OkfCapability(self._provider, id=self.id)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Adds the passages that were found, if any, to this request only."""
        if self._provided is None:
            self._said = list(_neutral(request_context.messages))
            self._provided = await self._provider.provide_async(self._said, session=self)
        if self._provided.instructions is None:
            return request_context
        told = InstructionPart(self._provided.instructions, dynamic=True)
        parameters = request_context.model_request_parameters
        return replace(
            request_context,
            messages=_with(self._provided.messages, request_context.messages),
            model_request_parameters=replace(
                parameters, instruction_parts=[*(parameters.instruction_parts or ()), told]
            ),
        )

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Stores the exchange, if capture is enabled. The framework does not call this for a run that failed."""
        if self._provided is not None:
            await self._provider.store_async(self._said, _neutral(result.new_messages()), session=self)
        return result


def _with(context: Iterable[ChatMessage], messages: list[ModelMessage]) -> list[ModelMessage]:
    """The messages, with the context before the last text of the user.

    It becomes a part of that request. A message of its own could separate a tool call from its result.
    """
    parts = [UserPromptPart(message.text or "") for message in context]
    for place, message in reversed(list(enumerate(messages))):
        if isinstance(message, ModelRequest):
            for begin, part in enumerate(message.parts):
                if isinstance(part, UserPromptPart):
                    request = replace(message, parts=[*message.parts[:begin], *parts, *message.parts[begin:]])
                    return [*messages[:place], request, *messages[place + 1 :]]
    return messages


def _neutral(messages: Iterable[ModelMessage]) -> Iterator[ChatMessage]:
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    yield ChatMessage("user", _text(part))
        else:
            yield ChatMessage("assistant", message.text)


def _text(prompt: UserPromptPart) -> str:
    items = [prompt.content] if isinstance(prompt.content, str) else prompt.content
    texts = (item.content if isinstance(item, TextContent) else item for item in items)
    return "\n".join(text for text in texts if isinstance(text, str))
