"""The LlamaIndex retriever, in LlamaIndex."""

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

pytest.importorskip("llama_index.core")

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, QueryBundle, TextNode
from llama_index.core.tools import RetrieverTool
from okf_catalog.adapters.llama_index import OkfRetriever

if TYPE_CHECKING:
    from okf_catalog import KnowledgeResolver

pytestmark = pytest.mark.usefixtures("offline")


def retriever_of(resolver: KnowledgeResolver, **options: Any) -> OkfRetriever:
    """A retriever of whole concepts, ranked by the fields that have a term (K3)."""
    whole: dict[str, Any] = {"unit": "concept", "scoring": "weighted_terms"}
    return OkfRetriever(resolver, **whole | options)


def test_nodes_carry_the_fields_of_their_passage(resolver: KnowledgeResolver) -> None:
    retriever = retriever_of(resolver, limit=1, resolver_strategy="merged")
    [found] = retriever.retrieve("word")
    assert [found] == asyncio.run(retriever.aretrieve("word")) == retriever.retrieve(QueryBundle("word"))
    assert isinstance(found.node, TextNode)
    assert (found.node_id, found.text, found.score) == ("knowledge:few:best", "word\nnothing else", 3.0)
    assert found.metadata == {
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
    }


def test_a_model_reads_the_origin_and_the_trust_of_a_node(resolver: KnowledgeResolver) -> None:
    read = {
        node.node_id: node.get_content(MetadataMode.LLM)
        for node in retriever_of(resolver, resolver_strategy="merged").retrieve("word")
    }
    where = "source_id: few\nconcept_id: {}\ntrust_tier: unverified\nstatus: stable\n"
    assert read["knowledge:few:best"] == where.format("best") + "\nword\nnothing else"
    assert (
        read["knowledge:few:old"] == where.format("old") + "stale_after: 2020-01-01\nis_stale: True\n\nword"
    )


def test_an_embedding_sees_the_text_of_a_node_without_metadata(resolver: KnowledgeResolver) -> None:
    [node] = retriever_of(resolver, limit=1).retrieve("word")
    assert node.get_content(MetadataMode.EMBED) == "a word in the body"


def test_every_way_to_ask_a_retriever_finds_the_same(resolver: KnowledgeResolver) -> None:
    retriever = retriever_of(resolver)
    for text, expected in (("word", OPEN), ("", []), ("unheard", [])):
        assert names_in_metadata(retriever.retrieve(text)) == expected
        assert names_in_metadata(asyncio.run(retriever.aretrieve(text))) == expected


def test_no_two_concepts_share_an_id(resolver: KnowledgeResolver) -> None:
    # LlamaIndex drops nodes whose id it has seen.
    found = retriever_of(resolver, limit=None, scope=ACME).retrieve("word")
    assert len({node.node_id for node in found}) == len(found) == 6


def test_a_retriever_asks_with_the_options_of_the_host(resolver: KnowledgeResolver) -> None:
    retriever = OkfRetriever(
        resolver,
        limit=2,
        resolver_strategy="merged",
        fairness_quota=1,
        stale_policy=StalePolicy.STRICT,
        scope=ACME,
    )
    assert names_in_metadata(retriever.retrieve("word")) == ["few/best", "tenant-acme/secret"]


def test_the_host_gives_the_scope_by_its_own_context(resolver: KnowledgeResolver) -> None:
    current: ContextVar[KnowledgeAccessScope] = ContextVar("current", default=KnowledgeAccessScope.LOCAL)
    retriever = retriever_of(resolver, scope=current.get)

    async def ask_as(scope: KnowledgeAccessScope) -> list[str]:
        current.set(scope)
        found = names_in_metadata(await retriever.aretrieve("word"))
        assert found == names_in_metadata(retriever.retrieve("word"))
        return found

    async def ask() -> list[list[str]]:
        return list(await asyncio.gather(ask_as(ACME), ask_as(KnowledgeAccessScope("other")), ask_as(ACME)))

    assert asyncio.run(ask()) == [ACMES, OPEN, ACMES]


def test_a_query_engine_answers_from_the_retriever(resolver: KnowledgeResolver) -> None:
    engine = RetrieverQueryEngine.from_args(retriever_of(resolver, limit=2), llm=MockLLM())
    response = engine.query("word")
    assert names_in_metadata(response.source_nodes) == OPEN[:2]
    # The model that answers here repeats what it was given to read.
    assert str(response).count("a word in the body") == 2


def test_the_tool_of_a_retriever_takes_an_input_and_nothing_else(resolver: KnowledgeResolver) -> None:
    tool = RetrieverTool.from_defaults(retriever_of(resolver), description="Looks things up.")
    schema: Any = tool.metadata.fn_schema
    assert set(schema.model_json_schema()["properties"]) == {"input"}
    output = tool.call("word")
    assert names_in_metadata(output.raw_output) == OPEN


def test_a_retriever_refuses_invalid_options(resolver: KnowledgeResolver) -> None:
    no_resolver: Any = None
    with pytest.raises(RefusedValueError, match="limit is at least 1"):
        retriever_of(resolver, limit=0)
    with pytest.raises(TypeError, match="resolver is a KnowledgeResolver, not NoneType"):
        OkfRetriever(no_resolver)


def test_a_retriever_asks_in_sentences_for_sections_by_default() -> None:
    asked = Resolver()
    OkfRetriever(asked).retrieve("word")
    asyncio.run(OkfRetriever(asked).aretrieve("word"))
    OkfRetriever(asked, scoring="weighted_terms", unit="concept").retrieve("word")
    OkfRetriever(asked, scoring=None).retrieve("word")
    by_default = KnowledgeQuery("word", scoring="bm25f", unit="section")
    assert asked.queries == [
        by_default,
        by_default,
        KnowledgeQuery("word", scoring="weighted_terms"),
        KnowledgeQuery("word", unit="section"),
    ]


def test_a_model_reads_the_title_and_the_headings_of_a_section() -> None:
    section = KnowledgeSection(("Refunds", "By card"), "Five days.", 12, 14)
    bare = KnowledgeSection((), "Nothing above.", 1, 2)
    asked = Resolver([passage("one", "Title", section=section), passage("two", section=bare)])
    one, two = OkfRetriever(asked).retrieve("word")
    assert (one.node_id, one.text) == ("knowledge:s:one#L12-L14", "Five days.")
    assert one.get_content(MetadataMode.LLM) == (
        "source_id: s\nconcept_id: one\ntitle: Title\ntrust_tier: unverified\nstatus: stable\n"
        "heading: Refunds > By card\n\nFive days."
    )
    assert two.get_content(MetadataMode.LLM) == (
        "source_id: s\nconcept_id: two\ntrust_tier: unverified\nstatus: stable\n\nNothing above."
    )
    assert one.get_content(MetadataMode.EMBED) == "Five days."


def test_every_section_of_a_concept_is_a_node_of_its_own() -> None:
    # LlamaIndex drops nodes whose id it has seen.
    pieces = [KnowledgeSection((), f"piece {number}", 1, 1) for number in range(3)]
    found = OkfRetriever(Resolver([passage("one", section=piece) for piece in pieces])).retrieve("word")
    assert [node.text for node in found] == ["piece 0", "piece 1", "piece 2"]
