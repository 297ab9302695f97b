"""The token budget, and how the two sides fill it (X3, X6)."""

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple, TypeAlias

from okf_catalog.provider.frame import Block, joined
from okf_catalog.provider.side import Placed, Side

__all__ = ["CountTokens"]

CountTokens: TypeAlias = Callable[[str], int]
"""Returns how many tokens a text has."""

CHARACTERS_PER_TOKEN = 4
"""The estimate takes this many code points for one token (X3)."""


def estimated_tokens(text: str) -> int:
    """The tokens of a text, if the host does not count them (X3)."""
    return tokens_of_length(len(text))


def tokens_of_length(code_points: int) -> int:
    """The tokens of so many code points: a quarter, rounded up (X3)."""
    return -(-code_points // CHARACTERS_PER_TOKEN)


def share_of(budget: int, share: float) -> int:
    """A share of a budget, rounded down (X6)."""
    # A float is exact up to 53 bits. A larger budget is multiplied in whole numbers.
    if budget.bit_length() <= 53:
        return min(math.floor(budget * share), budget)
    numerator, denominator = share.as_integer_ratio()
    return budget * numerator // denominator


class Spent(NamedTuple):
    """The blocks that fit the budget: those of the knowledge side, then those of the memory side."""

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

    First each side fills its share. Then knowledge fills what is left of the whole budget, and after it
    memory. Each side ends up as if it had had this room from the start.

    A side takes its blocks in order, and a block that fits is taken whole. A block that does not fit is cut,
    or left out if nothing useful of it would fit, and the side goes on with the next one. It stops when less
    is left than any block needs, or after ``MOST_LEFT_OUT`` blocks in a row that were left out. A block that
    is cut takes at most half of the room of its side while other blocks wait, if something useful fits into
    that half, so that no passage keeps out all others. What the others leave is given back to it in the end.

    The text that is counted is always the message as it would be: blocks, tags and the newlines between
    them. Every text that is chosen was counted and fits, however ``count_tokens`` counts. If a longer text
    never has fewer tokens, which holds for every tokenizer up to a few tokens, nothing more would fit.

    The tokens of a block alone are only a hint that says where to search, so that few long texts are counted.
    Blocks are made when they are needed.
    """
    # Each side is filled twice, so many texts would be counted again.
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
