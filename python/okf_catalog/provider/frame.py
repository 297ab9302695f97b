"""How a passage stands in the message: between tags that nothing in it can forge (X4, X5)."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from okf_catalog._engine import KnowledgePassage, is_blank
from okf_catalog.manifest import SourceRole

__all__ = ["Block", "block_of", "joined", "neutralised"]

CLOSING = "</okf-context>"
TRUNCATED = "… (truncated)"

_BREAK = re.compile("\r\n|[\n-\r\x1c-\x1e\x85\u2028\u2029]")
"""All that anybody takes for the end of a line."""
_LINE_END = re.compile("\r?\n")

_FORGED = "&lt;"
"""What a ``<`` becomes that would begin a tag of ours."""
_NAME = "okfcontext"
"""The name of the tag as ``_plain`` leaves it."""
_LEFT_BRACKETS = re.compile("[<≮﹤＜‹〈〈⟨❬❮❰˂]")
_SEEN_THROUGH = frozenset(
    "/\\-_~!?|&#;:=.'\"*+\u2043\u2044\u2212\u2215\u29f8\u02d7\u2500\u23af\u2796\u30fc\u115f\u1160\u2800\ufffc\ufffd"
)
"""Slashes, dashes, fillers, and marks that some reader might pass over."""
_ID_ESCAPES = {"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"}
_ID_ESCAPED = re.compile('[&"<>\x00-\x1f\x7f-\x9f\u2028\u2029]')


@dataclass(frozen=True, slots=True)
class Block:
    """A passage as it stands in the message: ``lines`` between an opening and a closing tag."""

    role: SourceRole
    source_id: str
    concept_id: str
    opening: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole block."""
        return joined([self.opening, *self.lines, CLOSING])

    def cut(self, kept: int) -> str:
        """The block with only its first lines, and a line that says so."""
        return joined([self.opening, *self.lines[:kept], TRUNCATED, CLOSING])


def joined(texts: list[str]) -> str:
    """Lines to a block, blocks to a message (X4)."""
    return "\n".join(texts)


def block_of(role: SourceRole, passage: KnowledgePassage, longest: int | None = None) -> Block:
    """The block of a passage that comes from a source of that role.

    Lines are what the excerpt has of them; whatever else ends a line somewhere becomes a space, in the title
    every line break (X5). Of a line that is longer than ``longest``, for which there is no room, only so
    much is looked at, and the rest is dropped.
    """
    source_id, concept_id, title = passage.source_id, passage.concept_id, passage.title
    lines = [_one_line(line[:longest]) for line in _LINE_END.split(passage.excerpt)]
    if title is not None and not is_blank(title := _one_line(title[:longest])):
        lines.insert(0, title)
    # Together: a tag may begin in one line and go on in the next.
    content = neutralised(joined(lines))
    opening = f'<okf-context id="{_attribute(f"{role.value}:{source_id}:{concept_id}")}">'
    return Block(role, source_id, concept_id, opening, tuple(content.split("\n")))


def _one_line(text: str) -> str:
    return _BREAK.sub(" ", text)


def _attribute(text: str) -> str:
    return neutralised(_ID_ESCAPED.sub(_escape, text))


def _escape(match: re.Match[str]) -> str:
    return _ID_ESCAPES.get(match[0]) or f"&#{ord(match[0])};"


def neutralised(text: str) -> str:
    """The text, with ``&lt;`` for each ``<`` that begins an opening or closing ``okf-context`` tag (X5).

    In any case, with white space, slashes, controls, combining or invisible characters anywhere, in
    compatibility forms such as full-width ones, with any dash or none: whatever a lenient reader could take
    for the tag. Letters of other scripts that merely look alike are other letters.
    """
    parts: list[str] = []
    done = 0
    for bracket in _LEFT_BRACKETS.finditer(text):
        if _name_follows(text, bracket.end()):
            parts += (text[done : bracket.start()], _FORGED)
            done = bracket.end()
    return "".join([*parts, text[done:]]) if parts else text


def _name_follows(text: str, start: int) -> bool:
    matched = 0
    # Ends at the next bracket at the latest: no text takes more than linear time.
    for place in range(start, len(text)):
        for character in _plain(text[place]):
            if character != _NAME[matched]:
                return False
            matched += 1
            if matched == len(_NAME):
                return True
    return False


@lru_cache(maxsize=4096)
def _plain(character: str) -> str:
    """The letters and symbols a reader sees in a character, in lower case; none if it is seen through."""
    return "".join(
        part
        for part in unicodedata.normalize("NFKD", character).casefold()
        # Marks, spaces, controls and their kin, dashes.
        if part not in _SEEN_THROUGH and unicodedata.category(part)[0] not in "MZC"
        if unicodedata.category(part) != "Pd"
    )
