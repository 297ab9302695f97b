"""Gathering: the question of the user, and the passages that both sides have for it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, final

from okf_catalog._engine import KnowledgePassage
from okf_catalog.ask.length import shortened
from okf_catalog.ask.query import KnowledgeQuery
from okf_catalog.catalog.source import SourceRole
from okf_catalog.checks import drop_coroutine
from okf_catalog.diagnostics import KnowledgeDiagnostic
from okf_catalog.provider.failures import Failures
from okf_catalog.provider.messages import ChatMessage, messages_of
from okf_catalog.provider.rewriting import question_text
from okf_catalog.provider.scope import current_scope
from okf_catalog.provider.sessions import SessionScopes
from okf_catalog.provider.settings import Settings
from okf_catalog.scope import KnowledgeAccessScope
from okf_catalog.waiting import run_in_thread

__all__ = ["Found", "Gathered", "Gatherer"]


class Found(NamedTuple):
    """The passages of one side. ``total`` is how many there are."""

    passages: Sequence[KnowledgePassage] = ()
    diagnostics: tuple[KnowledgeDiagnostic, ...] = ()
    total: int = 0


class Gathered(NamedTuple):
    """What the resolver and the memory store have for a question."""

    knowledge: Found = Found()
    memory: Found = Found()


class _Answer(Protocol):
    """What the results of a resolver and of a memory store have in common."""

    @property
    def passages(self) -> Sequence[KnowledgePassage]: ...
    @property
    def diagnostics(self) -> tuple[KnowledgeDiagnostic, ...]: ...


@final
class Gatherer:
    """Asks the resolver and the memory store. A side that fails has no passages (X9)."""

    __slots__ = ("_failures", "_sessions", "_settings")

    def __init__(self, settings: Settings, sessions: SessionScopes, failures: Failures) -> None:
        self._settings = settings
        self._sessions = sessions
        self._failures = failures

    def question(self, messages: object, session: object) -> KnowledgeQuery | None:
        """The query for the messages (X1), or ``None`` if there is nothing to ask.

        The scope accessor is called in any case, and its scope is remembered for the session. If the host's
        ``rewrite_query`` fails, that is reported, and nothing is asked (X9).
        """
        checked, scope = self._begin(messages, session)
        return self._query(self._wording(checked), scope)

    async def question_async(self, messages: object, session: object) -> KnowledgeQuery | None:
        """Does the same. ``rewrite_query`` is called in a thread, because it may wait for a model."""
        checked, scope = self._begin(messages, session)
        if self._settings.rewrite_query is None:
            return self._query(self._wording(checked), scope)
        return self._query(await run_in_thread(lambda: self._wording(checked)), scope)

    def _begin(self, messages: object, session: object) -> tuple[list[ChatMessage], KnowledgeAccessScope]:
        """The checked messages, and the scope of this invocation."""
        checked = messages_of("messages", messages)
        settings = self._settings
        scope = KnowledgeAccessScope.LOCAL
        if settings.scope_accessor is not None:
            scope = current_scope(settings.scope_accessor)
            if session is not None:
                self._sessions.remember(session, scope)
        return checked, scope

    def _wording(self, messages: list[ChatMessage]) -> str | Exception | None:
        """The text to ask, or what the host's function raised.

        It is returned, because the failure is reported in the caller's thread, and because the event loop
        would wait for ever if a ``StopIteration`` left the other thread.
        """
        if self._settings.token_budget <= 0:
            return None
        try:
            return question_text(messages, self._settings.rewrite_query)
        except Exception as error:  # noqa: BLE001  # X9.
            return error

    def _query(self, text: str | Exception | None, scope: KnowledgeAccessScope) -> KnowledgeQuery | None:
        if isinstance(text, Exception):
            self._failures.side_failed(None, text)
            return None
        if text is None:
            return None
        # A user may paste a text that is longer than a question may be.
        text = shortened(text, self._settings.question_limit)
        return replace(self._settings.query, text=text, scope=scope) if text else None

    def gather(self, query: KnowledgeQuery) -> Gathered:
        """Asks both sides, one after the other."""
        knowledge = memory = Found()
        with self._failures.caught(SourceRole.KNOWLEDGE):
            knowledge = _found(self._settings.resolver.search(query))
        store = self._settings.memory_store
        if store is not None:
            with self._failures.caught(SourceRole.MEMORY):
                memory = _found(store.read(query.scope, query))
        return self._gathered(knowledge, memory)

    async def gather_async(self, query: KnowledgeQuery) -> Gathered:
        """Does the same without blocking the event loop."""
        knowledge = memory = Found()
        with self._failures.caught(SourceRole.KNOWLEDGE):
            knowledge = _found(await self._settings.resolver.search_async(query))
        store = self._settings.memory_store
        if store is not None:
            with self._failures.caught(SourceRole.MEMORY):
                memory = _found(await store.read_async(query.scope, query))
        return self._gathered(knowledge, memory)

    def _gathered(self, knowledge: Found, memory: Found) -> Gathered:
        if memory.diagnostics:
            self._failures.last_memory_error = memory.diagnostics[0].message
        return Gathered(knowledge, memory)


def _found(answer: _Answer) -> Found:
    drop_coroutine(answer)
    passages = answer.passages
    return Found(passages, tuple(answer.diagnostics), len(passages))
