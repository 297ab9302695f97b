"""Rust source as tokens, without comments and without what is compiled for tests only."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

TOKEN = re.compile(
    r"""
      (?P<space>(?:\s+ | //[^\n]*)+)
    | (?P<comment>/\*)
    | (?P<string>
          (?:b|c)?r(?P<hashes>\#*)".*?"(?P=hashes)
        | (?:b|c)?"(?:\\.|[^"\\])*"
        | b?'(?:\\(?:u\{[^}]*\}|x[0-9a-fA-F]{2}|.)|[^\\'\n])'
      )
    | (?P<word>'?(?:r\#)?\w+)
    | (?P<sign>::|.)
    """,
    re.VERBOSE | re.DOTALL,
)
COMMENT_EDGE = re.compile(r"/\*|\*/")
OPENING = {"(": ")", "[": "]", "{": "}"}

# What an attribute stands before ends at its first block or at a semicolon, whichever comes first; these at a
# semicolon only; and what starts with none of these words (a field, a match arm) at a comma too.
HAS_BLOCK = {
    "async",
    "enum",
    "extern",
    "fn",
    "impl",
    "macro_rules",
    "mod",
    "struct",
    "trait",
    "union",
    "unsafe",
}
ENDS_AT_SEMICOLON = {"const", "let", "static", "type", "use"}


class Token(NamedTuple):
    """A word, a sign, or `""` in place of any text or character literal."""

    text: str
    line: int


@cache
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a Rust file."""
    found: list[Token] = []
    at = 0
    line = 1
    while (match := TOKEN.match(text, at)) is not None:
        kind = match.lastgroup if match.lastgroup != "hashes" else "string"
        end = comment_end(text, match.end()) if kind == "comment" else match.end()
        if kind in {"word", "sign"}:
            found.append(Token(match.group().removeprefix("r#"), line))
        elif kind == "string":
            found.append(Token('""', line))
        if kind not in {"word", "sign"}:
            line += text.count("\n", at, end)
        at = end
    return tuple(found)


def comment_end(text: str, at: int) -> int:
    """Where the block comment ends whose `/*` ends at `at`; comments can stand in comments."""
    depth = 1
    while depth and (edge := COMMENT_EDGE.search(text, at)) is not None:
        depth += 1 if edge.group() == "/*" else -1
        at = edge.end()
    return at if not depth else len(text)


def is_name(text: str) -> bool:
    """Whether a token is a word that can name something (no lifetime, no number)."""
    return text[0].isalpha() or text[0] == "_"


def closing(found: Sequence[Token]) -> dict[int, int]:
    """For each opening bracket, the place of the one that closes it."""
    pairs: dict[int, int] = {}
    open_brackets: list[int] = []
    for at, token in enumerate(found):
        if token.text in OPENING:
            open_brackets.append(at)
        elif open_brackets and token.text == OPENING[found[open_brackets[-1]].text]:
            pairs[open_brackets.pop()] = at
    return pairs


def without_tests(found: Sequence[Token]) -> tuple[list[Token], set[str]]:
    """The tokens without items for tests only, and the names of the child files that are such items."""
    pairs = closing(found)
    kept: list[Token] = []
    child_files: set[str] = set()
    at = 0
    while at < len(found):
        if is_test_attribute(found, at, pairs):
            end = item_end(found, pairs[at + 1] + 1, pairs)
            words = [token.text for token in found[at:end]]
            if words[-1:] == [";"] and "mod" in words:
                child_files.add(words[-2])
            at = end
        else:
            kept.append(found[at])
            at += 1
    return kept, child_files


def is_test_attribute(found: Sequence[Token], at: int, pairs: dict[int, int]) -> bool:
    """Whether `#[test]` or a `#[cfg(…)]` that asks for `test` starts at `at`."""
    if found[at].text != "#" or at + 1 not in pairs:
        return False
    words = [token.text for token in found[at + 2 : pairs[at + 1]]]
    return words == ["test"] or (
        words[:1] == ["cfg"]
        and "test" in words
        and words[words.index("test") - 2 : words.index("test")] != ["not", "("]
    )


def item_end(found: Sequence[Token], at: int, pairs: dict[int, int]) -> int:
    """Where the item ends that starts at `at`, further attributes included."""
    while at + 1 < len(found) and found[at].text == "#":
        at = pairs[at + 1] + 1
    if found[at].text == "pub":
        at = pairs.get(at + 1, at) + 1 if found[at + 1].text == "(" else at + 1
    word = "fn" if found[at + 1].text in {"async", "fn", "unsafe"} else found[at].text
    while at < len(found) and found[at].text not in {"}", ")", "]"}:
        text = found[at].text
        if text == ";" or (text == "," and word not in HAS_BLOCK | ENDS_AT_SEMICOLON):
            return at + 1
        at = pairs.get(at, at) + 1
        if text == "{" and word not in ENDS_AT_SEMICOLON:
            return at
    return at
