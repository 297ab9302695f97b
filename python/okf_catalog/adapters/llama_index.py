"""A retriever for LlamaIndex: ``pip install "okf-catalog[llama-index]"``."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from okf_catalog.adapters import missing
from okf_catalog.adapters.retrieval import Retrieval, id_of, metadata_of, text_of
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.staleness import StalePolicy
from okf_catalog.ask.unit import KnowledgeUnit
from okf_catalog.scope import KnowledgeAccessScope

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise missing("llama_index", "llama-index-core", "llama-index") from error

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llama_index.core.callbacks.base import CallbackManager

    from okf_catalog._engine import KnowledgePassage
    from okf_catalog.adapters.retrieval import DiagnosticsListener, Scope
    from okf_catalog.ask.resolver import KnowledgeResolver
    from okf_catalog.ask.strategy import KnowledgeResolverStrategy

__all__ = ["OkfRetriever"]

_READ_BY_MODELS = {"source_id", "concept_id", "trust_tier", "status", "stale_after", "is_stale"}
"""LlamaIndex writes metadata above the text of a node. Other keys and empty values only cost tokens."""
_READ_OF_SECTIONS = _READ_BY_MODELS | {"title", "heading"}
"""The text of a section does not say which concept it is from, or which headings are above it."""


@final
class OkfRetriever(BaseRetriever):
    """Finds nodes in a catalog. A blank question finds none.

    By default a node is a section of a concept (V9), and questions may be whole sentences (``BM25F``). Its
    text is the text of the section. With ``unit="concept"`` a node is a whole concept, and its text is the
    title and the snippet (K7). The ``metadata`` says where it comes from, with the headings and the lines of
    a section, and how far to trust it. The score is the catalog's, a whole number. ``limit=None`` returns
    every passage of the answer. ``scoring=None`` leaves the scoring to the resolver.

    Example:
        >>> OkfRetriever(knowledge.resolver, limit=3).retrieve("refund policy")  # doctest: +SKIP

    Raises:
        RefusedTypeError, RefusedValueError: an argument is refused.
    """

    def __init__(
        self,
        resolver: KnowledgeResolver,
        *,
        scope: Scope = KnowledgeAccessScope.LOCAL,
        limit: int | None = 10,
        resolver_strategy: KnowledgeResolverStrategy | str | None = None,
        fairness_quota: int | None = None,
        stale_policy: StalePolicy = StalePolicy.USE,
        scoring: KnowledgeScoring | str | None = KnowledgeScoring.BM25F,
        unit: KnowledgeUnit | str = KnowledgeUnit.SECTION,
        on_diagnostics: DiagnosticsListener | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        # Pyright complains about another parameter, which LlamaIndex annotates with a bare `Dict`.
        super().__init__(callback_manager=callback_manager)  # pyright: ignore[reportUnknownMemberType]
        self._retrieval = Retrieval(
            resolver,
            scope=scope,
            limit=limit,
            resolver_strategy=resolver_strategy,
            fairness_quota=fairness_quota,
            stale_policy=stale_policy,
            scoring=scoring,
            unit=unit,
            on_diagnostics=on_diagnostics,
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._retrieval.passages(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await self._retrieval.passages_async(query_bundle.query_str))


def _nodes(passages: Iterable[KnowledgePassage]) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(passage), score=passage.score) for passage in passages]


def _node(passage: KnowledgePassage) -> TextNode:
    metadata = metadata_of(passage)
    read = _READ_BY_MODELS if passage.section is None else _READ_OF_SECTIONS
    unread = [
        key
        for key, value in metadata.items()
        if key not in read or value is None or value is False or value == ""
    ]
    return TextNode(
        id_=id_of(passage),
        text=text_of(passage),
        metadata=metadata,
        excluded_llm_metadata_keys=unread,
        excluded_embed_metadata_keys=list(metadata),
    )
