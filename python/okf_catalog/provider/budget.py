"""How many passages there is room for (X3, X6)."""

import math
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import NamedTuple, TypeAlias

from okf_catalog.provider.frame import Block, joined

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


class Placed(NamedTuple):
    """A block in the message, as it stands there."""

    block: Block
    text: str
    truncated: bool


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

    First each side fills its share, then knowledge and at last memory fill what is left of the whole. A side
    takes its blocks in order, whole, until one does not fit; that one is cut to as many lines as fit, if
    any, and the side stops. A side that goes on begins where it stopped: a block that was cut for lack of
    room is made longer, or whole, before the next one is taken. So at most the last block of a side is cut,
    and each side ends as if its share had been all that the other left.

    Counted is always the text as it would stand there: blocks, tags and the newlines between them. Every
    text that is settled on was counted and fits, however ``count_tokens`` counts. Where longer texts count
    for as much or more, as with every tokenizer but for a token here and there, nothing more would fit.

    What blocks count alone is only a hint: it says where to look, so that few long texts are counted. Blocks
    are taken as they are needed.
    """
    # The same text is asked about again when a side goes on, and at the end.
    count = cache(count_tokens)
    one, other = _Side(knowledge, count), _Side(memory, count)
    share_of_one, share_of_other = share_of(budget, knowledge_share), share_of(budget, memory_share)

    def within(limit: int, texts: list[str]) -> bool:
        return count(joined(texts)) <= limit

    one.fill(share_of_one, lambda texts: within(share_of_one, texts))
    other.fill(
        share_of_other,
        lambda texts: within(share_of_other, texts) and within(budget, [*one.texts(), *texts]),
    )
    one.fill(budget - other.tokens(), lambda texts: within(budget, [*texts, *other.texts()]))
    other.fill(budget - one.tokens(), lambda texts: within(budget, [*one.texts(), *texts]))
    placed = [*one.placed(), *other.placed()]
    text = joined([text for _, text, _ in placed])
    return Spent(placed, text, count(text) if placed else 0)


class _Side:
    """The blocks of one side: so many of them whole, and of the one after them so many lines."""

    def __init__(self, blocks: Iterable[Block], count: CountTokens) -> None:
        self._source = iter(blocks)
        self._count = count
        self._blocks: list[Block] = []
        self._texts: list[str] = []
        self._whole = 0
        self._lines = 0

    def texts(self) -> list[str]:
        """What stands in the message."""
        return self._texts[: self._whole] + ([self._cut(self._lines)] if self._lines else [])

    def tokens(self) -> int:
        """What that counts."""
        return self._count(joined(texts)) if (texts := self.texts()) else 0

    def placed(self) -> list[Placed]:
        """What stands in the message, and of which block it is."""
        whole = self._whole
        return [
            Placed(block, text, place >= whole)
            for place, (block, text) in enumerate(zip(self._blocks, self.texts(), strict=False))
        ]

    def fill(self, room: int, fits: Callable[[list[str]], bool]) -> None:
        """Goes on as far as the texts fit, which should be until they count about ``room``."""
        whole = self._furthest_whole(self._expected(room), lambda blocks: fits(self._texts[:blocks]))
        if whole > self._whole:
            self._whole, self._lines = whole, 0
        if self._drawn(whole + 1) == whole:
            return
        before, lines = self._texts[:whole], len(self._blocks[whole].lines)
        self._lines = _furthest(self._lines, lines, lambda kept: fits([*before, self._cut(kept)]))

    def _furthest_whole(self, expected: int, fits: Callable[[int], bool]) -> int:
        """How many blocks fit, which is never fewer than before; looks around the number expected."""
        fitting, step = self._whole, 1
        if expected > fitting and not fits(expected):
            while expected - step > fitting and not fits(expected - step):
                expected, step = expected - step, 2 * step
            return _furthest(max(expected - step, fitting), expected, fits)
        fitting = max(expected, fitting)
        while (reach := self._drawn(fitting + step)) > fitting:
            if not fits(reach):
                return _furthest(fitting, reach, fits)
            fitting, step = reach, 2 * step
        return fitting

    def _expected(self, room: int) -> int:
        """How many blocks should fit, by what each counts alone."""
        blocks = 0
        while self._drawn(blocks + 1) > blocks:
            room -= self._count(f"{self._texts[blocks]}\n")
            if room < 0:
                break
            blocks += 1
        return blocks

    def _drawn(self, wanted: int) -> int:
        """How many blocks there are, of so many that are wanted."""
        for block in islice(self._source, max(wanted - len(self._blocks), 0)):
            self._blocks.append(block)
            self._texts.append(block.text)
        return min(wanted, len(self._blocks))

    def _cut(self, lines: int) -> str:
        return self._blocks[self._whole].cut(lines)


def _furthest(good: int, bad: int, fits: Callable[[int], bool]) -> int:
    """The largest number below ``bad``, from ``good`` on, that fits; ``good`` is not asked about."""
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(middle):
            good = middle
        else:
            bad = middle
    return good
