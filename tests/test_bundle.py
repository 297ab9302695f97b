"""What is a concept, and what its file may say (B1 to B10, L1, L2, L5), asked through a search."""

from __future__ import annotations

import codecs
import logging
import os
import sys
from typing import TYPE_CHECKING

import pytest
from making.bundles import write_tree
from making.catalogs import make_bundle, problems_of, write_manifest
from making.clocks import at_noon
from okf_catalog import (
    ConceptStatus,
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgePassage,
    KnowledgeQuery,
    StalePolicy,
    TrustTier,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def ask(
    directory: Path, files: Mapping[str, str | bytes], query: KnowledgeQuery | str = "word"
) -> dict[str, KnowledgePassage]:
    """The passages over a bundle of ``files``, by concept id."""
    with make_bundle(directory, files) as catalog:
        context = GroupedKnowledgeResolver(catalog, clock=at_noon).search(query)
        return {passage.concept_id: passage for passage in context.passages}


def problems(directory: Path, files: Mapping[str, str | bytes]) -> dict[str, str]:
    with make_bundle(directory, files) as catalog:
        return problems_of(catalog)["s"]


def test_every_md_file_is_a_concept_at_any_depth(tmp_path: Path) -> None:
    names = ["orders.md", "a/b/c/d/e.md", "x.md/y.md", "index/log/a.md", "indexes.md", "a.b.md"]
    passages = ask(tmp_path, dict.fromkeys(names, "word"))
    assert sorted(passages) == sorted(name.removesuffix(".md") for name in names)
    assert all(passage.bundle_relative_path == f"{name}.md" for name, passage in passages.items())


def test_reserved_dotted_and_other_files_are_passed_over(tmp_path: Path) -> None:
    names = [
        "index.md",
        "a/index.md",
        "log.md",
        "a/log.md",
        ".a.md",
        ".git/a.md",
        "a.MD",
        "a.md.bak",
        "amd",
        ".md",
    ]
    files = dict.fromkeys(names, b"---\nword \0")
    assert ask(tmp_path, {**files, "a/b.md": "word"}).keys() == {"a/b"}
    assert problems(tmp_path, files) == {}


@pytest.mark.parametrize(
    "name", ["a b", "é", "数字/字", "Ωμέγα", "a#b?c%20", "a\\b", "'\"`$", "emoji 🎉", "a\tb", "-"]
)
def test_any_utf8_name_is_an_id(tmp_path: Path, name: str) -> None:
    assert ask(tmp_path, {f"{name}.md": "word"}).keys() == {name}


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems refuse such names")
def test_names_that_are_not_utf8_are_problems(tmp_path: Path) -> None:
    root = tmp_path / "bundle"
    root.mkdir()
    (root / os.fsdecode(b"caf\xe9.md")).write_text("word")
    (root / os.fsdecode(b"dir\xff")).mkdir()
    (root / os.fsdecode(b"dir\xff") / "a.md").write_text("word")
    (root / os.fsdecode(b"other\xff.txt")).write_text("word")
    assert ask(tmp_path, {"good.md": "word"}).keys() == {"good"}
    found = problems(tmp_path, {})
    assert sorted(path[:3] for path in found) == ["caf", "dir"]
    assert all(path.isprintable() for path in found)


@pytest.mark.parametrize(
    ("name", "content", "excerpt"),
    [
        ("byte-order mark", b"\xef\xbb\xbf---\ntitle: t\n---\na word\n", "a word"),
        ("all in front are dropped", b"\xef\xbb\xbf\xef\xbb\xbfword", "word"),
        ("no others are", b"\xef\xbb\xbf \xef\xbb\xbfword", "\ufeffword"),
        ("windows lines", b"---\r\ntitle: t\r\n---\r\n\r\none\r\na word\r\n", "a word"),
        ("mixed lines", b"---\ntitle: t\r\n---\none\r\na word", "a word"),
        ("a lone carriage return ends a line", b"one\ra word", "a word"),
        ("nothing but carriage returns", b"---\rtitle: t\r---\r\rone\ra word\r", "a word"),
        ("no other separator does", "one\u2028a word\u0085\v\f!".encode(), "one\u2028a word\u0085\v\f!"),
        ("rules in the body", b"---\ntitle: t\n---\none\n---\na word\n---\n", "a word"),
        ("a rule with space after it", "---\t\ntitle: t\n---\u3000 \na word".encode(), "a word"),
        ("an indented rule", b" ---\ntitle: word\n---\n", "title: word"),
        ("blank lines first", b"\n \t\n---\ntitle: word\n---\na word", "a word"),
        ("UTF-16", "---\ntitle: word\n---\na wörd word".encode("utf-16"), "a wörd word"),
        ("UTF-16, the other way", codecs.BOM_UTF16_BE + "a word".encode("utf-16-be"), "a word"),
        ("invalid bytes", b"---\ntitle: word\n---\na\xff word \xe2\x82.", "a\ufffd word \ufffd\ufffd."),
        ("a rule that never closes", b"---\ntitle: word\n", "title: word"),
        ("a letterhead", b"---\nword\n---\nbody", "word"),
        ("TOML", b"+++\ntitle = 'word'\n+++\n", "title = 'word'"),
        ("no frontmatter", b"one\n---\na word", "a word"),
        ("no newline", b"word", "word"),
        ("trimmed", "\u3000\n\u00a0 a  word \u2003\n".encode(), "a  word"),
    ],
)
def test_a_file_in_any_encoding_reads_as_its_text(
    tmp_path: Path, name: str, content: bytes, excerpt: str
) -> None:
    assert ask(tmp_path, {"a.md": content})["a"].excerpt == excerpt, name


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: 3.10", "3.10"),
        ("title: True", "True"),
        ("title: 2026-01-01", "2026-01-01"),
        ("title: 0o17", "0o17"),
        ("title: 1_000", "1_000"),
        ("title: .inf", ".inf"),
        ("title: nUll", "nUll"),
        ('title: "3.10"', "3.10"),
        ("title: 'it''s'", "it's"),
        ('title: "\\u00e9\\U0001F389\\x41"', "é🎉A"),
        ("title: |\n  a\n   b\n", "a\n b\n"),
        ("title: |-\n  a\n  b\n", "a\nb"),
        ("title: >\n  a\n  b\n", "a b\n"),
        ("title: a\n  b", "a b"),
        ("title: a # b", "a"),
        ("title: a#b", "a#b"),
        ("title: ~", None),
        ("title: null", None),
        ("title: Null", None),
        ("title: NULL", None),
        ("title:", None),
        ('title: "~"', "~"),
        ("title: ''", ""),
        ("title: [a]", None),
        ("title: {a: b}", None),
        ("title: a\ntitle: b", "b"),
        ("title: a\ntitle: [b]", None),
        ("x: &a text\ntitle: *a", "text"),
        ("x: &a [b]\ntitle: *a", None),
        ("x: &a title\n*a : text", "text"),
        ("'title': a", "a"),
        ("{title: a, type: b}", "a"),
        ("Title: a", None),
        ("<<: {title: a}", None),
        ("x: {y: [1, {z: ~}]}\ntitle: a", "a"),
        ("# only a comment", None),
        ("", None),
    ],
)
def test_a_scalar_is_the_text_its_author_wrote(tmp_path: Path, front: str, title: str | None) -> None:
    passage = ask(tmp_path, {"a.md": f"---\n{front}\n---\nword"})["a"]
    assert passage.title == title


