"""What a memory store answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, final

from okf_catalog._engine import KnowledgePassage
from okf_catalog.context import KnowledgeDiagnostic
from okf_catalog.manifest import MemoryTier

__all__ = [
    "MemoryConcept",
    "MemoryConcepts",
    "MemoryDeleteResult",
    "MemoryReadResult",
    "MemoryWriteResult",
]


@final
@dataclass(frozen=True, slots=True)
class MemoryConcept:
    """A concept that is remembered: its tier, its path below the memory root without ``.md``, its title."""

    tier: MemoryTier
    concept_id: str
    title: str | None


@final
class MemoryConcepts(tuple[MemoryConcept, ...]):  # noqa: SLOT001  (a tuple has no room for slots)
    """The concepts that are remembered, and what could not be listed.

    It is a tuple in every way: it is equal to a tuple of the same concepts, hashes alike, and a slice of it
    is a plain tuple. ``diagnostics`` say what could not be listed (Y11), as those of
    :class:`MemoryReadResult` do; without any, nothing else is remembered. They have no part in comparisons.

    Example:
        >>> listed = MemoryConcepts([MemoryConcept(MemoryTier.USER, "memory-user/_local/_local/likes", None)])
        >>> len(listed), listed.diagnostics
        (1, ())
    """

    diagnostics: tuple[KnowledgeDiagnostic, ...]

    def __new__(
        cls, concepts: Iterable[MemoryConcept] = (), diagnostics: Iterable[KnowledgeDiagnostic] = ()
    ) -> "MemoryConcepts":
        """The tuple of these concepts."""
        made = super().__new__(cls, concepts)
        vars(made)["diagnostics"] = tuple(diagnostics)
        return made

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a MemoryConcepts does not change; {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a MemoryConcepts does not change; {name!r} cannot be deleted")

    def __repr__(self) -> str:
        return f"MemoryConcepts({tuple(self)!r}, {self.diagnostics!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return MemoryConcepts, (tuple(self), self.diagnostics)


@final
@dataclass(frozen=True, slots=True)
class MemoryReadResult:
    """What is remembered of a question (Y3).

    ``passages`` come tier by tier, session, user, tenant; their ``source_id`` is ``memory:session`` and so
    on. ``diagnostics`` say what could not be read (Y11): a tier, a file that is no concept (B7), a directory
    that is a link. Of many such files the first twenty of a tier are named, and then how many more there are.
    That nothing matches is no diagnostic here. No message holds an absolute path or the id of a source of the
    catalog.
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
    """What was forgotten, and what could not be.

    ``tiers_deleted`` counts the tiers that had scopes to delete and have none of them now.
    ``scopes_deleted`` counts the directories of scopes that are gone, one for each scope in each tier;
    ``concepts_deleted`` counts the concepts that are gone, also where others could not be deleted. ``error``
    says what could not be, and why; no absolute path is in it (Y9). That there is nothing to forget is no
    error.
    """

    tiers_deleted: int
    error: str | None
    concepts_deleted: int = 0
    scopes_deleted: int = 0
