"""How a budget is spent (X3, X6, X7), compared with a slow model on drawn passages."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making.frame import TRUNCATED, concepts, text_of
from making.providing import passage, provide, quarter
from okf_catalog import KnowledgePassage, SourceRole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


MORE = 4 * settings().max_examples
"""An example costs some milliseconds here."""


def opening_of(role: str, one: KnowledgePassage) -> str:
    """The opening tag of a passage whose ids need no escapes."""
    return f'<okf-context id="{role}:{one.source_id}:{one.concept_id}">'


def lines_of(one: KnowledgePassage) -> list[str]:
    return ([one.title] if one.title else []) + one.snippet.split("\n")


def whole(role: str, one: KnowledgePassage) -> str:
    return "\n".join([opening_of(role, one), *lines_of(one), "</okf-context>"])


def cut(role: str, one: KnowledgePassage, lines: list[str]) -> str:
    return "\n".join([opening_of(role, one), *lines, TRUNCATED, "</okf-context>"])


def named(one: KnowledgePassage) -> tuple[str, str]:
    return one.source_id, one.concept_id


# The model: X6 and X7 as the contract words them, with nothing reused between steps


def says_something(line: str) -> bool:
    return any(character.isalnum() for character in line) and not line.startswith("# ")


def words_of(line: str, most: int, least: int) -> str:
    """The beginning of a longer line, cut at white space if there is any near."""
    if line[most].isspace():
        return line[:most]
    indentation = len(line[:most]) - len(line[:most].lstrip())
    near = range(max(most // 2, most - 100, indentation + least), most)
    spaces = [place for place in near if line[place].isspace()]
    return line[: spaces[-1]].rstrip() if spaces else line[:most]


def kept_of(one: KnowledgePassage, most: int) -> list[str]:
    """The lines of a passage that are kept in ``most`` characters; none if they say nothing."""
    kept: list[str] = []
    for line in lines_of(one):
        if len(line) > most:
            least = 40 if any(map(str.strip, kept)) else 20
            started = words_of(line, most, least) if most > 0 else ""
            below_title = kept[1:] if one.title else kept
            if len(started.strip()) >= least and not any(map(says_something, below_title)):
                return [*kept, started]
            break
        kept.append(line)
        most -= len(line) + 1
    while kept and not kept[-1].strip():
        kept.pop()
    return [*kept[:-1], kept[-1].rstrip()] if kept else []


def parts_of(role: str, one: KnowledgePassage) -> list[str]:
    """Every text that a block can be cut to, the shortest first."""
    length = len("\n".join(lines_of(one)))
    kept = [kept_of(one, most) for most in range(1, length)]
    return list(dict.fromkeys(cut(role, one, lines) for lines in kept if lines))


def fill(
    role: str,
    passages: Sequence[KnowledgePassage],
    room: int,
    fits: Callable[[list[str]], bool],
    count: Callable[[str], int],
) -> list[str]:
    def small(text: str) -> bool:
        return count(f"\n{text}") - count("") <= room // 2

    texts: list[str] = []
    halved: list[tuple[int, list[str]]] = []
    for place, one in enumerate(passages):
        if fits([*texts, whole(role, one)]):
            texts.append(whole(role, one))
            continue
        parts = [part for part in parts_of(role, one) if fits([*texts, part])]
        half = [part for part in parts if small(part)]
        if place + 1 < len(passages) and half and half != parts:
            halved.append((len(texts), parts))
            texts.append(half[-1])
        elif parts:
            texts.append(parts[-1])
    for place, parts in halved:
        before, after = texts[:place], texts[place + 1 :]
        texts[place] = [part for part in parts if fits([*before, part, *after])][-1]
    return texts


def rotate(passages: Sequence[KnowledgePassage]) -> list[KnowledgePassage]:
    def family(one: KnowledgePassage) -> tuple[str, str]:
        return one.source_id, one.concept_id.split("/")[0]

    order: list[KnowledgePassage] = []
    for turn in range(len(passages)):
        for name in dict.fromkeys(map(family, passages)):
            order += [one for one in passages if family(one) == name][turn : turn + 1]
    return order


def model(
    knowledge: Sequence[KnowledgePassage],
    memory: Sequence[KnowledgePassage],
    budget: int,
    shares: tuple[float, float],
    count: Callable[[str], int],
) -> list[str]:
    def counted(texts: list[str]) -> int:
        return count("\n".join(texts))

    share, other_share = (math.floor(budget * one) for one in shares)
    order = rotate(knowledge)
    known = fill("knowledge", order, share, lambda texts: counted(texts) <= share, count)
    remembered = fill(
        "memory",
        memory,
        other_share,
        lambda texts: counted(texts) <= other_share and counted([*known, *texts]) <= budget,
        count,
    )
    room = budget - (counted(remembered) if remembered else 0)
    known = fill("knowledge", order, room, lambda texts: counted([*texts, *remembered]) <= budget, count)
    room = budget - (counted(known) if known else 0)
    remembered = fill("memory", memory, room, lambda texts: counted([*known, *texts]) <= budget, count)
    return [*known, *remembered]


GROWING: dict[str, Callable[[str], int]] = {
    "code points by four": quarter,
    "code points": len,
    "bytes": lambda text: len(text.encode()),
    "words": lambda text: len(text.split()),
    "words and lines": lambda text: len(text.split()) + text.count("\n"),
    "with a fee": lambda text: 30 + quarter(text),
    "squared": lambda text: len(text) ** 2 // 100,
    "nothing": lambda text: 0,
    "always the same": lambda text: 20,
}
"""Counts that never shrink while a text grows."""

WILD: dict[str, Callable[[str], int]] = {
    **GROWING,
    "any": lambda text: hashlib.sha256(text.encode()).digest()[0],
    "any up to the length": lambda text: int(hashlib.sha256(text.encode()).hexdigest(), 16) % (len(text) + 1),
    "shrinking": lambda text: max(400 - len(text), 0),
    "every other": lambda text: len(text) if len(text) % 2 else 0,
}

titles = st.none() | st.text("ab é", min_size=1, max_size=40).filter(lambda text: not text.isspace())
lines = st.text("ab é", max_size=30) | st.sampled_from(["# a b", "- ---", "ab" * 40, "a b c " * 12])
snippets = st.lists(lines, max_size=4).map("\n".join)


@st.composite
def sides(draw: st.DrawFn) -> list[KnowledgePassage]:
    names = st.sampled_from(["a", "b/x", "b/y", "b/z/w", "c/x", "c/y", "d"])
    places = draw(st.lists(st.tuples(st.sampled_from("st"), names), max_size=8, unique=True))
    return [passage(name, draw(titles), draw(snippets), source) for source, name in places]


shares = st.sampled_from(
    [(0.6, 0.4), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.0, 0.0), (0.3, 0.1)]
) | st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda pair: sum(pair) <= 1)


@settings(max_examples=MORE)
@given(sides(), sides(), st.integers(-5, 700), shares, st.sampled_from(sorted(GROWING)))
def test_a_provider_spends_its_budget_like_the_model(
    knowledge: list[KnowledgePassage],
    memory: list[KnowledgePassage],
    budget: int,
    pair: tuple[float, float],
    name: str,
) -> None:
    count = GROWING[name]
    context = provide(
        knowledge,
        memory,
        token_budget=budget,
        knowledge_budget_share=pair[0],
        memory_budget_share=pair[1],
        count_tokens=None if name == "code points by four" else count,
    )
    expected = model(knowledge, memory, budget, pair, count) if budget > 0 else []
    assert text_of(context) == "\n".join(expected)
    if budget > 0:
        assert context.left_out == len(knowledge) + len(memory) - len(expected)
    if expected:
        assert context.tokens == count("\n".join(expected)) <= budget


@settings(max_examples=MORE)
@given(sides(), sides(), st.integers(1, 700), shares, st.sampled_from(sorted(WILD)))
def test_no_message_exceeds_its_budget_with_any_counter(
    knowledge: list[KnowledgePassage],
    memory: list[KnowledgePassage],
    budget: int,
    pair: tuple[float, float],
    name: str,
) -> None:
    count = WILD[name]
    context = provide(
        knowledge,
        memory,
        token_budget=budget,
        knowledge_budget_share=pair[0],
        memory_budget_share=pair[1],
        count_tokens=count,
    )
    text = text_of(context)
    if text:
        assert count(text) == context.tokens <= budget
    # No block is repeated, and each side keeps its order.
    for role, offered in ((SourceRole.KNOWLEDGE, rotate(knowledge)), (SourceRole.MEMORY, memory)):
        waiting = iter(offered)
        for block in (block for block in context.blocks if block.role is role):
            one = next(one for one in waiting if named(one) == (block.source_id, block.concept_id))
            allowed = parts_of(role.value, one) if block.truncated else [whole(role.value, one)]
            assert block.text in allowed
    roles = [block.role for block in context.blocks]
    assert roles == sorted(roles, key=list(SourceRole).index)


@given(sides())
def test_families_of_concepts_take_turns(knowledge: list[KnowledgePassage]) -> None:
    context = provide(knowledge, token_budget=10**6)
    assert [(block.source_id, block.concept_id) for block in context.blocks] == [
        (one.source_id, one.concept_id) for one in rotate(knowledge)
    ]


# By hand


def test_families_are_first_segments_within_a_source() -> None:
    names = ["a/1", "a/2", "a/x/3", "b/1", "a", "c", "b/2"]
    knowledge = [passage(name) for name in names]
    assert concepts(provide(knowledge)) == ["a/1", "b/1", "c", "a/2", "b/2", "a/x/3", "a"]
    knowledge = [passage("a/1", source_id="s"), passage("a/2", source_id="s"), passage("a/1", source_id="t")]
    assert [block.source_id for block in provide(knowledge).blocks] == ["s", "t", "s"]


def test_one_family_and_memory_keep_their_order() -> None:
    names = ["a/1", "a/3", "a/2"]
    assert concepts(provide([passage(name) for name in names])) == names
    names = ["a/1", "a/2", "b/1"]
    assert concepts(provide(memory=[passage(name) for name in names])) == names


def test_four_code_points_count_as_one_token_rounded_up() -> None:
    block = whole("knowledge", passage("a", None, "é" * 10))
    assert len(block) == 58
    tokens = math.ceil(len(block) / 4)
    for budget, expected in ((tokens, ["a"]), (tokens - 1, [])):
        options: dict[str, Any] = {"token_budget": budget, "knowledge_budget_share": 1.0}
        context = provide([passage("a", None, "é" * 10)], memory_budget_share=0, **options)
        assert concepts(context) == expected
        assert context.tokens == (tokens if expected else 0)


def test_shares_are_rounded_down() -> None:
    knowledge = [passage("a", None, "x"), passage("b", None, "x")]
    size = len(whole("knowledge", knowledge[0]))
    remembered = passage("m", None, "x" * (size + 3 - len(whole("memory", passage("m")))))
    # Half of the budget, rounded up, would hold it.
    budget = 2 * len(whole("memory", remembered)) - 1
    assert budget == 2 * size + 5
    halves: dict[str, Any] = {"knowledge_budget_share": 0.5, "memory_budget_share": 0.5}
    context = provide(knowledge, [remembered], token_budget=budget, count_tokens=len, **halves)
    assert concepts(context) == ["a", "b"]
    context = provide(knowledge, [remembered], token_budget=budget + 1, count_tokens=len, **halves)
    assert concepts(context) == ["a", "m"]


@pytest.mark.parametrize("budget", [2**53 + 1, 10**30, 10**400])
def test_a_provider_accepts_any_large_budget(budget: int) -> None:
    knowledge, memory = [passage("a"), passage("b"), passage("c")], [passage("m"), passage("n")]
    assert concepts(provide(knowledge, memory, token_budget=budget)) == ["a", "b", "c", "m", "n"]
    # Each block needs two fifths of the budget, so each side gets one, as with a small budget.
    each = budget * 2 // 5 - 1

    def count(text: str) -> int:
        return each * text.count("</")

    context = provide(knowledge, memory, token_budget=budget, count_tokens=count)
    assert concepts(context) == ["a", "m"]
    assert context.tokens == 2 * each


def test_knowledge_gets_what_memory_leaves() -> None:
    knowledge = [passage(name, None, "x" * 40) for name in "abcde"]
    size = len("\n".join(whole("knowledge", one) for one in knowledge))
    context = provide(knowledge, token_budget=size, count_tokens=len)
    assert concepts(context) == ["a", "b", "c", "d", "e"]
    assert context.tokens == size


def test_memory_gets_what_knowledge_leaves() -> None:
    memory = [passage(name, None, "x" * 40) for name in "abcde"]
    size = len("\n".join(whole("memory", one) for one in memory))
    assert concepts(provide((), memory, token_budget=size, count_tokens=len)) == ["a", "b", "c", "d", "e"]


def test_each_side_gets_its_share_when_the_other_could_use_it_all() -> None:
    knowledge = [passage(f"k{name}", None, "x" * 40) for name in range(50)]
    memory = [passage(f"m{name}", None, "x" * 40) for name in range(50)]
    size = len(whole("knowledge", knowledge[0])) + 1
    context = provide(knowledge, memory, token_budget=size * 10, count_tokens=len)
    assert concepts(context) == [*(f"k{name}" for name in range(6)), *(f"m{name}" for name in range(4))]


def test_knowledge_is_first_to_get_what_both_sides_leave() -> None:
    knowledge = [passage(f"k{name}", None, "x" * 43) for name in range(50)]
    memory = [passage(f"m{name}", None, "x" * 46) for name in range(50)]
    size = len(whole("knowledge", knowledge[0])) + 1
    options: dict[str, Any] = {"knowledge_budget_share": 0.2, "memory_budget_share": 0.2}
    context = provide(knowledge, memory, token_budget=size * 10, count_tokens=len, **options)
    assert concepts(context) == [*(f"k{name}" for name in range(8)), "m0", "m1"]


def test_a_block_that_does_not_fit_is_cut_at_whole_lines_and_says_so() -> None:
    long = passage("a", "A title", "one\ntwo\nthree " + "x" * 300)
    for kept, last in ((3, "two"), (2, "one"), (1, "A title")):
        text = cut("knowledge", long, lines_of(long)[:kept])
        context = provide([long], token_budget=len(text), count_tokens=len)
        assert text_of(context) == text
        assert text.splitlines()[-3:] == [last, TRUNCATED, "</okf-context>"]
        assert concepts(context) == ["a…"]
    least = cut("knowledge", long, ["A title"])
    context = provide([long], token_budget=len(least) - 1, count_tokens=len)
    assert (context.messages, context.left_out) == ((), 1)


def test_a_provider_tries_the_next_block_when_nothing_useful_fits() -> None:
    knowledge = [passage("a", None, "x"), passage("b" * 90, None, "x" * 300), passage("c", None, "x")]
    context = provide(knowledge, token_budget=140, count_tokens=len)
    assert concepts(context) == ["a", "c"]
    assert context.left_out == 1


def test_a_provider_stops_when_less_is_left_than_any_block_needs() -> None:
    class Counted(tuple[KnowledgePassage, ...]):
        __slots__ = ()
        touched = 0

        def __iter__(self) -> Any:
            for one in super().__iter__():
                Counted.touched += 1
                yield one

    many = Counted(passage(f"f{name}/x", None, "x" * 40) for name in range(100))
    size = len("\n".join(whole("knowledge", one) for one in many[:3]))
    assert len(provide(many, token_budget=size + 40, count_tokens=len).blocks) == 3
    assert Counted.touched <= 5


def test_a_provider_stops_after_many_blocks_that_do_not_fit() -> None:
    small = passage("z", None, "x")
    room = len(whole("knowledge", small))
    for hopeless, expected in ((49, ["z"]), (50, [])):
        knowledge = [passage(f"{number:099}", None, "x" * 300) for number in range(hopeless)]
        context = provide([*knowledge, small], token_budget=room, count_tokens=len)
        assert concepts(context) == expected


def test_a_block_that_was_cut_gets_the_room_that_is_left() -> None:
    one = passage("a", "A title", "x" * 100)
    size = len(whole("knowledge", one))
    assert size * 0.6 > len(cut("knowledge", one, ["A title"]))
    context = provide([one], token_budget=size, count_tokens=len)
    assert text_of(context) == whole("knowledge", one)


def test_a_context_without_passages_has_no_message() -> None:
    context = provide()
    assert (context.instructions, context.messages, context.blocks) == (None, (), ())


def test_a_small_budget_reads_few_passages() -> None:
    class Counted(tuple[KnowledgePassage, ...]):
        __slots__ = ()
        touched = 0

        def __iter__(self) -> Any:
            for one in super().__iter__():
                Counted.touched += 1
                yield one

    many = Counted(passage(f"f{name}/x", None, "x" * 40) for name in range(10_000))
    context = provide(many, token_budget=500)
    assert len(context.blocks) < Counted.touched < 4 * len(context.blocks)
    assert context.left_out == 10_000 - len(context.blocks)


@pytest.mark.parametrize("fee", [0, 30, 10_000])
def test_a_provider_counts_few_long_texts_and_none_twice(fee: int) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return quarter(text) + fee

    many = [passage(f"f{name}/x", None, "x" * 40) for name in range(5000)]
    context = provide(many, token_budget=30_000, count_tokens=count)
    assert len(context.blocks) > 500
    assert len(counted) == len(set(counted))
    assert sum(len(text) > 1000 for text in counted) < 60
    counted.clear()
    provide([passage("a", None, "line\n" * 30_000)], token_budget=30_000, count_tokens=count)
    assert len(counted) == len(set(counted)) < 60
