"""Marks: the empty files that keep directories of memories out of every search (Y10)."""

from okf_catalog.catalog.file import FileKnowledgeCatalog
from okf_catalog.catalog.generation import Generation
from okf_catalog.catalog.handle import opened_catalog
from okf_catalog.catalog.log import log_unmarked
from okf_catalog.catalog.opened import OpenedCatalog

__all__ = ["mark", "mark_disabled"]


def mark(opened: OpenedCatalog, generation: Generation) -> None:
    """Marks the directories of memories that have no mark. Logs those that cannot be marked."""
    sources = generation.snapshot.sources
    for row in opened.file_engine.memory(generation.handle).mark():
        log_unmarked(sources[row["source"]].id, row)


def mark_disabled(catalog: FileKnowledgeCatalog) -> None:
    """Marks as a new store does. It is for a catalog without a store: all its memory sources are disabled."""
    opened = opened_catalog(catalog)
    generation = opened.generation()
    if any(source.tier is not None for source in generation.snapshot.sources):
        mark(opened, generation)
