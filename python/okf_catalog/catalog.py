"""An open catalog."""

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import NoReturn, final

from okf_catalog._engine import Catalog, Snapshot, note_fork
from okf_catalog.checks import check_bool, check_callable, check_count, check_kind
from okf_catalog.errors import RefusedValueError
from okf_catalog.freshness import Freshness
from okf_catalog.length import MAX_QUESTION_BYTES
from okf_catalog.manifest import (
    CatalogDiagnostic,
    KnowledgeCatalogSnapshot,
    KnowledgeCatalogSource,
    SourceRole,
    diagnostics_of,
    path_text,
    sources_of,
)
from okf_catalog.remarks import RemarkCode, RemarkCount, SourceRemark
from okf_catalog.rows import CatalogDiagnosticRow, ProblemRow, ReportRow

__all__ = ["CatalogReport", "FileKnowledgeCatalog", "SourceProblem", "SourceReport"]

_log = logging.getLogger("okf_catalog")

LOGGED_FAULTS = 20
"""How many faults of one failed reload are logged, before the last one."""

# A child may have the process id of its parent, in another namespace.
os.register_at_fork(after_in_child=note_fork)


@final
@dataclass(frozen=True, slots=True)
class SourceProblem:
    """A file that is left out (B7): its path below the bundle root, and why."""

    path: str
    reason: str


