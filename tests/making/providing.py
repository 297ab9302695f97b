"""Context providers, the resolvers and stores that they ask, and the frame they write, parsed again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from okf_catalog import (
    ChatMessage,
    ConceptStatus,
    KnowledgeAccessScope,
    KnowledgeContext,
    KnowledgeContextProvider,
    KnowledgeDiagnostic,
    KnowledgePassage,
    KnowledgeQuery,
    MemoryCaptureMode,
    MemoryDeleteResult,
    MemoryEntry,
    MemoryReadResult,
    MemoryTier,
    MemoryWriteResult,
    ProvidedContext,
    TrustTier,
)

from making.clocks import at_noon
from making.frame import parsed, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okf_catalog import KnowledgeResolver, MemoryStore

EXCHANGE = "## 12:00:00 UTC\n\n### User\n\n> {}\n\n### Agent\n\n> {}"
"""What is captured at noon of a question and its answer."""
WRITTEN = MemoryWriteResult(written=True, error=None)


def passage(
    concept_id: str, title: str | None = None, snippet: str = "", source_id: str = "s", **fields: Any
) -> KnowledgePassage:
    """A passage made by hand. Blocks show its snippet and never its excerpt."""
    made: dict[str, Any] = {
        "source_id": source_id,
        "concept_id": concept_id,
        "title": title,
        "excerpt": "an excerpt is in no block",
        "snippet": snippet,
        "score": 1,
        "bundle_relative_path": f"{concept_id}.md",
        "trust_tier": TrustTier.UNVERIFIED,
        "status": ConceptStatus.STABLE,
        "stale_after": None,
        "concept_type": None,
        "description": None,
        **fields,
    }
    return KnowledgePassage(**made)


def user(text: str | None) -> ChatMessage:
    return ChatMessage("user", text)


def agent(text: str | None) -> ChatMessage:
    return ChatMessage("assistant", text)


@dataclass
class Resolver:
    """Gives every question the same answer, and remembers the questions."""

    passages: Sequence[KnowledgePassage] = ()
    error: BaseException | None = None
    diagnostics: tuple[KnowledgeDiagnostic, ...] = ()
    queries: list[KnowledgeQuery] = field(default_factory=list[KnowledgeQuery])

    def search(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        assert isinstance(query, KnowledgeQuery)
        self.queries.append(query)
        if self.error is not None:
            raise self.error
        return KnowledgeContext(query, 1, self.passages, self.diagnostics)

    async def search_async(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        return self.search(query)

    def search_batch(self, *arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError


@dataclass
class Store:
    """Gives every question the same answer, writes nothing to disk, and remembers every call."""

    passages: Sequence[KnowledgePassage] = ()
    error: BaseException | None = None
    diagnostics: tuple[KnowledgeDiagnostic, ...] = ()
    result: MemoryWriteResult = WRITTEN
    reads: list[tuple[KnowledgeAccessScope, KnowledgeQuery | str]] = field(
        default_factory=list[tuple[KnowledgeAccessScope, "KnowledgeQuery | str"]]
    )
    writes: list[tuple[KnowledgeAccessScope, MemoryEntry, MemoryTier]] = field(
        default_factory=list[tuple[KnowledgeAccessScope, MemoryEntry, MemoryTier]]
    )

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        self.reads.append((scope, query))
        if self.error is not None:
            raise self.error
        return MemoryReadResult(self.passages, self.diagnostics)

    def write(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier, *, replace: bool = False
    ) -> MemoryWriteResult:
        if self.error is not None:
            raise self.error
        self.writes.append((scope, entry, tier))
        return self.result

    async def read_async(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        return self.read(scope, query)

    async def write_async(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier, *, replace: bool = False
    ) -> MemoryWriteResult:
        return self.write(scope, entry, tier, replace=replace)

    def delete(self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str) -> MemoryDeleteResult:
        raise AssertionError

    def delete_scope(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        raise AssertionError

    def enumerate(self, scope: KnowledgeAccessScope) -> NoReturn:
        raise AssertionError

    async def delete_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str
    ) -> MemoryDeleteResult:
        raise AssertionError

    async def delete_scope_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        raise AssertionError

    async def enumerate_async(self, scope: KnowledgeAccessScope) -> NoReturn:
        raise AssertionError


class Notebook(Store):
    """A store that reads back whatever the scope wrote."""

    def sections(self, scope: KnowledgeAccessScope) -> list[str]:
        """What was written for a scope, oldest first."""
        return [entry.section_markdown for owner, entry, _ in self.writes if owner == scope]

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        notes = self.sections(scope)
        return MemoryReadResult(tuple(passage("note", None, note, "memory:user") for note in notes), ())


class Session:
    """A session as a framework gives it: an object that a provider can hold a weak reference to."""


def provide(
    knowledge: Sequence[KnowledgePassage] = (), memory: Sequence[KnowledgePassage] = (), **options: Any
) -> ProvidedContext:
    """What a provider gives for ``word`` when knowledge and memory answer with these passages."""
    options.setdefault("on_internal_error", unexpected)
    return KnowledgeContextProvider(Resolver(knowledge), Store(memory), **options).provide([user("word")])


def provide_whole(
    knowledge: Sequence[KnowledgePassage] = (), memory: Sequence[KnowledgePassage] = (), **options: Any
) -> ProvidedContext:
    """The same with a budget that leaves nothing out."""
    return provide(knowledge, memory, **{"token_budget": 10**9, **options})


def content(title: str | None, snippet: str) -> list[str]:
    """The lines of the block that a message holds for one passage."""
    ((_, lines),) = parsed(text_of(provide_whole([passage("a", title, snippet)])))
    return lines


def id_of(concept_id: str, source_id: str = "s") -> str:
    """The id of the block that a message holds for one passage."""
    ((name, _),) = parsed(text_of(provide_whole([passage(concept_id, None, "x", source_id)])))
    return name


def quarter(text: str) -> int:
    """Counts one token for every four code points, as a provider does by itself."""
    return -(-len(text) // 4)


def provide_async(provider: KnowledgeContextProvider, *arguments: Any, **options: Any) -> ProvidedContext:
    return asyncio.run(provider.provide_async(*arguments, **options))


WAYS = {"provide": KnowledgeContextProvider.provide, "provide_async": provide_async}

Way = Any
"""One of ``WAYS``: ``way(provider, messages, session=None)``."""


async def later() -> KnowledgeAccessScope:
    """A scope accessor that is a coroutine, which hosts may not give."""
    return KnowledgeAccessScope("acme", "alice")


def provider_of(
    resolver: KnowledgeResolver, store: MemoryStore | None = None, **options: Any
) -> KnowledgeContextProvider:
    """A provider at noon, which captures every exchange if there is a store."""
    if store is not None:
        options.setdefault("memory_capture", MemoryCaptureMode.ENABLED)
    options.setdefault("clock", at_noon)
    return KnowledgeContextProvider(resolver, store, **options)


def unexpected(error: Exception) -> None:
    """For ``on_internal_error``: fails the test. A provider catches ``Exception``, which this is not."""
    pytest.fail(repr(error))
