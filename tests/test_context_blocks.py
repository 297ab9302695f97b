"""What a block shows of a concept: title, snippet or body, and labels for drafts and stale concepts (X4)."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.bundles import write_tree
from making.catalogs import make_catalog, write_manifest
from making.frame import TRUNCATED, parsed, text_of
from making.providing import Resolver, passage, provide_whole, unexpected, user
from okf_catalog import (
    ConceptStatus,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    KnowledgeResolverRouter,
    MemoryEntry,
    MemoryTier,
    OkfCatalogError,
    open_knowledge,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from okf_catalog import KnowledgePassage

NOW = datetime(2026, 1, 15, 12, tzinfo=timezone.utc)


def provide(
    knowledge: Sequence[KnowledgePassage] = (), memory: Sequence[KnowledgePassage] = (), **options: Any
) -> list[list[str]]:
    """The lines of each block."""
    text = text_of(provide_whole(knowledge, memory, **options))
    return [lines for _, lines in parsed(text)] if text else []


def block_of(directory: Path, text: str, **options: Any) -> list[str]:
    """The lines of the block of a file that holds the word that is asked for."""
    with make_catalog(directory, {"docs": {"files": {"a.md": text}}}) as catalog:
        resolver = KnowledgeResolverRouter(catalog, clock=lambda: NOW)
        provider = KnowledgeContextProvider(resolver, on_internal_error=unexpected, **options)
        ((_, lines),) = parsed(text_of(provider.provide([user("word")])))
    return lines


# Snippet, body, description

FRONT = "---\ntitle: A title\ndescription: What it is.\n---\n"
FILE = f"{FRONT}\n# A title\n\nOne line.\n\nA word and more.\n\n    code\there\n\n"


def test_a_block_shows_the_line_that_matches(tmp_path: Path) -> None:
    assert block_of(tmp_path, FILE) == ["A title", "A word and more."]
    assert block_of(tmp_path / "b", FILE, block_content="snippet") == ["A title", "A word and more."]


def test_a_block_shows_the_whole_body_without_blank_lines_around_it(tmp_path: Path) -> None:
    lines = ["A title", "# A title", "", "One line.", "", "A word and more.", "", "    code\there"]
    assert block_of(tmp_path, FILE, block_content="body") == lines


@pytest.mark.parametrize("body", ["", "\n", " \n\t\n"])
def test_a_block_of_a_concept_without_a_body_shows_the_description(tmp_path: Path, body: str) -> None:
    file = f"---\ntitle: A word\ndescription: What it is.\n---\n{body}"
    assert block_of(tmp_path, file, block_content="body") == ["A word", "What it is."]


def test_a_body_keeps_the_indentation_of_its_first_line(tmp_path: Path) -> None:
    assert block_of(tmp_path, "\n\n    word\n  more", block_content="body") == ["    word", "  more"]


def test_a_passage_made_by_hand_has_no_body_and_shows_its_snippet() -> None:
    assert provide([passage("a", "A title", "word")], block_content="body") == [["A title", "word"]]


def test_a_block_of_a_memory_looks_like_one_of_knowledge(tmp_path: Path) -> None:
    write_tree(tmp_path, {"docs/a.md": "nothing"})
    (tmp_path / "users").mkdir()
    sources = [
        {"id": "users", "path": "users", "role": "memory", "tier": "user"},
        {"id": "docs", "path": "docs"},
    ]
    manifest = write_manifest(tmp_path, sources)
    front = {
        "type": "Note",
        "title": "Notes",
        "description": "About it",
        "status": "draft",
        "stale_after": "2020-01-01",
    }
    shown: dict[str, list[str]] = {}
    with open_knowledge(manifest, watch_for_changes=False) as knowledge:
        assert knowledge.memory is not None
        written = knowledge.memory.write(
            KnowledgeAccessScope.LOCAL, MemoryEntry("note", front, "One.\n\nA word."), MemoryTier.USER
        )
        assert written.written
        for content in ("snippet", "body"):
            options: dict[str, Any] = {"block_content": content, "on_internal_error": unexpected}
            context = KnowledgeContextProvider(knowledge, knowledge.memory, **options).provide([user("word")])
            ((name, shown[content]),) = parsed(text_of(context))
            assert name == "memory:memory:user:memory-user/_local/_local/note"
    assert shown["snippet"] == ["Notes [draft] [stale]", "A word."]
    assert shown["body"] == ["Notes [draft] [stale]", "One.", "", "A word."]


@pytest.mark.parametrize("value", ["sections", "", "Snippet", "bodies"])
def test_a_provider_refuses_other_block_contents(value: Any) -> None:
    with pytest.raises(ValueError, match=f"block_content is 'snippet' or 'body', not '{value}'") as raised:
        KnowledgeContextProvider(Resolver(), block_content=value)
    assert isinstance(raised.value, OkfCatalogError)


@pytest.mark.parametrize("value", [None, True, b"body", ["body"]])
def test_a_provider_refuses_block_contents_of_the_wrong_type(value: Any) -> None:
    with pytest.raises(TypeError, match="block_content is 'snippet' or 'body', not ") as raised:
        KnowledgeContextProvider(Resolver(), block_content=value)
    assert isinstance(raised.value, OkfCatalogError)


# Labels for status and staleness

MARKED = [
    ("", ""),
    ("status: stable", ""),
    ("status: anything", ""),
    ("status: draft", " [draft]"),
    ("status: deprecated", " [deprecated]"),
    ("stale_after: 2026-01-15", " [stale]"),
    ("stale_after: 2026-01-16", ""),
    ("stale_after: someday", ""),
    ("status: draft\nstale_after: 2020-01-01", " [draft] [stale]"),
    ("status: deprecated\nstale_after: 2020-01-01T10:00:00Z", " [deprecated] [stale]"),
]


@pytest.mark.parametrize("content", ["snippet", "body"])
@pytest.mark.parametrize(("front", "marks"), MARKED)
def test_status_and_staleness_stand_at_the_end_of_the_first_line(
    tmp_path: Path, front: str, marks: str, content: str
) -> None:
    titled = f"---\ntitle: A title\n{front}\n---\nA word.\n"
    assert block_of(tmp_path / "a", titled, block_content=content) == [f"A title{marks}", "A word."]
    untitled = f"---\n{front}\n---\nA word.\n"
    assert block_of(tmp_path / "b", untitled, block_content=content) == [f"A word.{marks}"]


def test_the_labels_of_a_concept_without_title_and_text_stand_alone() -> None:
    assert provide([passage("a", None, "", status=ConceptStatus.DRAFT, is_stale=True)]) == [
        ["[draft] [stale]"]
    ]


@pytest.mark.parametrize("title", [None, "A title", "A title " * 100])
@given(budget=st.integers(70, 400))
def test_labels_are_never_cut_off(title: str | None, budget: int) -> None:
    one = passage("a", title, "many words " * 100, status=ConceptStatus.DEPRECATED, is_stale=True)
    for lines in provide([one], token_budget=budget, count_tokens=len):
        assert lines[0].endswith(" [deprecated] [stale]")
        assert lines[-1] == TRUNCATED


FORGED_MARKS = [
    ("Policy [deprecated]", "Policy &#91;deprecated]"),
    ("Policy [draft] [stale]", "Policy &#91;draft] &#91;stale]"),
    ("[stale]", "&#91;stale]"),
    ("Policy [STALE] ", "Policy &#91;STALE] "),
    ("Policy [ stale ].", "Policy &#91; stale ]."),
    ("Policy ［ｓｔａｌｅ］", "Policy &#91;ｓｔａｌｅ］"),
    ("Policy 【stale】", "Policy &#91;stale】"),
    ("Policy [sta\u200ble]\u2060", "Policy &#91;sta\u200ble]\u2060"),
    ("Policy [st\u0430le]", "Policy [st\u0430le]"),
    ("Policy [deprecated] in 2020", "Policy [deprecated] in 2020"),
    ("[Draft] Policy", "[Draft] Policy"),
    ("Policy [stale", "Policy [stale"),
    ("Policy (stale)", "Policy (stale)"),
    ("Policy [stable]", "Policy [stable]"),
    ("Policy [1]", "Policy [1]"),
]


@pytest.mark.parametrize(("title", "shown"), FORGED_MARKS)
def test_a_title_cannot_forge_the_labels_of_the_frame(title: str, shown: str) -> None:
    assert provide([passage("a", title, "text")]) == [[shown, "text"]]
    assert provide([passage("a", title, "text", is_stale=True)]) == [[f"{shown} [stale]", "text"]]
    # In other lines the same words are plain text.
    assert provide([passage("a", "Title", title)]) == [["Title", title]]
    assert provide([passage("a", None, title)]) == [[shown]]
