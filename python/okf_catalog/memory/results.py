"""The results of a memory store."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, final

from okf_catalog._engine import KnowledgePassage
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.diagnostics import KnowledgeDiagnostic

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
    """A remembered concept: its tier, its path below the memory root without ``.md``, and its title."""

    tier: MemoryTier
    concept_id: str
    title: str | None


@final
class MemoryConcepts(tuple[MemoryConcept, ...]):  # noqa: SLOT001  (a tuple has no room for slots)
    """The remembered concepts, and what could not be listed.

    It is a tuple in every way: it equals a tuple of the same concepts and has the same hash, and a slice of
    it is a plain tuple. ``diagnostics`` say what could not be listed (Y11), as in :class:`MemoryReadResult`.
    If there are none, the list is complete. Comparisons do not look at them.

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
    """The memories that match a query (Y3).

    ``passages`` are ordered by tier: session, user, tenant. Their ``source_id`` is ``memory:session``,
    ``memory:user`` or ``memory:tenant``. ``diagnostics`` say what could not be read (Y11): a tier, a problem
    file (B7), a directory that is a link. For each tier the first twenty such files are named, and then how
    many more there are. If nothing matches, there is no diagnostic for it. No message has an absolute path or
    the id of one of the catalog's sources in it.
    """

    passages: Sequence[KnowledgePassage]
    diagnostics: tuple[KnowledgeDiagnostic, ...]


@final
@dataclass(frozen=True, slots=True)
class MemoryWriteResult:
    """Whether a section is written and survives a crash (Y5). If not, ``error`` says why.

    ``error`` has no absolute path in it (Y9).
    """

    written: bool
    error: str | None


@final
@dataclass(frozen=True, slots=True)
class MemoryDeleteResult:
    """What was deleted, and what could not be.

    - ``tiers_deleted`` counts the tiers in which there was something to delete and all of it was deleted.
    - ``scopes_deleted`` counts the deleted directories of scopes, one for each scope in each tier.
    - ``concepts_deleted`` counts the deleted concepts, also where other concepts could not be deleted.
    - ``error`` says what could not be deleted, and why. It has no absolute path in it (Y9). If there is
      nothing to delete, that is not an error.
    """

    tiers_deleted: int
    error: str | None
    concepts_deleted: int = 0
    scopes_deleted: int = 0