def test_the_fields_are_read_and_everything_else_is_ignored(tmp_path: Path) -> None:
    front = (
        "okf_version: 0.1\ntitle: t\ndescription: |\n  two\n  lines\ntype: BigQuery Table\nstatus: draft\n"
        "stale_after: 2030-01-01 \nverified: {by: 'human:ada'}\nsources:\n- {id: x, title: not this}\n"
    )
    passage = ask(tmp_path, {"a.md": f"---\n{front}---\nword"})["a"]
    assert (passage.title, passage.description, passage.concept_type) == (
        "t",
        "two\nlines\n",
        "BigQuery Table",
    )
    assert (passage.status, passage.stale_after) == (ConceptStatus.DRAFT, "2030-01-01")
    assert (passage.trust_tier, passage.score, passage.excerpt) == (TrustTier.HUMAN_REVIEWED, 1, "word")


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("[a, b]", {"a", "b"}),
        ("\n- a\n- [b]\n- {c: d}\n- ~\n- 3.10\n- True", {"a", "3.10", "True"}),
        ("a, b", {"a", "b"}),
        ('"[a, b]"', {"a", "b"}),
        ("' [ a ,, b ] '", {"a", "b"}),
        ("'[a], b'", {"[a]", "b"}),
        ("'[[a]]'", {"[a]"}),
        ("two words", {"two words"}),
        ("['a, b']", {"a, b"}),
        ("3.10", {"3.10"}),
        ("&t [a]\nx: *t", {"a"}),
        ("{a: b}", set[str]()),
        ("~", set[str]()),
    ],
)
def test_tags_are_a_list_or_one_scalar_split_at_commas(tmp_path: Path, written: str, tags: set[str]) -> None:
    asked = {"a", "b", "c", "d", "3.10", "True", "[a]", "b]", "[[a]]", "two words", "two", "a, b", "~"}
    file = f"---\ntags: {written}\n---\nword"
    found = {tag for tag in asked if ask(tmp_path, {"a.md": file}, KnowledgeQuery("word", tag))}
    assert found == tags


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ("draft", ConceptStatus.DRAFT),
        ("stable", ConceptStatus.STABLE),
        ("deprecated", ConceptStatus.DEPRECATED),
        ("'draft'", ConceptStatus.DRAFT),
        ("Draft", ConceptStatus.DRAFT),
        ("' DEPRECATED\u3000'", ConceptStatus.DEPRECATED),
        ("drafts", ConceptStatus.STABLE),
        ("[draft]", ConceptStatus.STABLE),
        ("~", ConceptStatus.STABLE),
        ("retired", ConceptStatus.STABLE),
    ],
)
def test_a_status_that_is_not_known_is_stable(tmp_path: Path, written: str, status: ConceptStatus) -> None:
    assert ask(tmp_path, {"a.md": f"---\nstatus: {written}\n---\nword"})["a"].status is status


