"""Snippets: the one line that shows a reader why a passage matches (K7)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import naive
import naive_snippet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making.catalogs import make_catalog
from making.clocks import NOON
from making.drawn import double_quoted
from making.profiles import FEWER
from okf_catalog import (
    FileMemoryStore,
    KnowledgeAccessScope,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    MemoryEntry,
    MemoryTier,
    StalePolicy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn
    from okf_catalog import KnowledgePassage

MOST = 320


def document(body: str, title: str | None = None, description: str | None = None) -> bytes:
    fields = {"title": title, "description": description}
    front = "".join(
        f"{name}: {double_quoted(value)}\n" for name, value in fields.items() if value is not None
    )
    return f"---\n{front}---\n{body}".encode()


def snippet(query: str, body: str, title: str | None = None, description: str | None = None) -> str:
    return snippets([(query, document(body, title, description))])[0]


def snippets(asked: Sequence[tuple[str, bytes]]) -> list[str]:
    """The snippet of each document for its query."""
    with tempfile.TemporaryDirectory() as directory:
        files = {f"{number}.md": content for number, (_, content) in enumerate(asked)}
        with make_catalog(Path(directory), {"s": {"files": files}}) as catalog:
            batch = KnowledgeResolverRouter(catalog).search_batch(query for query, _ in asked)
            found = [
                {passage.concept_id: passage.snippet for passage in context.passages} for context in batch
            ]
    return [shown[str(number)] for number, shown in enumerate(found)]


LONG = "word " * 200
NO_SPACES = "数" * 1000


@pytest.mark.parametrize(
    ("query", "body", "title", "description", "expected"),
    [
        pytest.param("a b", "a\na b\nb a", None, None, "a b", id="most distinct terms, first of equals"),
        pytest.param("a b", "a a a\nx b y A", None, None, "x b y A", id="a repeated term counts once"),
        pytest.param("b a", "  a\u3000\nb", None, None, "a", id="trimmed"),
        pytest.param("ΣΊΣΥΦΟΣ", "x\nὁ σίσυφος", None, None, "ὁ σίσυφος", id="equal by K2"),
        pytest.param("orders", "# Orders\nall orders", "Orders", None, "all orders", id="title repeated"),
        pytest.param("orders", "###### ORDERS ##\norders", "orders", None, "orders", id="any level, closed"),
        pytest.param("orders", "# Orders table\norders", "Orders", None, "# Orders table", id="says more"),
        pytest.param("orders", "# Orders\norders", None, None, "# Orders", id="no title to repeat"),
        pytest.param("orders", "Orders\n---\nmy orders", "Orders", None, "my orders", id="underlined"),
        pytest.param(
            "orders", "Orders\n\n---\norders", "Orders", None, "Orders", id="a rule underlines nothing"
        ),
        pytest.param("orders", "**Orders**\norders", "Orders", None, "**Orders**", id="bold is no heading"),
        pytest.param("net", "# **Net** _revenue_\nnet", "Net  revenue", None, "net", id="emphasised"),
        pytest.param("net", "# [Net](x.md)\na net", "Net", None, "a net", id="linked"),
        pytest.param("net", "# Net {#net}\na net", "Net", None, "a net", id="with an id"),
        pytest.param("net", '<h1 align="center">Net</h1>\na net', "Net", None, "a net", id="HTML"),
        pytest.param("net", '# <a id="n"></a>Net\na net', "Net", None, "a net", id="with an anchor"),
        pytest.param(
            "order_items",
            "# order\\_items\nx order_items",
            "order_items",
            None,
            "x order_items",
            id="escaped",
        ),
        pytest.param("a", "# A — “B” (c)\nx a", "A: B, C", None, "x a", id="other punctuation"),
        pytest.param("c", "# C++\nx c", "C#", None, "# C++", id="other signs"),
        pytest.param("#net", "#Net\nx #net", "Net", None, "#Net", id="a hash tag is no heading"),
        pytest.param("a b", "# A b\na\nc", "a B", None, "a", id="the next best after the title"),
        pytest.param("a", "# A\n# A", "A", "about\n a", "about a", id="nothing but the title"),
        pytest.param(
            "a", "text", "A", "  what\nit \t is\n", "what it \t is", id="title alone: the description"
        ),
        pytest.param("a", "# A\n\ntext", "A", " \n ", "text", id="a blank description is none"),
        pytest.param("a", "# A\n## B\ntext", "A", None, "text", id="first line that is no heading"),
        pytest.param("a", "B\n===\n---\n| --- |\n```sh\nmake", "A", None, "make", id="rules and fences"),
        pytest.param(
            "a", "<!-- x -->\n<!--\nlicence\n-->\n<br>\ntext", "A", None, "text", id="comments, tags"
        ),
        pytest.param("a", "<!-- x --> y\nz", "A", None, "<!-- x --> y", id="text behind a comment"),
        pytest.param("a", "<!-- never closed\nz", "A", None, "", id="all is a comment"),
        pytest.param("a", "# B\n\n***\n", "A", None, "", id="only headings"),
        pytest.param("a", "", "A", None, "", id="no body"),
        pytest.param("a", "🎉", "A", None, "🎉", id="emoji are text"),
        pytest.param("---", "x\n---", None, None, "---", id="a rule that was asked for"),
        pytest.param(
            "b", "a\u2028b\x0cc\x1cd\te\x07", None, None, "a b c d\te\x07", id="one line for everybody"
        ),
        pytest.param("b", "a\r\nb\r\nc", None, None, "b", id="CRLF"),
        pytest.param("b", "x" * 319 + "b", None, None, "x" * 319 + "b", id="320 fit"),
        pytest.param("b", "b" + "x" * 320, None, None, "b" + "x" * 318 + "…", id="321 do not"),
        pytest.param("b", "x" * 320 + "b", None, None, "…" + "x" * 318 + "b", id="at the end"),
        pytest.param(
            "b",
            NO_SPACES + "b" + NO_SPACES,
            None,
            None,
            "…" + "数" * 80 + "b" + "数" * 237 + "…",
            id="without spaces",
        ),
        pytest.param("end", LONG + "end", None, None, "…" + "word " * 63 + "end", id="at white space"),
        pytest.param("x" * 400, "ab " + "x" * 500, None, None, "…" + "x" * 318 + "…", id="a term too long"),
        pytest.param(
            "x" * 300,
            "ab " * 9 + "x" * 300 + " cd" * 9,
            None,
            None,
            "…" + "ab " * 6 + "x" * 300 + "…",
            id="a term that hardly fits",
        ),
        pytest.param("a", "b", "A", LONG, "word " * 63 + "word…", id="a long description"),
        pytest.param(
            "z", "b", None, LONG + "z " + LONG, "…" + "word " * 16 + "z" + " word" * 47 + "…", id="its window"
        ),
        pytest.param("a", LONG, "A", None, "word " * 63 + "word…", id="a long first line"),
    ],
)
def test_a_reader_sees_what_matters(
    query: str, body: str, title: str | None, description: str | None, expected: str
) -> None:
    shown = snippet(query, body, title, description)
    assert shown == expected
    assert len(shown) <= MOST


GRAPHEMES = {
    "combining marks": "e\u0301\u0323",
    "flags": "🇩🇪",
    "a family": "👩\u200d👩\u200d👧\u200d👦",
    "a skin tone": "👍🏽",
    "jamo": "\u1112\u1161\u11ab",
    "a conjunct": "क्षि",
    "a keycap": "1\ufe0f\u20e3",
    "space with a mark": " \u0301",
}


@pytest.mark.parametrize("grapheme", GRAPHEMES.values(), ids=GRAPHEMES)
@pytest.mark.parametrize("count", [400, 3000])
def test_a_snippet_cuts_no_grapheme(grapheme: str, count: int) -> None:
    for shift in range(4):
        line = "x" * shift + grapheme * count + "needle" + grapheme * count
        shown = snippet("needle", line)
        assert len(shown) <= MOST
        before, needle, after = shown.partition("needle")
        assert needle
        for part in (before.removeprefix("…"), after.removesuffix("…")):
            assert len(part) > 40
            assert part == grapheme * (len(part) // len(grapheme))


@pytest.mark.parametrize("term", ["\u0301", "\u200d", "\u1161", "🇪"])
def test_a_snippet_shows_the_whole_grapheme_around_a_term(term: str) -> None:
    for grapheme in ("e\u0301", "👩\u200d👧", "\u1112\u1161", "🇩🇪"):
        if term in grapheme:
            line = "x" * 500 + grapheme + "y" * 500
            assert grapheme in snippet(term, line)


def test_a_very_long_grapheme_does_not_make_a_snippet_longer() -> None:
    for line in ("a" + "\u0301" * 5000 + "b", "b" + "a" + "\u0301" * 5000, "\u0301" * 5000 + "b"):
        shown = snippet("b", line)
        assert "b" in shown
        assert len(shown) <= MOST


PIECES = (
    "a",
    "b",
    "B",
    "ab",
    " ",
    " ",
    "\u3000",
    "\t",
    "e\u0301",
    "\u0301",
    "数",
    "字",
    "👩\u200d👧",
    "\u200d",
    "🇩🇪",
    "🇪",
    "\u1112\u1161\u11ab",
    "\u1161",
    "한",
    "क्षि",
    "ß",
    "ⱥ",
    "Ⱥ",
    "ɐ",
    "\u2028",
    "\x1c",
    "…",
    "*",
    "`",
    "#",
    "-",
    "<",
    ">",
    "[",
    "](",
    ")",
    ".",
    "–",
    "{#",
    "}",
)


@st.composite
def lines(draw: DrawFn) -> str:
    pieces = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8)
    length = draw(st.sampled_from([1, 1, 1, 40, 90]))
    runs = [draw(pieces) for _ in range(draw(st.integers(1, 3)))]
    return "".join("".join(run) * draw(st.sampled_from([1, length])) for run in runs)


RARE = ("q", "qq", "q" * 250, "q" * 330, "\u0301q", "q\u0301", "👩\u200dq", "🇪q", "ⱥq", "\u1161q")


@st.composite
def long_lines(draw: DrawFn) -> tuple[str, str]:
    """A rare term somewhere in a long line, and the line."""
    pieces = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
    lengths = st.sampled_from([0, 1, 60, 79, 81, 120, 230, 400])
    before, after = draw(pieces), draw(pieces)
    rare = draw(st.sampled_from(RARE))
    line = before * 400 + rare + after * 400
    start = len(before) * 400
    return rare, line[start - min(draw(lengths), start) : start + len(rare) + draw(lengths)]


MARKUP = (
    "",
    "# {}",
    "## {} ##",
    "{}\n---",
    "{}\n===",
    "#{}",
    "<h1>{}</h1>",
    "- {}\n---",
    "---",
    "```{}",
    "<!-- {} -->",
    "<!--",
    "-->",
)


@st.composite
def documents(draw: DrawFn) -> tuple[str, str, str | None, str | None]:
    """A query, a body, a title and a description that share words."""
    pool = draw(st.lists(lines(), min_size=2, max_size=4))
    text = st.sampled_from(pool)
    body = [
        draw(st.sampled_from(["{}", "{}", *MARKUP])).replace("{}", draw(text))
        for _ in range(draw(st.integers(0, 5)))
    ]
    title, description = draw(st.none() | text), draw(st.none() | text)
    if draw(st.booleans()):
        rare, line = draw(long_lines())
        if draw(st.booleans()):
            body.insert(draw(st.integers(0, len(body))), line)
        else:
            description = line
        return rare, "\n".join(body), title, description
    words = [word for line in pool for word in naive.terms_of(line)]
    chosen = draw(st.lists(st.sampled_from(words or ["a"]), min_size=1, max_size=12))
    terms = [word[: draw(st.sampled_from([1, 2, 400]))] for word in chosen]
    line_end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return " ".join(terms), line_end.join(body).replace("\n", line_end), title, description


@settings(max_examples=4 * FEWER)
@given(st.lists(documents(), min_size=4, max_size=12))
def test_snippets_are_those_of_the_model(drawn: list[tuple[str, str, str | None, str | None]]) -> None:
    asked: list[tuple[str, bytes]] = []
    wanted: list[str] = []
    for query, body, title, description in drawn:
        content = document(body, title, description)
        concept = naive.Concept("a", naive.read_document(content))
        terms = naive.terms_of(query)
        if concept.score(terms):
            asked.append((query, content))
            wanted.append(naive_snippet.snippet(concept.document, terms))
    shown = snippets(asked)
    assert shown == wanted
    for line in shown:
        assert len(line) <= MOST
        assert len(line.splitlines()) <= 1


def test_a_snippet_for_many_terms_is_chosen_as_for_few() -> None:
    words = [f"q{number:04}" for number in range(5000)]
    body = "\n".join(["q0001 q0002", " ".join(words[3:9]), " ".join(words[100:105])])
    assert snippet(" ".join(words), body) == "q0003 q0004 q0005 q0006 q0007 q0008"


def test_a_snippet_is_the_same_for_every_way_to_ask(tmp_path: Path) -> None:
    files = {"a.md": "x a\n", "b.md": document(LONG + "a", "b")}
    with make_catalog(tmp_path, {"s": {"files": files}}) as catalog:
        resolver = KnowledgeResolverRouter(catalog)
        alone = [passage.snippet for passage in resolver.search("a").passages]
        assert alone == [passage.snippet for passage in resolver.search("a").passages]
        assert alone == [passage.snippet for passage in resolver.search_batch(["a"])[0].passages]
        assert alone[0] == "x a"


@pytest.mark.parametrize(
    ("stale_after", "is_stale"),
    [
        ("2026-03-01T12:00:00Z", True),
        ("2026-03-01T12:00:00.000001Z", False),
        ("2026-03-01", True),
        ("2026-03-02", False),
        ("2026-03-01T13:00:00+01:00", True),
        ("next summer", False),
        ("", False),
    ],
)
def test_a_passage_is_stale_from_the_instant_on_under_every_policy(
    tmp_path: Path, stale_after: str, is_stale: bool
) -> None:
    files = {"a.md": f"---\nstale_after: {stale_after}\n---\nword\n"}
    with make_catalog(tmp_path, {"s": {"files": files}}) as catalog:
        resolver = KnowledgeResolverRouter(catalog, clock=lambda: NOON)
        for policy in (StalePolicy.USE, StalePolicy.tolerate(1)):
            query = KnowledgeQuery("word", stale_policy=policy)
            passages = [*resolver.search(query).passages, *resolver.search_batch([query])[0].passages]
            assert [passage.is_stale for passage in passages] == [is_stale] * 2
        strict = resolver.search(KnowledgeQuery("word", stale_policy=StalePolicy.STRICT)).passages
        assert [passage.is_stale for passage in strict] == [False] * (not is_stale)


def test_an_answer_keeps_the_instant_of_its_search(tmp_path: Path) -> None:
    files = {"a.md": "---\nstale_after: 2026-03-01T12:00:01Z\n---\nword\n"}
    moments = iter([NOON, NOON.replace(second=1)])
    with make_catalog(tmp_path, {"s": {"files": files}}) as catalog:
        resolver = KnowledgeResolverRouter(catalog, clock=lambda: next(moments))
        before, after = (resolver.search("word").passages[0] for _ in range(2))
        assert (before.is_stale, after.is_stale) == (False, True)
        assert before != after


def test_memories_have_a_snippet_and_may_be_stale(tmp_path: Path) -> None:
    sources: dict[str, dict[str, Any]] = {
        "k": {"files": {"a.md": "knowledge"}},
        "m": {"role": "memory", "tier": "user", "files": {}},
    }
    scope = KnowledgeAccessScope("acme", "alice")
    with make_catalog(tmp_path, sources) as catalog:
        store = FileMemoryStore(catalog, clock=lambda: NOON)
        for name, stale_after in (("old", "2026-03-01"), ("new", "2026-03-02")):
            front = {"type": "T", "title": "Likes", "description": "d", "stale_after": stale_after}
            entry = MemoryEntry(name, front, f"# Likes\n\nshe likes tea {name}")
            assert store.write(scope, entry, MemoryTier.USER).written
        passages: dict[str, KnowledgePassage] = {
            passage.concept_id.rsplit("/", 1)[-1]: passage for passage in store.read(scope, "likes").passages
        }
        assert {name: (one.snippet, one.is_stale) for name, one in passages.items()} == {
            "old": ("she likes tea old", True),
            "new": ("she likes tea new", False),
        }
