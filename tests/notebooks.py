"""A memory store that keeps everything in a list, for tests of those who write to one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from okf_catalog import (
    ConceptStatus,
    KnowledgeAccessScope,
    KnowledgePassage,
    KnowledgeQuery,
    MemoryConcept,
    MemoryDeleteResult,
    MemoryReadResult,
    MemoryWriteResult,
    TrustTier,
)

if TYPE_CHECKING:
    from okf_catalog import MemoryEntry, MemoryTier


class Notebook:
    """Reads back whatever the scope wrote."""

    def __init__(self) -> None:
        self.written: list[tuple[KnowledgeAccessScope, MemoryTier, MemoryEntry]] = []

    def sections(self, scope: KnowledgeAccessScope) -> list[str]:
        """What was written for a scope, oldest first."""
        return [entry.section_markdown for owner, _, entry in self.written if owner == scope]

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        return MemoryReadResult(tuple(map(_passage, self.sections(scope))), ())

    def write(self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier) -> MemoryWriteResult:
        self.written.append((scope, tier, entry))
        return MemoryWriteResult(written=True, error=None)

    def delete_scope(self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None) -> MemoryDeleteResult:
        raise NotImplementedError

    def enumerate(self, scope: KnowledgeAccessScope) -> tuple[MemoryConcept, ...]:
        raise NotImplementedError

    async def read_async(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        return await asyncio.to_thread(self.read, scope, query)

    async def write_async(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier
    ) -> MemoryWriteResult:
        return await asyncio.to_thread(self.write, scope, entry, tier)

    async def delete_scope_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None
    ) -> MemoryDeleteResult:
        raise NotImplementedError

    async def enumerate_async(self, scope: KnowledgeAccessScope) -> tuple[MemoryConcept, ...]:
        raise NotImplementedError


def _passage(section: str) -> KnowledgePassage:
    return KnowledgePassage(
        source_id="memory:user",
        concept_id="note",
        title=None,
        excerpt=section,
        score=1,
        bundle_relative_path="note.md",
        trust_tier=TrustTier.UNVERIFIED,
        status=ConceptStatus.STABLE,
        stale_after=None,
        concept_type=None,
        description=None,
    )
