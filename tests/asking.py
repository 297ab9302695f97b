"""Every way to put a question to a catalog."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from okf_catalog import (
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    Knowledge,
    KnowledgeContext,
    KnowledgeResolver,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    MergedKnowledgeResolver,
    PriorityWeightedKnowledgeResolver,
)

if TYPE_CHECKING:
    from collections.abc import Callable

GROUPED, MERGED, WEIGHTED = KnowledgeResolverStrategy


def host(catalog: FileKnowledgeCatalog, **defaults: Any) -> Knowledge:
    return Knowledge(catalog, KnowledgeResolverRouter(catalog, **defaults))


RESOLVERS: dict[str, Callable[..., KnowledgeResolver]] = {
    "grouped": GroupedKnowledgeResolver,
    "merged": MergedKnowledgeResolver,
    "weighted": PriorityWeightedKnowledgeResolver,
    "router": KnowledgeResolverRouter,
    "router to merged": partial(KnowledgeResolverRouter, default_strategy=MERGED),
    "router to weighted": partial(KnowledgeResolverRouter, default_strategy=WEIGHTED),
    "host": host,
}

WAYS: dict[str, Callable[[KnowledgeResolver, Any], KnowledgeContext]] = {
    "search": lambda resolver, query: resolver.search(query),
    "search_async": lambda resolver, query: asyncio.run(resolver.search_async(query)),
    "search_batch": lambda resolver, query: resolver.search_batch([query])[0],
}


@dataclass(frozen=True)
class Entrance:
    """One kind of resolver over a catalog, asked in one way."""

    catalog: FileKnowledgeCatalog
    resolver: str
    way: str

    def __call__(self, query: Any, **defaults: Any) -> KnowledgeContext:
        return WAYS[self.way](RESOLVERS[self.resolver](self.catalog, **defaults), query)

    def text(self, error: BaseException) -> str:
        """What ``error`` says, without the index that a batch puts before it."""
        text = str(error)
        if self.way != "search_batch":
            return text
        assert text.startswith("queries[0]")
        return text.removeprefix("queries[0]: ")


def names(context: KnowledgeContext) -> list[str]:
    """The answer as ``source:concept``, best first."""
    return [f"{passage.source_id}:{passage.concept_id}" for passage in context.passages]


def codes(context: KnowledgeContext) -> list[tuple[str, str | None]]:
    return [(diagnostic.code.name, diagnostic.source_id) for diagnostic in context.diagnostics]
