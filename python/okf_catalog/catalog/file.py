"""The catalog that is read from files."""

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import NoReturn, cast, final

from okf_catalog._engine import Catalog, note_fork
from okf_catalog.catalog.freshness import Freshness
from okf_catalog.catalog.handle import CatalogHandle
from okf_catalog.catalog.limits import MAX_FILE_BYTES, MAX_QUESTION_BYTES, RELOAD_DEBOUNCE, plain_limits
from okf_catalog.catalog.opened import OpenedCatalog
from okf_catalog.catalog.source import KnowledgeCatalogSnapshot
from okf_catalog.checks import check_bool, check_callable, check_kind, check_path
from okf_catalog.diagnostics import CatalogDiagnostic, catalog_diagnostics
from okf_catalog.errors import RefusedValueError
from okf_catalog.waiting import run_in_thread

__all__ = ["FileKnowledgeCatalog"]

MOST_DEBOUNCE = timedelta(days=1)
"""The engine's longest debounce."""

# The engine cannot see a fork by the process id: in another namespace a child may have its parent's id.
os.register_at_fork(after_in_child=note_fork)


@final
class FileKnowledgeCatalog(CatalogHandle):
    """A catalog read from ``catalog.json``, and the bundles it names.

    Opening reads the manifest and checks the path of every enabled source (C2). A bundle is read when it is
    first searched. Every search sees every change to the files that was complete before the search began
    (F1); ``Freshness`` names the few kinds of change that are found later.

    Args:
        catalog_file_path: the manifest.
        catalog_root: no source may lie outside this directory. By default it is the manifest's directory
            (C1).
        watch_for_changes: reload the manifest when it has changed (C4). This is best effort: ``watching``
            says whether it works, and ``reload()`` is the reliable way. A reload that fails keeps the
            snapshot. Each distinct failure is logged once, at the next call.
        reload_debounce: how long the manifest must be unchanged before it is reloaded.
        max_file_bytes: a larger file is not served, and is a problem of its source (B9).
        max_threads: one call uses at most this many threads; ``None`` is one for each core.
        freshness: when bundles are compared with the disk.
        max_question_bytes: the text of a question, and its tag, may have at most this many bytes of UTF-8.
            Every resolver and every memory read refuses a longer one: to search for a text of many megabytes
            takes as long as a great many ordinary searches.
        on_progress: called with the id of a source, how many of its files are read, and how many there are
            to read. It is called while a call takes more than a moment to read files, always on the thread of
            that call. If it raises, the call ends with that exception.

    Raises:
        CatalogError: the catalog cannot open; lists everything that is wrong.
        RefusedTypeError: an argument has the wrong type.
        RefusedValueError: an argument has a value that is not allowed.

    A catalog is a context manager, for ``async with`` too. Any number of threads may use it at once. It
    cannot be pickled: open it again in the other process.
    """

    __slots__ = ("_freshness", "_path")

    def __init__(
        self,
        catalog_file_path: str | os.PathLike[str],
        *,
        catalog_root: str | os.PathLike[str] | None = None,
        watch_for_changes: bool = True,
        reload_debounce: timedelta = RELOAD_DEBOUNCE,
        max_file_bytes: int = MAX_FILE_BYTES,
        max_threads: int | None = None,
        freshness: Freshness = Freshness.EXACT,
        on_progress: Callable[[str, int, int], object] | None = None,
        max_question_bytes: int = MAX_QUESTION_BYTES,
    ) -> None:
        path = check_path("catalog_file_path", catalog_file_path)
        root = None if catalog_root is None else check_path("catalog_root", catalog_root)
        check_bool("watch_for_changes", watch_for_changes)
        debounce = _plain_debounce(reload_debounce)
        max_file_bytes, max_threads, max_question_bytes = plain_limits(
            max_file_bytes, max_threads, max_question_bytes
        )
        check_kind("freshness", freshness, Freshness, "a Freshness")
        check_callable("on_progress", on_progress, "with (source_id, done, total)")
        for field, text in (("catalog_file_path", path), ("catalog_root", root or "")):
            if "\0" in text:
                raise RefusedValueError(f"{field} holds a NUL, which no path can")
        self._path = path
        self._freshness = freshness
        engine = Catalog(path, root, max_file_bytes, max_threads, manual=not freshness.is_exact)
        super().__init__(
            OpenedCatalog(engine, max_question_bytes=max_question_bytes, on_progress=on_progress)
        )
        if watch_for_changes:
            engine.watch(min(debounce, MOST_DEBOUNCE) // timedelta(microseconds=1))

    @property
    def last_reload_diagnostics(self) -> tuple[CatalogDiagnostic, ...]:
        """Why the last reload failed; empty if it succeeded (C3)."""
        return catalog_diagnostics(self._opened.file_engine.last_reload_diagnostics())

    @property
    def catalog_root(self) -> Path:
        """The directory that no source may lie outside of."""
        return Path(self._opened.file_engine.root)

    @property
    def watching(self) -> bool:
        """Whether the manifest is watched, and reloaded when it has changed."""
        return self._opened.file_engine.watching

    @property
    def freshness(self) -> Freshness:
        """When bundles are compared with the disk."""
        return self._freshness

    def reload(self) -> KnowledgeCatalogSnapshot:
        """Reads the manifest again, and returns the snapshot that is in force afterwards (C3).

        If anything is wrong with the manifest, the very same snapshot stays in force, and
        ``last_reload_diagnostics`` says why. Never raises for what is on the disk. After ``close()`` nothing
        changes.
        """
        self._opened.file_engine.reload()
        return self.current

    async def reload_async(self) -> KnowledgeCatalogSnapshot:
        """What ``reload`` does and returns, in a thread so that the event loop goes on.

        If the caller is cancelled, a reload that has begun still finishes.
        """
        return await run_in_thread(self.reload)

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


def _plain_debounce(given: object) -> timedelta:
    check_kind("reload_debounce", given, timedelta, "a timedelta")
    debounce = timedelta.__pos__(cast("timedelta", given))
    if debounce < timedelta(0):
        raise RefusedValueError(f"reload_debounce is not negative; got {debounce!r}")
    return debounce
