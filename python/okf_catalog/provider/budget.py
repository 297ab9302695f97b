"""How many passages there is room for (X3, X6)."""

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple, TypeAlias

from okf_catalog.provider.frame import Block, joined
from okf_catalog.provider.side import Placed, Side

__all__ = ["CountTokens"]

CountTokens: TypeAlias = Callable[[str], int]
"""Says how many tokens a text has."""

CHARACTERS_PER_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """What a text counts unless the host counts (X3)."""
    return tokens_of_length(len(text))


def tokens_of_length(code_points: int) -> int:
    """Code points by four, rounded up (X3)."""
    return -(-code_points // CHARACTERS_PER_TOKEN)


def share_of(budget: int, share: float) -> int:
    """A share of a budget, rounded down (X6)."""
    # As exact as the product of two numbers can be, and never more than the whole.
    if budget.bit_length() <= 53:
        return min(math.floor(budget * share), budget)
    numerator, denominator = share.as_integer_ratio()
    return budget * numerator // denominator


class Spent(NamedTuple):
    """Blocks that fit a budget together: those of the knowledge side, then those of the memory side."""

    placed: list[Placed]
    text: str
    tokens: int


def spend(
    knowledge: Iterable[Block],
    memory: Iterable[Block],
    *,
    budget: int,
    knowledge_share: float,
    memory_share: float,
    count_tokens: CountTokens,
) -> Spent:
    """Fills a budget (X6).

    First each side fills its share, then knowledge and at last memory fill what is left of the whole: each
    ends as if that had been its room from the start.

    A side takes its blocks in order, whole if they fit. One that does not is cut to what fits, or left out if
    nothing useful does, and the side goes on with the next one. It stops when less is left than any block
    needs, or after ``MOST_LEFT_OUT`` in a row that had no room. What is cut takes at most half of the room of
    its side while others wait, if something useful fits there: no passage keeps all others away. What they
    leave makes it longer at last.

    Counted is always the text as it would stand there: blocks, tags and the newlines between them. Every
    text that is settled on was counted and fits, however ``count_tokens`` counts. Where longer texts count
    for as much or more, as with every tokenizer but for a token here and there, nothing more would fit.

    What blocks count alone is only a hint: it says where to look, so that few long texts are counted. Blocks
    are taken as they are needed.
    """
    # The same text is asked about again when a side goes on, and at the end.
    count = cache(count_tokens)
    one, other = Side(knowledge, count), Side(memory, count)
    share_of_one, share_of_other = share_of(budget, knowledge_share), share_of(budget, memory_share)

    def left(limit: int, texts: list[str]) -> int:
        return limit - count(joined(texts)) if texts else limit

    one.fill(share_of_one, lambda texts: left(share_of_one, texts))
    known = one.texts()
    other.fill(share_of_other, lambda texts: min(left(share_of_other, texts), left(budget, [*known, *texts])))
    remembered = other.texts()
    one.fill(left(budget, remembered), lambda texts: left(budget, [*texts, *remembered]))
    known = one.texts()
    other.fill(left(budget, known), lambda texts: left(budget, [*known, *texts]))
    placed = [*one.placed, *other.placed]
    text = joined([text for _, text, _ in placed])
    return Spent(placed, text, count(text) if placed else 0)
