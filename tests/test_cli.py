"""What commands print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.commands import GUIDE, NOTES, complaint, run
from okf_catalog import (
    CatalogReport,
    FileKnowledgeCatalog,
    KnowledgeCatalogSource,
    KnowledgePassage,
    SourceProblem,
    SourceReport,
    open_knowledge,
)
from okf_catalog.cli.matches import Span, clip, marked, spans, terms_of

if TYPE_CHECKING:
    from pathlib import Path


PASSAGE_FIELDS = [name for name in dir(KnowledgePassage) if not name.startswith("_")]


def answer(catalog: Path, *arguments: str) -> Any:
    return json.loads(run("search", *arguments, "--catalog", catalog, "--json"))


def found(catalog: Path, *arguments: str) -> list[tuple[str, str]]:
    passages = answer(catalog, *arguments)["passages"]
    return [(passage["source_id"], passage["concept_id"]) for passage in passages]


# Search


def test_search_shows_rank_source_concept_score_title_and_snippet(sales: Path) -> None:
    shown = run("search", "order draft", "--catalog", sales)
    assert shown.splitlines() == [
        "  1 **Order**s guide",
        "    sales: orders/guide, score 7, stale since 2024-05-01, human reviewed",
        "    Every **order** starts as a **draft**.",
        "",
        "  2 notes",
        "    archive: notes, score 1, draft",
        "    Late **order**s are chased on Mondays.",
        "",
    ]


def test_search_shows_a_snippet_instead_of_an_excerpt_that_says_nothing(empty_bundle: Path) -> None:
    late, early = "stale_after: 9999-01-01", "stale_after: 2000-01-01"
    files = {
        "bundle/a.md": f"---\ntitle: Word\n{late}\n---\n# Word\n\na word\n",
        "bundle/b.md": f"---\ntitle: Word\ndescription: said\n{early}\n---\n",
        "bundle/c.md": "x" * 5000 + " word " + "y" * 5000,
    }
    write_tree(empty_bundle.parent, files)
    lines = run("search", "word", "--catalog", empty_bundle).splitlines()
    assert lines[1].endswith("score 4, stale after 9999-01-01")
    assert lines[2] == "    a **word**"
    assert lines[5].endswith("score 3, stale since 2000-01-01")
    assert lines[6] == "    said"
    assert lines[10].strip().startswith("…")
    assert " **word** y" in lines[10]
    assert len(lines[10].strip()) == 320 + len("****")
    rows = answer(empty_bundle, "word")["passages"]
    assert [(row["snippet"], row["is_stale"]) for row in rows[:2]] == [("a word", False), ("said", True)]


def test_a_terminal_gets_colours_instead_of_asterisks(sales: Path) -> None:
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"}
    shown = run("search", "draft", "--catalog", sales, env=terminal)
    assert "starts as a \x1b[1;33mdraft\x1b[0m." in shown
    assert "**" not in shown


def test_limit_keeps_the_first_passages_and_says_so(sales: Path) -> None:
    shown = run("search", "order", "--catalog", sales, "--limit", "1")
    assert "1 of 2 passages." in shown
    assert "notes" not in shown
    assert found(sales, "order", "--limit", "1") == [("sales", "orders/guide")]
    assert len(found(sales, "order", "--limit", "9" * 30)) == 2


def test_no_match_is_a_diagnostic_and_no_failure(sales: Path) -> None:
    assert run("search", "zebra", "--catalog", sales).startswith("[NO_MATCHES] ")
    assert [diagnostic["code"] for diagnostic in answer(sales, "zebra")["diagnostics"]] == ["NO_MATCHES"]


def test_permit_restricts_the_search_to_the_named_sources(sales: Path) -> None:
    assert len(found(sales, "order")) == 2
    assert found(sales, "order", "--permit", "archive") == [("archive", "notes")]
    assert len(found(sales, "order", "--permit", "archive", "--permit", "sales")) == 2
    nobody = answer(sales, "order", "--permit", "nobody")
    assert [diagnostic["code"] for diagnostic in nobody["diagnostics"]] == ["NO_ENABLED_SOURCES"]


def test_stale_takes_use_strict_or_a_number_of_days(sales: Path) -> None:
    assert found(sales, "guide") == found(sales, "guide", "--stale", "use") == [("sales", "orders/guide")]
    assert found(sales, "guide", "--stale", "strict") == found(sales, "guide", "--stale", "0") == []
    assert found(sales, "guide", "--stale", "200000") == [("sales", "orders/guide")]


def test_tag_keeps_the_concepts_that_have_it(sales: Path) -> None:
    assert found(sales, "order", "--tag", "SALES") == [("sales", "orders/guide")]


def test_strategy_and_quota_reach_the_resolver(tmp_path: Path) -> None:
    weak, strong = "---\ntitle: x\n---\nword\n", "---\ntitle: word\n---\nword\n"
    write_tree(tmp_path, {"a/1.md": weak, "a/2.md": weak, "b/1.md": strong, "b/2.md": strong})
    catalog = write_manifest(tmp_path, [{"id": "a", "path": "a", "priority": 1}, {"id": "b", "path": "b"}])

    def order(*options: str) -> str:
        return "".join(source for source, _ in found(catalog, "word", *options))

    assert order() == order("--strategy", "priority_weighted") == "aabb"
    assert order("--strategy", "merged") == "bbaa"
    assert order("--strategy", "merged", "--quota", "1") == "baba"
    assert order("--strategy", "merged", "--quota", "9" * 30) == "bbaa"


def test_a_question_that_looks_like_an_option_follows_two_dashes(sales: Path) -> None:
    shown = run("search", "--catalog", sales, "--json", "--", "--draft")
    assert json.loads(shown)["query"]["text"] == "--draft"


def test_scoring_and_sections_reach_the_resolver(sales: Path, asked: list[tuple[str, str]]) -> None:
    for options, scoring, unit in (
        ([], "weighted_terms", "concept"),
        (["--scoring", "bm25f"], "bm25f", "concept"),
        (["--scoring", "weighted_terms", "--sections"], "weighted_terms", "section"),
        (["--sections", "--scoring", "bm25f"], "bm25f", "section"),
    ):
        asked.clear()
        shown = answer(sales, "order", *options)
        assert asked == [(scoring, unit)]
        assert (shown["query"]["scoring"], shown["query"]["unit"]) == (scoring, unit)
        assert run("search", "order", *options, "--catalog", sales).count("score ") == len(shown["passages"])


@pytest.mark.parametrize("word", ["bm25", "BM25F", "", "section"])
def test_an_unknown_scoring_is_wrong_usage(sales: Path, word: str) -> None:
    said = complaint("search", "order", "--catalog", sales, "--scoring", word, code=2)
    assert "'weighted_terms', 'bm25f'" in said
    assert said.count("\n") == 1


# JSON


def test_search_json_holds_the_whole_answer(sales: Path) -> None:
    document = answer(sales, "order draft", "--stale", "9", "--tag", " ")
    assert document["query"] == {
        "text": "order draft",
        "tag": " ",
        "strategy": "grouped_by_source",
        "quota": None,
        "scoring": "weighted_terms",
        "unit": "concept",
        "stale": "9",
        "permitted_source_ids": None,
    }
    assert document["generation"] == 1
    assert document["diagnostics"] == []

    with open_knowledge(sales, watch_for_changes=False) as knowledge:
        passages = knowledge.search("order draft").passages
    whole = answer(sales, "order draft")["passages"]
    assert [sorted(row) for row in whole] == [sorted(PASSAGE_FIELDS)] * 2
    for row, passage in zip(whole, passages, strict=True):
        expected = {name: getattr(passage, name) for name in PASSAGE_FIELDS}
        expected |= {"trust_tier": passage.trust_tier.name.lower(), "status": passage.status.value}
        assert row == expected


def test_search_json_is_valid_and_without_colours_for_any_content(empty_bundle: Path) -> None:
    body = "wörd \x1b[31m \u009b \u202e 😀\n"
    write_tree(empty_bundle.parent, {"bundle/ü.md": body})
    shown = run("search", "wörd", "--catalog", empty_bundle, "--json", env={"FORCE_COLOR": "1"})
    assert shown.isascii()
    assert "\x1b" not in shown
    assert json.loads(shown)["passages"][0]["snippet"] == body.strip()


def test_search_shows_no_absolute_path(sales: Path) -> None:
    directory = sales.parent
    for arguments in (("order",), ("order", "--json"), ("zebra", "--json")):
        assert str(directory) not in run("search", *arguments, "--catalog", sales)
    assert str(directory) not in run("check", "--catalog", sales)


# Content that would act


def test_markup_and_emoji_codes_are_shown_as_written(empty_bundle: Path) -> None:
    text = "[bold]word[/bold] [/] [link=x]:smile: $'x'"
    write_tree(
        empty_bundle.parent, {"bundle/a.md": f"---\ntitle: '{text.replace(chr(39), '')}'\n---\n{text}\n"}
    )
    lines = run("search", "word", "--catalog", empty_bundle).splitlines()
    assert lines[0] == "  1 [bold]**word**[/bold] [/] [link=x]:smile: $x"
    assert lines[2] == "    [bold]**word**[/bold] [/] [link=x]:smile: $'x'"


@pytest.mark.parametrize("terminal", [{}, {"FORCE_COLOR": "1", "TERM": "xterm"}])
def test_control_characters_never_reach_the_terminal(empty_bundle: Path, terminal: dict[str, str]) -> None:
    files = {
        "bundle/\x1b]0;name\x07.md": '---\ntitle: "word \\e[2J\\n\\x9b1m"\nstale_after: "\\a"\n---\n',
        "bundle/b.md": "word \x1b]0;owned\x07 \x08\x7f\u009b31m \u202eevil\u2066\ttab\n",
    }
    write_tree(empty_bundle.parent, files)
    shown = run("search", "word", "--catalog", empty_bundle, env=terminal)
    for character in "\x07\x08\x7f\x9b\u202e\u2066":
        assert character not in shown
    for sequence in ("\x1b]", "\x1b[2J"):
        assert sequence not in shown
    for escaped in (
        r"\x1b]0;name\x07",
        r"\x1b[2J\x0a\x9b1m",
        r"\x1b]0;owned\x07 \x08\x7f\x9b31m",
        r"\u202eevil\u2066 tab",
    ):
        assert escaped in shown


def test_problem_files_with_hostile_names_are_shown_harmlessly(empty_bundle: Path) -> None:
    write_tree(empty_bundle.parent, {"bundle/\x1b[2J\n.md": b"\0"})
    shown = run("check", "--catalog", empty_bundle)
    assert "\x1b" not in shown
    assert r"bundle: \x1b[2J\x0a.md: " in shown


def test_remarks_on_hostile_names_are_shown_harmlessly(empty_bundle: Path) -> None:
    write_tree(empty_bundle.parent, {"bundle/\x1b[2J\n\u202e.MD": "word"})
    shown = run("check", "--catalog", empty_bundle)
    assert r"bundle: \x1b[2J\x0a\u202e.MD: its name ends in .MD" in shown
    shown += run("check", "--catalog", empty_bundle, "--json")
    assert shown.isascii()
    assert "\x1b" not in shown


# Marks


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("ORDER", "my orders", "my **order**s"),
        ("σ", "ΣΊΣΥΦΟΣ σίσυφος", "**Σ**Ί**Σ**ΥΦΟ**Σ** **σ**ί**σ**υφο**ς**"),
        ("ss", "Straße STRASSE", "Straße STRA**SS**E"),
        ("SS", "Straße", "Straße"),
        ("k", "300 \u212a, 3 k", "300 \u212a, 3 **k**"),
        ("i", "ı i I İ", "ı **i** **I** İ"),
        ("s", "ſ s S", "ſ **s** **S**"),
        ("\u1f80", "\u1f88 \u1f00\u03b9", "**\u1f88** \u1f00\u03b9"),
        ("ana", "banana", "b**anana**"),
        ("ab bc", "abcd", "**abc**d"),
        ("ab cd", "abcd", "**abcd**"),
        ("a\x1cb", "a b a\x1cb", r"a b **a\x1cb**"),
        ("a\u3000b", "ab", "**ab**"),
        ("é", "e\u0301 é", "e\u0301 **é**"),
        ("[x]", "[x] x", "**[x]** x"),
        (".*", "a.* b", "a**.*** b"),
    ],
)
def test_highlights_fold_case_like_the_search(query: str, text: str, expected: str) -> None:
    assert marked(text, terms_of(query), style=None).plain == expected


def test_highlights_are_positions_in_the_original_text() -> None:
    text = "ŉ ΐ ﬁ ß İ order"
    assert spans(text, terms_of("ORDER")) == [Span(10, 15)]
    assert text[10:15] == "order"


def test_highlights_are_where_the_engine_matches(empty_bundle: Path) -> None:
    """The engine is asked about each pair of characters: highlighting folds case as matching does."""
    characters = "aAkKsS\u017fiI\u0131\u0130ß\u1e9eσςΣéÉ\u212aǆǅǄŉᾀᾈﬁﬀａＡ\u0345ΙιÅ\u212bµμΜ"
    files = {f"bundle/{position}.md": character for position, character in enumerate(characters)}
    write_tree(empty_bundle.parent, files)
    with open_knowledge(empty_bundle, watch_for_changes=False) as knowledge:
        for query in characters:
            matched = {int(passage.concept_id) for passage in knowledge.search(query).passages}
            marks = {at for at, text in enumerate(characters) if spans(text, terms_of(query))}
            assert matched == marks, query


def test_long_texts_are_cut_around_the_first_match() -> None:
    text = "x" * 1000 + " needle " + "y" * 1000
    cut = clip(text, terms_of("NEEDLE"), length=100)
    assert "needle" in cut
    assert cut.startswith("...x")
    assert cut.endswith("y...")
    assert len(cut) == 106
    assert clip(text, terms_of("zebra"), length=10) == "x" * 10 + "..."
    assert clip("short", terms_of("zebra"), length=10) == "short"


# Check


def test_check_shows_every_source_and_everything_left_out(tmp_path: Path) -> None:
    write_tree(tmp_path, {"docs/a.md": GUIDE, "docs/deep/b.md": NOTES, "docs/bad.md": b"\0", "off/c.md": ""})
    catalog = write_manifest(
        tmp_path,
        [
            {"id": "docs", "path": "docs", "priority": -3},
            {"id": "again", "path": "./docs", "priority": -4},
            {"id": "off", "path": "off", "enabled": False},
            {"id": "memory", "path": "off", "role": "memory", "tier": "user"},
        ],
    )
    shown = run("check", "--catalog", catalog)
    rows = [line.split() for line in shown.splitlines()]
    assert rows[0] == ["source", "role", "priority", "enabled", "concepts", "path"]
    assert ["docs", "knowledge", "-3", "yes", "2", "docs"] in rows
    assert ["again", "knowledge", "-4", "yes", "2", "./docs"] in rows
    assert ["off", "knowledge", "0", "no"] in [row[:4] for row in rows]
    assert ["memory", "memory", "(user)", "0", "yes"] in [row[:5] for row in rows]
    assert "\ndocs: bad.md: " in shown
    assert "\nagain: is the directory of docs" in shown


def test_check_exits_with_1_for_what_is_left_out_only_if_strict(empty_bundle: Path) -> None:
    write_tree(empty_bundle.parent, {"bundle/good.md": NOTES})
    assert "1 source, 1 concept, 0 problems." in run("check", "--catalog", empty_bundle, "--strict")
    write_tree(empty_bundle.parent, {"bundle/bad.md": b"\0"})
    assert "1 source, 1 concept, 1 problem." in run("check", "--catalog", empty_bundle)
    assert "1 problem." in run("check", "--catalog", empty_bundle, "--strict", code=1)


def test_check_shows_a_source_that_cannot_be_read(sales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Who runs as root can list every directory, so the failure is made up.
    def report(opened: FileKnowledgeCatalog) -> CatalogReport:
        source: KnowledgeCatalogSource = opened.current.sources[0]
        failed = SourceReport(
            source=source,
            directory=None,
            concepts=0,
            problems=(SourceProblem(path="a.md", reason="odd"),),
            duplicate_of=None,
            failure="permission denied",
        )
        return CatalogReport(generation=1, sources=(failed,))

    monkeypatch.setattr(FileKnowledgeCatalog, "report", report)
    shown = run("check", "--catalog", sales)
    assert "archive: cannot be read: permission denied" in shown
    assert "1 failed source." in shown
    run("check", "--catalog", sales, "--strict", code=1)
