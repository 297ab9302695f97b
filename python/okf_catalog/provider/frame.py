"""The block of a passage in the message: its text between tags, whole or cut (X4, X6)."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from okf_catalog._engine import KnowledgePassage, is_blank, last_grapheme_end, passage_body
from okf_catalog.catalog.source import SourceRole
from okf_catalog.checks import check_kind
from okf_catalog.errors import RefusedValueError
from okf_catalog.provider.neutral import (
    LESS_THAN,
    neutralised,
    neutralised_attribute,
    place_of_tag_across,
    without_marks,
)
from okf_catalog.values import ConceptStatus

__all__ = ["Block", "BlockContent", "block_of", "check_content", "joined"]

BlockContent: TypeAlias = Literal["snippet", "body"]
"""What a block shows of a concept: the one line that answers best, or the whole body."""
CONTENTS = ("snippet", "body")

CLOSING = "</okf-context>"
STALE = "stale"
TRUNCATED = "… (truncated)"
SMALLEST = f'<okf-context id="memory::">\n\n{CLOSING}'
"""The shortest possible block."""

USEFUL = 20
"""The beginning of a line is useful from this many characters on; below another line, from twice as many."""
NEAR = 100
"""White space is looked for in this many characters before a cut."""

_BREAK = re.compile("\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]")
"""Everything that some reader takes for the end of a line."""
_BREAK_IN_LINE = re.compile("[\v-\r\x1c-\x1e\x85\u2028\u2029]")
_SAYS_SOMETHING = re.compile(r"^(?! {0,3}#{1,6}(?:\s|$))[^\n]*[^\W_]", re.MULTILINE)
"""A line with a letter or a digit that is not a heading."""
_ZERO_WIDTH_SPACE = "\u200b"
"""Marks the end of a word in scripts that are written without spaces."""


@dataclass(frozen=True)
class Block:
    """A passage as it is in the message: ``content`` between an opening and a closing tag.

    ``content`` is the title line, if there is one, and the lines below it, which begin at the index
    ``below_title``. If it is not ``complete``, the passage is longer, but the rest could not fit in any case.
    ``marks``, such as ``[draft]``, are appended to its first line.
    """

    role: SourceRole
    source_id: str
    concept_id: str
    opening: str
    content: str
    below_title: int
    complete: bool
    marks: str

    @cached_property
    def whole(self) -> str:
        """The whole block."""
        return self._framed(self.content)

    @property
    def emptied(self) -> str:
        """The block without any content. A block that is cut is never smaller."""
        return joined([self.opening, TRUNCATED, CLOSING])

    def least(self) -> int | None:
        """The fewest characters to keep for a useful block; ``None`` if it is never useful."""
        useless, useful = 0, min(USEFUL, len(self.content))
        while self.cut(useful) is None:
            if useful == len(self.content):
                return None
            useless, useful = useful, min(2 * useful, len(self.content))
        while useful - useless > 1:
            middle = (useless + useful) // 2
            if self.cut(middle) is None:
                useless = middle
            else:
                useful = middle
        return useful

    def cut(self, most: int) -> str | None:
        """The block with at most ``most`` characters of its content; ``None`` if that is not useful.

        The content is never kept whole. Whole lines are kept, except blank ones at the end. If these have no text besides a title and
        headings, the beginning of the next line is kept too. It ends at white space or, if there is none
        near, between two graphemes. A block is useful if it has a whole line that is not blank, or the
        beginning of one with at least ``USEFUL`` characters, twice as many below other lines.
        """
        most = min(most, len(self.content) - 1)
        if most < 1:
            return None
        ended = most if self.content[most] == "\n" else self.content.rfind("\n", 0, most)
        kept = self.content[: max(ended, 0)].rstrip()
        if ended < most and not _SAYS_SOMETHING.search(kept, self.below_title):
            least = 2 * USEFUL if kept else USEFUL
            started = _beginning(self.content[ended + 1 : most], self.content[most], least)
            if len(started.strip()) >= least:
                kept = self.content[: _outside_reference(self.content, ended + 1 + len(started))]
        # The end of the text and the line `… (truncated)` must not form a tag together.
        kept = kept[: place_of_tag_across(kept, TRUNCATED)].rstrip()
        return None if is_blank(kept) else self._framed(kept, TRUNCATED)

    def _framed(self, content: str, *more: str) -> str:
        first, line_end, others = content.partition("\n")
        first = f"{without_marks(first)} {self.marks}".strip(" ") if self.marks else without_marks(first)
        return joined([self.opening, first + line_end + others, *more, CLOSING])


def joined(texts: list[str]) -> str:
    """Joins lines to a block, or blocks to a message (X4)."""
    return "\n".join(texts)


def block_of(role: SourceRole, passage: KnowledgePassage, content: BlockContent, longest: int) -> Block:
    """The block of a passage from a source of this role.

    The lines of the text stay lines. Other characters that some reader takes for the end of a line become a
    space, and in the title every line break does (X5). At most ``longest`` characters of the title and of the
    body are used; blank lines at both ends of the body are dropped first. If the body is blank or not known,
    the snippet is used instead.

    The status of a concept that is not stable, and whether it is stale, are marks at the end of the first
    line: the title, or the text if there is no title. Text there that only looks like marks is neutralised.
    """
    source_id, concept_id, title = passage.source_id, passage.concept_id, passage.title
    text = (passage_body(passage) if content == "body" else None) or ""
    text = _without_blank_ends(text) or passage.snippet
    head = ""
    if title is not None and not is_blank(line := _BREAK.sub(" ", title[:longest])):
        head = f"{line}\n"
    lines = _BREAK_IN_LINE.sub(" ", text[:longest].replace("\r\n", "\n"))
    status = [passage.status.value] if passage.status is not ConceptStatus.STABLE else []
    marks = [f"[{mark}]" for mark in (*status, *([STALE] if passage.is_stale else []))]
    # All lines at once, since a tag may begin in one line and end in the next.
    lines = neutralised(head + lines)
    return Block(
        role,
        source_id,
        concept_id,
        f'<okf-context id="{neutralised_attribute(f"{role.value}:{source_id}:{concept_id}")}">',
        lines,
        lines.index("\n") + 1 if head else 0,
        complete=len(text) <= longest and len(title or "") <= longest,
        marks=" ".join(marks),
    )


def check_content(block_content: object) -> None:
    """Raises if the argument is not a ``BlockContent``.

    Raises:
        RefusedTypeError: it is not a ``str``.
        RefusedValueError: it is another ``str``.
    """
    expected = " or ".join(map(repr, CONTENTS))
    check_kind("block_content", block_content, str, expected)
    if block_content not in CONTENTS:
        raise RefusedValueError(f"block_content is {expected}, not {block_content!r}")


def _without_blank_ends(text: str) -> str:
    first = text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1
    return text[first:].rstrip()


def _outside_reference(content: str, place: int) -> int:
    """The index ``place``, or the start of the ``&lt;`` that ``place`` would cut."""
    before = content.rfind(LESS_THAN, max(place - len(LESS_THAN) + 1, 0), place + len(LESS_THAN) - 1)
    return place if before < 0 else before


def _beginning(started: str, following: str, least: int) -> str:
    """What to keep of a line: ``started`` is what fits of it, ``following`` the next character."""
    if following.isspace():
        return started
    indentation = len(started) - len(started.lstrip())
    nearest = max(len(started) // 2, len(started) - NEAR, indentation + least)
    for place in range(len(started) - 1, nearest - 1, -1):
        if started[place].isspace() or started[place] == _ZERO_WIDTH_SPACE:
            return started[:place].rstrip()
    if started[-1:].isascii() and following.isascii():
        return started
    return started[: last_grapheme_end(started + following, len(started))]
