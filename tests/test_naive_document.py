"""The model reads files as the contract says (B1 to B7)."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import naive
import pytest
from making.bundles import write_tree
from making.model import document

if TYPE_CHECKING:
    from pathlib import Path


def test_every_md_file_but_the_reserved_and_the_dotted_is_a_concept(tmp_path: Path) -> None:
    names = ["tables/orders.md", "a b.md", "数/é.md", "x.md/y.md", "index/a.md"]
    passed_over = ["index.md", "tables/log.md", ".git/a.md", "tables/.b.md", "A.MD", "c.md.txt", "md", ".md"]
    write_tree(tmp_path, dict.fromkeys(names + passed_over, "word"))
    bundle = naive.read_bundle(tmp_path)
    assert sorted(concept.id for concept in bundle.concepts) == sorted(name[:-3] for name in names)
    assert not bundle.problems


def test_the_model_reads_links_inside_the_root_only(tmp_path: Path) -> None:
    write_tree(tmp_path, {"root/..v1/real.md": "inside", "outside.md": "secret", "other/c.md": "secret"})
    root = tmp_path / "root"
    (root / "..data").symlink_to("..v1")
    (root / "mounted.md").symlink_to("..data/real.md")
    (root / "escaping.md").symlink_to("../outside.md")
    (root / "dangling.md").symlink_to("nowhere.md")
    (root / "looping.md").symlink_to("looping.md")
    (root / "linked").symlink_to("../other")
    bundle = naive.read_bundle(root)
    assert [concept.id for concept in bundle.concepts] == ["mounted"]
    assert bundle.problems == {"escaping.md", "dangling.md", "looping.md", "linked"}


def test_one_bad_file_never_takes_down_its_source(tmp_path: Path) -> None:
    bad: dict[str, str | bytes] = {
        "nul.md": b"a\0",
        "utf16.md": "a\0".encode("utf-16"),
        "front.md": "---\na: \0",
    }
    write_tree(tmp_path, {**bad, "good.md": "word"})
    bundle = naive.read_bundle(tmp_path)
    assert [concept.id for concept in bundle.concepts] == ["good"]
    assert bundle.problems == set(bad)


@pytest.mark.parametrize(
    ("text", "front", "body"),
    [
        ("no frontmatter", "", "no frontmatter"),
        ("---\n---\nbody", "", "body"),
        ("---\na: 1\n---\nbody\n---\nmore", "a: 1\n", "body\n---\nmore"),
        ("---\na: 1\n---\n\n\nbody", "a: 1\n", "\nbody"),
        ("---\t\na: 1\n---\u3000\nbody", "a: 1\n", "body"),
        ("---\na: |\n  ---\n---\nbody", "a: |\n  ---\n", "body"),
        (" ---\na: 1\n---\nb", "", " ---\na: 1\n---\nb"),
        ("\n \n---\na: 1\n---\n", "a: 1\n", ""),
        ("\n\ufeff---\na: 1\n\ufeff---\n", "a: 1\n", ""),
        ("x\n---\na: 1\n---\n", "", "x\n---\na: 1\n---\n"),
        ("---\na: 1\n", "", "---\na: 1\n"),
        ("----\na: 1\n----\n", "", "----\na: 1\n----\n"),
        ("+++\na: 1\n+++\n", "", "+++\na: 1\n+++\n"),
    ],
)
def test_frontmatter_lies_between_the_first_two_rules(text: str, front: str, body: str) -> None:
    assert naive.split_frontmatter(text) == (front, body)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbf\xef\xbb\xbfa\rb\r\nc\n\rd", "a\nb\nc\n\nd"),
        ("é\r\n🛒".encode("utf-16"), "é\n🛒"),
        (codecs.BOM_UTF16_BE + "é🛒".encode("utf-16-be"), "é🛒"),
        (codecs.BOM_UTF16_LE + b"a\0\x3d\xd8b\0c", "a\ufffdb\ufffd"),
        (b"a\xffb\xe2\x82c\xf0\x9f\x98", "a\ufffdb\ufffd\ufffdc\ufffd\ufffd\ufffd"),
        (b"\xed\xa0\x80\xc0\x80", "\ufffd" * 5),
    ],
)
def test_each_invalid_byte_is_one_replacement_character(data: bytes, text: str) -> None:
    assert naive.read_document(data).body == text


@pytest.mark.parametrize(
    ("front", "title", "tags"),
    [
        ('title: "One\ntwo"\ntags: [\n"a"\n]', "One two", ("a",)),
        ("title:\tx\ntags: [a,\nb]", "x", ("a", "b")),
        ('title: "\\ud83c\\udf89\\ud83c"\ntags: a', "🎉\ufffd", ("a",)),
        ("title: ADR-1: Use X\ntags: a", "ADR-1: Use X", ("a",)),
        ("x: &x t\ny: @\ntitle: *x\ntags: [*x]", "t", ("t",)),
        ("tags: a\ntitle: 'One\n\ntype: two'\ny: @", "One\ntype: two", ("a",)),
        ("tags: [a\ntitle: t", "t", ()),
        ("title: a: b\n  c\ntags: a", None, ("a",)),
        ("stray\ntitle: t\nstray\ntags: a", "t", ("a",)),
        ("\ufefftitle: t\ntags: a", "t", ("a",)),
    ],
)
def test_a_mistake_in_one_field_loses_no_other_field(
    front: str, title: str | None, tags: tuple[str, ...]
) -> None:
    read = document(front, "body")
    assert (read.title, read.tags, read.body) == (title, tags, "body")


@pytest.mark.parametrize("front", ["a letterhead", "a letterhead\nRe: x", "- a", "a: b: c", "title:x", "'a'"])
def test_a_block_that_is_no_mapping_is_body(front: str) -> None:
    assert document(front, "body").body == f"---\n{front}\n---\nbody"


@pytest.mark.parametrize("nothing", ["", "\n", "# a comment\n", "~\n", "{}\n"])
def test_empty_frontmatter_is_read(nothing: str) -> None:
    assert naive.read_document(f"---\n{nothing}---\nbody".encode()).body == "body"


def test_a_byte_order_mark_and_line_ends_of_both_kinds_are_read() -> None:
    read = naive.read_document("\ufeff---\r\ntitle: a\r\n---\r\none\r\ntwo\n".encode())
    assert (read.title, read.body) == ("a", "one\ntwo\n")


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("title: 3.10", "3.10"),
        ("title: True", "True"),
        ("title: 2026-01-01", "2026-01-01"),
        ("title: 0x1F", "0x1F"),
        ("title: no", "no"),
        ('title: "a\\tb"', "a\tb"),
        ("title: 'it''s'", "it's"),
        ("title: |\n  a\n  b", "a\nb\n"),
        ("title: >-\n  a\n  b", "a b"),
        ("title: ~", None),
        ("title: null", None),
        ("title:", None),
        ('title: "null"', "null"),
        ("title: [a]", None),
        ("title: {a: b}", None),
        ("title: a\ntitle: b", "b"),
        ("title: a\ntitle: ~", None),
        ("other: &name text\ntitle: *name", "text"),
        ("other: 1", None),
    ],
)
def test_a_scalar_is_the_text_its_author_wrote(written: str, title: str | None) -> None:
    assert document(written).title == title


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("tags: [a, b]", ("a", "b")),
        ("tags:\n- a\n- [b]\n- c: d\n- ~\n- 3.10", ("a", "3.10")),
        ("tags: a, b", ("a", "b")),
        ('tags: "[a, b]"', ("a", "b")),
        ("tags: a,, b ,", ("a", "b")),
        ('tags: "[[a]]"', ("[a]",)),
        ("tags: one tag", ("one tag",)),
        ("tags: {a: b}", ()),
        ("tags:", ()),
        ("other: 1", ()),
    ],
)
def test_tags_are_a_list_or_one_scalar_split_at_commas(written: str, tags: tuple[str, ...]) -> None:
    assert document(written).tags == tags
