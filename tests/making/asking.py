"""Every way to ask a catalog a question, and what its answers hold."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

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
    from collections.abc import Callable, Iterable

GROUPED, MERGED, WEIGHTED = KnowledgeResolverStrategy


def host(catalog: FileKnowledgeCatalog, **defaults: Any) -> Knowledge:
    """What ``open_knowledge`` gives, over a catalog that is open already."""
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
    """One kind of resolver over a catalog, asked in one way. Calling it asks a question."""

    catalog: FileKnowledgeCatalog
    resolver: str
    way: str

    def __call__(self, query: Any, **defaults: Any) -> KnowledgeContext:
        return WAYS[self.way](RESOLVERS[self.resolver](self.catalog, **defaults), query)

    def text(self, error: BaseException) -> str:
        """The message of ``error``, without the index that a batch puts before it."""
        text = str(error)
        if self.way != "search_batch":
            return text
        assert text.startswith("queries[0]")
        return text.removeprefix("queries[0]: ")


class Named(Protocol):
    """A passage, of the engine or of the model."""

    @property
    def source_id(self) -> str: ...

    @property
    def concept_id(self) -> str: ...


def names(answer: KnowledgeContext | Iterable[Named]) -> list[str]:
    """The passages of an answer as ``source/concept``, best first."""
    passages = answer.passages if isinstance(answer, KnowledgeContext) else answer
    return [f"{passage.source_id}/{passage.concept_id}" for passage in passages]


def names_in_metadata(found: Iterable[Any]) -> list[str]:
    """The same of a framework's own documents, which carry both ids as metadata."""
    return [f"{one.metadata['source_id']}/{one.metadata['concept_id']}" for one in found]


def codes(context: KnowledgeContext) -> list[tuple[str, str | None]]:
    """The diagnostics of an answer as (code, source id)."""
    return [(diagnostic.code.value, diagnostic.source_id) for diagnostic in context.diagnostics]


def outcome(act: Callable[..., Any], *arguments: Any) -> Any:
    """What ``act`` gives, or the type of what it raises."""
    try:
        return act(*arguments)
    except Exception as error:  # noqa: BLE001  (whatever is raised is the outcome)
        return type(error)
