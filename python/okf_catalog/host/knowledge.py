"""A catalog, a router and a memory that are opened and closed together."""

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import NoReturn, final

from okf_catalog.ask.batch import KnowledgeBatch
from okf_catalog.ask.context import KnowledgeContext
from okf_catalog.ask.query import KnowledgeQuery
from okf_catalog.ask.resolvers import KnowledgeResolverRouter
from okf_catalog.catalog.file import FileKnowledgeCatalog
from okf_catalog.catalog.handle import opened_catalog
from okf_catalog.clock import Clock
from okf_catalog.memory.files import FileMemoryStore, store_after_reload
from okf_catalog.memory.marks import mark_disabled
from okf_catalog.waiting import finish_in_thread

__all__ = ["Knowledge"]


@final
class Knowledge:
    """One catalog with its router and its memory, as :func:`open_knowledge` returns them.

    They are opened and closed together. It is a context manager, for ``async with`` too.
    """

    __slots__ = ("_catalog", "_clock", "_had_overlap", "_marked", "_memory", "_resolver")

    def __init__(
        self, catalog: FileKnowledgeCatalog, resolver: KnowledgeResolverRouter, *, clock: Clock | None = None
    ) -> None:
        self._catalog = catalog
        self._resolver = resolver
        self._clock = clock
        self._memory: FileMemoryStore | None = None
        self._marked = 0
        """The generation whose disabled memory sources were marked last."""
        # An overlap at opening raises. If only a reload causes it, there is a store, and its operations fail.
        self._had_overlap = catalog.closed or opened_catalog(catalog).generation().overlap is not None

    @property
    def catalog(self) -> FileKnowledgeCatalog:
        """The catalog."""
        return self._catalog

    @property
    def resolver(self) -> KnowledgeResolverRouter:
        """The router that answers."""
        return self._resolver

    @property
    def memory(self) -> FileMemoryStore | None:
        """The store over the catalog's memory sources; ``None`` while the snapshot has none enabled.

        A reload may add memory sources or remove them (Y7); the store stays the same object. In both cases
        the directories of memories are marked, those of disabled memory sources too (Y10).

        Raises:
            MemoryOverlapError: when the catalog was opened, a memory source overlapped with another source,
                and it still does (Y8). If only a reload causes the overlap, the store is there, and its
                results say that memory is unavailable.
            CatalogClosedError: the catalog is closed.
        """
        generation = opened_catalog(self._catalog).generation()
        if not generation.memories:
            if self._memory is None and self._marked != generation.snapshot.generation:
                mark_disabled(self._catalog)
                self._marked = generation.snapshot.generation
            return None
        if self._memory is None:
            make = FileMemoryStore if self._had_overlap else store_after_reload
            self._memory = make(self._catalog, clock=self._clock)
        return self._memory

    @property
    def max_question_bytes(self) -> int:
        """The text of a query, and its tag, may have at most this many bytes of UTF-8."""
        return self._catalog.max_question_bytes

    def search(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """What the router's ``search`` returns and raises."""
        return self._resolver.search(query)

    async def search_async(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        """What the router's ``search_async`` returns and raises."""
        return await self._resolver.search_async(query)

    def search_batch(
        self, queries: Iterable[KnowledgeQuery | str], /, *, limit: int | None = None
    ) -> KnowledgeBatch:
        """What the router's ``search_batch`` returns and raises."""
        return self._resolver.search_batch(queries, limit=limit)

    def search_stream(
        self, queries: Iterable[KnowledgeQuery | str], /, *, limit: int | None = None
    ) -> Iterator[KnowledgeContext]:
        """What the router's ``search_stream`` yields and raises."""
        return self._resolver.search_stream(queries, limit=limit)

    def close(self) -> None:
        """Closes the catalog; may be called twice."""
        self._catalog.close()

    def __enter__(self) -> "Knowledge":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> "Knowledge":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # In a thread, because closing waits for searches that have begun.
        await finish_in_thread(self._catalog.close)

    def __repr__(self) -> str:
        return f"<Knowledge of {self._catalog!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Knowledge cannot be pickled; call open_knowledge in the other process")
