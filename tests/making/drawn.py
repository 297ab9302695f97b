"""Hypothesis strategies for bundles, catalogs and questions. Their texts come from ``making.drawn_texts``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import naive
from hypothesis import strategies as st

from making.drawn_files import encoded
from making.drawn_texts import lines, phrase_pools, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

T = TypeVar("T")

# Frontmatter, written in each of the ways YAML offers. PyYAML reads YAML 1.1: where the versions differ,
# text is written with escapes.

_PRINTABLE = re.compile("[\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")
_PLAIN = re.compile(r"[^\W_](?:[\w.,()+/-]|:(?=\d)| (?=[\w(+/]))*")
_SPACED = re.compile(r"[!-~\xa1-\u1fff]+(?: [!-~\xa1-\u1fff]+)+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}


def double_quoted(text: str) -> str:
    return f'"{"".join(_escaped(character) for character in text)}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if _PRINTABLE.fullmatch(character) and character not in naive.WHITE_SPACE.replace(" ", ""):
        return character
    code_point = ord(character)
    return f"\\x{code_point:02x}" if code_point < 0x100 else f"\\u{code_point:04x}"


def scalars(text: str) -> SearchStrategy[str]:
    """The ways to write ``text`` after a key or a dash that is not indented."""
    ways = [double_quoted(text)]
    if _PRINTABLE.fullmatch(text):
        ways.append("'" + text.replace("'", "''") + "'")
    if _PLAIN.fullmatch(text) and text not in naive.NULLS:
        ways += [text, f"{text}  # not the text"]
    if _SPACED.fullmatch(text) and "---" not in text:
        # Quoted text that continues at column 0, as common readers accept it.
        ways += [way.replace(" ", "\n", 1) for way in ways[:2]]
    lines = text.split("\n")
    if lines[0].strip() and not text.startswith(" ") and all(map(_fits_in_a_block, lines)):
        block = "".join(f"\n  {line}" if line else "\n" for line in lines)
        if lines[-1]:
            ways += [f"|-{block}", f">-{block}"] if len(lines) == 1 else [f"|-{block}"]
        elif lines[-2]:
            ways.append(f"|{block[:-1]}")
    return st.sampled_from(ways)


def _fits_in_a_block(line: str) -> bool:
    return bool(_PRINTABLE.fullmatch(line)) and (not line or bool(line.strip(" ")))


def some_tags(pool: Sequence[str]) -> Sequence[str]:
    """Few tags, so that a question often asks for one that exists; some have white space around them."""
    return [pool[-1], f" {pool[-1]}", pool[0]]


@st.composite
def tag_values(draw: DrawFn, pool: Sequence[str]) -> str:
    """What may stand after ``tags:``."""
    shape = draw(st.sampled_from(["block", "flow", "commas", "brackets", "odd", "null"]))
    if shape == "null":
        return draw(st.sampled_from(["", " ~", " null", " []", " {}", ' ""', " {a: b}"]))
    items = draw(at_most(3, st.sampled_from(some_tags(pool))))
    if shape == "block" and items:
        return "".join(f"\n- {draw(scalars(item))}" for item in items)
    if shape == "odd":
        odd = draw(st.sampled_from(["[nested]", "{a: b}", "~", "null", "3.10", "&n kept", "!!str tagged"]))
        return f"\n- {odd}" + "".join(f"\n- {double_quoted(item)}" for item in items)
    if shape == "flow":
        return f" [{', '.join(double_quoted(item) for item in items)}]"
    text = ",".join(items)
    return f" {draw(scalars(f'[{text}]' if shape == 'brackets' else text))}"


VERIFIED = (
    "",
    " ~",
    " []",
    " {}",
    " yes",
    " {by: robot}",
    " {by: 'human:ada', at: 2026-01-01}",
    " {at: 2026-01-01}",
    "\n- by: robot\n- by: human:ada",
    "\n- by: robot\n  at: 2026-01-01",
    "\n- human:ada",
    "\n- by: [human:ada]",
    "\n- robot\n- by: Human:ada",
    "\n  by: human:ada\n  by: robot",
)

_NOW_LESS_ITS_GRACE = (
    "2026-03-01T12:00:00Z",
    "2026-03-01T14:00:00+02:00",
    "2026-02-28T12:00:00",
    "2026-02-27 12:00",
)
STALE_AFTER = (
    *_NOW_LESS_ITS_GRACE * 3,
    "2026-03-01",
    "2026-03-02",
    "2026-02-28",
    "2026-02-27",
    "2026-03-01T12:00:00.000001Z",
    "2026-03-01T11:59:59.999999Z",
    "2026-03-01T13:59:59+02:00",
    "2026-02-28T12:00:00-00:01",
    "2026-02-27 12:00:00.5",
    "2025-01-01T00:00",
    "12:00",
    "2026-13-01",
    "2026-02-30",
    "2020-01-01 or later",
    "soon",
)

STATUSES = ("draft", "stable", "deprecated", "Draft", "archived", " draft")

EXTRAS = (
    "# a comment",
    "",
    "extra: {a: [1, 2], b: ~}",
    "okf_version: 0.1",
    "okf_version: 0.3",
    "okf_version: v1",
    "generated: {by: robot, at: 2026-01-01}",
    "generated: {by: robot, at: 2026-06-01}",
    "broken: [a: b: c",
    "stray",
    "quoted: 'goes\n\non'",
    "list: [\na, b\n]",
    "unused: &unused [*title]",
    "nested:\n  title: not this one\n  tags: [nor, these]",
    "1: one",
    "? [a, b]\n: c",
    "titles: wrong",
    "Title: wrong",
    '"quoted key": 1',
    "long: >\n  folded\n  text",
    "timestamp: 2026-01-01 10:00:00",
)

BROKEN = (
    b"\xff\xfe",
    b"a\0b",
    "a\0".encode("utf-16"),
    b"caf\xe9",
    b"---\ntitle: a\n",
    b"---\n- a\n---\na",
    b"---\ntext\n---\na",
    b"---\ntitle: [a\n---\na",
    b'---\ntitle: "a\n---\na',
    b"---\ntitle: *nowhere\n---\na",
    b"---\ntitle: a\n title: b\n---\na",
    b"---\na: b: c\n---\na",
    b"---\na: 1\n--- # again\nb: 1\n---\n",
)
"""Files that are binary, or of which something is lost."""


@st.composite
def documents(draw: DrawFn, pool: Sequence[str]) -> bytes:
    """One file: mostly a concept that says something, now and then one that is broken."""
    kind = draw(st.sampled_from(["full"] * 8 + ["bare"] * 2 + ["broken"]))
    if kind == "broken":
        return draw(st.sampled_from(BROKEN) | encoded())
    body = "\n".join(draw(st.lists(lines(pool), min_size=draw(st.sampled_from([0, 2])), max_size=4)))
    text = f"no frontmatter\n{body}"
    if kind == "full":
        front = draw(frontmatters(pool))
        opening, closing = (draw(st.sampled_from(["---"] * 4 + ["---\t", "--- \u3000"])) for _ in range(2))
        text = f"{opening}\n{front}{closing}\n{body}"
    text = text.replace("\n", draw(st.sampled_from(["\n"] * 8 + ["\r\n", "\r"])))
    if draw(st.integers(0, 9)) == 0:
        return text.encode("utf-16")
    return draw(st.sampled_from(["", "", "", "\ufeff", "\ufeff\ufeff"])).encode() + text.encode()


FIELDS = ("title", "description", "tags", "status", "stale_after", "verified", "type")


@st.composite
def frontmatters(draw: DrawFn, pool: Sequence[str]) -> str:
    entries: list[str] = []

    def entry(key: str, value: str) -> None:
        written = draw(st.sampled_from([key] * 4 + [f'"{key}"', f"'{key}'"]))
        entries.append(f"{written}:{value}")

    def scalar(key: str, texts: SearchStrategy[str], *, anchor: str = "") -> None:
        text = draw(texts)
        entry(key, f" {anchor}{draw(scalars(text))}")

    present = {field for field in FIELDS if draw(st.booleans())}
    scalar("anchored", st.sampled_from(pool), anchor="&title ")
    if "title" in present:
        scalar("title", st.sampled_from(pool))
        again = draw(st.sampled_from(["no"] * 5 + ["again", "null", "list", "alias"]))
        if again == "again":
            scalar("title", st.sampled_from(pool))
        elif again != "no":
            entry("title", {"null": " ~", "list": " [a]", "alias": " *title"}[again])
    if "description" in present:
        scalar("description", st.sampled_from(pool))
    if "tags" in present:
        entry("tags", draw(tag_values(pool)))
    if "status" in present:
        scalar("status", st.sampled_from(STATUSES))
    if "stale_after" in present:
        scalar("stale_after", st.sampled_from(STALE_AFTER))
    if "verified" in present:
        entry("verified", draw(st.sampled_from(VERIFIED)))
    if "type" in present:
        scalar("type", st.sampled_from(["Metric", "3.10", *pool]))
    # Not shuffled: the order of repeated keys and of anchors matters.
    entries += draw(at_most(2, st.sampled_from(EXTRAS)))
    return "".join(f"{line}\n" for line in entries)


def at_most(count: int, items: SearchStrategy[T]) -> SearchStrategy[list[T]]:
    return st.lists(items, max_size=count)


# Bundles and catalogs

# Characters before and after `/` in code point order: there, comparing ids part by part and as one string
# gives different orders.
_HEADS = (
    "a",
    "a-b",
    "a b",
    "a.b",
    "a!",
    "a0",
    "b",
    "A",
    "é",
    "e\u0301",
    "数",
    "\U00010400",
    "index.md",
    "a.md",
)
_TAILS = ("a", "b", "a-b", "b/a", "b/a!", "b-a")

CONCEPTS = tuple(f"{name.removesuffix('.md')}.md" for name in _HEADS) + tuple(
    f"{head}/{tail}.md" for head in _HEADS[:6] + _HEADS[-2:] for tail in _TAILS
)
OTHERS = ("index.md", "a/log.md", ".hidden.md", ".git/a.md", "a.MD", "b/notes.txt", "md")
"""Files that are no concepts."""

Tree = dict[str, bytes]
"""Contents by path below the bundle root."""


@st.composite
def trees(draw: DrawFn, contents: Sequence[bytes], *, max_files: int = 10) -> Tree:
    """A bundle with the same few files at many paths, so that the order of ids matters."""
    least = min(draw(st.sampled_from([6, 3, 0])), max_files)
    anywhere = st.sampled_from(CONCEPTS * 3 + OTHERS)
    drawn = draw(st.dictionaries(anywhere, st.sampled_from(contents), min_size=least, max_size=max_files))
    return without_clashes(drawn)


def without_clashes(tree: Tree) -> Tree:
    """The files of ``tree`` that can stand beside each other: no file where another needs a directory."""
    kept: Tree = {}
    for path, content in tree.items():
        # On macOS, names that differ only in case or normalisation are equal.
        if not any(_is_above(path, other) or _is_above(other, path) for other in kept):
            kept[path] = content
    return kept


def _is_above(directory: str, path: str) -> bool:
    return path.casefold().startswith(f"{directory.casefold()}/")


@dataclass(frozen=True)
class Row:
    """A source as the manifest writes it."""

    id: str
    path: str
    priority: int = 0
    enabled: bool = True
    role: str = "knowledge"
    tier: str | None = None

    def as_json(self) -> dict[str, object]:
        fields: dict[str, object] = {"id": self.id, "path": self.path}
        if self.priority:
            fields["priority"] = self.priority
        if not self.enabled:
            fields["enabled"] = False
        if self.tier is not None:
            fields |= {"role": self.role, "tier": self.tier}
        return fields


@dataclass(frozen=True)
class Question:
    text: str
    tag: str | None
    grace_days: int | None
    strategy: str | None
    quota: int | None
    permitted: frozenset[str] | None
    admitted: frozenset[str] | None
    """The sources the query's policy says yes to; ``None`` is no policy."""
    scoring: str | None