@pytest.mark.parametrize(
    ("written", "tier"),
    [
        ("~", TrustTier.UNVERIFIED),
        ("[]", TrustTier.UNVERIFIED),
        ("human:ada", TrustTier.UNVERIFIED),
        ("[human:ada]", TrustTier.UNVERIFIED),
        ("{by: robot}", TrustTier.MACHINE_CONFIRMED),
        ("{at: 2026-01-01}", TrustTier.MACHINE_CONFIRMED),
        ("{by: Human:ada}", TrustTier.MACHINE_CONFIRMED),
        ("[{by: robot}, {by: 'human:'}]", TrustTier.HUMAN_REVIEWED),
        ("[&v {by: human:ada}, *v]", TrustTier.HUMAN_REVIEWED),
        ("{by: human:ada}", TrustTier.HUMAN_REVIEWED),
    ],
)
def test_the_trust_tier_depends_on_who_verified(tmp_path: Path, written: str, tier: TrustTier) -> None:
    assert ask(tmp_path, {"a.md": f"---\nverified: {written}\n---\nword"})["a"].trust_tier is tier


@pytest.mark.parametrize(
    ("written", "admitted_by"),
    [
        ("2026-03-01T12:00:00Z", "U12"),
        ("2026-03-01T12:00:00.000001Z", "US012"),
        ("2026-03-01T14:00:00+02:00", "U12"),
        ("2026-03-01T14:00:01+02:00", "US012"),
        ("2026-03-01 12:00:01", "US012"),
        ("2026-03-01", "U12"),
        ("2026-03-02", "US012"),
        ("2026-02-28", "U2"),
        ("2026-02-27", "U"),
        ("9999-12-31T23:59:59-12:00", "US012"),
        ("0001-01-01", "U"),
        ("12:00", "US012"),
        ("2020-13-01", "US012"),
        ("2020-02-30", "US012"),
        ("soon", "US012"),
        ("[2020-01-01]", "US012"),
        ("~", "US012"),
    ],
)
def test_a_concept_is_stale_from_its_instant_on(tmp_path: Path, written: str, admitted_by: str) -> None:
    policies = {
        "U": StalePolicy.USE,
        "S": StalePolicy.STRICT,
        "0": StalePolicy.tolerate(0),
        "1": StalePolicy.tolerate(1),
        "2": StalePolicy.tolerate(2),
    }
    file = f"---\nstale_after: {written}\n---\nword"
    queries = {name: KnowledgeQuery("word", stale_policy=policy) for name, policy in policies.items()}
    assert (
        "".join(name for name, query in queries.items() if ask(tmp_path, {"a.md": file}, query))
        == admitted_by
    )


