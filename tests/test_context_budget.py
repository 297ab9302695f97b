"""How a budget is spent (X3, X6, X7): compared with the same thing said slowly, whatever is drawn."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from okf_catalog import KnowledgeContextProvider, KnowledgePassage, SourceRole
from providing import TRUNCATED, Resolver, Store, concepts, passage, text_of, unexpected, user

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okf_catalog import ProvidedContext


MORE = 4 * settings().max_examples
"""An example costs some milliseconds here."""


def provide(
    knowledge: Sequence[KnowledgePassage] = (), memory: Sequence[KnowledgePassage] = (), **options: Any
) -> ProvidedContext:
    options.setdefault("on_internal_error", unexpected)
    provider = KnowledgeContextProvider(Resolver(knowledge), Store(memory), **options)
    return provider.provide([user("word")])


def lines_of(role: str, one: KnowledgePassage) -> tuple[str, list[str]]:
    """The opening tag of a passage without peculiarities, and what follows."""
    opening = f'<okf-context id="{role}:{one.source_id}:{one.concept_id}">'
    return opening, ([one.title] if one.title else []) + one.excerpt.split("\n")


def whole(role: str, one: KnowledgePassage) -> str:
    opening, lines = lines_of(role, one)
    return "\n".join([opening, *lines, "</okf-context>"])


def cut(role: str, one: KnowledgePassage, kept: int) -> str:
    opening, lines = lines_of(role, one)
    return "\n".join([opening, *lines[:kept], TRUNCATED, "</okf-context>"])


# The model: X6 and X7 as they are written, from the start each time


def fill(role: str, passages: Sequence[KnowledgePassage], fits: Callable[[list[str]], bool]) -> list[str]:
    texts: list[str] = []
    for one in passages:
        if fits([*texts, whole(role, one)]):
            texts.append(whole(role, one))
            continue
        for kept in reversed(range(1, len(lines_of(role, one)[1]))):
            if fits([*texts, cut(role, one, kept)]):
                return [*texts, cut(role, one, kept)]
        return texts
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
    known = fill("knowledge", order, lambda texts: counted(texts) <= share)
    remembered = fill(
        "memory",
        memory,
        lambda texts: counted(texts) <= other_share and counted([*known, *texts]) <= budget,
    )
    known = fill("knowledge", order, lambda texts: counted([*texts, *remembered]) <= budget)
    remembered = fill("memory", memory, lambda texts: counted([*known, *texts]) <= budget)
    return [*known, *remembered]


def quarter(text: str) -> int:
    return math.ceil(len(text) / 4)


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

titles = st.none() | st.text("ab é", min_size=1, max_size=30).filter(lambda text: not text.isspace())
excerpts = st.text("ab é\n", max_size=80)


@st.composite
def sides(draw: st.DrawFn) -> list[KnowledgePassage]:
    names = st.sampled_from(["a", "b/x", "b/y", "b/z/w", "c/x", "c/y", "d"])
    places = draw(st.lists(st.tuples(st.sampled_from("st"), names), max_size=12, unique=True))
    return [passage(name, draw(titles), draw(excerpts), source) for source, name in places]


shares = st.sampled_from(
    [(0.6, 0.4), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.0, 0.0), (0.3, 0.1)]
) | st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda pair: sum(pair) <= 1)


@settings(max_examples=MORE)
@given(sides(), sides(), st.integers(-5, 700), shares, st.sampled_from(sorted(GROWING)))
def test_a_budget_is_spent_as_it_is_written(
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
def test_no_message_exceeds_its_budget_however_it_is_counted(
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
    # Nothing is repeated, each side is taken from the top, and only the last of a side is cut.
    for role, given_side in ((SourceRole.KNOWLEDGE, rotate(knowledge)), (SourceRole.MEMORY, memory)):
        blocks = [block for block in context.blocks if block.role is role]
        assert [(block.source_id, block.concept_id) for block in blocks] == [
            (one.source_id, one.concept_id) for one in given_side[: len(blocks)]
        ]
        assert not any(block.truncated for block in blocks[:-1])
        for block, one in zip(blocks, given_side, strict=False):
            kept = block.text.count("\n") - 2
            assert block.text == (cut(role.value, one, kept) if block.truncated else whole(role.value, one))
    roles = [block.role for block in context.blocks]
    assert roles == sorted(roles, key=list(SourceRole).index)


@given(sides())
def test_families_take_turns(knowledge: list[KnowledgePassage]) -> None:
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


def test_one_family_stays_as_it_is_and_memory_is_not_rotated() -> None:
    names = ["a/1", "a/3", "a/2"]
    assert concepts(provide([passage(name) for name in names])) == names
    names = ["a/1", "a/2", "b/1"]
    assert concepts(provide(memory=[passage(name) for name in names])) == names


def test_four_code_points_are_a_token_rounded_up() -> None:
    block = whole("knowledge", passage("a", None, "é" * 10))
    assert len(block) == 58
    tokens = math.ceil(len(block) / 4)
    for budget, expected in ((tokens, ["a"]), (tokens - 1, [])):
        options: dict[str, Any] = {"token_budget": budget, "knowledge_budget_share": 1.0}
        context = provide([passage("a", None, "é" * 10)], memory_budget_share=0, **options)
        assert concepts(context) == expected
        assert context.tokens == (tokens if expected else 0)


def test_shares_are_rounded_down() -> None:
    one = whole("knowledge", passage("a", None, "x"))
    remembered = passage("m", None, "y" * 200)
    budget = 2 * len(one) + 1
    options: dict[str, Any] = {"token_budget": budget, "count_tokens": len, "memory_budget_share": 0.5}
    # Half of an odd budget is one whole block and not a letter more.
    assert concepts(
        provide([passage("a", None, "x")], [remembered], knowledge_budget_share=0.5, **options)
    ) == ["a"]


@pytest.mark.parametrize("budget", [2**53 + 1, 10**30, 10**400])
def test_no_budget_is_too_large(budget: int) -> None:
    knowledge, memory = [passage("a", "t", "x")], [passage("m", "t", "x")]
    assert concepts(provide(knowledge, memory, token_budget=budget)) == ["a", "m"]
    taken: list[int] = []

    def count(text: str) -> int:
        taken.append(len(text))
        return math.floor(budget * 3 // 5) + 1

    # More than the share of knowledge, less than the whole: one block, which came second.
    context = provide(knowledge, memory, token_budget=budget, count_tokens=count)
    assert concepts(context) == ["a", "m"]
    assert context.tokens == budget * 3 // 5 + 1


def test_what_memory_leaves_goes_to_knowledge() -> None:
    knowledge = [passage(name, None, "x" * 40) for name in "abcde"]
    size = len("\n".join(whole("knowledge", one) for one in knowledge))
    context = provide(knowledge, token_budget=size, count_tokens=len)
    assert concepts(context) == ["a", "b", "c", "d", "e"]
    assert context.tokens == size


def test_what_knowledge_leaves_goes_to_memory() -> None:
    memory = [passage(name, None, "x" * 40) for name in "abcde"]
    size = len("\n".join(whole("memory", one) for one in memory))
    assert concepts(provide((), memory, token_budget=size, count_tokens=len)) == ["a", "b", "c", "d", "e"]


def test_each_side_has_its_share_though_the_other_could_take_all() -> None:
    knowledge = [passage(f"k{name}", None, "x" * 40) for name in range(50)]
    memory = [passage(f"m{name}", None, "x" * 40) for name in range(50)]
    size = len(whole("knowledge", knowledge[0])) + 1
    context = provide(knowledge, memory, token_budget=size * 10, count_tokens=len)
    assert concepts(context) == [*(f"k{name}" for name in range(6)), *(f"m{name}" for name in range(4))]


def test_what_both_leave_goes_to_knowledge_first() -> None:
    knowledge = [passage(f"k{name}", None, "x" * 43) for name in range(50)]
    memory = [passage(f"m{name}", None, "x" * 46) for name in range(50)]
    size = len(whole("knowledge", knowledge[0])) + 1
    options: dict[str, Any] = {"knowledge_budget_share": 0.2, "memory_budget_share": 0.2}
    context = provide(knowledge, memory, token_budget=size * 10, count_tokens=len, **options)
    assert concepts(context) == [*(f"k{name}" for name in range(8)), "m0", "m1"]


def test_a_block_that_does_not_fit_is_cut_at_whole_lines_and_says_so() -> None:
    long = passage("a", "A title", "one\ntwo\nthree " + "x" * 300)
    for kept, last in ((3, "two"), (2, "one"), (1, "A title")):
        text = cut("knowledge", long, kept)
        context = provide([long], token_budget=len(text), count_tokens=len)
        assert text_of(context) == text
        assert text.splitlines()[-3:] == [last, TRUNCATED, "</okf-context>"]
        assert concepts(context) == ["a…"]
    context = provide([long], token_budget=len(cut("knowledge", long, 1)) - 1, count_tokens=len)
    assert (context.messages, context.left_out) == ((), 1)


def test_where_not_even_a_line_fits_the_side_stops() -> None:
    knowledge = [passage("a", None, "x"), passage("b", None, "x" * 300), passage("c", None, "x")]
    context = provide(knowledge, token_budget=200, count_tokens=len)
    assert concepts(context) == ["a"]
    assert context.left_out == 2


def test_a_block_that_was_cut_for_its_share_is_made_whole_with_what_is_left() -> None:
    one = passage("a", "A title", "x" * 100)
    size = len(whole("knowledge", one))
    assert size * 0.6 > len(cut("knowledge", one, 1))
    context = provide([one], token_budget=size, count_tokens=len)
    assert text_of(context) == whole("knowledge", one)


def test_nothing_found_is_no_message() -> None:
    context = provide()
    assert (context.instructions, context.messages, context.blocks) == (None, (), ())


def test_few_passages_are_looked_at_for_a_small_budget() -> None:
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


def test_few_long_texts_are_counted() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return quarter(text)

    many = [passage(f"f{name}/x", None, "x" * 40) for name in range(5000)]
    context = provide(many, token_budget=20_000, count_tokens=count)
    assert len(context.blocks) > 500
    assert sum(counted) < 4 * 20_000 * 40
    counted.clear()
    lines = passage("a", None, "line\n" * 20_000)
    provide([lines], token_budget=20_000, count_tokens=count)
    assert len(counted) < 60
