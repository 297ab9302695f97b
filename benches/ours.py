"""The package that is measured, and the one place that knows how it is asked."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, final

import okf_catalog
from okf_catalog import (
    FileKnowledgeCatalog,
    KnowledgeBatch,
    KnowledgeContext,
    MergedKnowledgeResolver,
)

from benches.rivals.base import Ranking

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from benches.documents import Corpus

NAME = "okf-catalog"


def _accepted(**options: Any) -> dict[str, Any]:
    """Those options that this version of the package has."""
    known = inspect.signature(FileKnowledgeCatalog).parameters
    return {name: value for name, value in options.items() if name in known}


_FRESHNESS: Any = getattr(okf_catalog, "Freshness", None)
_UNCHECKED: dict[str, Any] = {} if _FRESHNESS is None else _accepted(freshness=_FRESHNESS.manual())

CHECKS_FRESHNESS = not _UNCHECKED
"""Whether what is timed holds a look at every file, because there is no way to leave it out."""


def open_catalog(manifest: Path, *, threads: int | None = None, fresh: bool = False) -> FileKnowledgeCatalog:
    """Opens a catalog the way it is measured: without looking at the files for every search.

    Args:
        manifest: The ``catalog.json``.
        threads: ``None`` for all cores.
        fresh: With the look at the files, as by default.
    """
    freshness = {} if fresh else _UNCHECKED
    threading = {} if threads is None else _accepted(max_threads=threads)
    return FileKnowledgeCatalog(manifest, watch_for_changes=False, **freshness, **threading)


@final
class Ours:
    """An open catalog, asked for one merged list."""

    def __init__(self, manifest: Path, *, threads: int | None = None, fresh: bool = False) -> None:
        self.catalog = open_catalog(manifest, threads=threads, fresh=fresh)
        self._resolver = MergedKnowledgeResolver(self.catalog)

    def search(self, text: str) -> KnowledgeContext:
        """One answer, complete and ranked; its passages are made when touched."""
        return self._resolver.search(text)

    def answer(self, text: str) -> KnowledgeContext:
        """What is timed: a search, and a touch of the last passage, which no ranking can put off."""
        context = self._resolver.search(text)
        count = len(context.passages)
        if count:
            context.passages[count - 1]
        return context

    def batch(self, texts: list[str], *, limit: int) -> KnowledgeBatch:
        return self._resolver.search_batch(texts, limit=limit)

    def stream(self, texts: list[str], *, limit: int) -> int:
        """Consumes the answers as they come, where the package has a stream; returns the passages in them."""
        stream: Any = getattr(self._resolver, "search_stream", self._resolver.search_batch)
        return sum(len(context.passages) for context in stream(texts, limit=limit))

    def engine_search(self, text: str) -> Any:
        """What `search` does below Python, as a call without arguments: the difference is Python's share."""
        from okf_catalog._engine import Question
        from okf_catalog.catalog.handle import opened_catalog

        opened = opened_catalog(self.catalog)
        generation = opened.generation()
        question = Question(text, None, None, "merged", None, generation.positions)
        search, handle, on_progress = opened.engine.search, generation.handle, opened.on_progress
        return lambda: search(handle, question, None, on_progress)

    def close(self) -> None:
        self.catalog.close()

    def __enter__(self) -> Ours:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Positions:
    """Answers in the form that rivals give theirs."""

    def __init__(self, corpus: Corpus) -> None:
        self._positions = {concept: position for position, concept in enumerate(corpus.ids)}

    def ranking(self, context: KnowledgeContext) -> Ranking:
        passages = tuple(context.passages)
        return Ranking(
            [self._positions[passage.source_id, passage.concept_id] for passage in passages],
            [passage.score for passage in passages],
        )