@dataclass(frozen=True)
class Host:
    strategy: str
    quota: int | None
    admitted: frozenset[str] | None
    scoring: str


@dataclass(frozen=True)
class World:
    """Bundles below one directory, a catalog over them, a host, and what it is asked."""

    bundles: dict[str, Tree]
    rows: tuple[Row, ...]
    gone: frozenset[str]
    """Bundles that are removed once the catalog is open."""
    host: Host
    questions: tuple[Question, ...]


SOURCE_IDS = ("a", "B", "a-b", "a.b", "a_b", "Z9")
SPELLINGS = ("{}", "./{}", "{}/", "x/../{}")


def rows(directories: Sequence[str]) -> SearchStrategy[Row]:
    path = st.builds(str.format, st.sampled_from(SPELLINGS), st.sampled_from(directories))
    ids = st.sampled_from(SOURCE_IDS)
    priorities = st.sampled_from([0, 0, 0, 0, 1, 1, -1, 2**31 - 1, -(2**31)])
    knowledge = st.builds(Row, ids, path, priorities)
    disabled = st.builds(Row, ids, path | st.just("nowhere"), priorities, enabled=st.just(False))
    memory = st.builds(Row, ids, path, priorities, role=st.just("memory"), tier=st.just("user"))
    return st.sampled_from([knowledge] * 10 + [disabled, memory]).flatmap(lambda kind: kind)


