"""What every memory store can do."""

from typing import Protocol, runtime_checkable

from okf_catalog.manifest import MemoryTier
from okf_catalog.memory.entry import MemoryEntry
from okf_catalog.memory.results import (
    MemoryConcept,
    MemoryDeleteResult,
    MemoryReadResult,
    MemoryWriteResult,
)
from okf_catalog.query import KnowledgeQuery
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["MemoryStore"]


@runtime_checkable
class MemoryStore(Protocol):
    """Remembers for a scope, tier by tier, and never shows one scope what another wrote.

    A tier applies to a scope if the store has it, and the scope is local or carries that tier's own id (Y2).
    No operation raises for the state of what is stored: results carry the error (Y9).
    """

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        """What the tiers that apply to ``scope`` remember of the question (Y3)."""
        ...

    def write(self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier) -> MemoryWriteResult:
        """Creates a concept or appends to it, in one tier (Y4)."""
        ...

    def delete(self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str) -> MemoryDeleteResult:
        """Forgets one concept of one tier (Y12). That there is none is no error."""
        ...

    def delete_scope(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        """Forgets all that one tier remembers for exactly this scope, or every tier that applies (Y6).

        With ``below`` it forgets what the tier that is the scope's own and those below it remember for the
        scope and for every scope below it (Y12); what is shared with other scopes stays.
        """
        ...

    def enumerate(self, scope: KnowledgeAccessScope) -> tuple[MemoryConcept, ...]:
        """Every concept that the tiers that apply to ``scope`` remember.

        A store that may fail to list some returns a :class:`MemoryConcepts`, whose diagnostics say so (Y11).
        """
        ...

    async def read_async(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        """What ``read`` returns and raises, without holding up the event loop."""
        ...

    async def write_async(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier
    ) -> MemoryWriteResult:
        """What ``write`` returns and raises, without holding up the event loop."""
        ...

    async def delete_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str
    ) -> MemoryDeleteResult:
        """What ``delete`` returns and raises, without holding up the event loop."""
        ...

    async def delete_scope_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        """What ``delete_scope`` returns and raises, without holding up the event loop."""
        ...

    async def enumerate_async(self, scope: KnowledgeAccessScope) -> tuple[MemoryConcept, ...]:
        """What ``enumerate`` returns and raises, without holding up the event loop."""
        ...
