"""The retrieval that the adapters of all frameworks share, without a framework."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from making.asking import names
from making.bundles import DESCRIBED, TITLED
from making.catalogs import make_catalog
from making.providing import Resolver, later, passage
from making.visibility import ACME, ACMES, LOCAL, OPEN
from okf_catalog import (
    KnowledgeAccessScope,
    KnowledgeDiagnostic,
    KnowledgeQuery,
    KnowledgeResolver,
    KnowledgeResolverRouter,
    KnowledgeScoring,
    KnowledgeSection,
    KnowledgeUnit,
    RefusedTypeError,
    RefusedValueError,
    StalePolicy,
)
from okf_catalog.adapters.retrieval import Retrieval, id_of, metadata_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def retrieval(resolver: KnowledgeResolver, **options: Any) -> Retrieval:
    settled: dict[str, Any] = {
        "scope": LOCAL,
        "limit": None,
        "resolver_strategy": None,
        "fairness_quota": None,
        "stale_policy": StalePolicy.USE,
        "scoring": None,
        "unit": "concept",
        "on_diagnostics": None,
    }
    return Retrieval(resolver, **settled | options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, OPEN),
        ({"limit": 2}, ["many/a", "many/b"]),
        ({"limit": 9}, OPEN),
        ({"resolver_strategy": "merged"}, ["few/best", "few/old", "many/a", "many/b", "many/c"]),
        (
            {"resolver_strategy": "merged", "fairness_quota": 1},
            ["few/best", "many/a", "few/old", "many/b", "many/c"],
        ),
        (
            {
                "resolver_strategy": "merged",
                "fairness_quota": 1,
                "limit": 2,
                "stale_policy": StalePolicy.STRICT,
            },
            ["few/best", "many/a"],
        ),
        ({"stale_policy": StalePolicy.STRICT}, ["many/a", "many/b", "many/c", "few/best"]),
        ({"scope": ACME, "limit": 9}, ACMES),
        ({"scope": lambda: ACME, "limit": 9}, ACMES),
    ],
)
def test_a_retriever_searches_with_the_options_of_the_host(
    resolver: KnowledgeResolver, options: dict[str, Any], expected: list[str]
) -> None:
    asked = retrieval(resolver, **options)
    assert names(asked.passages("word")) == expected
    assert names(asyncio.run(asked.passages_async("word"))) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\t \u2003"])
def test_a_blank_question_finds_nothing_and_asks_for_no_scope(resolver: KnowledgeResolver, text: str) -> None:
    def scope() -> KnowledgeAccessScope:
        raise AssertionError

    asked = retrieval(resolver, scope=scope)
    assert list(asked.passages(text)) == []
    assert list(asyncio.run(asked.passages_async(text))) == []


def test_the_scope_function_is_called_once_per_question_in_the_callers_thread(
    resolver: KnowledgeResolver,
) -> None:
    scopes = iter([ACME, LOCAL, ACME, LOCAL])
    asked = retrieval(resolver, scope=lambda: next(scopes))
    seen = ["tenant-acme/secret" in names(asked.passages("word")) for _ in range(2)]
    seen += ["tenant-acme/secret" in names(asyncio.run(asked.passages_async("word"))) for _ in range(2)]
    assert seen == [True, False, True, False]
    assert next(scopes, None) is None


def test_an_error_of_the_scope_function_passes_to_the_caller(resolver: KnowledgeResolver) -> None:
    def scope() -> KnowledgeAccessScope:
        raise LookupError("nobody is signed in")

    asked = retrieval(resolver, scope=scope)
    with pytest.raises(LookupError, match="nobody is signed in"):
        asked.passages("word")
    with pytest.raises(LookupError, match="nobody is signed in"):
        asyncio.run(asked.passages_async("word"))


@pytest.mark.parametrize("scope", [lambda: None, lambda: "acme", later])
def test_a_scope_function_must_return_a_scope(resolver: KnowledgeResolver, scope: Callable[[], Any]) -> None:
    with pytest.raises(RefusedTypeError, match="scope answers with a KnowledgeAccessScope, not"):
        retrieval(resolver, scope=scope).passages("word")


@pytest.mark.parametrize("question", [None, {"input": "word"}, b"word"])
def test_anything_but_a_question_is_refused(resolver: KnowledgeResolver, question: Any) -> None:
    with pytest.raises(RefusedTypeError, match="the question is a str, not"):
        retrieval(resolver).passages(question)
    with pytest.raises(RefusedTypeError, match="the question is a str, not"):
        asyncio.run(retrieval(resolver).passages_async(question))


def test_a_lone_surrogate_in_a_question_is_replaced(resolver: KnowledgeResolver) -> None:
    assert names(retrieval(resolver).passages("\ud800 word")) == OPEN
    assert names(asyncio.run(retrieval(resolver).passages_async("\ud800 word"))) == OPEN


@pytest.mark.parametrize(
    ("options", "error", "field"),
    [
        ({"scope": None}, RefusedTypeError, "scope"),
        ({"scope": "acme"}, RefusedTypeError, "scope"),
        ({"limit": 0}, RefusedValueError, "limit"),
        ({"limit": True}, RefusedTypeError, "limit"),
        ({"resolver_strategy": "best"}, RefusedValueError, "resolver_strategy"),
        ({"fairness_quota": 0}, RefusedValueError, "fairness_quota"),
        ({"stale_policy": None}, RefusedTypeError, "stale_policy"),
        ({"scoring": "best"}, RefusedValueError, "scoring"),
        ({"scoring": 1}, RefusedTypeError, "scoring"),
        ({"unit": "chunk"}, RefusedValueError, "unit"),
        ({"unit": None}, RefusedTypeError, "unit"),
        ({"on_diagnostics": []}, RefusedTypeError, "on_diagnostics"),
    ],
)
def test_a_retriever_refuses_invalid_options_at_construction(
    resolver: KnowledgeResolver, options: dict[str, Any], error: type[Exception], field: str
) -> None:
    with pytest.raises(error, match=f"^{field} is "):
        retrieval(resolver, **options)


def test_a_retriever_refuses_anything_but_a_resolver(tmp_path: Path) -> None:
    not_one: Any = tmp_path
    with pytest.raises(RefusedTypeError, match=r"^resolver is a KnowledgeResolver, not PosixPath"):
        retrieval(not_one)


def test_the_host_gets_diagnostics_by_its_callback(tmp_path: Path, resolver: KnowledgeResolver) -> None:
    heard: list[tuple[KnowledgeDiagnostic, ...]] = []
    asked = retrieval(resolver, on_diagnostics=heard.append)
    assert names(asked.passages("word")) == OPEN
    assert heard == []
    (tmp_path / "few").rename(tmp_path / "gone")
    assert names(asked.passages("word")) == OPEN[:3]
    assert names(asyncio.run(asked.passages_async("word"))) == OPEN[:3]
    assert [[(one.code.value, one.source_id) for one in told] for told in heard] == [
        [("SOURCE_UNAVAILABLE", "few")]
    ] * 2


def test_the_text_for_a_model_is_never_empty(tmp_path: Path) -> None:
    files = {
        "all.md": "---\ntitle: The title\ndescription: The word.\n---\n\n  a word here  \n",
        "described.md": DESCRIBED,
        "tagged.md": "---\ntags: [word]\n---\n",
        "titled.md": TITLED,
    }
    with make_catalog(tmp_path, {"only": {"files": files}}) as catalog:
        passages = KnowledgeResolverRouter(catalog).search("word").passages
        assert {passage.concept_id: text_of(passage) for passage in passages} == {
            "all": "The title\na word here",
            "described": "word",
            "tagged": "tagged",
            "titled": "word\nnothing else",
        }


def test_metadata_holds_every_field_as_plain_values(tmp_path: Path) -> None:
    lines = (
        "type: Policy",
        "title: T",
        "status: draft",
        "stale_after: 2031-01-01",
        "verified: {by: human:kim}",
    )
    text = "\n".join(("---", *lines, "---", "word"))
    with make_catalog(tmp_path, {"only": {"files": {"sub/one.md": text}}}) as catalog:
        [passage] = KnowledgeResolverRouter(catalog).search("word").passages
    assert id_of(passage) == "knowledge:only:sub/one"
    assert metadata_of(passage) == {
        "source_id": "only",
        "concept_id": "sub/one",
        "title": "T",
        "score": 1,
        "bundle_relative_path": "sub/one.md",
        "concept_type": "Policy",
        "trust_tier": "human_reviewed",
        "status": "draft",
        "stale_after": "2031-01-01",
        "is_stale": False,
        "heading": None,
        "first_line": None,
        "last_line": None,
    }
    assert {type(value) for value in metadata_of(passage).values()} == {str, int, bool, type(None)}


# Scoring and sections


@pytest.mark.parametrize("scoring", [None, *KnowledgeScoring])
@pytest.mark.parametrize("unit", KnowledgeUnit)
def test_a_retriever_asks_with_its_scoring_and_unit(
    scoring: KnowledgeScoring | None, unit: KnowledgeUnit
) -> None:
    asked = Resolver()
    for options in (
        {"scoring": scoring, "unit": unit},
        {"scoring": scoring and scoring.value, "unit": unit.value},
    ):
        retrieval(asked, **options).passages("word")
        asyncio.run(retrieval(asked, **options).passages_async("word"))
    assert asked.queries == [KnowledgeQuery("word", scoring=scoring, unit=unit)] * 4


SECTION = KnowledgeSection(("Refunds", "By card"), "## By card\n\nFive days.\n", 12, 14)


def test_the_text_of_a_section_is_what_it_says() -> None:
    found = passage("sub/one", "Title", "Five days.", section=SECTION)
    assert text_of(found) == SECTION.text
    blank = KnowledgeSection((), " \n", 1, 1)
    assert text_of(passage("one", "Title", "A line.", section=blank)) == "Title\nA line."


def test_metadata_says_where_a_section_is() -> None:
    found = metadata_of(passage("sub/one", "Title", section=SECTION))
    assert (found["heading"], found["first_line"], found["last_line"]) == ("Refunds > By card", 12, 14)
    above = metadata_of(passage("one", section=KnowledgeSection((), "text", 1, 1)))
    assert (above["heading"], above["first_line"], above["last_line"]) == ("", 1, 1)
    assert above.keys() == found.keys() == metadata_of(passage("one")).keys()


def test_the_sections_of_a_concept_have_different_ids() -> None:
    long_line = [KnowledgeSection((), text, 3, 3) for text in ("the beginning ", "the end é")]
    sections = [
        None,
        SECTION,
        KnowledgeSection((), "a", 1, 12),
        KnowledgeSection((), "a", 12, 13),
        *long_line,
    ]
    ids = [id_of(passage("one", section=section)) for section in sections]
    assert len(set(ids)) == len(ids)
    assert ids[:2] == ["knowledge:s:one", "knowledge:s:one#L12-L14"]
    assert ids[-1].startswith("knowledge:s:one#L3-")
    assert ids == [id_of(passage("one", section=section)) for section in sections]
