"""The engine cuts bodies into the sections that the model cuts them into (V9)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import naive_sections
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from making.project import TESTS
from naive_sections import Section
from okf_catalog._engine import read_sections

if TYPE_CHECKING:
    from pathlib import Path

SHARED = TESTS.parents[1] / "shared" / "data"
BUNDLES, CORPORA = SHARED / "bundles", SHARED / "relevance"
EVERY = 4
"""Of the documents of the corpora one in so many is compared: the model is slow."""


def engine(body: str) -> list[Section]:
    """The sections of a body. The frontmatter above it keeps the first lines of the body from being one."""
    return [
        Section(tuple(heading), text, first - 3, last - 3)
        for heading, text, first, last in read_sections(f"---\n---\n\n{body}".encode())
    ]


def assert_same(body: str) -> None:
    assert engine(body) == naive_sections.cut(body)


# The alphabet has what both parsers read alike. They differ, or the standard says nothing, on these:
# - a line that only other white space than spaces and tabs makes blank, next to lists and quotations;
# - tables without outer bars, or inside lists and quotations; tables whose rows have other numbers of cells;
# - tabs that are half used up by the indentation of a list item;
# - lines directly below the definition of a link, if they are indented.
# Very long lines of markers (`- - - -`) are not drawn: the engine does not parse what is nested too deeply.
TABLE = "|a|b|\n|-|-|\n|c|d|\n"
TEXTS = ["word", "two words.", "文。文", "e\u0301 z", "  b", "   c", "a  ", "a\\", "***", "**a", "`b"]
LINKS = ["[a]: b\n", "[c]: d 'e'\n", "[a]", "![i](j)", "&amp; &lt;", "a<br>b"]
HEADINGS = [
    "# a",
    "## b *c*",
    "### `d`",
    "#### [e](f)",
    "###### g {#h}",
    "#",
    "===",
    "---",
    f"# {'long ' * 60}",
]
LISTS = ["- a", "- ", "  - c", "1. a", "2) b", "> a", "> b", ">", "> - c", "> # d"]
OTHERS = ["```", "```text", "~~~", "    code", "<div>", "</div>", "<!--", "-->"]
TABLES = [f"\n{TABLE}", f"\n{TABLE}|e|f|\n", "\n|a|\n|-|\n|b|\n"]
LONG = [
    "a",
    "word ",
    "A sentence. ",
    "文",
    "文。",
    "「文。」",
    "e\u0301",
    "\U0001f468\u200d\U0001f469",
    "-- ",
    "a.) ",
]

lines = st.sampled_from(["", "", "", "", *TEXTS, *LINKS, *HEADINGS, *LISTS, *OTHERS, *TABLES])


def up_to(text: str, length: int) -> str:
    """The text, repeated up to a length."""
    return text * (length // len(text))


def repeated(line: str, count: int) -> str:
    return "\n".join([line] * count)


long_lines = st.builds(up_to, st.sampled_from(LONG), st.integers(100, 3_000))
runs = st.builds(repeated, lines, st.integers(2, 60))
bodies = st.lists(lines | lines | lines | lines | long_lines | runs, max_size=40).map("\n".join)


@given(bodies)
@example("")
@example("# a\n\n## b\n\n# c")
@example("- a\n\n\n- b\n# c\n[d]: e\n")
@example(" \u00a0 \n\u3000\na")
@example("Title\n===\n[a]: b\n\nText.\n")
@example("# a\n" + "\n" * 900 + "b")
def test_drawn_bodies_are_cut_as_by_the_model(body: str) -> None:
    assert_same(body)


@given(
    st.sampled_from(["", "# h\n\n", "> ", "- ", "```\n", "<div>\n", f"{TABLE}"]),
    st.lists(long_lines, max_size=8),
)
def test_long_blocks_are_divided_as_by_the_model(opening: str, long: list[str]) -> None:
    assert_same(opening + "\n".join(long))
    assert_same(opening + " ".join(long))


@given(st.integers(850, 950), st.integers(0, 3), st.integers(1_950, 2_050), st.sampled_from(["a", "é", "a "]))
def test_lengths_around_the_limits_are_cut_as_by_the_model(few: int, gap: int, many: int, text: str) -> None:
    short, long = (text * few)[:few], (text * many)[:many]
    for body in (
        f"{short}\n\n{'x' * gap}",
        f"# {'h' * gap}\n\n{short}\n\n{short[: 900 - gap]}",
        f"{'x' * gap}\n\n{long}\n\ny",
        f"# {short}\n## {short}\n\n{long}",
    ):
        assert_same(body)


@pytest.mark.skipif(not BUNDLES.is_dir(), reason="the real bundles are not here")
def test_real_bundles_are_cut_as_by_the_model() -> None:
    files = sorted(BUNDLES.rglob("*.md"))
    assert files
    for path in files:
        file = path.read_bytes()
        sections = [
            Section(tuple(heading), text, first, last) for heading, text, first, last in read_sections(file)
        ]
        decoded = file.decode().replace("\r\n", "\n")
        front = decoded[: decoded.index("\n---", 3) + 4].count("\n") + 1 if decoded.startswith("---\n") else 0
        body = "\n".join(decoded.split("\n")[front:])
        moved = [
            one._replace(first_line=one.first_line + front, last_line=one.last_line + front)
            for one in naive_sections.cut(body)
        ]
        assert sections == moved, path


def corpora() -> list[Path]:
    return sorted(CORPORA.glob("*/concepts.jsonl"))


@pytest.mark.skipif(not corpora(), reason="the corpora are not here")
@pytest.mark.parametrize("corpus", corpora(), ids=lambda path: path.parent.name)
def test_real_documents_are_cut_as_by_the_model(corpus: Path) -> None:
    with corpus.open(encoding="utf-8") as rows:
        for number, row in enumerate(rows):
            if number % EVERY == 0:
                body = json.loads(row)["body"]
                assert_same(body)
