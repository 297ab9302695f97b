"""Marks that appear or go, and directories that move, while a catalog is open (Y10)."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from making.bundles import write_tree
from making.catalogs import open_catalog, write_manifest
from making.leaks import (
    KB,
    KNOWN,
    OPEN,
    PLACES,
    QUESTION,
    SCOPE,
    SECRET,
    TIER,
    USER_TENANT,
    check_nothing_leaks,
    concepts,
    found,
    linked,
    mount,
)
from making.memory import MARK
from making.processes import without_privileges
from okf_catalog import (
    FileKnowledgeCatalog,
    Freshness,
    KnowledgeDiagnosticCode,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=[Freshness.EXACT, Freshness.manual()], ids=["exact", "manual"])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FileKnowledgeCatalog]:
    """One source, ``top/kb``, whose concepts were found before."""
    files = {"own.md": f"{QUESTION} one", "sub/own.md": f"{QUESTION} two", "sub/deep/own.md": f"{QUESTION} 3"}
    write_tree(tmp_path / "catalog" / "top" / "kb", files)
    manifest = write_manifest(tmp_path / "catalog", [{"id": "kb", "path": "top/kb"}])
    with open_catalog(manifest, freshness=request.param) as catalog:
        assert found(catalog) == {"own", "sub/own", "sub/deep/own"}
        yield catalog


def found_now(catalog: FileKnowledgeCatalog) -> set[str]:
    """The concepts that are found after a refresh, if the freshness needs one."""
    if not catalog.freshness.is_exact:
        catalog.refresh()
    return found(catalog)


@pytest.mark.parametrize("kind", ["file", "directory", "link", "link to nothing", "not readable", "case"])
@pytest.mark.parametrize(
    ("at", "left"),
    [
        ("catalog/top/kb/sub/deep", {"own", "sub/own"}),
        ("catalog/top/kb/sub", {"own"}),
        ("catalog/top/kb", set[str]()),
        ("catalog/top", set[str]()),
        ("catalog", set[str]()),
        (".", set[str]()),
    ],
)
def test_a_marker_that_is_added_or_removed_takes_effect_at_once(
    running: FileKnowledgeCatalog, tmp_path: Path, at: str, left: set[str], kind: str
) -> None:
    mark = tmp_path / at / MARK
    if kind == "case":
        if not at.startswith("catalog/top/kb"):
            pytest.skip("above a bundle, the file system says what is the same name")
        mark = mark.with_name(MARK.upper())
    for _ in range(2):
        if kind == "directory":
            mark.mkdir()
        elif kind.startswith("link"):
            mark.symlink_to("." if kind == "link" else "nowhere")
        else:
            mark.touch(0 if kind == "not readable" else 0o644)
        assert found_now(running) == left
        if kind == "case" and at == "catalog/top/kb":
            assert concepts(running) == {"kb": 0}
        (mark.rmdir if kind == "directory" else mark.unlink)()
        assert found_now(running) == {"own", "sub/own", "sub/deep/own"}


def test_a_marked_directory_that_is_moved_in_or_over_takes_effect_at_once(
    running: FileKnowledgeCatalog, tmp_path: Path
) -> None:
    kb = tmp_path / "catalog" / "top" / "kb"
    memories = {"own.md": f"{QUESTION} {SECRET}", "d/own.md": f"{QUESTION} {SECRET}", MARK: ""}
    write_tree(tmp_path / "memories", memories)
    (tmp_path / "memories").rename(kb / "more")
    assert found_now(running) == {"own", "sub/own", "sub/deep/own"}
    # In place of a directory whose files have the same names.
    (kb / "sub").rename(tmp_path / "sub")
    (kb / "more").rename(kb / "sub")
    assert found_now(running) == {"own"}
    (kb / "sub").rename(tmp_path / "memories")
    (tmp_path / "sub").rename(kb / "sub")
    assert found_now(running) == {"own", "sub/own", "sub/deep/own"}
    # In place of the whole bundle.
    kb.rename(tmp_path / "kb")
    (tmp_path / "memories").rename(kb)
    assert found_now(running) == set()


@pytest.mark.parametrize("what", ["catalog/top/kb", "catalog/top", "catalog"])
def test_a_bundle_moved_below_a_marker_is_no_longer_knowledge(
    running: FileKnowledgeCatalog, tmp_path: Path, what: str
) -> None:
    (tmp_path / "memories" / "deep").mkdir(parents=True)
    (tmp_path / "memories" / MARK).touch()
    (tmp_path / what).rename(tmp_path / "memories" / "deep" / "moved")
    # Links on the path to the catalog root are followed; below the root, links are refused.
    if what == "catalog":
        (tmp_path / what).symlink_to("memories/deep/moved")
    else:
        # A new directory at the old path is no memory.
        write_tree(tmp_path / "catalog" / "top" / "kb", {"new.md": QUESTION})
    assert found_now(running) == (set() if what == "catalog" else {"new"})


@pytest.mark.parametrize("place", ["removed", "scope", "knowledge_moved_into_a_scope", "file_link"])
def test_a_catalog_root_that_is_a_link_finds_no_memory(marked: Path, tmp_path: Path, place: str) -> None:
    write_manifest(tmp_path, PLACES[place](tmp_path))
    other = tmp_path.with_name(tmp_path.name + "-linked")
    other.symlink_to(tmp_path.name)
    with open_catalog(other / "catalog.json") as catalog:
        check_nothing_leaks(catalog, other / "catalog.json", known=KNOWN.get(place, 2))


def test_a_directory_that_cannot_be_listed_exposes_no_memory(marked: Path, tmp_path: Path) -> None:
    write_manifest(tmp_path, PLACES["file_link"](tmp_path))
    for path in (tmp_path, *tmp_path.parents[:-1]):
        path.chmod(path.stat().st_mode | 0o055)
    for path in tmp_path.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    for mode in (0o711, 0o744, 0o700):
        for level in (TIER, USER_TENANT, SCOPE):
            (tmp_path / level).chmod(mode)

            def act() -> int:
                with open_catalog(marked) as catalog:
                    return check_nothing_leaks(catalog)

            assert without_privileges(act) == 2
            (tmp_path / level).chmod(0o755)


def test_markers_above_a_catalog_root_are_seen_after_moves(tmp_path: Path) -> None:
    root = tmp_path / "a" / "b" / "c"
    write_tree(root / "kb", {"own.md": QUESTION})
    manifest = write_manifest(root, [KB])
    (tmp_path / "memories" / "deep" / "deeper").mkdir(parents=True)
    (tmp_path / "memories" / MARK).touch()
    with open_catalog(manifest) as catalog:
        assert found(catalog) == found(catalog) == {"own"}
        (tmp_path / "a").rename(tmp_path / "memories" / "deep" / "deeper" / "a")
        (tmp_path / "a").symlink_to("memories/deep/deeper/a")
        assert found(catalog) == set()
        [diagnostic] = KnowledgeResolverRouter(catalog).search(QUESTION).diagnostics
        assert diagnostic.code is KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE
        assert diagnostic.message == 'source "kb" is unavailable: its directory is not served'
        assert str(tmp_path) not in diagnostic.message
        (tmp_path / "a").unlink()
        (tmp_path / "memories" / "deep" / "deeper" / "a").rename(tmp_path / "a")
        assert found(catalog) == {"own"}


def test_a_link_inside_a_bundle_is_followed_only_to_knowledge(
    running: FileKnowledgeCatalog, tmp_path: Path
) -> None:
    linked(tmp_path / "catalog/top/kb", "linked.md", "sub/deep/own.md")
    assert found_now(running) == {"linked", "own", "sub/own", "sub/deep/own"}
    (tmp_path / "catalog/top/kb/sub" / MARK).touch()
    assert found_now(running) == {"own"}


def test_a_directory_that_becomes_a_memory_during_reading_is_not_served(tmp_path: Path) -> None:
    """A directory of memories repeatedly replaces a directory of knowledge with the same names."""
    names = [f"{n}.md" for n in range(200)]
    write_tree(tmp_path / "kb" / "sub", dict.fromkeys(names, f"{QUESTION} {OPEN}"))
    write_tree(tmp_path / "memories", dict.fromkeys(names, f"{QUESTION} {SECRET}") | {MARK: ""})
    manifest = write_manifest(tmp_path, [KB])
    program = (
        "import os, sys\n"
        "while True:\n"
        "    for one, other in (('kb/sub', 'away'), ('memories', 'kb/sub'), ('kb/sub', 'memories'),\n"
        "                       ('away', 'kb/sub')):\n"
        "        os.rename(one, other)\n"
    )
    swapper = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path)
    try:
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            with open_catalog(manifest) as catalog:
                for _ in range(5):
                    assert KnowledgeResolverRouter(catalog).search(SECRET).passages == ()
    finally:
        swapper.kill()
        swapper.wait()


def test_the_log_and_the_report_name_the_cause_and_the_answer_does_not(
    running: FileKnowledgeCatalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def said() -> list[str]:
        return [record.getMessage() for record in caplog.records]

    mark = tmp_path / "catalog" / "top" / MARK
    told = "source 'kb': '.' is left out: its directory lies among memories, which are no knowledge"
    for _ in range(2):
        caplog.clear()
        mark.touch()
        for _ in range(3):
            assert found_now(running) == set()
            for context in (
                KnowledgeResolverRouter(running).search(QUESTION),
                *KnowledgeResolverRouter(running).search_batch([QUESTION]),
            ):
                assert "memor" not in str(context.diagnostics)
            [report] = running.report().sources
            assert "lies among memories" in (report.failure or "")
        assert said() == [told], "once"
        mark.unlink()
        assert found_now(running) == {"own", "sub/own", "sub/deep/own"}


@pytest.mark.parametrize("strategy", ["merged", "priority_weighted", "grouped_by_source"])
def test_a_source_among_memories_does_not_replace_another_source_of_its_directory(
    tmp_path: Path, strategy: str
) -> None:
    """One directory: among memories at its own path, and among knowledge where it is mounted."""
    write_tree(tmp_path, {"people/kb/own.md": QUESTION, f"people/{MARK}": ""})
    sources = [{"id": "a", "path": "people/kb"}, {"id": "b", "path": "kb"}]
    with mount(tmp_path / "people" / "kb", tmp_path / "kb") as allowed:
        if not allowed:
            pytest.skip("only some may mount")
        with open_catalog(write_manifest(tmp_path, sources)) as catalog:
            query = KnowledgeQuery(QUESTION, resolver_strategy=KnowledgeResolverStrategy(strategy))
            for _ in range(2):
                context = KnowledgeResolverRouter(catalog).search(query)
                assert [passage.source_id for passage in context.passages] == ["b"]
                assert [diagnostic.source_id for diagnostic in context.diagnostics] == ["a"]
