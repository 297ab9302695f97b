"""What a memory store answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from okf_catalog._engine import KnowledgePassage
from okf_catalog.context import KnowledgeDiagnostic
from okf_catalog.manifest import MemoryTier

__all__ = ["MemoryConcept", "MemoryDeleteResult", "MemoryReadResult", "MemoryWriteResult"]


@final
@dataclass(frozen=True, slots=True)
class MemoryConcept:
    """A concept that is remembered: its tier, its path below the memory root without ``.md``, its title."""

    tier: MemoryTier
    concept_id: str
    title: str | None


@final
@dataclass(frozen=True, slots=True)
class MemoryReadResult:
    """What is remembered of a question (Y3).

    ``passages`` come tier by tier, session, user, tenant; their ``source_id`` is ``memory:session`` and so
    on. ``diagnostics`` say which tiers could not be read, and which links were not followed; that nothing
    matches is no diagnostic here, and a file that is no concept is logged, as for knowledge (B7).
    """

    passages: Sequence[KnowledgePassage]
    diagnostics: tuple[KnowledgeDiagnostic, ...]


@final
@dataclass(frozen=True, slots=True)
class MemoryWriteResult:
    """Whether a section is written, and safe from a crash (Y5), or why it is not. No absolute path (Y9)."""

    written: bool
    error: str | None


@final
@dataclass(frozen=True, slots=True)
class MemoryDeleteResult:
    """How many tiers had something to delete that is gone now, and what could not be deleted, if anything."""

    tiers_deleted: int
    error: str | None
