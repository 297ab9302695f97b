"""Memories in files."""

import logging
from typing import NoReturn, TypeAlias, final

from okf_catalog._engine import Cancellation, Memory
from okf_catalog.catalog import FileKnowledgeCatalog, View, log_problems
from okf_catalog.checks import check_bool, check_kind, check_text
from okf_catalog.clock import Clock, check_clock, now_of
from okf_catalog.context import KnowledgeDiagnostic, KnowledgeDiagnosticCode, diagnostics_of
from okf_catalog.errors import CatalogClosedError, MemoryOverlapError
from okf_catalog.length import check_length
from okf_catalog.manifest import MemoryTier
from okf_catalog.memory.entry import MemoryEntry, name_below
from okf_catalog.memory.place import applies, memory_path, own_tier
from okf_catalog.memory.results import (
    MemoryConcept,
    MemoryConcepts,
    MemoryDeleteResult,
    MemoryReadResult,
    MemoryWriteResult,
)
from okf_catalog.query import KnowledgeQuery, KnowledgeResolverStrategy, query_of
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["FileMemoryStore"]

_log = logging.getLogger("okf_catalog")

OVERLAPPING = (
    "memory is unavailable: the catalog does not keep it apart from knowledge that others can see; "
    "nothing is read, written or deleted"
)
"""The caller may not know the sources that overlap (S5); the log names them."""

_Place: TypeAlias = tuple[int, KnowledgeAccessScope]
"""The position of a memory source, and a scope."""