@st.composite
def catalogs(draw: DrawFn, directories: Sequence[str]) -> tuple[Row, ...]:
    drawn = draw(
        st.lists(
            rows(directories),
            min_size=draw(st.sampled_from([1, 3])),
            max_size=5,
            unique_by=lambda row: row.id,
        )
    )
    memory = [row for row in drawn if row.role == "memory"]
    return tuple(row for row in drawn if row not in memory[1:])


def source_sets() -> SearchStrategy[frozenset[str] | None]:
    """Sets of source ids, most often none at all."""
    some = st.frozensets(st.sampled_from((*SOURCE_IDS, "unknown")), min_size=3)
    kinds = [st.none()] * 12 + [some] * 5 + [st.just(frozenset[str]())]
    return st.sampled_from(kinds).flatmap(lambda kind: kind)


@st.composite
def questions(draw: DrawFn, pool: Sequence[str]) -> Question:
    sources = draw(source_sets())
    by_policy = draw(st.booleans())
    return Question(
        text=draw(texts(pool)),
        tag=draw(
            st.none() | st.none() | st.sampled_from([*some_tags(pool), *some_tags(pool), "kept", " ", ""])
        ),
        grace_days=draw(st.sampled_from([None, None, 0, 0, 1, 1, 2, 400])),
        strategy=draw(st.sampled_from([None, *naive.STRATEGIES])),
        quota=draw(st.sampled_from([None, None, 1, 2, 3, 1000])),
        permitted=None if by_policy else sources,
        admitted=sources if by_policy else None,
        scoring=draw(st.sampled_from([None, *naive.SCORINGS])),
    )


@st.composite
def hosts(draw: DrawFn) -> Host:
    return Host(
        strategy=draw(st.sampled_from(naive.STRATEGIES)),
        quota=draw(st.sampled_from([None, None, 1, 2])),
        admitted=draw(source_sets()),
        scoring=draw(st.sampled_from(naive.SCORINGS)),
    )


@st.composite
def worlds(draw: DrawFn) -> World:
    pool = draw(phrase_pools())
    contents = draw(st.lists(documents(pool), min_size=2, max_size=5))
    names = st.sampled_from(["xy", "xyz", "x"])
    bundles = {name: draw(trees(contents)) for name in draw(names)}
    # A source inside another one is a different directory, although its files are the same.
    inner = {f"{name}/{path.split('/')[0]}" for name, tree in bundles.items() for path in tree if "/" in path}
    return World(
        bundles=bundles,
        rows=draw(catalogs([*sorted(bundles), *sorted(inner)])),
        gone=frozenset(draw(st.sampled_from([""] * 12 + ["x", "".join(bundles)]))),
        host=draw(hosts()),
        questions=tuple(draw(st.lists(questions(pool), min_size=2, max_size=8))),
    )
