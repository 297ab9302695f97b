"""From a public catalog to its engine, and what all kinds of catalogs share."""

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar, cast

from okf_catalog.catalog.log import log_problems
from okf_catalog.catalog.opened import OpenedCatalog
from okf_catalog.catalog.report import CatalogReport, source_report
from okf_catalog.catalog.source import KnowledgeCatalogSnapshot
from okf_catalog.checks import check_kind
from okf_catalog.waiting import finish_in_thread

__all__ = ["CatalogHandle", "opened_catalog"]

_Handle = TypeVar("_Handle", bound="CatalogHandle")


class CatalogHandle:
    """The base class of every public catalog. A subclass opens its engine and passes it to ``__init__``.

    The opened catalog is an attribute and not an entry of a table: a progress callback may refer to the
    catalog, and an entry would keep both alive for ever.
    """

    __slots__ = ("_opened",)

    def __init__(self, opened: OpenedCatalog) -> None:
        self._opened = opened

    @property
    def current(self) -> KnowledgeCatalogSnapshot:
        """The snapshot in force; the same object until another snapshot replaces it."""
        return self._opened.generation().snapshot

    @property
    def closed(self) -> bool:
        """Whether ``close()`` was called."""
        return self._opened.engine.closed

    @property
    def max_question_bytes(self) -> int:
        """The text of a question, and its tag, may have at most this many bytes of UTF-8."""
        return self._opened.max_question_bytes

    @property
    def on_progress(self) -> Callable[[str, int, int], object] | None:
        """The callback that is told how many files are read."""
        return self._opened.on_progress

    def report(self) -> CatalogReport:
        """What is known about every source.

        That is its directory, concepts, problem files, remarks, duplicates and failures.

        Raises:
            CatalogClosedError: the catalog is closed.
        """
        opened = self._opened
        generation = opened.generation()
        sources = generation.snapshot.sources
        rows, problems = opened.engine.report(generation.handle, opened.on_progress)
        log_problems(problems)
        return CatalogReport(
            generation.snapshot.generation, tuple(source_report(sources, row) for row in rows)
        )

    def refresh(self) -> None:
        """Brings every source up to date now, whatever the freshness.

        Later searches see every change that was complete before this call.

        Raises:
            CatalogClosedError: the catalog is closed.
        """
        opened = self._opened
        log_problems(opened.engine.refresh(opened.generation().handle, opened.on_progress))

    def close(self) -> None:
        """Frees all bundles; may be called twice.

        A search that has begun finishes. Later ones raise ``CatalogClosedError``.
        """
        self._opened.engine.close()

    def __enter__(self: _Handle) -> _Handle:  # noqa: PYI019  (`typing.Self` needs Python 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self: _Handle) -> _Handle:  # noqa: PYI019
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # In a thread, because closing waits for searches that have begun.
        await finish_in_thread(self.close)


def opened_catalog(catalog: object) -> OpenedCatalog:
    """The opened catalog behind a public one.

    Raises:
        RefusedTypeError: ``catalog`` is not a catalog of this package.
    """
    check_kind("catalog", catalog, CatalogHandle, "a FileKnowledgeCatalog")
    return cast("CatalogHandle", catalog)._opened  # noqa: SLF001
