"""How the blocks of one side fill the room it has (X6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeAlias, cast

from okf_catalog.provider.frame import SMALLEST, Block

__all__ = ["MOST_LEFT_OUT", "Left", "Placed", "Side"]

MOST_LEFT_OUT = 50
"""After so many passages in a row that have no room a side stops: hardly any other would have room."""
CHARACTERS = 4
"""How many characters a token should have, to begin with."""
SLACK = 2
"""By how many tokens a text may count less in a message than alone, apart from what the empty text counts."""

Left: TypeAlias = Callable[[list[str]], int]
"""How many tokens are left if a side has these texts. They fit if that is not negative."""


class Placed(NamedTuple):
    """A block in the message, as it stands there."""

    block: Block
    text: str
    truncated: bool


class Side:
    """The blocks of one side, which are taken as they are needed, and those that are placed."""

    def __init__(self, blocks: Iterable[Block], count: Callable[[str], int]) -> None:
        self._source = iter(blocks)
        self._blocks: list[Block] = []
        self.count = count
        self.placed: list[Placed] = []

    def texts(self) -> list[str]:
        """What stands in the message."""
        return [text for _, text, _ in self.placed]

    def block(self, place: int) -> Block | None:
        """The block of that number, if there is one."""
        self._blocks += islice(self._source, max(place + 1 - len(self._blocks), 0))
        return self._blocks[place] if place < len(self._blocks) else None

    def fill(self, room: int, left: Left) -> None:
        """Fills the room from the start, unless all there is stands in the message already."""
        if self.block(len(self.placed)) is None and not any(one.truncated for one in self.placed):
            return
        # Where longer texts may count less, perhaps nothing fits beside what the other side has now.
        self.placed = _Filling(self, room, left).placed or self.placed


class _Filling:
    """One way through the blocks of a side; ``placed`` is what fits."""

    def __init__(self, side: Side, room: int, left: Left) -> None:
        self._side = side
        self._half = room // 2
        self._left = left
        self._halved: list[tuple[int, _Part]] = []
        self._refused: list[tuple[int, int]] = []
        self.placed: list[Placed] = []
        place = left_out = 0
        while left_out < MOST_LEFT_OUT:
            if fitting := self._place_whole(place):
                place, left_out = place + fitting, 0
            block = side.block(place)
            if block is None or not self._may_fit(SMALLEST):
                break
            place += 1
            cut = self._place_cut(block, others_wait=side.block(place) is not None)
            left_out = 0 if cut else left_out + 1
        self._lengthen()

    def _texts(self) -> list[str]:
        return [text for _, text, _ in self.placed]

    def _alone(self, text: str) -> int:
        """What a text counts alone, which is a hint to what it counts in the message."""
        return self._side.count(f"\n{text}") - self._side.count("")

    def _may_fit(self, text: str) -> bool:
        """Whether a text should fit: whoever is as large as one that did not is not tried."""
        alone = self._alone(text)
        if any(alone >= tokens and len(text) >= length for tokens, length in self._refused):
            return False
        return alone <= self._left(self._texts()) + SLACK

    def _fits(self, text: str) -> bool:
        """Whether a text fits now."""
        if not self._may_fit(text):
            return False
        if self._left([*self._texts(), text]) >= 0:
            return True
        self._refused.append((self._alone(text), len(text)))
        return False

    # Whole blocks

    def _place_whole(self, place: int) -> int:
        """Places blocks from that number on, until one does not fit; says how many."""
        first = place
        while texts := self._expected(place):
            before = self._texts()
            if len(texts) == 1:
                fitting = int(self._fits(texts[0]))
            else:
                fitting = _fitting(texts, lambda some: self._left([*before, *some]) >= 0)  # noqa: B023
            for text in texts[:fitting]:
                self._place(cast("Block", self._side.block(place)), text, truncated=False)
                place += 1
            if fitting < len(texts):
                break
        return place - first

    def _place(self, block: Block, text: str, *, truncated: bool) -> None:
        self.placed.append(Placed(block, text, truncated))
        self._refused.clear()

    def _expected(self, place: int) -> list[str]:
        """The blocks from that number on that should fit, by what each counts alone."""
        left, texts = self._left(self._texts()) + SLACK, list[str]()
        while (block := self._side.block(place + len(texts))) is not None:
            needed = self._needed(block, left)
            if needed is None or needed > left or not (texts or self._may_fit(block.whole)):
                break
            # Only for the first one: what it leaves is measured before it is believed that more fits.
            left -= needed if texts else needed + SLACK
            texts.append(block.whole)
        return texts

    def _needed(self, block: Block, left: int) -> int | None:
        """What a block counts alone; ``None`` if that is more than what is left."""
        if not block.complete:
            return None
        # Of a long text only the beginning is counted, if that is too much already.
        enough = 8 * (max(left, 0) + 8)
        if len(block.content) > 2 * enough and self._alone(block.content[:enough]) > left:
            return None
        return self._alone(block.whole)

    # Cut blocks

    def _place_cut(self, block: Block, *, others_wait: bool) -> bool:
        """Places what fits of a block, if that is something useful."""
        if not self._may_fit(block.emptied) or (least := block.least()) is None:
            return False
        place, part = len(self.placed), _Part(block, least, least)
        if not self._fits(part.text(least)):
            return False
        part.kept = _furthest(least, len(block.content), partial(self._left_with, place, part))
        if others_wait and self._left_of_half(part, part.kept) < 0 <= self._left_of_half(part, least):
            half = _furthest(least, part.kept, partial(self._left_of_half, part))
            if self._left_with(place, part, half) >= 0:
                part.kept = half
                self._halved.append((place, part))
        self._place(block, part.text(part.kept), truncated=True)
        return True

    def _lengthen(self) -> None:
        """Gives what the others left to the blocks that had to leave them something."""
        for place, part in self._halved:
            left = partial(self._left_with, place, part)
            text = part.text(_furthest(part.kept, len(part.block.content), left))
            self.placed[place] = Placed(part.block, text, truncated=True)

    def _left_with(self, place: int, part: _Part, kept: int) -> int:
        """How many tokens are left if so much of a block is what stands at that place."""
        texts = self._texts()
        return self._left([*texts[:place], part.text(kept), *texts[place + 1 :]])

    def _left_of_half(self, part: _Part, kept: int) -> int:
        return self._half - self._alone(part.text(kept))


@dataclass
class _Part:
    """The beginning of a block: ``kept`` characters, never fewer than ``least``, which are useful."""

    block: Block
    least: int
    kept: int

    def text(self, kept: int) -> str:
        return self.block.cut(kept) or self.block.cut(self.least) or self.block.emptied


def _fitting(texts: list[str], fits: Callable[[list[str]], bool]) -> int:
    """How many of the texts fit together, which all should; looks from there downwards."""
    bad, step = len(texts) + 1, 1
    while bad - step > 0 and not fits(texts[: bad - step]):
        bad, step = bad - step, 2 * step
    good = max(bad - step, 0)
    while bad - good > 1:
        middle = (good + bad) // 2
        if fits(texts[:middle]):
            good = middle
        else:
            bad = middle
    return good


def _furthest(good: int, bad: int, left: Callable[[int], int]) -> int:
    """The largest number from ``good`` on and below ``bad`` of which something is left; ``good`` is one.

    Looks where it would be if every character counted alike, and between, so that few texts are counted.
    """
    rest, over, step = left(good), 0, 0
    turn = 0
    while bad - good > 1:
        turn += 1
        if not over:
            step = 2 * step or CHARACTERS * (rest + 1)
            middle = good + step
        elif turn % 3:
            middle = good + (bad - good) * rest // (rest + over)
        else:
            middle = (good + bad) // 2
        middle = min(max(middle, good + 1), bad - 1)
        if (value := left(middle)) >= 0:
            good, rest = middle, value
        else:
            bad, over = middle, -value
    return good
