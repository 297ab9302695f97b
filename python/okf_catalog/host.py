"""A catalog, a router and a memory in one hand."""

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from types import TracebackType
from typing import NoReturn, final

from okf_catalog.catalog import FileKnowledgeCatalog, close_async
from okf_catalog.context import KnowledgeBatch, KnowledgeContext
from okf_catalog.freshness import Freshness
from okf_catalog.length import MAX_QUESTION_BYTES
from okf_catalog.memory.files import FileMemoryStore, mark_disabled, store_after_reload
from okf_catalog.query import KnowledgeQuery, KnowledgeResolverStrategy, SourceVisibilityPolicy, strategy_of
from okf_catalog.resolver import Clock, KnowledgeResolverRouter, check_defaults

__all__ = ["Knowledge", "open_knowledge"]


@final
class Knowledge:
    """One catalog with a router and a memory over it, opened and closed together: :func:`open_knowledge`."""

    __slots__ = ("_catalog", "_clock", "_marked", "_memory", "_resolver", "_was_apart")

    def __init__(
        self, catalog: FileKnowledgeCatalog, resolver: KnowledgeResolverRouter, *, clock: Clock | None = None
    ) -> None:
        self._catalog = catalog
        self._resolver = resolver
        self._clock = clock
        self._memory: FileMemoryStore | None = None
        self._marked = 0
        # If only a reload makes memories overlap with knowledge, there is a store, which fails closed.
        self._was_apart = not catalog.closed and catalog.view().overlap is None

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
        """The store over the catalog's memory sources; ``None`` while the snapshot in force has none enabled.

        A reload may bring one, or take it away (Y7); the store stays the same one. Directories of memories
        are marked either way, also of disabled memory sources (Y10).

        Raises:
            MemoryOverlapError: what would be remembered did not lie apart from what others see when the
                catalog was opened, and still does not (Y8). If only a reload brings that about, the store is
                there, and its results say that memory is closed.
            CatalogClosedError: the catalog was closed.
        """
        view = self._catalog.view()
        if not view.memories:
            if self._memory is None and self._marked != view.snapshot.generation:
                mark_disabled(view, self._catalog)
                self._marked = view.snapshot.generation
            return None
        if self._memory is None:
            make = store_after_reload if self._was_apart else FileMemoryStore
            self._memory = make(self._catalog, clock=self._clock)
        return self._memory

    @property
    def max_question_bytes(self) -> int:
        """How many bytes of UTF-8 the text of a question, and its tag, may have."""
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
        await close_async(self._catalog)

    def __repr__(self) -> str:
        return f"<Knowledge of {self._catalog!r}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Knowledge cannot be pickled; call open_knowledge in the other process")


def open_knowledge(
    catalog_file_path: str | os.PathLike[str],
    *,
    default_strategy: KnowledgeResolverStrategy | str = KnowledgeResolverStrategy.GROUPED_BY_SOURCE,
    default_fairness_quota: int | None = None,
    default_source_visibility_policy: SourceVisibilityPolicy | None = None,
    catalog_root: str | os.PathLike[str] | None = None,
    watch_for_changes: bool = True,
    reload_debounce: timedelta = timedelta(milliseconds=250),
    max_file_bytes: int = 16 * 1024 * 1024,
    max_threads: int | None = None,
    freshness: Freshness = Freshness.EXACT,
    on_progress: Callable[[str, int, int], object] | None = None,
    max_question_bytes: int = MAX_QUESTION_BYTES,
    clock: Clock | None = None,
) -> Knowledge:
    """Opens a catalog with a router over it. The result is a context manager, ``async with`` too.

    ``default_strategy``, the other defaults and ``clock`` are as a :class:`KnowledgeResolverRouter` takes
    them, everything else is as a :class:`FileKnowledgeCatalog` does.

    Raises:
        CatalogError: the catalog cannot open; lists everything that is wrong (C2).
        RefusedTypeError, RefusedValueError: an argument is refused.
    """
    # The caller's own mistakes come first: nothing is read before.
    strategy = strategy_of("default_strategy", default_strategy)
    quota = check_defaults(default_fairness_quota, default_source_visibility_policy, clock)
    catalog = FileKnowledgeCatalog(
        catalog_file_path,
        catalog_root=catalog_root,
        watch_for_changes=watch_for_changes,
        reload_debounce=reload_debounce,
        max_file_bytes=max_file_bytes,
        max_threads=max_threads,
        freshness=freshness,
        on_progress=on_progress,
        max_question_bytes=max_question_bytes,
    )
    resolver = KnowledgeResolverRouter(
        catalog,
        default_strategy=strategy,
        default_fairness_quota=quota,
        default_source_visibility_policy=default_source_visibility_policy,
        clock=clock,
    )
    return Knowledge(catalog, resolver, clock=clock)
