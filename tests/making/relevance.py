"""Every byte of the answers to some questions, under both scorings and all strategies."""

from __future__ import annotations

import importlib
import pickle
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from okf_catalog import (
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    KnowledgeUnit,
)

from making.clocks import at_noon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from okf_catalog import (
        KnowledgeAccessScope,
        KnowledgeCatalog,
        KnowledgeCatalogSource,
        KnowledgeContext,
        MemoryReadResult,
    )

pyarrow: Any = importlib.import_module("pyarrow")


@dataclass(frozen=True)
class Caller:
    """One who sees the sources ``ids``, by the set of a query or by a policy."""

    ids: frozenset[str] | None = None
    way: str = "everything"

    @classmethod
    def of(cls, way: str, ids: Iterable[str]) -> Caller:
        """``way`` is ``permitted``, ``policy``, ``policy of the host``, or another, to see everything."""
        return cls(frozenset(ids), way)

    def query(self, query: KnowledgeQuery) -> KnowledgeQuery:
        if self.way == "permitted":
            return replace(query, permitted_source_ids=self.ids)
        return replace(query, source_visibility_policy=self._policy("policy"))

    def router(self, catalog: KnowledgeCatalog) -> KnowledgeResolverRouter:
        policy = self._policy("policy of the host")
        return KnowledgeResolverRouter(catalog, default_source_visibility_policy=policy, clock=at_noon)

    def _policy(self, way: str) -> Callable[[KnowledgeAccessScope, KnowledgeCatalogSource], bool] | None:
        ids = self.ids
        return None if ids is None or way != self.way else lambda _, source: source.id in ids


EVERYBODY = Caller()


def queries_of(texts: Iterable[str]) -> list[KnowledgeQuery]:
    """The texts under every strategy and scoring, also with a quota, and for sections."""
    ways = product(texts, KnowledgeResolverStrategy, KnowledgeScoring)
    queries = [
        KnowledgeQuery(text, resolver_strategy=strategy, scoring=scoring) for text, strategy, scoring in ways
    ]
    fair = [replace(query, fairness_quota=1) for query in queries]
    return queries + fair + [replace(query, unit=KnowledgeUnit.SECTION) for query in queries]


def bytes_of(context: KnowledgeContext | MemoryReadResult) -> bytes:
    """All of an answer but its query and its generation."""
    return pickle.dumps((tuple(context.passages), context.diagnostics))


def answers(
    catalog: KnowledgeCatalog, caller: Caller, queries: Sequence[KnowledgeQuery]
) -> dict[str, list[bytes]]:
    """The answers to a caller: to each query alone, and in batches, a table and a stream."""
    router = caller.router(catalog)
    asked = [caller.query(query) for query in queries]
    whole = router.search_batch(asked)
    return {
        "alone": [bytes_of(router.search(query)) for query in asked],
        "batch": [bytes_of(context) for context in whole],
        "table": [pickle.dumps(pyarrow.table(whole.to_arrow()).to_pylist())],
        "best": [bytes_of(context) for context in router.search_batch(asked, limit=2)],
        "stream": [bytes_of(context) for context in router.search_stream(asked, limit=1)],
    }