BINARY: dict[str, str | bytes] = {
    "nul.md": "---\na: b\x00c\n---\nword",
    "body.md": b"word\n\0",
    "utf16.md": "word\0".encode("utf-16"),
    "no mark.md": "word".encode("utf-16-le"),
}


def test_a_binary_file_is_a_problem_and_the_other_files_are_served(tmp_path: Path) -> None:
    assert ask(tmp_path, {**BINARY, "sub/good.md": "word"}).keys() == {"sub/good"}
    found = problems(tmp_path, BINARY)
    assert found == dict.fromkeys(BINARY, "it is binary: it holds a NUL")


SLIPS: dict[str, tuple[str | bytes, str]] = {
    "latin1": (b"---\ntitle: caf\xe9\n---\nword", "caf\ufffd"),
    "goes on at column 0": ('---\ntitle: "One\ntwo"\n---\nword', "One two"),
    "goes on after a blank line": ("---\ntitle: 'One\n\ntwo'\n---\nword", "One\ntwo"),
    "another field goes on": ("---\nx: 'One\n\ntwo'\ntitle: t\n---\nword", "t"),
    "colon": ("---\ntitle: ADR-1: Use X\n---\nword", "ADR-1: Use X"),
    "at": ("---\ntitle: @x\n---\nword", "@x"),
    "star": ("---\ntitle: *x\n---\nword", "*x"),
    "backtick": ("---\ntitle: `x`\n---\nword", "`x`"),
    "bracket": ("---\ntitle: [Draft] x\n---\nword", "[Draft] x"),
    "text after quotes": ('---\ntitle: "A" b\n---\nword', '"A" b'),
    "another field is broken": ("---\naliases:\n  - %\ntitle: t\n---\nword", "t"),
    "tab": ("---\ntitle:\tx\n---\nword", "x"),
    "brackets at column 0": ('---\ntags: [\n  "a"\n]\ntitle: t\n---\nword', "t"),
    "items at column 0": ("---\ntags: [a,\nb]\ntitle: t\n---\nword", "t"),
    "nested": ('---\nx:\n  key: [\n "a"\n ]\ntitle: t\n---\nword', "t"),
    "pair of halves": ('---\ntitle: "\\ud83c\\udf89"\n---\nword', "🎉"),
    "half": ('---\ntitle: "a\\ud83c"\n---\nword', "a\ufffd"),
    "rule in a block": ("---\nx: |\n  ---\ntitle: t\n---\nword", "t"),
    "marks": ("\ufeff\ufeff\n\ufeff---\n\ufefftitle: t\n---\nword", "t"),
    "two documents": ("---\na: b\n--- # two\ntitle: t\n---\nword", "t"),
    "unclosed": ("---\ntags: [a\ntitle: t\n---\nword", "t"),
    "stray text": ("---\n<<<<<<< HEAD\ntitle: t\n---\nword", "t"),
    "long": (f"---\nx: '{'x' * 2**20}'\ntitle: t\n---\nword", "t"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_mistake_in_one_field_loses_neither_the_file_nor_other_fields(tmp_path: Path, name: str) -> None:
    content, title = SLIPS[name]
    # Only the body holds the word: lost frontmatter must not be found in the body.
    passage = ask(tmp_path, {"a.md": content})["a"]
    assert (passage.title, passage.excerpt, passage.score) == (title, "word", 1)
    assert problems(tmp_path, {}) == {}


CONFIRMED = "---\ngenerated: {at: 2026-02-01}\nverified: {by: 'human:ada', at: 2026-01-01}\n---\nword"


@pytest.mark.parametrize(
    ("version", "tier"),
    [
        ("0.3", TrustTier.UNVERIFIED),
        ("'0.3'", TrustTier.UNVERIFIED),
        ("0.10", TrustTier.UNVERIFIED),
        ("v1.0", TrustTier.UNVERIFIED),
        ('"0.\n3"', TrustTier.HUMAN_REVIEWED),
        ("0.2", TrustTier.HUMAN_REVIEWED),
        ("0.2.9", TrustTier.HUMAN_REVIEWED),
        ("latest", TrustTier.HUMAN_REVIEWED),
        ("[0.3]", TrustTier.HUMAN_REVIEWED),
        ("", TrustTier.HUMAN_REVIEWED),
    ],
)
def test_the_bundle_version_decides_which_verifications_count(
    tmp_path: Path, version: str, tier: TrustTier
) -> None:
    index = f"---\nokf_version: {version}\n---\nword"
    files = {
        "a.md": CONFIRMED,
        "b/a.md": CONFIRMED,
        "index.md": index,
        "b/index.md": "---\nokf_version: 9\n---",
    }
    passages = ask(tmp_path, files)
    assert {name: passage.trust_tier for name, passage in passages.items()} == {"a": tier, "b/a": tier}


def test_a_search_sees_every_change_of_the_bundle_version(tmp_path: Path) -> None:
    bundle = write_tree(tmp_path / "bundle", {"a.md": CONFIRMED, "b.md": "---\nverified: {by: x}\n---\nword"})
    manifest = write_manifest(tmp_path, [{"id": "s", "path": "bundle"}])
    index = bundle / "index.md"
    new, old = "---\nokf_version: 0.3\n---\n", "---\nokf_version: 0.2\n---\n"
    outside = write_tree(tmp_path, {"outside.md": new}) / "outside.md"
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        resolver = GroupedKnowledgeResolver(catalog, clock=at_noon)

        def counts() -> bool:
            tiers = {passage.concept_id: passage.trust_tier for passage in resolver.search("word").passages}
            assert tiers["b"] is TrustTier.MACHINE_CONFIRMED
            return tiers["a"] is TrustTier.HUMAN_REVIEWED

        assert counts()
        index.write_text(new)
        assert not counts()
        index.write_text(old)
        assert counts()
        index.write_text(new)
        (bundle / "a.md").write_text(CONFIRMED + " again")
        assert not counts()
        (bundle / "a.md").write_text(CONFIRMED)
        assert not counts()
        index.unlink()
        assert counts()
        index.symlink_to(outside)
        assert counts(), "what lies outside of the bundle says nothing of it"
        index.unlink()
        write_tree(bundle, {".v/index.md": new})
        index.symlink_to(".v/index.md")
        assert not counts()
        (bundle / ".v/index.md").write_text(old)
        assert counts()
        index.unlink()
        index.write_bytes(new.encode("utf-16"))
        assert not counts()
        index.write_bytes(b"\0")
        assert counts()
        index.unlink()
        index.mkdir()
        assert counts()
        assert not catalog.report().sources[0].problems


def test_problems_are_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_tree(tmp_path / "bundle", {"bad.md": b"\0", "good.md": "word"})
    manifest = write_manifest(tmp_path, [{"id": "s", "path": "bundle"}])
    with (
        caplog.at_level(logging.DEBUG, "okf_catalog"),
        FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog,
    ):
        resolver = GroupedKnowledgeResolver(catalog)
        for _ in range(3):
            context = resolver.search("word")
            assert "bad" not in repr(context.passages) + repr(context.diagnostics)
        catalog.report()
        assert sum("bad.md" in record.getMessage() for record in caplog.records) == 1


def test_a_file_of_16_mib_is_read_and_one_byte_more_is_a_problem(tmp_path: Path) -> None:
    limit = 16 * 1024 * 1024
    head = b"word\n"
    files = {"fits.md": head.ljust(limit, b" "), "large.md": head.ljust(limit + 1, b" ")}
    assert ask(tmp_path, files).keys() == {"fits"}
    assert problems(tmp_path, {}).keys() == {"large.md"}


def test_empty_bundles_and_empty_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "bundle").mkdir()
    assert ask(tmp_path, {}) == {}
    assert ask(tmp_path, {"a.md": "", "b.md": "---\n---", "c.md": "---\n---\n", "d.md": "\ufeff"}) == {}
    assert problems(tmp_path, {}) == {}
