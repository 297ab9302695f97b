"""The part of the model that reads one file (B3 to B7, L1, L2, L5), in plain Python.

PyYAML reads most of what common readers read. The rest is read line by line here.
"""

from __future__ import annotations

import codecs
import itertools
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

Node: TypeAlias = "str | list[Node] | dict[str, Node] | None"
"""A frontmatter value: a scalar's text, ``None`` for a plain null, a list, or a dict."""

WHITE_SPACE = (
    "\t\n\v\f\r \u0085\u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""All characters with the Unicode property of this name; ``str.split`` knows others too (K1)."""

MARK = "\ufeff"
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
STATUSES = ("draft", "stable", "deprecated")
TEXTS = ("title", "description", "type", "status", "stale_after")
"""Fields that are taken as they stand if they are no YAML (B5)."""

USED = (*TEXTS, "tags", "verified", "generated", "okf_version")
"""The fields that the catalog uses. A block without any of them is a letterhead and no frontmatter."""


class Unusable(Exception):  # noqa: N818  (this is what the contract calls it)
    """A file that becomes a problem of its source (B7)."""


class NotYaml(Exception):  # noqa: N818
    """A text that is not one YAML document."""


def trim(text: str) -> str:
    return text.strip(WHITE_SPACE)


@dataclass(frozen=True)
class Document:
    title: str | None
    description: str | None
    tags: tuple[str, ...]
    concept_type: str | None
    status: str
    stale_after: str | None
    trust_tier: str
    body: str


def read_document(data: bytes, *, dated: bool = False) -> Document:
    """B3 to B7: one file. ``dated`` says that the bundle declares version 0.3 or later (L5).

    Raises:
        Unusable: It is binary.
    """
    fields, body = read_fields(data)
    status = trim(scalar(fields, "status") or "").lower()
    return Document(
        title=scalar(fields, "title"),
        description=scalar(fields, "description"),
        tags=tags_of(fields.get("tags")),
        concept_type=scalar(fields, "type"),
        status=status if status in STATUSES else "stable",  # L1
        stale_after=scalar(fields, "stale_after"),
        trust_tier=trust_of(fields, dated=dated),
        body=body,
    )


def read_fields(data: bytes) -> tuple[dict[str, Node], str]:
    """What the frontmatter says, and the body.

    Raises:
        Unusable: The file is binary.
    """
    text = decode(data)
    front, body = split_frontmatter(text)
    fields = parse_frontmatter(front)
    return ({}, text) if fields is None else (fields, body)


# Text, as B3 has it.


def _each(size: int) -> Any:
    def replace(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        return "\ufffd" * -(-(error.end - error.start) // size), error.end

    return replace


codecs.register_error("each-byte", _each(1))
codecs.register_error("each-unit", _each(2))


def decode(data: bytes) -> str:
    """B3: the text of a file, its lines ended by newlines.

    Raises:
        Unusable: There is a NUL in it.
    """
    if data.startswith(codecs.BOM_UTF16_LE):
        text = data[2:].decode("utf-16-le", "each-unit")
    elif data.startswith(codecs.BOM_UTF16_BE):
        text = data[2:].decode("utf-16-be", "each-unit")
    else:
        text = data.decode("utf-8", "each-byte")
    if "\0" in text:
        raise Unusable("binary")
    return text.lstrip(MARK).replace("\r\n", "\n").replace("\r", "\n")


# Frontmatter, as B4 and B5 have it.


def split_frontmatter(text: str) -> tuple[str, str]:
    """B4: the frontmatter and the body; without frontmatter, the first is empty and the second everything."""
    lines = text.split("\n")
    rules = [number for number, line in enumerate(lines) if _is_rule(line)]
    if len(rules) < 2 or any(trim(line.lstrip(MARK)) for line in lines[: rules[0]]):
        return "", text
    opening, closing = rules[:2]
    body = lines[closing + 1 :]
    if len(body) > 1 and body[0] == "":
        body = body[1:]
    return "".join(f"{line}\n" for line in lines[opening + 1 : closing]), "\n".join(body)


def _is_rule(line: str) -> bool:
    return line.lstrip(MARK).rstrip(WHITE_SPACE) == "---"


def parse_frontmatter(front: str) -> dict[str, Node] | None:
    """B5: the mapping that a frontmatter is; ``None`` if it is none even entry by entry."""
    front = "".join(line.lstrip(MARK) for line in front.splitlines(keepends=True)) if MARK in front else front
    try:
        root = parse_yaml(front, {})
    except NotYaml:
        return read_entries(front)
    if root is None or isinstance(root, dict):
        return root or {}
    return read_entries(front)


_KEY = re.compile(
    r"""(?: "((?:[^"\\]|\\.)*)" | '((?:[^']|'')*)'
      | (?![\s\[\]{},\#"'] | [-?:](?:[ \t]|$)) ((?:(?![ \t]\#).)*?) )
    [ \t]* : (?=[ \t]|$) (.*)""",
    re.VERBOSE | re.DOTALL,
)


def entry_of(line: str) -> tuple[str, str] | None:
    """The key with which a line begins an entry, and what follows the colon."""
    match = _KEY.fullmatch(line)
    if match is None:
        return None
    key = next(group for group in match.groups()[:3] if group is not None)
    return key, match[4]


def _says_nothing(line: str) -> bool:
    return line.lstrip(" \t")[:1] in ("", "#")


def _begins_something(line: str) -> bool:
    """Whether a line starts something new, if the entry above it is complete."""
    goes_on = line[:1] in (" ", "\t", "]", "}", ",") or re.match(r"[-:]([ \t]|$)", line)
    return not _says_nothing(line) and not goes_on


def read_entries(front: str) -> dict[str, Node] | None:
    """B5: each entry alone. It ends at the first line where it may end and is YAML."""
    lines = front.split("\n")[:-1]
    fields: dict[str, Node] = {}
    anchors: dict[str | None, Node] = {}
    is_used = has_counted = has_strayed = False
    at = 0
    while at < len(lines):
        entry = entry_of(lines[at])
        if entry is None:
            has_strayed |= not _says_nothing(lines[at])
            at += 1
            continue
        key, text = entry
        is_used |= key in USED
        for end in range(at + 1, len(lines) + 1):
            if end < len(lines) and not _begins_something(lines[end]):
                continue
            known = dict(anchors)
            try:
                value = parse_yaml("".join(f"{line}\n" for line in lines[at:end]), known)
            except NotYaml:
                continue
            if isinstance(value, dict):
                fields |= value
                anchors = known
                has_counted = True
                break
        else:
            rest = range(at + 1, len(lines))
            end = next((number for number in rest if entry_of(lines[number])), len(lines))
            if key in TEXTS and all(map(_says_nothing, lines[at + 1 : end])):
                fields[key] = trim(text)
                has_counted = True
        at = end
    return fields if is_used or (has_counted and not has_strayed) else None


# YAML, as B5 has it.


def parse_yaml(text: str, anchors: dict[str | None, Node]) -> Node:
    """One document, its scalars as text; ``None`` if there is none. Anchors are added to those known.

    Raises:
        NotYaml: Neither libyaml nor PyYAML's own parser, which knows halves of UTF-16 pairs, takes it.
    """
    for name in ("CSafeLoader", "SafeLoader"):
        known = dict(anchors)
        try:
            roots = list(_documents(iter(yaml.parse(text, Loader=getattr(yaml, name))), known))
        except (yaml.YAMLError, ValueError):
            continue
        if len(roots) > 1:
            break
        anchors.update(known)
        return roots[0] if roots else None
    raise NotYaml


def _documents(events: Iterator[Any], anchors: dict[str | None, Node]) -> Iterator[Node]:
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            yield _node(next(events), events, anchors)


def _node(event: Any, events: Iterator[Any], anchors: dict[str | None, Node]) -> Node:
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise NotYaml(f"nothing is anchored as {event.anchor}")
        return anchors[event.anchor]
    node: Node
    if isinstance(event, yaml.ScalarEvent):
        # The first flag says: plain and without a tag.
        is_null = event.implicit[0] and event.value in NULLS
        node = anchors[event.anchor] = None if is_null else _joined(event.value)
    elif isinstance(event, yaml.SequenceStartEvent):
        # The anchor is set before the node is filled, because a node can hold itself.
        node = anchors[event.anchor] = items = list[Node]()
        for item in _until(yaml.SequenceEndEvent, events):
            items.append(_node(item, events, anchors))
    else:
        node = anchors[event.anchor] = entries = dict[str, Node]()
        for first in _until(yaml.MappingEndEvent, events):
            key = _node(first, events, anchors)
            value = _node(next(events), events, anchors)
            if isinstance(key, str):
                entries[key] = value
    return node


def _joined(text: str) -> str:
    """Halves of UTF-16 pairs as the characters they make, or U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "each-unit")


def _until(end: type, events: Iterator[Any]) -> Iterator[Any]:
    return itertools.takewhile(lambda event: not isinstance(event, end), events)


# Fields, as B6, L2 and L5 have them.


def scalar(mapping: dict[str, Node], key: str) -> str | None:
    value = mapping.get(key)
    return value if isinstance(value, str) else None


def tags_of(value: Node) -> tuple[str, ...]:
    """B6: a list's scalars, or the parts of one scalar."""
    if isinstance(value, list):
        return tuple(item for item in value if isinstance(item, str))
    if not isinstance(value, str):
        return ()
    text = trim(value)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return tuple(part for part in map(trim, text.split(",")) if part)


def trust_of(fields: dict[str, Node], *, dated: bool) -> str:
    """L5: what ``verified`` says."""
    verified, generated = fields.get("verified"), fields.get("generated")
    values = verified if isinstance(verified, list) else [verified]
    entries = [entry for entry in values if isinstance(entry, dict)]
    made = _at(generated) if dated and isinstance(generated, dict) else None
    if made is not None:
        entries = [entry for entry in entries if (at := _at(entry)) is not None and at >= made]
    names = [scalar(entry, "by") or "" for entry in entries]
    if not names:
        return "unverified"
    if any(name.startswith("human:") for name in names):
        return "human_reviewed"
    return "machine_confirmed"


def _at(mapping: dict[str, Node]) -> int | None:
    text = scalar(mapping, "at")
    return None if text is None else instant_of(text)


def is_dated(version: str | None) -> bool:
    """L5: whether a bundle of this version counts only what was verified after it was made."""
    match = re.fullmatch(r"[vV]?([0-9]+(?:\.[0-9]+)*)", trim(version or ""))
    return match is not None and [int(part) for part in match[1].split(".")] >= [0, 3]


_INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r"(?: ?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?))?)?",
    re.ASCII | re.IGNORECASE,
)


def instant_of(text: str) -> int | None:
    """L2: nanoseconds since 1970, or ``None`` for what is no instant."""
    match = _INSTANT.fullmatch(trim(text))
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    fraction, sign, offset_hours, offset_minutes = match.groups()[6:]
    try:
        local = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return None
    offset = 60 * (60 * int(offset_hours or 0) + int(offset_minutes or 0))
    seconds = _seconds(local) - (-offset if sign == "-" else offset)
    return seconds * 10**9 + int((fraction or "").ljust(9, "0"))


def _seconds(moment: datetime) -> int:
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    return since.days * 24 * 60 * 60 + since.seconds


def nanoseconds(moment: datetime) -> int:
    return _seconds(moment) * 10**9 + moment.microsecond * 1000
