"""How the blocks of one side, knowledge or memory, fill its room (X6). Room is counted in tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeAlias, cast

from okf_catalog.provider.frame import SMALLEST, Block

__all__ = ["MOST_LEFT_OUT", "Left", "Placed", "Side"]

MOST_LEFT_OUT = 50
"""A side stops after this many passages in a row that do not fit, since hardly any later one would."""
CHARACTERS = 4
"""The first guess for the number of characters in a token."""
SLACK = 2
"""A text may have this many tokens fewer in a message than alone, besides the tokens of the empty text."""

Left: TypeAlias = Callable[[list[str]], int]
"""How many tokens are left if a side has these texts. They fit if the number is not negative."""


class Placed(NamedTuple):
    """A block that is in the message, with its text there."""

    block: Block
    text: str
    truncated: bool


class Side:
    """The blocks of one side, which are made when they are needed, and those that are in the message."""

    def __init__(self, blocks: Iterable[Block], count: Callable[[str], int]) -> None:
        self._source = iter(blocks)
        self._blocks: list[Block] = []
        self.count = count
        self.placed: list[Placed] = []

    def texts(self) -> list[str]:
        """The texts that are in the message."""
        return [text for _, text, _ in self.placed]

    def block(self, place: int) -> Block | None:
        """The block with this index, if there is one."""
        self._blocks += islice(self._source, max(place + 1 - len(self._blocks), 0))
        return self._blocks[place] if place < len(self._blocks) else None

    def fill(self, room: int, left: Left) -> None:
        """Fills the room from the start, unless every block is in the message whole already."""
        if self.block(len(self.placed)) is None and not any(one.truncated for one in self.placed):
            return
        # With a `count_tokens` that gives longer texts fewer tokens, perhaps nothing fits now. Then keep all.
        self.placed = _Filling(self, room, left).placed or self.placed


class _Filling:
    """Goes once through the blocks of a side; ``placed`` are those that fit."""

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
        """The tokens of a text alone, which is a hint for its tokens in the message."""
        return self._side.count(f"\n{text}") - self._side.count("")

    def _may_fit(self, text: str) -> bool:
        """Whether a text is worth trying: not if a text that is no larger did not fit."""
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

    def _place_whole(self, place: int) -> int:
        """Places whole blocks from this index on, until one does not fit. Returns how many."""
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
        """The blocks from this index on that should fit, by the tokens of each alone."""
        left, texts = self._left(self._texts()) + SLACK, list[str]()
        while (block := self._side.block(place + len(texts))) is not None:
            needed = self._needed(block, left)
            if needed is None or needed > left or not (texts or self._may_fit(block.whole)):
                break
            # The slack is for the first block only. Later ones must fit without it, so that few guesses fail.
            left -= needed if texts else needed + SLACK
            texts.append(block.whole)
        return texts

    def _needed(self, block: Block, left: int) -> int | None:
        """The tokens of a block alone; ``None`` if they are more than are left."""
        if not block.complete:
            return None
        # For a long text it is often enough to count the beginning.
        enough = 8 * (max(left, 0) + 8)
        if len(block.content) > 2 * enough and self._alone(block.content[:enough]) > left:
            return None
        return self._alone(block.whole)

    def _place_cut(self, block: Block, *, others_wait: bool) -> bool:
        """Places the part of a block that fits, if it is useful."""
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
        """Lengthens the blocks that were limited to half of the room, into what the others have left."""
        for place, part in self._halved:
            left = partial(self._left_with, place, part)
            text = part.text(_furthest(part.kept, len(part.block.content), left))
            self.placed[place] = Placed(part.block, text, truncated=True)

    def _left_with(self, place: int, part: _Part, kept: int) -> int:
        """How many tokens are left if the text at this index is so many characters of a block."""
        texts = self._texts()
        return self._left([*texts[:place], part.text(kept), *texts[place + 1 :]])

    def _left_of_half(self, part: _Part, kept: int) -> int:
        return self._half - self._alone(part.text(kept))


@dataclass
class _Part:
    """The beginning of a block: ``kept`` characters, and never fewer than ``least``."""

    block: Block
    least: int
    kept: int

    def text(self, kept: int) -> str:
        return self.block.cut(kept) or self.block.cut(self.least) or self.block.emptied


def _fitting(texts: list[str], fits: Callable[[list[str]], bool]) -> int:
    """How many of the texts fit together. All are expected to, so the search starts there and goes down."""
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
    """The largest number that fits, from ``good`` on and below ``bad``. ``good`` fits.

    It tries the number that would fit if all characters had equally many tokens, and every third time the
    middle, so that few texts are counted.
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
