"""The LangChain retriever, in LangChain."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pytest
from making.asking import names_in_metadata
from making.providing import Resolver, passage
from making.visibility import ACME, ACMES, OPEN
from okf_catalog import (
    KnowledgeAccessScope,
    KnowledgeQuery,
    KnowledgeSection,
    RefusedValueError,
    StalePolicy,
)

pytest.importorskip("langchain_core")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool
from okf_catalog.adapters.langchain import OkfRetriever

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okf_catalog import KnowledgeResolver

pytestmark = pytest.mark.usefixtures("offline")


def retriever_of(resolver: KnowledgeResolver, **options: Any) -> OkfRetriever:
    """A retriever of whole concepts, ranked by the fields that have a term (K3)."""
    whole: dict[str, Any] = {"unit": "concept", "scoring": "weighted_terms"}
    return OkfRetriever(resolver, **whole | options)


def test_documents_carry_the_fields_of_their_passage(resolver: KnowledgeResolver) -> None:
    retriever = retriever_of(resolver, limit=1, resolver_strategy="merged")
    best = Document(
        id="knowledge:few:best",
        page_content="word\nnothing else",
        metadata={
            "source_id": "few",
            "concept_id": "best",
            "title": "word",
            "score": 3,
            "bundle_relative_path": "best.md",
            "concept_type": None,
            "trust_tier": "unverified",
            "status": "stable",
            "stale_after": None,
            "is_stale": False,
            "heading": None,
            "first_line": None,
            "last_line": None,
        },
    )
    assert retriever.invoke("word") == [best]
    assert asyncio.run(retriever.ainvoke("word")) == [best]


def test_every_way_to_invoke_a_retriever_finds_the_same(resolver: KnowledgeResolver) -> None:
    retriever = retriever_of(resolver)
    assert names_in_metadata(retriever.invoke("word")) == OPEN
    assert [names_in_metadata(found) for found in retriever.batch(["word", "", "unheard"])] == [OPEN, [], []]
    found = asyncio.run(retriever.abatch(["word", "", "unheard"]))
    assert [names_in_metadata(documents) for documents in found] == [OPEN, [], []]
    assert [names_in_metadata(found) for found in retriever.stream("word")] == [OPEN]


def test_a_retriever_asks_with_the_options_of_the_host(resolver: KnowledgeResolver) -> None:
    retriever = OkfRetriever(
        resolver,
        limit=2,
        resolver_strategy="merged",
        fairness_quota=1,
        stale_policy=StalePolicy.STRICT,
        scope=ACME,
    )
    assert names_in_metadata(retriever.invoke("word")) == ["few/best", "tenant-acme/secret"]


def test_a_retriever_works_in_a_chain(resolver: KnowledgeResolver) -> None:
    chain = retriever_of(resolver, limit=2) | RunnableLambda(names_in_metadata)
    assert chain.invoke("word") == OPEN[:2]
    assert asyncio.run(chain.ainvoke("word")) == OPEN[:2]


def test_the_host_gives_the_scope_by_its_own_context(resolver: KnowledgeResolver) -> None:
    current: ContextVar[KnowledgeAccessScope] = ContextVar("current", default=KnowledgeAccessScope.LOCAL)
    retriever = retriever_of(resolver, scope=current.get)

    async def ask_as(scope: KnowledgeAccessScope) -> list[str]:
        current.set(scope)
        [batched] = await retriever.abatch(["word"])
        found = names_in_metadata(await retriever.ainvoke("word"))
        assert (
            names_in_metadata(batched)
            == found
            == names_in_metadata(retriever.invoke("word"))
            == names_in_metadata(*retriever.batch(["word"]))
        )
        return found

    async def ask() -> list[list[str]]:
        return list(await asyncio.gather(ask_as(ACME), ask_as(KnowledgeAccessScope("other")), ask_as(ACME)))

    assert asyncio.run(ask()) == [ACMES, OPEN, ACMES]


def test_no_configuration_of_a_run_changes_the_scope(resolver: KnowledgeResolver) -> None:
    retriever = retriever_of(resolver)
    loose: Any = retriever
    assert names_in_metadata(loose.invoke("word", scope=ACME)) == OPEN
    config: Any = {"configurable": {"scope": ACME}, "metadata": {"scope": ACME, "tenant_id": "acme"}}
    assert names_in_metadata(retriever.invoke("word", config)) == OPEN
    assert names_in_metadata(retriever.with_config(config).invoke("word")) == OPEN
    # If a run could configure the scope, a request could choose whose knowledge it reads.
    assert set(retriever.config_schema().model_json_schema().get("properties", {})) == set()
    assert "scope" not in type(retriever).model_fields


def test_the_tool_of_a_retriever_takes_a_query_and_nothing_else(resolver: KnowledgeResolver) -> None:
    tool = create_retriever_tool(retriever_of(resolver, limit=2), "knowledge", "Looks things up.")
    assert set(tool.args) == {"query"}
    assert tool.invoke({"query": "word"}) == "a word in the body\n\na word in the body"
    assert tool.invoke({"query": "word", "scope": "acme", "tenant_id": "acme"}).count("word") == 2


def test_callbacks_are_called_for_answers_and_for_errors(resolver: KnowledgeResolver) -> None:
    class Listener(BaseCallbackHandler):
        def __init__(self) -> None:
            self.heard: list[Any] = []

        def on_retriever_end(self, documents: Sequence[Document], **_: Any) -> None:
            self.heard.append(names_in_metadata(documents))

        def on_retriever_error(self, error: BaseException, **_: Any) -> None:
            self.heard.append(type(error))

    def nobody() -> KnowledgeAccessScope:
        raise LookupError

    listener = Listener()
    retriever_of(resolver, limit=1).invoke("word", {"callbacks": [listener]})
    with pytest.raises(LookupError):
        retriever_of(resolver, scope=nobody).invoke("word", {"callbacks": [listener]})
    assert listener.heard == [OPEN[:1], LookupError]


def test_a_retriever_has_the_names_that_traces_show(resolver: KnowledgeResolver) -> None:
    retriever = retriever_of(resolver, name="handbook", tags=["okf"], metadata={"team": "support"})
    assert (retriever.get_name(), retriever.tags, retriever.metadata) == (
        "handbook",
        ["okf"],
        {"team": "support"},
    )
    assert retriever_of(resolver).get_name() == "OkfRetriever"


def test_a_copy_of_a_retriever_asks_the_same(resolver: KnowledgeResolver) -> None:
    retriever = retriever_of(resolver, limit=1)
    assert retriever.model_copy().invoke("word") == retriever.invoke("word")


def test_a_retriever_refuses_invalid_options(resolver: KnowledgeResolver) -> None:
    with pytest.raises(RefusedValueError, match="limit is at least 1"):
        retriever_of(resolver, limit=0)


def test_a_retriever_asks_in_sentences_for_sections_by_default() -> None:
    asked = Resolver()
    OkfRetriever(asked).invoke("word")
    asyncio.run(OkfRetriever(asked).ainvoke("word"))
    OkfRetriever(asked, scoring="weighted_terms", unit="concept").invoke("word")
    OkfRetriever(asked, scoring=None).invoke("word")
    by_default = KnowledgeQuery("word", scoring="bm25f", unit="section")
    assert asked.queries == [
        by_default,
        by_default,
        KnowledgeQuery("word", scoring="weighted_terms"),
        KnowledgeQuery("word", unit="section"),
    ]


def test_a_document_is_a_section_with_its_headings_and_lines() -> None:
    section = KnowledgeSection(("Refunds", "By card"), "## By card\n\nFive days.", 12, 14)
    asked = Resolver(
        [passage("one", "Title", "Five days.", section=section), passage("two", "Two", "A line.")]
    )
    one, two = OkfRetriever(asked).invoke("word")
    assert (one.id, one.page_content) == ("knowledge:s:one#L12-L14", "## By card\n\nFive days.")
    assert one.metadata["title"] == "Title"
    assert [one.metadata[key] for key in ("heading", "first_line", "last_line")] == [
        "Refunds > By card",
        12,
        14,
    ]
    assert (two.id, two.page_content) == ("knowledge:s:two", "Two\nA line.")


@pytest.mark.parametrize("options", [{"scoring": "best"}, {"unit": "chunk"}])
def test_a_retriever_refuses_an_unknown_scoring_or_unit(options: dict[str, Any]) -> None:
    with pytest.raises(RefusedValueError, match=f"^{next(iter(options))} is one of "):
        OkfRetriever(Resolver(), **options)
