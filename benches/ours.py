"""The package as it is measured. Only this file knows how to ask it, and how versions differ."""

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
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from benches.documents import Corpus

NAME = "okf-catalog"
TOP = 20
"""How many passages a question with a limit gets."""


def _accepted(**options: Any) -> dict[str, Any]:
    """The given options that this version of the package accepts."""
    known = inspect.signature(FileKnowledgeCatalog).parameters
    return {name: value for name, value in options.items() if name in known}


_FRESHNESS: Any = getattr(okf_catalog, "Freshness", None)
_UNCHECKED: dict[str, Any] = {} if _FRESHNESS is None else _accepted(freshness=_FRESHNESS.manual())

CHECKS_FRESHNESS = not _UNCHECKED
"""Whether every timed search also compares all files, because this version cannot turn that off."""

CAN_SCORE_SENTENCES = hasattr(okf_catalog, "KnowledgeScoring")
"""Whether this version has BM25F. Without it, only opening and memory can be measured, for comparison."""


def open_catalog(manifest: Path, *, threads: int | None = None, fresh: bool = False) -> FileKnowledgeCatalog:
    """Opens a catalog as it is measured: a search does not check whether files changed.

    Args:
        manifest: The ``catalog.json``.
        threads: How many threads a call may use; ``None`` means one for each core.
        fresh: Whether each search checks for changed files, as it does by default.
    """
    freshness = {} if fresh else _UNCHECKED
    threading = {} if threads is None else _accepted(max_threads=threads)
    return FileKnowledgeCatalog(manifest, watch_for_changes=False, **freshness, **threading)


@final
class Ours:
    """An open catalog with a resolver that merges all sources into one list."""

    def __init__(self, manifest: Path, *, threads: int | None = None, fresh: bool = False) -> None:
        self.catalog = open_catalog(manifest, threads=threads, fresh=fresh)
        self._resolver = MergedKnowledgeResolver(self.catalog)

    def search(self, text: str) -> KnowledgeContext:
        """One complete, ranked answer. A passage object is made when it is accessed."""
        return self._resolver.search(text)

    def answer(self, text: str) -> KnowledgeContext:
        """What is timed: a search and access to its last passage, so that the whole ranking must be done."""
        context = self._resolver.search(text)
        count = len(context.passages)
        if count:
            context.passages[count - 1]
        return context

    def batch(self, texts: list[str], *, limit: int) -> KnowledgeBatch:
        return self._resolver.search_batch(texts, limit=limit)

    def stream(self, texts: list[str], *, limit: int) -> int:
        """Reads all answers one by one, if the package has a stream; returns the number of their passages."""
        stream: Any = getattr(self._resolver, "search_stream", self._resolver.search_batch)
        return sum(len(context.passages) for context in stream(texts, limit=limit))

    def engine_search(self, text: str) -> Any:
        """The engine's part of `search`, as a call without arguments. The rest is Python's share."""
        from okf_catalog._engine import Question
        from okf_catalog.catalog.handle import opened_catalog

        opened = opened_catalog(self.catalog)
        generation = opened.generation()
        question = Question(
            text, None, None, "weighted_terms", "concept", "merged", None, generation.positions
        )
        search, handle, on_progress = opened.engine.search, generation.handle, opened.on_progress
        return lambda: search(handle, question, None, on_progress)

    def under(self, scoring: str) -> Scored:
        """The same catalog, asked under a scoring (V1)."""
        return Scored(MergedKnowledgeResolver(self.catalog, default_scoring=scoring))

    def close(self) -> None:
        self.catalog.close()

    def __enter__(self) -> Ours:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@final
class Scored:
    """One scoring over an open catalog."""

    def __init__(self, resolver: MergedKnowledgeResolver) -> None:
        self._resolver = resolver

    def top(self, text: str, limit: int = TOP) -> KnowledgeContext:
        """The best passages of one question that is asked alone."""
        return self._resolver.search_batch([text], limit=limit)[0]

    def full(self, text: str) -> KnowledgeContext:
        """One complete ranking, with access to its last passage."""
        context = self._resolver.search(text)
        if context.passages:
            context.passages[-1]
        return context

    def batch(self, texts: Sequence[str], limit: int = TOP) -> KnowledgeBatch:
        return self._resolver.search_batch(texts, limit=limit)


class Positions:
    """Turns answers of the package into rankings, which is the form of the rivals' answers."""

    def __init__(self, corpus: Corpus) -> None:
        self._positions = {concept: position for position, concept in enumerate(corpus.ids)}

    def ranking(self, context: KnowledgeContext) -> Ranking:
        passages = tuple(context.passages)
        return Ranking(
            [self._positions[passage.source_id, passage.concept_id] for passage in passages],
            [passage.score for passage in passages],
        )
