"""A memory store that keeps memories in files."""

from typing import NoReturn, final

from okf_catalog._engine import Cancellation, Memory
from okf_catalog.ask.length import check_length
from okf_catalog.ask.query import KnowledgeQuery, query_of
from okf_catalog.ask.question import memory_question
from okf_catalog.catalog.file import FileKnowledgeCatalog
from okf_catalog.catalog.generation import Generation
from okf_catalog.catalog.handle import opened_catalog
from okf_catalog.catalog.log import log_problems
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.checks import check_bool, check_kind, check_text
from okf_catalog.clock import Clock, check_clock, now_of
from okf_catalog.diagnostics import KnowledgeDiagnostic, KnowledgeDiagnosticCode, knowledge_diagnostics
from okf_catalog.errors import CatalogClosedError, MemoryOverlapError
from okf_catalog.memory.entry import MemoryEntry, name_below
from okf_catalog.memory.marks import mark
from okf_catalog.memory.paths import memory_path
from okf_catalog.memory.results import (
    MemoryConcept,
    MemoryConcepts,
    MemoryDeleteResult,
    MemoryReadResult,
    MemoryWriteResult,
)
from okf_catalog.memory.tiers import deletions, deletions_below, places_of, refusal_of, source_id_of
from okf_catalog.rows import SourceProblemRow
from okf_catalog.scope import KnowledgeAccessScope
from okf_catalog.waiting import run_cancellable, run_in_thread

__all__ = ["FileMemoryStore"]

OVERLAPPING = (
    "memory is unavailable: the catalog does not keep it apart from knowledge that others can see; "
    "nothing is read, written or deleted"
)
"""It does not name the sources that overlap, because the caller may not see them (S5). The log does."""


