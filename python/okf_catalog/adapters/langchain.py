"""A retriever for LangChain: ``pip install "okf-catalog[langchain]"``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from okf_catalog.adapters import missing
from okf_catalog.adapters.retrieval import Retrieval, id_of, metadata_of, text_of
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.staleness import StalePolicy
from okf_catalog.ask.unit import KnowledgeUnit
from okf_catalog.scope import KnowledgeAccessScope

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as error:
    raise missing("langchain", "langchain-core", "langchain") from error
from pydantic import PrivateAttr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun

    from okf_catalog._engine import KnowledgePassage
    from okf_catalog.adapters.retrieval import DiagnosticsListener, Scope
    from okf_catalog.ask.resolver import KnowledgeResolver
    from okf_catalog.ask.strategy import KnowledgeResolverStrategy

__all__ = ["OkfRetriever"]


@final
class OkfRetriever(BaseRetriever):
    """Finds documents in a catalog. A blank question finds none.

    By default a document is a section of a concept (V9), and questions may be whole sentences (``BM25F``).
    Its ``page_content`` is the text of the section. With ``unit="concept"`` a document is a whole concept,
    and its ``page_content`` is the title and the snippet (K7). The ``metadata`` says where it comes from,
    with the headings and the lines of a section, and how far to trust it. ``limit=None`` returns every
    passage of the answer. ``scoring=None`` leaves the scoring to the resolver.

    The arguments are chosen by the host and are not fields of the model. So the ``configurable`` values of a
    run, which servers take from requests, cannot change them.

    Example:
        >>> OkfRetriever(knowledge.resolver, limit=3).invoke("refund policy")  # doctest: +SKIP

    Raises:
        RefusedTypeError, RefusedValueError: an argument is refused.
    """

    _retrieval: Retrieval = PrivateAttr()

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
        name: str | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(name=name, tags=tags, metadata=metadata)
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

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(self._retrieval.passages(query))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return _documents(await self._retrieval.passages_async(query))


def _documents(passages: Iterable[KnowledgePassage]) -> list[Document]:
    return [
        Document(page_content=text_of(passage), metadata=metadata_of(passage), id=id_of(passage))
        for passage in passages
    ]
