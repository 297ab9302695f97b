"""Remarks on files that are served, and on names that are passed over (B11)."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from making.bundles import write_tree
from making.catalogs import make_catalog, write_manifest
from okf_catalog import (
    ChatMessage,
    FileKnowledgeCatalog,
    KnowledgeContextProvider,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    RemarkCode,
    RemarkCount,
    SourceRemark,
    SourceReport,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

GOOD = "---\ntype: Note\ntitle: word\n---\nword\n"
NAME = RemarkCode.NAME_NOT_READ


def report_of(catalog: FileKnowledgeCatalog, at: int = 0) -> SourceReport:
    return catalog.report().sources[at]


def names(report: SourceReport) -> list[str]:
    """The paths that have a remark on their name; other remarks are left out."""
    return [remark.path for remark in report.remarks if remark.code is NAME]


def count(report: SourceReport, code: RemarkCode) -> int:
    return {of_code.code: of_code.count for of_code in report.remark_counts}.get(code, 0)


def names_in(directory: Path, files: Mapping[str, str | bytes]) -> list[str]:
    with make_catalog(directory, {"s": {"files": files}}) as catalog:
        return names(report_of(catalog))


def test_a_remark_says_path_line_code_and_one_sentence(tmp_path: Path) -> None:
    files = {"a.md": GOOD, "sub/NOTE.MD": GOOD}
    with make_catalog(tmp_path, {"s": {"files": files}}) as catalog:
        report = report_of(catalog)
    assert report.remarks == (
        SourceRemark(
            "sub/NOTE.MD",
            None,
            NAME,
            "its name ends in .MD, and only .md makes a concept; rename it to be read",
        ),
    )
    assert (report.remark_count, report.remark_counts) == (1, (RemarkCount(NAME, 1),))
    assert (report.concepts, report.problems) == (1, ())


def test_a_clean_bundle_has_no_remarks(tmp_path: Path) -> None:
    files = {"a.md": GOOD, "index.md": "x", "log.md": "x", "picture.png": b"\x00", "sub/b.md": GOOD}
    with make_catalog(tmp_path, {"s": {"files": files}}) as catalog:
        report = report_of(catalog)
    assert (report.remarks, report.remark_count, report.remark_counts) == ((), 0, ())


LOOK_ALIKE = [
    "NOTE.MD",
    "Note.Md",
    "note.markdown",
    "note.mdown",
    "note.mkd",
    "note.mdx",
    "note.md.txt",
    "note.md ",
    "note.md.",
    ".note.md.icloud",
    "a/b/.c.md.icloud",
    "a/数字.MD",
    "README.MARKDOWN",
]
OTHERS = [
    "note.md",
    "index.md",
    "log.md",
    "index.MD",
    "a/Log.markdown",
    ".index.md.icloud",
    ".note.md",
    ".NOTE.MD",
    "._note.MD",
    ".git/NOTE.MD",
    ".git/.note.md.icloud",
    ".x.md.icloud/NOTE.MD",
    "note.md.bak",
    "note.md~",
    "notes.txt",
    ".photo.jpg.icloud",
    "LICENSE",
    "dir.MD/note.md",
]


@pytest.mark.skipif(sys.platform == "darwin", reason="names that differ only in case are one there")
def test_names_that_look_like_a_concept_are_remarked_on_and_no_others(tmp_path: Path) -> None:
    assert names_in(tmp_path, dict.fromkeys([*LOOK_ALIKE, *OTHERS], GOOD)) == sorted(LOOK_ALIKE)


ENDING = r"\.(?:md|markdown|mdown|mdwn|mkd|mkdn|mkdown|mdtext|mdtxt|mdx)"
BEHIND = r"(?:\.txt)?[\s.]*"
LOOKS_ALIKE = re.compile(rf"(?!(?:index|log){ENDING}{BEHIND}$)[^.].*{ENDING}{BEHIND}$", re.IGNORECASE)
PLACEHOLDER = re.compile(rf"\.?(?!(?:index|log){ENDING}\.icloud$)[^.].*{ENDING}\.icloud$", re.IGNORECASE)


def looks_alike(name: str) -> bool:
    """The rule for names, written independently of the engine."""
    if name.endswith(".icloud"):
        return PLACEHOLDER.match(name) is not None
    is_concept = name.endswith(".md") and not name.startswith(".")
    return not is_concept and LOOKS_ALIKE.match(name) is not None


NAMES = st.builds(
    "".join,
    st.lists(
        st.sampled_from(
            ["a", "index", "Log", ".", ".md", ".MD", ".mdx", ".Markdown", ".txt", ".icloud", " ", "md", "é"]
        ),
        min_size=1,
        max_size=5,
    ),
).filter(lambda name: name not in (".", ".."))


@pytest.mark.skipif(sys.platform == "darwin", reason="names that differ only in case are one there")
@given(st.sets(NAMES, max_size=12))
@example({"index.md.md.icloud"})  # It stands for the concept `index.md`, which is not the index.
def test_the_engine_remarks_on_the_names_that_the_model_rule_names(drawn: set[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        found = names_in(Path(directory), dict.fromkeys([*drawn, "z.md"], GOOD))
    assert found == sorted(name for name in drawn if looks_alike(name))


@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems refuse such names")
def test_a_remark_on_a_name_that_is_not_utf8_shows_its_readable_part(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / os.fsdecode(b"caf\xe9.MD")).write_text("word")
    assert names_in(tmp_path, {"a.md": GOOD}) == ["caf\ufffd.MD"]


def test_only_files_and_links_to_files_are_remarked_on(tmp_path: Path) -> None:
    root = tmp_path / "s"
    (root / "DIRECTORY.MD").mkdir(parents=True)
    (root / "a.md").write_text(GOOD)
    os.mkfifo(root / "PIPE.MD")
    (root / "LINK.MD").symlink_to("a.md")
    (root / "BROKEN.MD").symlink_to("nothing")
    (root / "AWAY.MD").symlink_to("DIRECTORY.MD")
    (root / ".hidden.md.icloud").symlink_to("a.md")
    assert names_in(tmp_path, {}) == ["LINK.MD"]


@pytest.mark.parametrize("linked", [False, True], ids=["watched", "compared"])
def test_the_report_follows_the_disk(tmp_path: Path, linked: bool) -> None:
    root = tmp_path / "s"
    with make_catalog(tmp_path, {"s": {"files": {"a.md": GOOD, "sub/b.md": GOOD}}}) as catalog:
        if linked:
            (root / "link.md").symlink_to("a.md")
        assert names(report_of(catalog)) == []
        for name in ("sub/NOTE.MD", "sub/.note.md.icloud", "empty/NOTE.MD", "note.markdown"):
            write_tree(root, {name: GOOD})
            assert names(report_of(catalog)) == [name]
            (root / name).rename(root / "done.txt")
            assert names(report_of(catalog)) == []


def test_a_report_keeps_the_first_of_many_remarks_and_counts_all(tmp_path: Path) -> None:
    files = {f"{at % 7}/{at:04}.MD": "" for at in range(1500)}
    with make_catalog(tmp_path, {"s": {"files": {**files, "a.md": GOOD}}}) as catalog:
        report = report_of(catalog)
    assert names(report) == sorted(files)[:1000]
    assert count(report, NAME) == report.remark_count == 1500


def test_sources_of_one_directory_have_the_same_remarks(tmp_path: Path) -> None:
    sources: dict[str, dict[str, Any]] = {"s": {"files": {"NOTE.MD": GOOD}}, "again": {"path": "./s"}}
    with make_catalog(tmp_path, sources) as catalog:
        assert names(report_of(catalog, 0)) == names(report_of(catalog, 1)) == ["NOTE.MD"]


def test_disabled_sources_have_no_remarks(tmp_path: Path) -> None:
    sources: dict[str, dict[str, Any]] = {
        "s": {"files": {"NOTE.MD": GOOD}, "enabled": False},
        "other": {"files": {"a.md": GOOD}},
    }
    with make_catalog(tmp_path, sources) as catalog:
        assert report_of(catalog).remark_count == 0


@pytest.mark.parametrize("strategy", KnowledgeResolverStrategy)
def test_remarks_change_no_answer_and_appear_in_none(
    tmp_path: Path, strategy: KnowledgeResolverStrategy
) -> None:
    files = {
        "a.md": GOOD,
        "sub/b.md": "word\n",
        "c.md": "---\nstatus: odd\ntitle: other\n---\nanother word\n",
    }
    alike = dict.fromkeys(LOOK_ALIKE, GOOD)
    queries: list[KnowledgeQuery | str] = [
        "word",
        "NOTE",
        "markdown",
        KnowledgeQuery("word", "NOTE.MD"),
        "NAME_NOT_READ",
        "rename",
    ]
    said: list[str] = []
    for name, extra in (("without", {}), ("with", alike)):
        sources = {"s": {"files": {**files, **extra}}, "t": {"files": {**extra, "d.md": GOOD}}}
        (tmp_path / name).mkdir()
        with make_catalog(tmp_path / name, sources) as catalog:
            router = KnowledgeResolverRouter(catalog, default_strategy=strategy)
            answers = repr([(answer.passages, answer.diagnostics) for answer in map(router.search, queries)])
            batch = repr([(answer.passages, answer.diagnostics) for answer in router.search_batch(queries)])
            provided = KnowledgeContextProvider(router).provide([ChatMessage("user", "word")])
            said.append(answers + batch + repr(provided))
            assert len(names(report_of(catalog))) == len(extra)
    assert said[0] == said[1]
    assert "NAME_NOT_READ" not in said[1].replace("text='NAME_NOT_READ'", "")


def test_remarks_are_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with make_catalog(tmp_path, {"s": {"files": {"NOTE.MD": GOOD}}}) as catalog:
        KnowledgeResolverRouter(catalog).search("word")
        catalog.report()
    assert caplog.records == []


def test_no_remark_holds_an_absolute_path(tmp_path: Path) -> None:
    write_tree(tmp_path / "s", dict.fromkeys(LOOK_ALIKE, GOOD))
    with FileKnowledgeCatalog(write_manifest(tmp_path, [{"id": "s", "path": "s"}])) as catalog:
        assert str(tmp_path) not in repr(report_of(catalog).remarks)
