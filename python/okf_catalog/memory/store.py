"""What every memory store can do."""

from typing import Protocol, runtime_checkable

from okf_catalog.ask.query import KnowledgeQuery
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.memory.entry import MemoryEntry
from okf_catalog.memory.results import (
    MemoryConcept,
    MemoryDeleteResult,
    MemoryReadResult,
    MemoryWriteResult,
)
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["MemoryStore"]


@runtime_checkable
class MemoryStore(Protocol):
    """Remembers for a scope, in tiers, and never shows one scope what another scope wrote.

    A tier applies to a scope if the store has the tier, and the scope is local or has the id of the tier
    (Y2). No operation raises because of what is stored: the result has the error (Y9).
    """

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        """The memories that match a query, in the tiers that apply to ``scope`` (Y3)."""
        ...

    def write(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier, *, replace: bool = False
    ) -> MemoryWriteResult:
        """Creates a concept in one tier, or appends to it (Y4).

        With ``replace`` it puts the concept in place of the one of that name (Y13).
        """
        ...

    def delete(self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str) -> MemoryDeleteResult:
        """Deletes one concept of one tier (Y12). If there is none, that is not an error."""
        ...

    def delete_scope(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        """Deletes everything that is remembered for exactly this scope, in one tier or all that apply (Y6).

        With ``below`` it deletes what is remembered for the scope and for every scope below it, in the
        scope's own tier and those below it (Y12). What is shared with other scopes stays.
        """
        ...

    def enumerate(self, scope: KnowledgeAccessScope) -> tuple[MemoryConcept, ...]:
        """Every remembered concept in the tiers that apply to ``scope``.

        A store that may fail to list some of them returns a :class:`MemoryConcepts`, whose diagnostics say so
        (Y11).
        """
        ...

    async def read_async(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        """What ``read`` returns and raises, without blocking the event loop."""
        ...

    async def write_async(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier, *, replace: bool = False
    ) -> MemoryWriteResult:
        """What ``write`` returns and raises, without blocking the event loop."""
        ...

    async def delete_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str
    ) -> MemoryDeleteResult:
        """What ``delete`` returns and raises, without blocking the event loop."""
        ...

    async def delete_scope_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        """What ``delete_scope`` returns and raises, without blocking the event loop."""
        ...

    async def enumerate_async(self, scope: KnowledgeAccessScope) -> tuple[MemoryConcept, ...]:
        """What ``enumerate`` returns and raises, without blocking the event loop."""
        ...
