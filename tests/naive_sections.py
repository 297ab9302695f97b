"""The sections of V9 in plain Python; see ``naive``.

A body is cut in three steps, each a function here:

1. ``blocks_of``: its blocks by CommonMark with tables, as ``markdown-it-py`` finds them. A list counts as its
   items; lines that define the targets of links are paragraphs; blank lines belong to no block.
2. ``divided``: a block of more than 2,000 characters in parts of at most 900.
3. ``joined``: one block or part after the other, while the section has at most 900 characters. A heading
   begins a section. What follows a heading belongs to it, and so does a deeper heading directly below it.

Characters are code points, positions are indices of the body.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from markdown_it import MarkdownIt
from naive_reading import WHITE_SPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

MOST_WHOLE = 2_000
MOST = 900
MOST_OF_HEADING = 200

MARKDOWN = MarkdownIt("commonmark").enable("table")
ENDS = ".!?…؟۔।॥։።។"
WIDE_ENDS = "。！？．｡"
CLOSERS = "\"')]*_`”’»」』）】》"


class Heading(NamedTuple):
    level: int
    text: str


class Block(NamedTuple):
    start: int
    end: int
    heading: Heading | None = None


class Section(NamedTuple):
    heading: tuple[str, ...]
    text: str
    first_line: int
    last_line: int
    """Lines count from 1 in the body."""


def cut(body: str) -> list[Section]:
    blocks = [part for block in blocks_of(body) for part in divided(body, block)]
    return [
        Section(path, body[start:end], body.count("\n", 0, start) + 1, body.count("\n", 0, end) + 1)
        for path, start, end in joined(blocks)
    ]


# Blocks


def blocks_of(body: str) -> list[Block]:
    lines = body.split("\n")
    spans = [*_spans(MARKDOWN.parse(body))]
    found = list[Block]()
    line = 0
    for first, after, heading in [*spans, (len(lines), len(lines), None)]:
        found += _paragraphs(lines, line, first)
        found += _block(lines, first, after, heading)
        line = max(line, after)
    return found


def _spans(tokens: Sequence[Token]) -> Iterator[tuple[int, int, Heading | None]]:
    """First line, line after the last, and heading of each block that the parser finds; lines from 0."""
    in_list = False
    for number, token in enumerate(tokens):
        if token.level == 0:
            in_list = token.type in ("bullet_list_open", "ordered_list_open")
        is_item = in_list and token.level == 1 and token.type == "list_item_open"
        if token.map is None or not (is_item or (token.level == 0 and not in_list)):
            continue
        first, end = token.map
        heading = None
        if token.type == "heading_open":
            heading = Heading(int(token.tag[1]), text_of_heading(tokens[number + 1].children or []))
        yield first, end, heading


def _paragraphs(lines: Sequence[str], first: int, after: int) -> Iterator[Block]:
    """The lines from one number to another, in blocks with blank lines between them."""
    start = first
    for number in range(first, after + 1):
        if number == after or not lines[number].strip(WHITE_SPACE):
            yield from _block(lines, start, number, None)
            start = number + 1


def _block(lines: Sequence[str], first: int, after: int, heading: Heading | None) -> Iterator[Block]:
    """The block of these lines, without the blank ones around them; none if all are blank."""
    while first < after and not lines[first].strip(WHITE_SPACE):
        first += 1
    text = "\n".join(lines[first:after]).rstrip(WHITE_SPACE)
    if text:
        start = sum(len(line) + 1 for line in lines[:first])
        yield Block(start, start + len(text), heading)


def text_of_heading(tokens: Sequence[Token]) -> str:
    text = "".join(_shown(tokens))
    attributes = re.search(r"\{[#.:][^{}]*\}\Z", text.rstrip(WHITE_SPACE))
    if attributes:
        text = text[: attributes.start()]
    text = " ".join(re.split(f"[{WHITE_SPACE}]+", text.strip(WHITE_SPACE)))
    if len(text) > MOST_OF_HEADING:
        kept = max(end for end in boundaries(text) if end < MOST_OF_HEADING)
        text = text[:kept] + "…"
    return text


def _shown(tokens: Sequence[Token]) -> Iterator[str]:
    """What a reader sees of inline markup. Images are shown as their text."""
    for token in tokens:
        if token.type == "image":
            yield from _shown(token.children or [])
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "html_inline":
            yield " " if re.match("<br[ />]", token.content, re.IGNORECASE) else ""
        else:
            yield token.content


# Parts


def divided(body: str, block: Block) -> Iterator[Block]:
    start, end, heading = block
    if end - start > MOST_WHOLE:
        while end - start > MOST:
            part, following = first_cut(body[start:end])
            yield Block(start, start + part, heading)
            start, heading = start + following, None
    yield Block(start, end, heading)


def first_cut(text: str) -> tuple[int, int]:
    """The end of the first part of a text, and the start of the next: the best of all places for it.

    Better than everything is a place in the second half of the characters that a part may have; then a line
    end is better than the end of a sentence, and that is better than white space; then the last one is best.
    """
    between = boundaries(text)
    places = list[tuple[bool, int, int, int]]()
    for end in range(1, MOST + 1):
        if text[end - 1] in WHITE_SPACE or end not in between:
            continue
        white = re.compile(f"[{WHITE_SPACE}]*").match(text, end)
        assert white
        following = end
        while following < white.end() and following + 1 in between:
            following += 1
        is_sentence = ends_sentence(text, end)
        if "\n" in white[0]:
            kind, following = 0, end + white[0].rindex("\n") + 1
        elif is_sentence:
            kind = 1
        elif following > end:
            kind = 2
        else:
            continue
        places.append((end < MOST // 2, kind, -end, following))
    if places:
        _, _, end, following = min(places)
        return -end, following
    inside = max((end for end in between if end <= MOST), default=0) or MOST
    return inside, inside


def ends_sentence(text: str, end: int) -> bool:
    """Whether a sentence ends in front of the index; quotes and brackets may close it."""
    open_text = text[max(end - 9, 0) : end].rstrip(CLOSERS)
    if not open_text or text[end - 1] not in CLOSERS + ENDS + WIDE_ENDS:
        return False
    if text[end] in WHITE_SPACE:
        return open_text[-1] in ENDS + WIDE_ENDS
    return open_text[-1] in WIDE_ENDS and text[end] not in CLOSERS + ENDS + WIDE_ENDS


def boundaries(text: str) -> set[int]:
    """The indices between two graphemes, and both ends."""
    regex: Any = importlib.import_module("regex")
    return {0, *(found.end() for found in regex.finditer(r"\X", text))}


# Sections


def joined(blocks: Sequence[Block]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """The path, the start and the end of each section."""
    sections = list[list[Block]]()
    for block in blocks:
        if sections and belongs(sections[-1], block):
            sections[-1].append(block)
        else:
            sections.append([block])
    path = list[Heading]()
    for section in sections:
        for block in section:
            if block.heading is not None:
                level = block.heading.level
                path = [*(above for above in path if above.level < level), block.heading]
        yield tuple(heading.text for heading in path if heading.text), section[0].start, section[-1].end


def belongs(section: Sequence[Block], block: Block) -> bool:
    """Whether a block is in the same section as those above it."""
    above = section[-1].heading
    only_headings = all(one.heading is not None for one in section)
    is_near = block.start - section[0].start <= MOST
    if block.heading is not None:
        return only_headings and is_near and above is not None and above.level < block.heading.level
    return block.end - section[0].start <= MOST or (only_headings and is_near)
