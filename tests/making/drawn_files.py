"""Hypothesis strategies for files in any encoding: valid frontmatter, frontmatter that only common readers
read, and frontmatter with mistakes.

PyYAML reads YAML 1.1, so what the two versions read differently is not drawn.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

LENIENT = (
    'title: "One\ntwo"',
    "title: 'It''s\n\none'",
    'description: "a: b\ntype: no\n  # c\n"',
    'title: "a \\\nb \\" c\nd"',
    'x: "a\nb"',
    "title:\n  'a\n b'",
    "x:\n- \"a\nb\"\n- 'c\n\nd'",
    'tags: [\n"a",\nb\n]',
    "tags: [a,\nb]",
    "tags: ['a\nb', \"c\n\n d\"]",
    "tags:\n  [\na, b\n]",
    'x:\n  y: [\n "a"\n ]',
    "x:\n  y:\n    - {\n    a: b,\n  c: [d,\n]\n}",
    "verified: {\nby: human:ada\n}",
    "verified: [\n{by: robot,\nat: 2026-01-01},\n{by: 'human:ada'}\n]",
    "title:\tt",
    "status:\tdraft",
    'title: "\\ud83c\\udf89 \\ud83d \\ude00\\ud83d"',
    'tags: ["\\uD83D\\uDE00", "\\udc00a"]',
)
"""Entries that are no YAML 1.2, and that common readers read."""

VALID = (
    "title: t",
    "title: 3.10",
    "title: ~",
    "title: |\n  a\n  ---\n  'b\n",
    "title: >-\n  a\n\n  b: [",
    "title: a\n  b",
    "title: [a]",
    "title: it's [b",
    "description: &d d",
    "description: {a: b}",
    "x: &d {y: &e e}",
    "tags: [a, b]",
    "tags: a, b",
    "tags:\n- a\n- [b]\n- *d",
    "tags:\n\n  - a\n  # c\n  - 'b'",
    "type: T # it's",
    "status: DEPRECATED",
    "status: ' draft '",
    "stale_after: 2026-07-01 12:00 +0100",
    "verified: {by: human:ada, at: 2026-02-01}",
    "verified:\n- by: robot\n  at: 2026-01-01 10:00:00 Z\n- by: human:ada\n  at: soon",
    "generated: {by: robot, at: 2026-01-15}",
    "generated: {at: later}",
    "okf_version: 0.3",
    "title: *d",
    "title: *e",
    "type: *nowhere",
    "'title': u",
    '"status": stable',
    "# title: no",
    "",
    "  ",
)

SLIPS = (
    "title: ADR-1: Use X",
    "title: @x",
    "type: `x` y",
    "title: [Draft] x",
    'title: "A" b',
    'description: "open',
    "title: 'tis",
    "title: [open",
    "tags: [open",
    "tags: @a",
    "status: - draft",
    "type: @T # c",
    "stale_after: 2026-01-01: or so",
    "title: a: b\n  c",
    "title: a\n title: b",
    "title:\n  - %",
    "x:\n  - %",
    "x: a: b",
    "x: 'y' z",
    "verified: {by: human:ada}}",
    "verified: [{by: human:ada}",
    "<<<<<<< HEAD",
    "=======",
    "stray",
    "stray: &d",
    "title:x",
    "--- # two",
    "- item",
    "]",
    "  indented: x",
    "? a",
    "\ufefftitle: marked",
    "title: a\ufeffb: c",
)

FIRST = ("", "", "", "\n", " \t\n\n", "\ufeff", "\n\ufeff", "x\n", " ")
FENCES = ("---", "---", "---", "--- ", "---\t", "---\u3000", " ---", "----", "\ufeff---", "+++", "--- x")
BODIES = ("", "\n", "body", "\nbody\n---\n", "\n\n body \u2028x\n", "---\n", "é 数 🛒\n\ufeff")
INVALID = (b"\xff", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\x80", b"\xed\xa0\x80", b"\xfe\xff")


@st.composite
def texts(draw: DrawFn) -> str:
    entry = st.sampled_from(VALID) | st.sampled_from(VALID) | st.sampled_from(LENIENT)
    if draw(st.booleans()):
        entry = entry | st.sampled_from(SLIPS)
    entries = draw(st.lists(entry, max_size=6))
    opening, closing = draw(st.sampled_from(FENCES)), draw(st.sampled_from((*FENCES[:6], "", " ---")))
    front = "".join(f"{entry}\n" for entry in entries)
    return f"{draw(st.sampled_from(FIRST))}{opening}\n{front}{closing}\n{draw(st.sampled_from(BODIES))}"


def encoded() -> SearchStrategy[bytes]:
    return st.builds(
        _encoded,
        texts(),
        st.sampled_from(["\n", "\n", "\r\n", "\r"]),
        st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16-le", "utf-16-be"]),
        st.integers(0, 3),
        st.none() | st.tuples(st.integers(0, 60), st.sampled_from(INVALID)),
    )


def _encoded(text: str, end: str, encoding: str, marks: int, invalid: tuple[int, bytes] | None) -> bytes:
    text = text.replace("\n", end)
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding)
    if invalid is not None:
        at, sequence = invalid
        # Names of anchors are ASCII in YAML 1.1.
        at = 0 if re.search(r"[&*]\w*$", text[:at]) else at
        before, after = text[:at].encode(encoding), text[at:].encode(encoding)
        if mark:
            # Half of a pair, and perhaps half of a unit at the end.
            half = b"\x3d\xd8" if encoding == "utf-16-le" else b"\xd8\x3d"
            return mark + before + half + after + sequence[1:2]
        return marks * codecs.BOM_UTF8 + before + sequence + after
    return (mark or marks * codecs.BOM_UTF8) + text.encode(encoding)
