"""A context provider for the Microsoft Agent Framework: ``pip install "okf-catalog[agent-framework]"``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from okf_catalog.adapters import missing
from okf_catalog.checks import check_kind
from okf_catalog.provider.messages import ChatMessage
from okf_catalog.provider.provider import KnowledgeContextProvider

try:
    from agent_framework import ContextProvider, Message
except ModuleNotFoundError as error:
    raise missing("agent_framework", "agent-framework-core", "agent-framework") from error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_framework import AgentSession, SessionContext, SupportsAgentRun

__all__ = ["OkfContextProvider"]


@final
class OkfContextProvider(ContextProvider):
    """Gives an agent the message of ``provider`` before each run, and lets it store the exchange afterwards.

    Only the messages that a run was called with are used, not the history and not what other context
    providers add. The scope is that of the ``provider``'s accessor, which is called once for each run, in the
    task of the run. Nothing is stored for a run that fails. If a stream is closed early, the part that was
    read is stored, as in the framework's own history. In an agent loop the exchange is the user's question
    and the loop's answer, without the steps between.

    Example:
        >>> Agent(client, context_providers=[OkfContextProvider(provider)])  # doctest: +SKIP

    Raises:
        RefusedTypeError: ``provider`` is not a ``KnowledgeContextProvider``.
    """

    after_run_once_per_turn = True

    def __init__(self, provider: KnowledgeContextProvider, *, source_id: str = "okf_catalog") -> None:
        check_kind("provider", provider, KnowledgeContextProvider, "a KnowledgeContextProvider")
        super().__init__(source_id)
        self._provider = provider

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Adds the passages that were found, if any, to the messages and instructions of the run."""
        provided = await self._provider.provide_async(_neutral(context.input_messages), session=session)
        if provided.instructions is not None:
            context.extend_instructions(self.source_id, provided.instructions)
            context.extend_messages(
                self, [Message(message.role, [message.text or ""]) for message in provided.messages]
            )

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Stores the exchange, if capture is enabled. The framework does not call this for a run that failed."""
        response = [] if context.response is None else context.response.messages
        await self._provider.store_async(
            _neutral(context.input_messages), _neutral(response), session=session
        )


def _neutral(messages: Iterable[Message]) -> list[ChatMessage]:
    return [ChatMessage(message.role, message.text) for message in messages]