@final
class FileMemoryStore:
    """Remembers in the memory sources of a catalog, which say for each tier where (Y1 to Y12).

    The catalog is followed live: a tier is there as long as the snapshot in force has an enabled memory
    source for it (Y7). Any number of threads and processes may use stores over the same directories; a
    forked process goes on with the store it has.

    Directories of memories are marked (Y10): each has an empty file ``.okf-memory``, made before anything
    else is in it, and no knowledge source reads in or below a directory that has an entry of this name,
    whatever the manifest says. A new store marks those that it finds without, of disabled memory sources
    too; so does a reload that changes the memory sources, whether or not there is a store; reading and
    writing mark the directories of their scope, those that the host made itself too. What cannot be marked,
    because the disk is read-only or a source cannot be entered, is kept from every search as long as the
    catalog is open; a new store logs it. So is every directory of memories that the catalog met without a
    mark, wherever it is moved or mounted, also when its source is disabled or removed: a host that means to
    publish what was remembered removes the marks and opens the catalog anew.

    A mark that comes or goes is seen by the next search, as any change is: in a bundle, on the way to it, in
    every directory above, and by way of a mount. What no mark can tell is a single memory file that the host
    itself moves, links or mounts elsewhere, a copy made without the marks, and a directory that the host made
    inside a scope and mounted or moved elsewhere before the scope was used again. Where a bundle is itself
    mounted, the directories above the place where it is mounted count, not those that it comes from.

    Args:
        catalog: whose memory sources are used.
        clock: what ``stale_after`` is compared with when a question refuses stale concepts; by default the
            system's time.

    Raises:
        MemoryOverlapError: a memory source, enabled or not, equals, contains or lies inside a knowledge
            source, which would publish what is remembered (Y8), or lies among other memories. If a reload
            brings that about, no operation does anything: every tier is unavailable, and results say so
            without naming a source. The log names both.
        CatalogClosedError: the catalog was closed; every operation raises this too.
        RefusedTypeError: an argument is of the wrong kind.
    """

    __slots__ = ("_catalog", "_clock", "_judged")

    def __init__(self, catalog: FileKnowledgeCatalog, *, clock: Clock | None = None) -> None:
        check_kind("catalog", catalog, FileKnowledgeCatalog, "a FileKnowledgeCatalog")
        check_clock(clock)
        _check_overlap(self._begin(catalog, clock))

    def _begin(self, catalog: FileKnowledgeCatalog, clock: Clock | None) -> View:
        self._catalog = catalog
        self._clock = clock
        view = self._view()
        # First of all: what cannot be used because it overlaps should be marked all the more.
        _mark(view, catalog)
        return view

    @property
    def max_question_bytes(self) -> int:
        """How many bytes of UTF-8 the text of a question, and its tag, may have."""
        return self._catalog.max_question_bytes

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        """What the tiers that apply to ``scope`` remember of the question, session, user, tenant (Y2, Y3).

        Each tier is ranked as a source is when sources are grouped. Text, tag and stale policy of the
        question count. What decides who sees what is ``scope`` alone: the question's own scope, strategy,
        quota, permitted ids and policy have no say. Everything that was written before is seen, whatever
        the catalog's freshness. What could not be read is a diagnostic (Y11): a tier, a file that is no
        concept, a link.

        Raises:
            RefusedTypeError, RefusedValueError: ``scope`` or ``query`` is refused, as by a resolver (Q1).
        """
        return self._read(scope, query, None)

    def _read(
        self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str, cancellation: Cancellation | None
    ) -> MemoryReadResult:
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        query = query_of("query", query)
        check_length(query, self._catalog.max_question_bytes)
        view = self._view()
        memory = self._memory(view)
        if memory is None:
            return MemoryReadResult((), _overlapping(view, scope))
        strategy = KnowledgeResolverStrategy.GROUPED_BY_SOURCE.value
        question = (query.text, query.tag, query.stale_policy.grace_days, strategy, None, ())
        places = [*_places(view, scope).values()]
        answer = memory.read(places, question, now_of(self._clock), cancellation)
        log_problems(answer.problems)
        return MemoryReadResult(answer.passages, diagnostics_of(answer))

    def write(self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier) -> MemoryWriteResult:
        """Creates a concept in one tier, or appends a section to it after a blank line (Y4).

        When ``written`` is true the section is on the disk, once and whole, and stays so after a crash;
        readers see all of it or nothing (Y5). It is not written if the tier does not apply to ``scope``
        (Y2), if a link lies on the way (Y6), if the concept that is there cannot be read, or would not be
        read any more because it would be larger than the catalog's ``max_file_bytes``, and for whatever the
        system refuses. New files and directories are for the account that made them alone; a concept keeps
        its mode.

        Raises:
            RefusedTypeError: an argument is of the wrong kind.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        check_kind("entry", entry, MemoryEntry, "a MemoryEntry")
        check_kind("tier", tier, MemoryTier, "a MemoryTier")
        view = self._view()
        memory = self._memory(view)
        if memory is None:
            return MemoryWriteResult(written=False, error=OVERLAPPING)
        refusal = _refusal(view, scope, tier)
        if refusal is None:
            front = [
                (key, value if isinstance(value, str) else [*value.items()])
                for key, value in entry.frontmatter_if_creating.items()
            ]
            place = _places(view, scope)[tier]
            refusal = memory.write(place, entry.concept_name, front, entry.section_markdown)
        return MemoryWriteResult(written=refusal is None, error=refusal)

    def delete(self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str) -> MemoryDeleteResult:
        """Forgets one concept of one tier (Y12).

        ``concept_name`` is the name it was written under, or the ``concept_id`` that ``enumerate`` or
        ``read`` gave for the same scope. A concept that somebody put into a directory inside the scope's may
        be named by its path from there. A file that cannot be read is deleted too. A link is refused, as a
        concept or on the way to it (Y6), and stays. Whoever writes to the scope is waited for.

        ``concepts_deleted`` is 1 if the concept was there. It is gone then, also after a crash. That there is
        none is no error.

        Raises:
            RefusedTypeError, RefusedValueError: an argument is of the wrong kind, or no concept can have that
                name.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        check_kind("tier", tier, MemoryTier, "a MemoryTier")
        name = name_below("concept_name", concept_name, memory_path(tier, scope))
        view = self._view()
        memory = self._memory(view)
        if memory is None:
            return MemoryDeleteResult(0, OVERLAPPING)
        refusal = _refusal(view, scope, tier)
        if refusal is not None:
            return MemoryDeleteResult(0, refusal)
        deleted = memory.delete_concept(_places(view, scope)[tier], name)
        error = None if deleted["failure"] is None else f"{_source_id(tier)}: {deleted['failure']}"
        return MemoryDeleteResult(0, error, deleted["concepts"])

    def delete_scope(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        """Deletes all that one tier remembers for exactly this scope, or every tier that applies to it (Y6).

        Every tier that applies: of a user's scope also what the whole tenant shares; to forget the user
        alone, name the tier. Scopes that carry more ids, as the user's sessions do, are other scopes, and
        stay.

        With ``below`` those go too (Y12): a user's sessions; a tenant's users, and all their sessions. Then
        what others share with the scope stays: it begins with the tier of the scope's last id, and goes on
        with the tiers below that, session below user below tenant. ``tier`` has it begin further down:
        ``MemoryTier.SESSION`` of a user's scope forgets the user's sessions alone. A tier that is shared with
        other scopes is refused; to forget a tenant whole, give a scope of the tenant. Nothing lies below the
        local scope: a user without a tenant is somebody else.

        Each scope is deleted by itself, and whoever writes to one is waited for: what is written to a scope
        after it was deleted is there afterwards. That takes the disk some milliseconds for each scope, and
        can be interrupted between two. What cannot be deleted does not keep the rest; ``error``
        says what that is. The directories and everything in them are deleted, files that are no concepts too;
        links are deleted, and not followed, and what is mounted inside is left.

        Raises:
            RefusedTypeError: an argument is of the wrong kind.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        if tier is not None:
            check_kind("tier", tier, MemoryTier, "a MemoryTier or None")
        check_bool("below", below)
        view = self._view()
        memory = self._memory(view)
        if memory is None:
            return MemoryDeleteResult(0, OVERLAPPING)
        chosen = _chosen_below(view, scope, tier) if below else _chosen(view, scope, tier)
        if isinstance(chosen, str):
            return MemoryDeleteResult(0, chosen)
        tiers_deleted = concepts_deleted = scopes_deleted = 0
        errors = list[str]()
        for place_tier, place in chosen.items():
            deleted = memory.delete(place, below)
            scopes_deleted += deleted["scopes"]
            concepts_deleted += deleted["concepts"]
            if deleted["failure"] is None:
                tiers_deleted += bool(deleted["scopes"])
            else:
                errors.append(f"{_source_id(place_tier)}: {deleted['failure']}")
        return MemoryDeleteResult(tiers_deleted, "; ".join(errors) or None, concepts_deleted, scopes_deleted)

    def enumerate(self, scope: KnowledgeAccessScope) -> MemoryConcepts:
        """Every concept that the tiers that apply to ``scope`` remember, tier by tier, sorted by id.

        The result is a tuple with ``diagnostics``, which say what could not be listed (Y11): a tier, a file
        that is no concept, a link. Without any, nothing else is remembered.

        Raises:
            RefusedTypeError: ``scope`` is no ``KnowledgeAccessScope``.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        view = self._view()
        memory = self._memory(view)
        if memory is None:
            return MemoryConcepts((), _overlapping(view, scope))
        found: list[MemoryConcept] = []
        diagnostics: list[KnowledgeDiagnostic] = []
        for tier, place in _places(view, scope).items():
            listing = memory.list(place)
            log_problems((_source_id(tier), row["path"], row["reason"]) for row in listing["problems"])
            diagnostics += (_unavailable(tier, message) for message in listing["unread"])
            found += (MemoryConcept(tier, row["id"], row["title"]) for row in listing["concepts"])
        return MemoryConcepts(found, diagnostics)

    def text(self, scope: KnowledgeAccessScope, concept_id: str) -> str | None:
        """The whole body of a concept that ``enumerate`` or ``read`` gave for the same scope.

        ``None`` if there is none of that id, or it cannot be read; ``enumerate`` tells which.

        Raises:
            RefusedTypeError, RefusedValueError: an argument is of the wrong kind, or the id is no text.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        concept_id = check_text("concept_id", concept_id)
        view = self._view()
        memory = self._memory(view)
        if memory is None:
            return None
        for tier, place in _places(view, scope).items():
            if concept_id.startswith(f"{memory_path(tier, scope)}/"):
                return memory.text(place, concept_id)
        return None

    async def read_async(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        """What ``read`` returns and raises, computed in a thread so that the event loop goes on.

        When the waiting for it is cancelled, the thread ends its work soon.
        """
        # As in the resolvers: importing it costs a third of what the package does.
        import asyncio  # noqa: PLC0415

        cancellation = Cancellation()
        try:
            return await asyncio.to_thread(self._read, scope, query, cancellation)
        finally:
            cancellation.cancel()

    async def write_async(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier
    ) -> MemoryWriteResult:
        """What ``write`` returns and raises, done in a thread so that the event loop goes on.

        A write that has begun is finished, also when the waiting for it is cancelled.
        """
        import asyncio  # noqa: PLC0415

        return await asyncio.to_thread(self.write, scope, entry, tier)

    async def delete_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str
    ) -> MemoryDeleteResult:
        """What ``delete`` returns and raises, done in a thread so that the event loop goes on."""
        import asyncio  # noqa: PLC0415

        return await asyncio.to_thread(self.delete, scope, tier, concept_name)

    async def delete_scope_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        """What ``delete_scope`` returns and raises, done in a thread so that the event loop goes on."""
        import asyncio  # noqa: PLC0415

        return await asyncio.to_thread(self.delete_scope, scope, tier, below=below)

    async def enumerate_async(self, scope: KnowledgeAccessScope) -> MemoryConcepts:
        """What ``enumerate`` returns and raises, done in a thread so that the event loop goes on."""
        import asyncio  # noqa: PLC0415

        return await asyncio.to_thread(self.enumerate, scope)

    def _view(self) -> View:
        if self._catalog.closed:
            raise CatalogClosedError("the catalog is closed; open it again to use its memories")
        return self._catalog.view()

    def _memory(self, view: View) -> Memory | None:
        """The memories of a snapshot; ``None`` if a reload made them overlap with what others see (Y8)."""
        return None if view.overlap is not None else self._catalog.engine.memory(view.handle)

    def __repr__(self) -> str:
        return f"<FileMemoryStore of {self._catalog!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a FileMemoryStore cannot be pickled; open its catalog again in the other process")


def store_after_reload(catalog: FileKnowledgeCatalog, *, clock: Clock | None) -> FileMemoryStore:
    """A store over a catalog that was opened with its memories apart, whatever a reload made of them.

    While they overlap with what others see, its operations do nothing (Y8).
    """
    store = FileMemoryStore.__new__(FileMemoryStore)
    store._begin(catalog, clock)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return store


def _source_id(tier: MemoryTier) -> str:
    return f"memory:{tier.value}"


def _places(view: View, scope: KnowledgeAccessScope) -> dict[MemoryTier, _Place]:
    """Where the tiers that apply to a scope remember, in the order session, user, tenant."""
    return {
        tier: (view.memories[tier], scope)
        for tier in MemoryTier
        if tier in view.memories and applies(tier, scope)
    }


def _refusal(view: View, scope: KnowledgeAccessScope, tier: MemoryTier) -> str | None:
    """Why a tier that was asked for has nothing to do with a scope, if it has not (Y2)."""
    if tier not in view.memories:
        return _unconfigured(tier)
    if not applies(tier, scope):
        return f"the tier {tier.value!r} does not apply: the scope is not local, and has no {tier.value}_id"
    return None


def _chosen(
    view: View, scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> dict[MemoryTier, _Place] | str:
    """What is deleted for exactly one scope; or why nothing is."""
    refusal = None if tier is None else _refusal(view, scope, tier)
    if refusal is not None:
        return refusal
    places = _places(view, scope)
    return {one: place for one, place in places.items() if tier in (None, one)}


def _chosen_below(
    view: View, scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> dict[MemoryTier, _Place] | str:
    """What is deleted for a scope and all below it; or why nothing is."""
    if tier is not None and tier not in view.memories:
        return _unconfigured(tier)
    own = own_tier(scope)
    if own is None:
        return _chosen(view, scope, tier)
    # Session, user, tenant: the scopes of a tier lie below those of the tiers after it.
    tiers = list(MemoryTier)
    first = own if tier is None else tier
    if tiers.index(first) > tiers.index(own):
        return (
            f"the tier {first.value!r} is shared with other scopes than this one; to forget a {first.value} "
            f"and all below, give a scope of the {first.value} alone"
        )
    covered = tiers[: tiers.index(first) + 1]
    return {one: (view.memories[one], scope) for one in covered if one in view.memories}


def _unconfigured(tier: MemoryTier) -> str:
    return f"the catalog has no enabled memory source of the tier {tier.value!r}"


def mark_disabled(view: View, catalog: FileKnowledgeCatalog) -> None:
    """Marks as a new store does, where no store can be had: the snapshot has only disabled memory sources."""
    if any(source.tier is not None for source in view.snapshot.sources):
        _mark(view, catalog)


def _mark(view: View, catalog: FileKnowledgeCatalog) -> None:
    """Marks directories of memories that have no mark (Y10)."""
    for marking in catalog.engine.memory(view.handle).mark():
        first = marking["first_failure"]
        if first is not None:
            _log.warning(
                "memory source %r: %d directories cannot be marked as memories, the first is %r: %s; they "
                "are kept from searches only by this catalog, and only while it is open",
                view.snapshot.sources[marking["source"]].id,
                marking["failed"],
                first["path"],
                first["reason"],
            )


def _check_overlap(view: View) -> None:
    if view.overlap is not None:
        raise MemoryOverlapError(*view.overlap)


def _overlapping(view: View, scope: KnowledgeAccessScope) -> tuple[KnowledgeDiagnostic, ...]:
    """That no tier that applies to a scope is available, whichever of them it is that overlaps."""
    tiers = tuple(_unavailable(tier, OVERLAPPING) for tier in _places(view, scope))
    # Silence would mean that there is nothing.
    return tiers or (KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, None, OVERLAPPING),)


def _unavailable(tier: MemoryTier, message: str) -> KnowledgeDiagnostic:
    return KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, _source_id(tier), message)
