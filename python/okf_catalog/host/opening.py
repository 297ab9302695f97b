"""Opening a catalog with its router and its memory."""

import os
from collections.abc import Callable
from datetime import timedelta

from okf_catalog.ask.defaults import host_defaults
from okf_catalog.ask.policy import SourceVisibilityPolicy
from okf_catalog.ask.resolvers import KnowledgeResolverRouter
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.catalog.file import FileKnowledgeCatalog
from okf_catalog.catalog.freshness import Freshness
from okf_catalog.catalog.limits import MAX_FILE_BYTES, MAX_QUESTION_BYTES, RELOAD_DEBOUNCE
from okf_catalog.checks import check_choice
from okf_catalog.clock import Clock, check_clock
from okf_catalog.host.knowledge import Knowledge

__all__ = ["open_knowledge"]


def open_knowledge(
    catalog_file_path: str | os.PathLike[str],
    *,
    default_strategy: KnowledgeResolverStrategy | str = KnowledgeResolverStrategy.GROUPED_BY_SOURCE,
    default_fairness_quota: int | None = None,
    default_source_visibility_policy: SourceVisibilityPolicy | None = None,
    default_scoring: KnowledgeScoring | str = KnowledgeScoring.WEIGHTED_TERMS,
    catalog_root: str | os.PathLike[str] | None = None,
    watch_for_changes: bool = True,
    reload_debounce: timedelta = RELOAD_DEBOUNCE,
    max_file_bytes: int = MAX_FILE_BYTES,
    max_threads: int | None = None,
    freshness: Freshness = Freshness.EXACT,
    on_progress: Callable[[str, int, int], object] | None = None,
    max_question_bytes: int = MAX_QUESTION_BYTES,
    clock: Clock | None = None,
) -> Knowledge:
    """Opens a catalog with a router and a memory. The result is a context manager, for ``async with`` too.

    ``default_strategy``, the other defaults and ``clock`` are those of a :class:`KnowledgeResolverRouter`.
    All other arguments are those of a :class:`FileKnowledgeCatalog`.

    Raises:
        CatalogError: the catalog cannot open; lists everything that is wrong (C2).
        RefusedTypeError, RefusedValueError: an argument is refused.
    """
    # The router checks these too, but an argument is refused before any file is read.
    strategy = check_choice("default_strategy", default_strategy, KnowledgeResolverStrategy)
    defaults = host_defaults(
        strategy,
        default_fairness_quota,
        default_source_visibility_policy,
        default_scoring,
        query_chooses_strategy=True,
    )
    check_clock(clock)
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
        default_fairness_quota=defaults.fairness_quota,
        default_source_visibility_policy=default_source_visibility_policy,
        default_scoring=defaults.scoring,
        clock=clock,
    )
    return Knowledge(catalog, resolver, clock=clock)
