"""Sections as values, as a part of passages, and as the command line shows them (V9)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making.providing import passage
from okf_catalog import (
    KnowledgeContext,
    KnowledgeQuery,
    KnowledgeScoring,
    KnowledgeSection,
    RefusedTypeError,
    RefusedValueError,
)
from okf_catalog.cli.answer import print_json, print_readable
from okf_catalog.cli.matches import marked, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable

SECTION = KnowledgeSection(("Refunds", "By card"), "## By card\n\nFive days.", 12, 14)


def section(**changes: Any) -> KnowledgeSection:
    fields: dict[str, Any] = {"heading": ("a",), "text": "b", "first_line": 1, "last_line": 1}
    return KnowledgeSection(**{**fields, **changes})


# Values


@pytest.mark.parametrize("heading", [("a", "b"), ["a", "b"], iter("ab"), {"a": 1, "b": 2}])
def test_a_heading_can_be_any_collection_of_texts(heading: Iterable[str]) -> None:
    assert section(heading=heading) == section(heading=("a", "b"))


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("heading", "Refunds", "heading is a sequence of str, not one str"),
        ("heading", b"Refunds", "heading is a sequence of str, not one bytes"),
        ("heading", None, "heading is a sequence of str, not one NoneType"),
        ("heading", ["a", 1], "each of heading is a str, not int"),
        ("text", None, "text is a str, not NoneType"),
        ("text", b"b", "text is a str, not bytes"),
        ("first_line", 1.0, "first_line is an int of at least 1, not float"),
        ("first_line", True, "first_line is an int of at least 1, not bool"),
        ("last_line", "1", "last_line is an int of at least 1, not str"),
        ("last_line", None, "last_line is an int of at least 1, not NoneType"),
    ],
)
def test_a_section_refuses_wrong_types(field: str, value: object, says: str) -> None:
    with pytest.raises(RefusedTypeError) as raised:
        section(**{field: value})
    assert str(raised.value) == says


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"first_line": 0}, "first_line is at least 1, not 0"),
        ({"last_line": -1}, "last_line is at least 1, not -1"),
        ({"first_line": 3, "last_line": 2}, "last_line is not before first_line, 3; it is 2"),
        ({"text": "a\ud800"}, "text holds a lone surrogate at index 1"),
        ({"heading": ["\udc80"]}, "each of heading holds a lone surrogate at index 0"),
    ],
)
def test_a_section_refuses_invalid_values(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(RefusedValueError) as raised:
        section(**changes)
    assert str(raised.value).startswith(says)


# Passages


def test_a_passage_has_the_section_it_was_made_with() -> None:
    for given in (None, SECTION, section(heading=(), last_line=2**32 - 1)):
        assert passage("a", section=given).section == given
    assert passage("a").section is None
    assert passage("a", section=SECTION) != passage("a", section=section()) != passage("a")
    assert type(passage("a", section=SECTION).section) is KnowledgeSection


@pytest.mark.parametrize("wrong", ["text", ("a",), {"heading": ()}, 1, KnowledgeSection])
def test_a_passage_refuses_what_is_no_section(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"^section is a KnowledgeSection or None, not "):
        passage("a", section=wrong)


def test_a_passage_refuses_a_line_that_no_file_has() -> None:
    with pytest.raises(ValueError, match=r"^a line of section is at most 4294967295$"):
        passage("a", section=section(last_line=2**32))


# The command line


def answered(query: KnowledgeQuery, *sections: KnowledgeSection | None) -> KnowledgeContext:
    passages = (passage("orders", "Orders", "Five days.", section=one) for one in sections)
    return KnowledgeContext(query, 1, tuple(passages), ())


def test_search_shows_the_headings_and_lines_of_a_section(capsys: pytest.CaptureFixture[str]) -> None:
    one_line, bare = section(first_line=7, last_line=7), section(heading=(), last_line=3)
    print_readable(answered(KnowledgeQuery("days"), SECTION, one_line, bare, None), limit=None)
    assert capsys.readouterr().out.splitlines() == [
        "  1 Orders",
        "    s: orders, score 1",
        "    Refunds > By card, lines 12 to 14",
        "    Five **days**.",
        "",
        "  2 Orders",
        "    s: orders, score 1",
        "    a, line 7",
        "    Five **days**.",
        "",
        "  3 Orders",
        "    s: orders, score 1",
        "    lines 1 to 3",
        "    Five **days**.",
        "",
        "  4 Orders",
        "    s: orders, score 1",
        "    Five **days**.",
        "",
    ]


def test_headings_are_shown_harmlessly(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = section(heading=("\x1b]0;owned\x07", "[bold]a[/bold]\n\u202eb"))
    print_readable(answered(KnowledgeQuery("days"), hostile), limit=None)
    shown = capsys.readouterr().out
    assert r"\x1b]0;owned\x07 > [bold]a[/bold]\x0a\u202eb, line 1" in shown
    assert not set("\x1b\x07\u202e") & set(shown)


def test_json_holds_the_whole_section(capsys: pytest.CaptureFixture[str]) -> None:
    query = KnowledgeQuery("days", scoring="bm25f", unit="section")
    print_json(answered(query, SECTION, None), stale="use", limit=None)
    shown = json.loads(capsys.readouterr().out)
    assert (shown["query"]["scoring"], shown["query"]["unit"]) == ("bm25f", "section")
    assert [row["section"] for row in shown["passages"]] == [
        {
            "heading": ["Refunds", "By card"],
            "text": "## By card\n\nFive days.",
            "first_line": 12,
            "last_line": 14,
        },
        None,
    ]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("Which hotels?", "two HOTELS", "two **HOTELS**"),
        ("How do I pay a bill", "I paid a bill to do", "I paid a **bill** to **do**"),
        ("c++ templates", "C++ and c", "**C++** and c"),
        ('"mlflow.trace"', "mlflow trace, mlflow.trace", "**mlflow** **trace**, **mlflow.trace**"),
        ("iceberg_compat", "iceberg_compat", "**iceberg_compat**"),
        ("如何恢复集群？", "恢复一个集群", "**恢复**一个**集群**"),
        ("東", "東京", "**東**京"),
        ("हिन्दी", "हिन्दी में", "**हिन्दी** में"),
        ("a", "a cat", "**a** c**a**t"),
        ("???", "what???", "what**???**"),
        ("gro\u0308ße", "die Größe", "die **Größe**"),
    ],
)
def test_bm25f_marks_words_and_not_single_letters(query: str, text: str, expected: str) -> None:
    assert marked(text, terms_of(query, KnowledgeScoring.BM25F), style=None).plain == expected


def test_an_answer_is_marked_by_the_terms_of_its_scoring(capsys: pytest.CaptureFixture[str]) -> None:
    for scoring, snippet in (
        (None, "Five days."),
        ("weighted_terms", "Five days."),
        ("bm25f", "Five **days**."),
    ):
        print_readable(answered(KnowledgeQuery("days?", scoring=scoring), None), limit=None)
        assert f"    {snippet}\n" in capsys.readouterr().out