@final
@dataclass(frozen=True, slots=True)
class SourceReport:
    """What is known of one source.

    ``directory`` is ``None`` if the source is disabled or unavailable; ``concepts`` counts what can be
    found; ``duplicate_of`` is the id of the source before it, in order S1, that names the same directory;
    ``failure`` says why the source is unavailable; ``compared_because`` says why it is not enough to wait for
    the kernel to tell of changes, so that the directory is compared with what is in memory: before each
    search, or, where the text says so, every half minute. It is ``None`` where the kernel tells of every
    change but those that :class:`Freshness` names. Memory sources are counted for the report alone; their
    files are compared whenever a scope is read.

    ``remarks`` say what a reader may have lost although a file is served, or which name only looks like a
    concept's (B11), sorted by path, then line. There are at most 1,000, of each code the first ones up to a
    number that is the same for every code, so that many of one do not hide a few of another.
    ``remark_count`` is how many there are, kept or not, and ``remark_counts`` how many of each code, in the
    order of ``RemarkCode``, without the codes of which there is none.
    """

    source: KnowledgeCatalogSource
    directory: Path | None
    concepts: int
    problems: tuple[SourceProblem, ...]
    duplicate_of: str | None
    failure: str | None
    compared_because: str | None = None
    remarks: tuple[SourceRemark, ...] = ()
    remark_count: int = 0
    remark_counts: tuple[RemarkCount, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class CatalogReport:
    """What is known of every source, in the order of the manifest. For the host: it names directories."""

    generation: int
    sources: tuple[SourceReport, ...]


@final
class View:
    """A snapshot with all that searches of it have in common."""

    __slots__ = ("candidates", "handle", "later", "memories", "overlap", "positions", "snapshot")

    def __init__(self, handle: Snapshot, catalog: Catalog) -> None:
        sources = sources_of(handle.sources)
        self.handle = handle
        self.later: dict[None, View] = {}
        """The view that came after this one, if there is one; never replaced."""
        self.snapshot = KnowledgeCatalogSnapshot(
            handle.version, sources, Path(handle.manifest_directory), handle.generation
        )
        self.positions = tuple(handle.candidates)
        """The searchable sources, in order S1, as positions in the snapshot."""
        self.candidates = tuple((position, sources[position]) for position in self.positions)
        self.memories = {
            source.tier: position
            for position, source in enumerate(sources)
            if source.enabled and source.tier is not None
        }
        """The enabled memory sources, as positions in the snapshot."""
        # Where sources lie is settled when they are loaded: no link leads anywhere else afterwards (C1).
        remembers = any(source.role is SourceRole.MEMORY for source in sources)
        pair = catalog.memory(handle).overlap() if remembers else None
        self.overlap = None if pair is None else (sources[pair["memory"]].id, sources[pair["other"]].id)
        """A memory source, enabled or not, and another that others may see into, by their ids (Y8)."""


@final
class FileKnowledgeCatalog:
    """A catalog read from ``catalog.json``, and the bundles it names.

    Opening reads the manifest and checks the path of every enabled source (C2). Bundles are read when they
    are first searched, and every search sees every change to their files that was complete before it (F1);
    ``Freshness`` names the few kinds of change that are found later.

    Args:
        catalog_file_path: the manifest.
        catalog_root: a fence; no source may lie outside it. By default the manifest's directory (C1).
        watch_for_changes: reload the manifest by itself when it has changed (C4), best effort: ``watching``
            tells whether that is being done, and ``reload()`` is the reliable way. A reload that fails keeps
            the snapshot, and is logged at the next call, once for each distinct failure.
        reload_debounce: how long the manifest must be quiet before it is reloaded by itself.
        max_file_bytes: larger files are problems (B9).
        max_threads: how many threads one call may use; ``None`` is one for each core.
        freshness: when bundles are compared with the disk.
        max_question_bytes: how many bytes of UTF-8 the text of a question, and its tag, may have. Longer ones
            are refused by every resolver and memory read; finding the terms of a question of many megabytes
            takes as long as asking that many questions.
        on_progress: called with the id of a source, how many of its files are read, and how many there are
            to read, while a call reads files for more than a moment; always on the thread of that call. What
            it raises ends the call.

    Raises:
        CatalogError: the catalog cannot open; lists everything that is wrong.
        RefusedTypeError: an argument is of the wrong kind.
        RefusedValueError: an argument makes no sense.

    A catalog is a context manager, ``async with`` too, and may be used from any number of threads. It cannot
    be pickled: open it again in the other process.
    """

    __slots__ = ("_engine", "_freshness", "_max_question_bytes", "_on_progress", "_path", "_view")

    def __init__(
        self,
        catalog_file_path: str | os.PathLike[str],
        *,
        catalog_root: str | os.PathLike[str] | None = None,
        watch_for_changes: bool = True,
        reload_debounce: timedelta = timedelta(milliseconds=250),
        max_file_bytes: int = 16 * 1024 * 1024,
        max_threads: int | None = None,
        freshness: Freshness = Freshness.EXACT,
        on_progress: Callable[[str, int, int], object] | None = None,
        max_question_bytes: int = MAX_QUESTION_BYTES,
    ) -> None:
        path = path_text("catalog_file_path", catalog_file_path)
        root = None if catalog_root is None else path_text("catalog_root", catalog_root)
        check_bool("watch_for_changes", watch_for_changes)
        check_kind("reload_debounce", reload_debounce, timedelta, "a timedelta")
        reload_debounce = timedelta.__pos__(reload_debounce)
        if reload_debounce < timedelta(0):
            raise RefusedValueError(f"reload_debounce is not negative; got {reload_debounce!r}")
        max_file_bytes = check_count("max_file_bytes", max_file_bytes, least=1)
        if max_threads is not None:
            max_threads = min(check_count("max_threads", max_threads, least=1), 1024)
        max_question_bytes = check_count("max_question_bytes", max_question_bytes, least=1)
        check_kind("freshness", freshness, Freshness, "a Freshness")
        check_callable("on_progress", on_progress, "with (source_id, done, total)")
        for field, text in (("catalog_file_path", path), ("catalog_root", root or "")):
            if "\0" in text:
                raise RefusedValueError(f"{field} holds a NUL, which no path can")
        self._path = path
        self._freshness = freshness
        self._on_progress = on_progress
        self._max_question_bytes = max_question_bytes
        self._engine = Catalog(
            path, root, min(max_file_bytes, 1 << 40), max_threads, manual=not freshness.is_exact
        )
        self._view = View(self._engine.snapshot(), self._engine)
        _log_overlap(self._view)
        if watch_for_changes:
            self._engine.watch(min(reload_debounce, timedelta(days=1)) // timedelta(microseconds=1))

    @property
    def current(self) -> KnowledgeCatalogSnapshot:
        """The snapshot in force; the same object until a reload succeeds."""
        return self.view().snapshot

    @property
    def last_reload_diagnostics(self) -> tuple[CatalogDiagnostic, ...]:
        """Why the last reload failed; empty if it did not (C3)."""
        return diagnostics_of(self._engine.last_reload_diagnostics())

    @property
    def catalog_root(self) -> Path:
        """The fence around all bundles."""
        return Path(self._engine.root)

    @property
    def watching(self) -> bool:
        """Whether the manifest is reloaded by itself."""
        return self._engine.watching

    @property
    def closed(self) -> bool:
        """Whether ``close()`` was called."""
        return self._engine.closed

    def reload(self) -> KnowledgeCatalogSnapshot:
        """Reads the manifest again, and returns the snapshot that is in force afterwards (C3).

        If anything is wrong with it the very same snapshot stays, and ``last_reload_diagnostics`` says why.
        Never raises for what is on disk; after ``close()`` nothing changes.
        """
        self._engine.reload()
        return self.current

    async def reload_async(self) -> KnowledgeCatalogSnapshot:
        """What ``reload`` does and returns, in a thread so that the event loop goes on.

        A reload that has begun is finished, also when the waiting for it is cancelled.
        """
        # As in the resolvers: importing it costs a third of what the package does.
        import asyncio  # noqa: PLC0415

        return await asyncio.to_thread(self.reload)

    def report(self) -> CatalogReport:
        """What is known of every source: directory, concepts, problem files, remarks, duplicates, failures.

        Raises:
            CatalogClosedError: the catalog was closed.
        """
        view = self.view()
        sources = view.snapshot.sources
        rows, problems_found = self._engine.report(view.handle, self._on_progress)
        log_problems(problems_found)
        return CatalogReport(
            view.snapshot.generation, tuple(source_report(sources[row["source"]], row) for row in rows)
        )

    def refresh(self) -> None:
        """Brings every source up to date now, whatever the freshness: later searches see what was complete.

        Raises:
            CatalogClosedError: the catalog was closed.
        """
        log_problems(self._engine.refresh(self.view().handle, self._on_progress))

    def close(self) -> None:
        """Lets go of all bundles. Searches under way finish, later ones raise ``CatalogClosedError``."""
        self._engine.close()

    def view(self) -> View:
        """The current snapshot as resolvers use it. Not part of the public interface."""
        if faults := self._engine.news_of_reload():
            _log_faults(faults)
        view = self._view
        while (handle := self._engine.snapshot()).generation != view.handle.generation:
            # Views form a chain of rising generations, and `setdefault` appends one or gives the one that
            # another thread appended: so a generation is one object for everybody, however slow a thread is.
            # There is no lock, which a forked process could find taken.
            while view.later:
                view = view.later[None]
            if view.handle.generation < handle.generation:
                made = View(handle, self._engine)
                view = view.later.setdefault(None, made)
                if view is made:
                    _log_overlap(view)
            self._view = view
        return view

    @property
    def freshness(self) -> Freshness:
        """When bundles are compared with the disk."""
        return self._freshness

    @property
    def on_progress(self) -> Callable[[str, int, int], object] | None:
        """What is told how far reading is."""
        return self._on_progress

    @property
    def max_question_bytes(self) -> int:
        """How many bytes of UTF-8 the text of a question, and its tag, may have."""
        return self._max_question_bytes

    @property
    def engine(self) -> Catalog:
        """The compiled half. Not part of the public interface."""
        return self._engine

    def __enter__(self) -> "FileKnowledgeCatalog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> "FileKnowledgeCatalog":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await close_async(self)

    def __repr__(self) -> str:
        if self.closed:
            return f"<FileKnowledgeCatalog {self._path!r}, closed>"
        snapshot = self.current
        return (
            f"<FileKnowledgeCatalog {self._path!r}, {len(snapshot.sources)} sources, "
            f"generation {snapshot.generation}>"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a FileKnowledgeCatalog cannot be pickled; open it again in the other process")


def source_report(source: KnowledgeCatalogSource, row: ReportRow) -> SourceReport:
    """The report on a source, from what the engine says of it."""
    directory, counts = row["directory"], row["remark_counts"]
    return SourceReport(
        source,
        None if directory is None else Path(directory),
        row["concepts"],
        tuple(SourceProblem(path, reason) for path, reason in row["problems"]),
        row["duplicate_of"],
        row["failure"],
        row["unwatched"],
        tuple(
            SourceRemark(remark["path"], remark["line"], RemarkCode(remark["code"]), remark["sentence"])
            for remark in row["remarks"]
        ),
        sum(count for _, count in counts),
        tuple(RemarkCount(RemarkCode(code), count) for code, count in counts),
    )


async def close_async(catalog: FileKnowledgeCatalog) -> None:
    """Closes a catalog in a thread, since that waits for others. It is closed also if this is cancelled."""
    import asyncio  # noqa: PLC0415

    await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, catalog.close))


def _log_faults(faults: Sequence[CatalogDiagnosticRow]) -> None:
    """Logs why a reload failed: the first faults, and the last, which says if there are more than these."""
    hidden = len(faults) - LOGGED_FAULTS - 1
    shown = faults if hidden <= 0 else (*faults[:LOGGED_FAULTS], faults[-1])
    for code, message in shown:
        _log.warning("the catalog was not reloaded: [%s] %s", code, message)
    if hidden > 0:
        _log.warning("the catalog was not reloaded: %d more faults in last_reload_diagnostics", hidden)


def _log_overlap(view: View) -> None:
    """Warns of memory sources that nothing is remembered in (Y8)."""
    if view.overlap is None:
        return
    memory, other = view.overlap
    if memory == other:
        fault = f"memory source {memory!r} lies among other memories: nothing is remembered until it does not"
    else:
        fault = f"memory source {memory!r} and source {other!r} overlap: nothing is remembered "
        fault += "until they lie apart"
    _log.warning("%s", fault)


def log_problems(rows: Iterable[ProblemRow]) -> None:
    """Logs files that nobody was told of before (B7)."""
    for source_id, path, reason in rows:
        _log.warning("source %r: %r is left out: %s", source_id, path, reason)
