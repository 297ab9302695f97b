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
from okf_catalog.provider.messages import USER, last_text, messages_of
from okf_catalog.provider.scope import current_scope
from okf_catalog.provider.sessions import SessionScopes
from okf_catalog.provider.settings import Settings
from okf_catalog.scope import KnowledgeAccessScope

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
        """The query for the last text of the user, or ``None`` if there is nothing to ask.

        The scope accessor is called in any case, and its scope is remembered for the session.
        """
        checked = messages_of("messages", messages)
        settings = self._settings
        scope = KnowledgeAccessScope.LOCAL
        if settings.scope_accessor is not None:
            scope = current_scope(settings.scope_accessor)
            if session is not None:
                self._sessions.remember(session, scope)
        text = last_text(checked, USER)
        if text is None or settings.token_budget <= 0:
            return None
        # A user may paste a text that is longer than a question may be.
        text = shortened(text, settings.question_limit)
        return replace(settings.query, text=text, scope=scope) if text else None

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