@final
class FileMemoryStore:
    """Remembers in the memory sources of a catalog, which say where each tier is kept (Y1 to Y13).

    The store follows the catalog: a tier exists while the snapshot in force has an enabled memory source for
    it (Y7). Any number of threads and processes may use stores over the same directories at once. After a
    fork the child may go on using the store.

    **Marks.** Directories of memories are marked (Y10): each has an empty file ``.okf-memory``, which is made
    before anything else in it. No knowledge source reads in or below a directory with an entry of this name,
    whatever the manifest says. Directories without a mark are marked:

    - when a store is made, those of disabled memory sources too;
    - when a reload changes the memory sources, with or without a store;
    - when a scope is read or written, the directories of this scope, also those that the host made itself.

    A directory that cannot be marked, because the disk is read-only or a source cannot be entered, is kept
    out of every search while the catalog is open, and a new store logs it. The same holds for every directory
    of memories that the catalog has found without a mark, even if it is moved or mounted elsewhere, or its
    source is disabled or removed. A host that wants to publish memories removes the marks and opens the
    catalog again.

    The next search sees each mark that is added or removed, as it sees every change: in a bundle, in a
    directory above it, and through a mount. No mark can protect a single memory file that the host itself
    moves, links or mounts elsewhere, a copy made without the marks, or a directory that the host made inside
    a scope and moved or mounted elsewhere before the scope was used again. If a bundle is itself a mount,
    the directories above the mount point count, and not those above the directory that is mounted.

    Args:
        catalog: the catalog whose memory sources are used.
        clock: what ``stale_after`` is compared with, when a query refuses stale concepts. By default this is
            the system's time.

    Raises:
        MemoryOverlapError: a memory source, enabled or not, equals, contains or lies inside a knowledge
            source, which would publish memories (Y8), or it lies among other memories. If a reload causes
            this later, no operation does anything: every tier is unavailable. The results say so without the
            name of a source. The log names both sources.
        CatalogClosedError: the catalog is closed; every operation raises this too.
        RefusedTypeError: an argument has the wrong type.
    """

    __slots__ = ("_catalog", "_clock", "_opened")

    def __init__(self, catalog: FileKnowledgeCatalog, *, clock: Clock | None = None) -> None:
        check_kind("catalog", catalog, FileKnowledgeCatalog, "a FileKnowledgeCatalog")
        check_clock(clock)
        overlap = self._begin(catalog, clock).overlap
        if overlap is not None:
            raise MemoryOverlapError(*overlap)

    def _begin(self, catalog: FileKnowledgeCatalog, clock: Clock | None) -> Generation:
        self._catalog = catalog
        self._opened = opened_catalog(catalog)
        self._clock = clock
        generation = self._generation()
        # Before anything else: memories that overlap with another source need their marks most.
        mark(self._opened, generation)
        return generation

    @property
    def max_question_bytes(self) -> int:
        """The text of a query, and its tag, may have at most this many bytes of UTF-8."""
        return self._opened.max_question_bytes

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        """The memories that match a query, in the tiers that apply to ``scope`` (Y2, Y3).

        The tiers come in the order session, user, tenant. Each is ranked like a source of a grouped answer.
        Text, tag, stale policy, scoring and unit of the query are used; without a scoring it is
        ``WEIGHTED_TERMS``, whatever a resolver has as its default. Its scope, strategy, quota, permitted ids
        and policy are not: ``scope`` alone decides which memories are seen. Everything that was written
        before the call is seen, whatever the catalog's freshness. Something that cannot be read is a
        diagnostic (Y11): a tier, a file that is not a concept, a link.

        Raises:
            RefusedTypeError, RefusedValueError: ``scope`` or ``query`` is refused, as by a resolver (Q1).
        """
        return self._read(scope, query, None)

    def _read(
        self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str, cancellation: Cancellation | None
    ) -> MemoryReadResult:
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        query = query_of("query", query)
        check_length(query, self._opened.max_question_bytes)
        generation = self._generation()
        memory = self._memory(generation)
        if memory is None:
            return MemoryReadResult((), _overlapping(generation, scope))
        places = [*places_of(generation, scope).values()]
        answer = memory.read(places, memory_question(query), now_of(self._clock), cancellation)
        log_problems(answer.problems)
        return MemoryReadResult(answer.passages, knowledge_diagnostics(answer.diagnostics))

    def write(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier, *, replace: bool = False
    ) -> MemoryWriteResult:
        """Creates a concept in one tier, or appends a section to it after a blank line (Y4).

        With ``replace`` it writes the concept in place of the one of that name, if there is one (Y13): the
        frontmatter and the section of ``entry`` are all that the concept then says. That is how a memory is
        corrected. Of several that replace one concept at once, the last one counts; a section that another
        writer appends meanwhile is either replaced too, or appended to what is written here. What the concept
        said is not read: a file that cannot be decoded, or that is too large to be read, is replaced too.

        If ``written`` is true, the section is on the disk once and whole, and survives a crash. Readers see
        all of it or nothing (Y5). It is not written in these cases, and ``error`` says which:

        - the tier does not apply to ``scope`` (Y2);
        - the path has a link in it (Y6);
        - the concept exists and cannot be read, and ``replace`` is false;
        - the concept would become larger than the catalog's ``max_file_bytes``, and so not be read any more;
        - the system refuses it.

        New files and directories can be read only by the account that made them. An existing concept keeps
        its mode, also if it is replaced.

        Raises:
            RefusedTypeError: an argument has the wrong type.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        check_kind("entry", entry, MemoryEntry, "a MemoryEntry")
        check_kind("tier", tier, MemoryTier, "a MemoryTier")
        check_bool("replace", replace)
        generation = self._generation()
        memory = self._memory(generation)
        if memory is None:
            return MemoryWriteResult(written=False, error=OVERLAPPING)
        refusal = refusal_of(generation, scope, tier)
        if refusal is None:
            front = [
                (key, value if isinstance(value, str) else [*value.items()])
                for key, value in entry.frontmatter_if_creating.items()
            ]
            place = places_of(generation, scope)[tier]
            refusal = memory.write(place, entry.concept_name, front, entry.section_markdown, replace)
        return MemoryWriteResult(written=refusal is None, error=refusal)

    def delete(self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str) -> MemoryDeleteResult:
        """Deletes one concept of one tier (Y12).

        ``concept_name`` is the name that the concept was written with, or the ``concept_id`` that
        ``enumerate`` or ``read`` returned for the same scope. A concept in a directory below the scope's own
        is named by its path from there. A file that cannot be read is deleted too. A link is not deleted, and
        nothing is deleted through one (Y6). The call waits for writers to this scope.

        ``concepts_deleted`` is 1 if there was such a concept. It is deleted then, also after a crash. If
        there is none, that is not an error.

        Raises:
            RefusedTypeError, RefusedValueError: an argument has the wrong type, or no concept can have that
                name.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        check_kind("tier", tier, MemoryTier, "a MemoryTier")
        name = name_below("concept_name", concept_name, memory_path(tier, scope))
        generation = self._generation()
        memory = self._memory(generation)
        if memory is None:
            return MemoryDeleteResult(0, OVERLAPPING)
        refusal = refusal_of(generation, scope, tier)
        if refusal is not None:
            return MemoryDeleteResult(0, refusal)
        deleted = memory.delete_concept(places_of(generation, scope)[tier], name)
        error = None if deleted["failure"] is None else f"{source_id_of(tier)}: {deleted['failure']}"
        return MemoryDeleteResult(0, error, deleted["concepts"])

    def delete_scope(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        """Deletes everything that is remembered for exactly this scope, in one tier or all that apply (Y6).

        All that apply includes tiers that are shared: for a user's scope, also what is remembered for the
        whole tenant. To delete only what is the user's, name the tier. A scope with more ids, such as a
        session of the user, is a different scope and stays.

        With ``below`` the scopes below are deleted too (Y12): the sessions of a user; the users of a tenant
        and their sessions. What others share with the scope stays then: the first tier is that of the scope's
        last id, followed by the tiers below it (session is below user, user below tenant). ``tier`` can start
        further down: ``MemoryTier.SESSION`` with a user's scope deletes only the user's sessions. A tier that
        is shared with other scopes is refused; to delete a whole tenant, pass a scope of the tenant. No scope
        is below the local scope: a user without a tenant is a different user.

        Each scope is deleted by itself, after waiting for writers to it. A section that is written to a scope
        after that is there afterwards. One scope takes some milliseconds on the disk, and the call can be
        interrupted between two scopes. If something cannot be deleted, the rest still is, and ``error`` names
        it. The directories are deleted with everything in them, files that are not concepts too. Links are
        deleted and not followed. What is mounted inside stays.

        Raises:
            RefusedTypeError: an argument has the wrong type.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        if tier is not None:
            check_kind("tier", tier, MemoryTier, "a MemoryTier or None")
        check_bool("below", below)
        generation = self._generation()
        memory = self._memory(generation)
        if memory is None:
            return MemoryDeleteResult(0, OVERLAPPING)
        chosen = (deletions_below if below else deletions)(generation, scope, tier)
        if isinstance(chosen, str):
            return MemoryDeleteResult(0, chosen)
        tiers_deleted = concepts_deleted = scopes_deleted = 0
        errors = list[str]()
        for one, place in chosen.items():
            deleted = memory.delete(place, below)
            scopes_deleted += deleted["scopes"]
            concepts_deleted += deleted["concepts"]
            if deleted["failure"] is None:
                tiers_deleted += bool(deleted["scopes"])
            else:
                errors.append(f"{source_id_of(one)}: {deleted['failure']}")
        return MemoryDeleteResult(tiers_deleted, "; ".join(errors) or None, concepts_deleted, scopes_deleted)

    def enumerate(self, scope: KnowledgeAccessScope) -> MemoryConcepts:
        """Every remembered concept in the tiers that apply to ``scope``, by tier and then by id.

        The result is a tuple with ``diagnostics``, which say what could not be listed (Y11): a tier, a file
        that is not a concept, a link. If there are none, the list is complete.

        Raises:
            RefusedTypeError: ``scope`` is not a ``KnowledgeAccessScope``.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        generation = self._generation()
        memory = self._memory(generation)
        if memory is None:
            return MemoryConcepts((), _overlapping(generation, scope))
        found: list[MemoryConcept] = []
        diagnostics: list[KnowledgeDiagnostic] = []
        for tier, place in places_of(generation, scope).items():
            listing = memory.list(place)
            source_id = source_id_of(tier)
            log_problems(SourceProblemRow(source_id=source_id, **row) for row in listing["problems"])
            diagnostics += (_unavailable(tier, message) for message in listing["unread"])
            found += (MemoryConcept(tier, row["id"], row["title"]) for row in listing["concepts"])
        return MemoryConcepts(found, diagnostics)

    def text(self, scope: KnowledgeAccessScope, concept_id: str) -> str | None:
        """The whole body of a concept that ``enumerate`` or ``read`` returned for the same scope.

        ``None`` if there is no such concept, or if it cannot be read; ``enumerate`` says which.

        Raises:
            RefusedTypeError, RefusedValueError: an argument has the wrong type, or the id is not valid text.
        """
        check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        concept_id = check_text("concept_id", concept_id)
        generation = self._generation()
        memory = self._memory(generation)
        if memory is None:
            return None
        for tier, place in places_of(generation, scope).items():
            if concept_id.startswith(f"{memory_path(tier, scope)}/"):
                return memory.text(place, concept_id)
        return None

    async def read_async(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        """What ``read`` returns and raises, computed in a thread so that the event loop goes on.

        If the caller is cancelled, the thread stops soon.
        """
        return await run_cancellable(lambda cancellation: self._read(scope, query, cancellation))

    async def write_async(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier, *, replace: bool = False
    ) -> MemoryWriteResult:
        """What ``write`` returns and raises, done in a thread so that the event loop goes on.

        If the caller is cancelled, a write that has begun still finishes.
        """
        return await run_in_thread(lambda: self.write(scope, entry, tier, replace=replace))

    async def delete_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str
    ) -> MemoryDeleteResult:
        """What ``delete`` returns and raises, done in a thread so that the event loop goes on."""
        return await run_in_thread(lambda: self.delete(scope, tier, concept_name))

    async def delete_scope_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        """What ``delete_scope`` returns and raises, done in a thread so that the event loop goes on."""
        return await run_in_thread(lambda: self.delete_scope(scope, tier, below=below))

    async def enumerate_async(self, scope: KnowledgeAccessScope) -> MemoryConcepts:
        """What ``enumerate`` returns and raises, done in a thread so that the event loop goes on."""
        return await run_in_thread(lambda: self.enumerate(scope))

    def _generation(self) -> Generation:
        if self._opened.engine.closed:
            raise CatalogClosedError("the catalog is closed; open it again to use its memories")
        return self._opened.generation()

    def _memory(self, generation: Generation) -> Memory | None:
        """The engine's memories; ``None`` if a reload made them overlap with another source (Y8)."""
        return None if generation.overlap is not None else self._opened.file_engine.memory(generation.handle)

    def __repr__(self) -> str:
        return f"<FileMemoryStore of {self._catalog!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a FileMemoryStore cannot be pickled; open its catalog again in the other process")


def store_after_reload(catalog: FileKnowledgeCatalog, *, clock: Clock | None) -> FileMemoryStore:
    """A store over a catalog that was opened without an overlap, even if a reload has caused one.

    While there is an overlap, its operations do nothing (Y8).
    """
    store = FileMemoryStore.__new__(FileMemoryStore)
    store._begin(catalog, clock)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return store


def _overlapping(generation: Generation, scope: KnowledgeAccessScope) -> tuple[KnowledgeDiagnostic, ...]:
    """A diagnostic for each tier that applies, whichever of them overlaps."""
    tiers = tuple(_unavailable(tier, OVERLAPPING) for tier in places_of(generation, scope))
    # Without any diagnostic the caller would believe that nothing is remembered.
    return tiers or (KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, None, OVERLAPPING),)


def _unavailable(tier: MemoryTier, message: str) -> KnowledgeDiagnostic:
    return KnowledgeDiagnostic(KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE, source_id_of(tier), message)
