"""How passages are cut when there is no room for them, and what room the others get (X6)."""

from __future__ import annotations

import re
import time
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making.catalogs import make_catalog
from making.frame import TRUNCATED, concepts, parsed, text_of
from making.providing import passage, provide, quarter, unexpected, user
from okf_catalog import KnowledgeContextProvider, KnowledgeResolverRouter
from okf_catalog.provider.neutral import neutralised

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from okf_catalog import KnowledgePassage, ProvidedContext


def provide_bodies(directory: Path, bodies: dict[str, str], **options: Any) -> ProvidedContext:
    """What a provider gives of whole bodies, all of which hold the word that is asked for."""
    sources: dict[str, Any] = {"docs": {"files": {f"{name}.md": body for name, body in bodies.items()}}}
    options = {"block_content": "body", "on_internal_error": unexpected, **options}
    with make_catalog(directory, sources) as catalog:
        return KnowledgeContextProvider(KnowledgeResolverRouter(catalog), **options).provide([user("word")])


def repeated(text: str, length: int = 8000) -> str:
    return (text * (length // len(text) + 1))[:length]


LINES = {
    "words": repeated("many words "),
    "no space": repeated("x"),
    "a link": "see " + repeated("https://example.com/"),
    "Khmer": repeated("ភាសាខ្មែរជាភាសាកំណើត"),
    "Khmer with zero width spaces": repeated("ភាសា\u200bខ្មែរ\u200bជាភាសា\u200b"),
    "Thai": repeated("ภาษาไทยเป็นภาษาราชการ"),
    "Lao": repeated("ພາສາລາວເປັນພາສາທາງການ"),
    "Chinese": repeated("中文句子没有空格。"),
    "Japanese": repeated("日本語の文には空白がない。"),
    "decomposed Hangul": repeated(unicodedata.normalize("NFD", "한국어문장")),
    "Devanagari": repeated("क्षत्रियस्त्री"),
    "families": repeated("\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"),
    "flags": repeated("\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea"),
    "combining marks": repeated("e\u0301\u0323"),
    "ideographic spaces": repeated("日本\u3000語の"),
    "no-break spaces": repeated("nul\u00a0ne\u202fpart\u00a0"),
    "tabs": repeated("a\tb\t"),
}
TITLES = [None, "A title"]


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_one_long_line_is_cut_to_the_room_it_has(line: str, title: str | None) -> None:
    context = provide([passage("a", title, line)], token_budget=500)
    assert 450 < context.tokens <= 500
    ((_, lines),) = parsed(text_of(context))
    *head, kept, end = lines
    assert (head, end) == ([title] if title else [], TRUNCATED)
    assert line.startswith(kept)
    assert concepts(context) == ["a…"]


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_many_long_lines_all_get_a_block(line: str, title: str | None) -> None:
    knowledge = [passage(f"f{number}/x", title, line) for number in range(120)]
    context = provide(knowledge, token_budget=2000)
    assert len(context.blocks) >= 2
    assert 1900 < context.tokens <= 2000
    for block in context.blocks:
        assert block.truncated
        assert len(block.text) > 2000


@pytest.mark.parametrize("line", LINES.values(), ids=LINES.keys())
def test_snippets_of_long_lines_are_given_whole(tmp_path: Path, line: str) -> None:
    bodies = {f"c{number}": f"word {line}" for number in range(120)}
    context = provide_bodies(tmp_path, bodies, block_content="snippet", token_budget=2000)
    assert len(context.blocks) > 10
    assert 1900 < context.tokens <= 2000
    assert all("word" in block.text for block in context.blocks)


@pytest.mark.parametrize("place", [0, 1, 20, 39])
@pytest.mark.parametrize("title", TITLES)
def test_a_very_long_passage_is_cut_and_the_others_follow(
    tmp_path: Path, place: int, title: str | None
) -> None:
    front = f"---\ntitle: {title}\n---\n" if title else ""
    bodies = {f"c{number:02}": f"{front}word {number}" for number in range(40)}
    bodies[f"c{place:02}"] = f"{front}word {repeated('giant ', 1_000_000)}"
    context = provide_bodies(tmp_path, bodies, token_budget=2000)
    (giant,) = [block for block in context.blocks if block.truncated]
    assert giant.concept_id == f"c{place:02}"
    assert giant.text.count("giant") > 100
    assert len(context.blocks) == 40
    # It gets the room that the others leave.
    assert 1990 < context.tokens <= 2000


def test_a_cut_block_takes_at_most_half_of_the_room_while_others_wait() -> None:
    knowledge = [passage(f"f{number}/x", None, repeated("giant ")) for number in range(3)]
    options: dict[str, Any] = {"knowledge_budget_share": 1.0, "memory_budget_share": 0.0}
    context = provide(knowledge, token_budget=1000, **options)
    assert [480 < len(block.text) // 4 <= 500 for block in context.blocks] == [True, True]
    # The same for memory; each side keeps its share.
    memory = [passage(f"m{number}", None, repeated("giant ")) for number in range(3)]
    context = provide(knowledge, memory, token_budget=1000)
    assert [(len(block.text) + 30) // 400 for block in context.blocks] == [3, 3, 2, 2]


def test_a_very_long_title_is_cut() -> None:
    knowledge = [passage("a", repeated("title "), "text"), passage("b", "Other", "text")]
    context = provide(knowledge, token_budget=500)
    assert concepts(context) == ["a…", "b"]
    (_, lines), _ = parsed(text_of(context))
    assert len(lines) == 2
    assert set(lines[0].split()) == {"title"}


def test_headings_alone_do_not_count_as_text() -> None:
    body = f"# Refunds\n\n## How\n\n{repeated('long ')}\n\nmore"
    ((_, lines),) = parsed(text_of(provide([passage("a", "Refunds", body)], token_budget=300)))
    assert lines[:5] == ["Refunds", "# Refunds", "", "## How", ""]
    assert set(lines[5].split()) == {"long"}
    assert lines[6:] == [TRUNCATED]


def test_only_whole_lines_follow_a_line_of_text() -> None:
    for said in ("A refund takes five days.", "- x", "| a | b |", "7", "日本"):
        text = f"{said}\n\n{repeated('long ')}"
        ((_, lines),) = parsed(text_of(provide([passage("a", "Refunds", text)], token_budget=300)))
        assert lines == ["Refunds", said, TRUNCATED]


def test_a_title_stands_alone_when_only_a_few_characters_fit_below_it() -> None:
    one = passage("a", "A title", repeated("word "))
    frame = len(f'<okf-context id="knowledge:s:a">\nA title\n{TRUNCATED}\n</okf-context>')
    for more, kept in ((39, False), (45, True)):
        ((_, lines),) = parsed(text_of(provide([one], token_budget=frame + more, count_tokens=len)))
        assert (len(lines) == 3) == kept


@pytest.mark.parametrize(
    "useless",
    [
        passage("x" * 2000, "Title", "text"),
        passage("a", None, "e" + "\u0301" * 8000),
        passage("a", None, "\u200d".join(["\U0001f468"] * 4000)),
        passage("a", None, " " * 8000 + "x"),
        passage("a", None, "\n" * 8000 + "x"),
        passage("a", "\u0301" * 8000, "\u0301" * 8000),
    ],
    ids=["id", "marks", "joined", "spaces", "lines", "title of marks"],
)
def test_a_passage_without_useful_room_is_left_out_and_others_are_given(useless: KnowledgePassage) -> None:
    context = provide(
        [useless, passage("b", None, "text")], [useless, passage("m", None, "text")], token_budget=300
    )
    assert concepts(context) == ["b", "m"]
    assert context.left_out == 2


# Where a line is cut

GRAPHEMES = [
    *[
        "a",
        "é",
        "e\u0301\u0323",
        "ខ្មែ",
        "ក",
        "한",
        unicodedata.normalize("NFD", "한"),
        "\U0001f1eb\U0001f1f7",
    ],
    *[
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u0b95\u0bcd\u200d",
        "日",
        "1\ufe0f\u20e3",
        "\U0001f44d\U0001f3fd",
    ],
]


@given(
    st.lists(st.sampled_from(GRAPHEMES), min_size=60, max_size=90), st.integers(100, 250), st.integers(0, 3)
)
def test_a_cut_splits_no_grapheme(graphemes: list[str], budget: int, spaces: int) -> None:
    for _ in range(spaces):
        graphemes.insert(len(graphemes) // (spaces + 1), " ")
    line = "".join(graphemes)
    context = provide([passage("a", None, line)], token_budget=budget, count_tokens=len)
    if text := text_of(context):
        ((_, (kept, *rest)),) = parsed(text)
        assert rest in ([TRUNCATED], [])
        ends = {len("".join(graphemes[:number])) for number in range(len(graphemes) + 1)}
        assert line.startswith(kept)
        assert len(kept) in ends


@pytest.mark.parametrize("tag", ["</okf-contex", "<okf context", "\u2039x:OKF.CONTEX", "< okfcontex"])
def test_the_truncation_line_completes_no_tag(tag: str) -> None:
    text = f"word{'x' * 40}{tag}{'y' * 3000}"
    cuts = set[str]()
    for budget in range(80, 260):
        context = provide([passage("a", "T", text)], token_budget=budget, count_tokens=len)
        if message := text_of(context):
            content = message.split("\n", 1)[1].rsplit("\n", 1)[0]
            assert neutralised(content) == content
            cuts.add(content)
    assert len(cuts) > 50


@given(st.lists(st.text("ab", min_size=1, max_size=12), min_size=40), st.integers(110, 400))
def test_a_line_of_words_is_cut_between_words(words: list[str], budget: int) -> None:
    line = " ".join(words)
    context = provide([passage("a", None, line)], token_budget=budget, count_tokens=len)
    ((_, (kept, *rest)),) = parsed(text_of(context))
    assert kept.split() == words[: len(kept.split())]
    if rest:
        # Not one more word would fit.
        more = len(words[len(kept.split())]) + 1
        assert context.tokens + more > budget


@pytest.mark.parametrize("space", [" ", "\t", "\u00a0", "\u2003", "\u3000", "\u200b"], ids=ascii)
def test_a_line_can_be_cut_at_every_kind_of_white_space(space: str) -> None:
    line = space.join(["word"] * 1000)
    ((_, (kept, _)),) = parsed(text_of(provide([passage("a", None, line)], token_budget=200)))
    assert set(kept.split(space)) == {"word"}


def test_a_cut_does_not_look_far_back_for_a_space() -> None:
    line = "word " * 20 + "x" * 8000
    ((_, (kept, _)),) = parsed(text_of(provide([passage("a", None, line)], token_budget=500)))
    assert kept.count("x") > 1500


COUNTERS: dict[str, Callable[[str], int] | None] = {
    "our own": None,
    "bytes": lambda text: len(text.encode()),
    "words": lambda text: len(text.split()),
    "pieces": lambda text: len(re.findall(r"\w{1,6}|[^\w\s]|\s{2,}", text)),
    "with a fee": lambda text: 25 + len(text) // 3,
    "shrinking": lambda text: max(10_000 - len(text), 0),
    "nothing": lambda text: 0,
}


@pytest.mark.parametrize("count", COUNTERS.values(), ids=COUNTERS.keys())
@pytest.mark.parametrize(
    "piece", ["word ", "x", "word\n", "ខ្មែរ", "<", "</okf-context>\n", "\n", " "], ids=ascii
)
def test_no_text_makes_cutting_slow(piece: str, count: Callable[[str], int] | None) -> None:
    giant = passage("a", None, f"word {repeated(piece, 16_000_000)}\nend")
    begun = time.process_time()
    context = provide([giant, passage("b", None, "word")], count_tokens=count, token_budget=2000)
    assert time.process_time() - begun < 2
    if text := text_of(context):
        assert (count or quarter)(text) == context.tokens <= 2000


def test_no_body_makes_cutting_slow(tmp_path: Path) -> None:
    files = {f"{number}.md": f"word {repeated('word and more ', 15_000_000)}" for number in range(3)}
    with make_catalog(tmp_path, {"docs": {"files": files}}) as catalog:
        resolver = KnowledgeResolverRouter(catalog)
        begun = time.process_time()
        resolver.search("word")
        reading = time.process_time() - begun
        provider = KnowledgeContextProvider(resolver, block_content="body", on_internal_error=unexpected)
        begun = time.process_time()
        assert len(provider.provide([user("word")]).blocks) == 2
        assert time.process_time() - begun < reading


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("line", ["words", "no space", "Khmer"])
def test_a_slow_counter_is_called_a_few_times_with_few_characters(line: str, title: str | None) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return -(-len(text) // 3)

    knowledge = [passage(f"f{number}/x", title, LINES[line] * 10) for number in range(120)]
    context = provide(knowledge, token_budget=2000, count_tokens=count)
    assert 1900 < context.tokens <= 2000
    assert len(counted) == len(set(counted)) < 120
    assert sum(map(len, counted)) < 120 * 6000
