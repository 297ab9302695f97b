"""A directory that holds memories is never knowledge (Y10), however it comes to lie where that is read."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making.bundles import write_tree
from making.catalogs import open_catalog, write_manifest
from making.leaks import (
    ALL,
    DIARY,
    KB,
    MOUNTED,
    OPEN,
    PLACES,
    QUESTION,
    SCOPE,
    SECRET,
    TIER,
    USER_TENANT,
    check_nothing_leaks,
    concepts,
    diaries,
    forget_marks,
    linked,
    mark_again,
    mount,
    remember,
)
from making.memory import ALICE, BOB, MARK, SESSION, USER, entry
from making.processes import in_child, without_privileges
from making.waiting import wait_until
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    Freshness,
    KnowledgeDiagnosticCode,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    MemoryDeleteResult,
    MemoryOverlapError,
    RemarkCode,
    open_knowledge,
)
from okf_catalog.cli.app import app
from typer.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from okf_catalog import KnowledgePassage

KNOWN = {
    "only_the_directory": 0,
    "moved_beside": 1,
    **dict.fromkeys(("tier", "tenant", "scope", "below_a_scope", "spelled_around"), 0),
    **dict.fromkeys(("knowledge_moved_into_a_tier", "knowledge_moved_into_a_scope"), 0),
}
"""How many concepts are left to be found, where that is not the two of the knowledge source."""

soon = timedelta(milliseconds=20)


@pytest.fixture(params=["marked", "from before there were marks"])
def manifest(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    manifest = remember(tmp_path)
    if request.param != "marked":
        assert forget_marks(tmp_path) == 10
        mark_again(manifest)
    return manifest


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    return remember(tmp_path)


def found(catalog: FileKnowledgeCatalog) -> set[str]:
    return {passage.concept_id for passage in KnowledgeResolverRouter(catalog).search(QUESTION).passages}


# However memories come to lie there


@pytest.mark.parametrize("place", sorted(PLACES))
def test_a_catalog_that_is_opened_finds_no_memory(manifest: Path, place: str) -> None:
    write_manifest(manifest.parent, PLACES[place](manifest.parent))
    with open_catalog(manifest) as catalog:
        check_nothing_leaks(catalog, manifest, known=KNOWN.get(place, 2))


@pytest.mark.parametrize("place", sorted(PLACES))
def test_a_reload_finds_no_memory(manifest: Path, place: str) -> None:
    with open_catalog(manifest) as catalog:
        FileMemoryStore(catalog)
        check_nothing_leaks(catalog, known=2)
        write_manifest(manifest.parent, PLACES[place](manifest.parent))
        catalog.reload()
        assert catalog.last_reload_diagnostics == ()
        check_nothing_leaks(catalog, known=KNOWN.get(place, 2))


@pytest.mark.parametrize("place", sorted(PLACES))
def test_a_running_watch_finds_no_memory(manifest: Path, place: str) -> None:
    with open_catalog(manifest, watch_for_changes=True, reload_debounce=soon) as catalog:
        check_nothing_leaks(catalog, known=2)
        generation = catalog.current.generation
        sources = PLACES[place](manifest.parent)
        # The manifest still says what it said.
        assert KnowledgeResolverRouter(catalog).search(SECRET).passages == ()
        write_manifest(manifest.parent, sources)
        wait_until(lambda: catalog.current.generation > generation)
        check_nothing_leaks(catalog, known=KNOWN.get(place, 2))


@pytest.mark.parametrize("sources", [[ALL], [KB], [ALL, *diaries(enabled=False)]])
@pytest.mark.parametrize("bound", sorted(MOUNTED))
def test_a_mount_leads_to_no_memory(manifest: Path, bound: str, sources: list[dict[str, Any]]) -> None:
    directory = manifest.parent
    write_manifest(directory, sources)
    known = {"scope over all knowledge": 0, "scope over knowledge": 1, "below a scope": 1}.get(bound, 2)
    source, place = MOUNTED[bound]
    with open_catalog(manifest, watch_for_changes=True, reload_debounce=soon) as running:
        check_nothing_leaks(running, known=2)
        with mount(directory / source, directory / place) as allowed:
            if not allowed:
                pytest.skip("only some may mount")
            check_nothing_leaks(running, known=known)
            running.reload()
            check_nothing_leaks(running, known=known)
            with open_catalog(manifest) as catalog:
                check_nothing_leaks(catalog, manifest, known=known)
        check_nothing_leaks(running, known=2)


def test_a_mount_inside_a_mount_leads_to_no_memory(marked: Path, tmp_path: Path) -> None:
    write_manifest(tmp_path, [ALL])
    with open_catalog(marked) as catalog, mount(tmp_path / "kb", tmp_path / "kb" / "again") as allowed:
        if not allowed:
            pytest.skip("only some may mount")
        (tmp_path / "kb" / "again" / "inner").mkdir()
        with mount(tmp_path / SCOPE, tmp_path / "kb" / "again" / "inner"):
            check_nothing_leaks(catalog, marked)


def test_a_directory_mounted_inside_itself_hides_no_mark_above_it(marked: Path, tmp_path: Path) -> None:
    inner = tmp_path / TIER / "kb"
    write_tree(inner, {"own.md": f"{QUESTION} {SECRET}"})
    with mount(inner, inner / "again") as allowed:
        if not allowed:
            pytest.skip("only some may mount")
        with mount(inner, inner / "again" / "again"):
            for path in (f"{TIER}/kb/again", f"{TIER}/kb/again/again"):
                write_manifest(tmp_path, [{"id": "kb", "path": path}])
                with open_catalog(marked) as catalog:
                    check_nothing_leaks(catalog, known=0)


@pytest.mark.parametrize("place", ["removed", "moved_below", "scope", "file_link"])
def test_threads_and_forked_processes_find_no_memory(marked: Path, place: str) -> None:
    with open_catalog(marked, watch_for_changes=True, reload_debounce=soon) as catalog:
        leaks, stop = list[object](), threading.Event()

        def search() -> None:
            resolver = KnowledgeResolverRouter(catalog)
            while not stop.is_set():
                leaks.extend(resolver.search(SECRET).passages)
                leaks.extend(resolver.search_batch([SECRET])[0].passages)

        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            generation = catalog.current.generation
            write_manifest(marked.parent, PLACES[place](marked.parent))
            wait_until(lambda: catalog.current.generation > generation)
            time.sleep(0.05)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert leaks == []
        assert in_child(lambda: check_nothing_leaks(catalog)) == KNOWN.get(place, 2)


LEFT_OUT = {
    "removed": {f"{DIARY}/memory-{tier}" for tier in ("session", "tenant", "user")},
    "disabled": {f"{DIARY}/memory-{tier}" for tier in ("session", "tenant", "user")},
    "a_scope_moved_below": {"notes"},
    "moved_below_under_another_name": {"people"},
    "file_link": {*(f"{DIARY}/memory-{tier}" for tier in ("session", "tenant", "user"))}
    | {"kb/linked.md", "kb/deeper/linked.md"},
    "scope": {"."},
    "knowledge_moved_into_a_scope": {"."},
}
"""The paths at which memories are left out."""


@pytest.mark.parametrize("place", sorted(LEFT_OUT))
def test_a_report_says_where_memories_are_left_out(manifest: Path, place: str) -> None:
    write_manifest(manifest.parent, PLACES[place](manifest.parent))
    with open_catalog(manifest) as catalog:
        for _ in range(2):
            [report] = [report for report in catalog.report().sources if report.source.id == "kb"]
            left_out = [remark for remark in report.remarks if remark.code is RemarkCode.MEMORIES_LEFT_OUT]
            assert {remark.path for remark in left_out} == LEFT_OUT[place]
            assert all(str(manifest.parent) not in remark.sentence for remark in report.remarks)
            counts = {count.code: count.count for count in report.remark_counts}
            assert counts[RemarkCode.MEMORIES_LEFT_OUT] == len(LEFT_OUT[place])
            assert report.problems == ()
            assert (report.failure is not None) == (LEFT_OUT[place] == {"."})
    for command in (["check"], ["check", "--json"]):
        said = CliRunner().invoke(app, [*command, "--catalog", str(manifest)])
        assert all(path in said.stdout for path in LEFT_OUT[place] - {"."})
    assert CliRunner().invoke(app, ["check", "--strict", "--catalog", str(manifest)]).exit_code == 1


# Marks that come and go while a catalog is open


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
    """What is found when the host asks to look, where it has to ask."""
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
def test_a_mark_that_comes_or_goes_takes_effect_at_once(
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
    # In the place of one whose files have the same names.
    (kb / "sub").rename(tmp_path / "sub")
    (kb / "more").rename(kb / "sub")
    assert found_now(running) == {"own"}
    (kb / "sub").rename(tmp_path / "memories")
    (tmp_path / "sub").rename(kb / "sub")
    assert found_now(running) == {"own", "sub/own", "sub/deep/own"}
    # In the place of the whole bundle.
    kb.rename(tmp_path / "kb")
    (tmp_path / "memories").rename(kb)
    assert found_now(running) == set()


@pytest.mark.parametrize("what", ["catalog/top/kb", "catalog/top", "catalog"])
def test_what_is_moved_below_a_mark_is_knowledge_no_more(
    running: FileKnowledgeCatalog, tmp_path: Path, what: str
) -> None:
    (tmp_path / "memories" / "deep").mkdir(parents=True)
    (tmp_path / "memories" / MARK).touch()
    (tmp_path / what).rename(tmp_path / "memories" / "deep" / "moved")
    # Links on the way to the catalog root are followed; below it, a directory must be there.
    if what == "catalog":
        (tmp_path / what).symlink_to("memories/deep/moved")
    else:
        # Made anew where it was, it is another directory, and no memory.
        write_tree(tmp_path / "catalog" / "top" / "kb", {"new.md": QUESTION})
    assert found_now(running) == (set() if what == "catalog" else {"new"})


@pytest.mark.parametrize("place", ["removed", "scope", "knowledge_moved_into_a_scope", "file_link"])
def test_a_catalog_root_that_is_a_link_finds_no_memory(marked: Path, tmp_path: Path, place: str) -> None:
    write_manifest(tmp_path, PLACES[place](tmp_path))
    other = tmp_path.with_name(tmp_path.name + "-linked")
    other.symlink_to(tmp_path.name)
    with open_catalog(other / "catalog.json") as catalog:
        check_nothing_leaks(catalog, other / "catalog.json", known=KNOWN.get(place, 2))


def test_what_may_be_passed_and_not_listed_is_no_way_to_a_memory(marked: Path, tmp_path: Path) -> None:
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


def test_what_lies_above_a_catalog_root_is_looked_at_however_it_moves(tmp_path: Path) -> None:
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


def test_a_link_inside_a_bundle_is_followed_as_long_as_it_leads_to_knowledge(
    running: FileKnowledgeCatalog, tmp_path: Path
) -> None:
    linked(tmp_path / "catalog/top/kb", "linked.md", "sub/deep/own.md")
    assert found_now(running) == {"linked", "own", "sub/own", "sub/deep/own"}
    (tmp_path / "catalog/top/kb/sub" / MARK).touch()
    assert found_now(running) == {"own"}


def test_nothing_is_read_that_becomes_a_memory_while_it_is_read(tmp_path: Path) -> None:
    """A directory of memories is put again and again in the place of one of knowledge with the same names."""
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


def test_the_log_and_the_report_say_why_and_the_asker_is_not_told(
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
def test_a_source_among_memories_stands_for_no_other_of_its_directory(tmp_path: Path, strategy: str) -> None:
    """The same directory lies among memories where it is, and among knowledge where it is mounted."""
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


# What the store marks, and when


def passages(catalog: FileKnowledgeCatalog, question: str) -> Sequence[KnowledgePassage]:
    return KnowledgeResolverRouter(catalog).search(question).passages


def let_others_in(directory: Path) -> None:
    for path in (directory, *directory.rglob("*"), *directory.parents):
        if directory.is_relative_to("/tmp") and path.is_relative_to("/tmp") and not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


def unmarked(directory: Path) -> list[str]:
    """Directories of memories without a mark."""
    tiers = [path for path in directory.glob("memory-*") if path.is_dir() and not path.is_symlink()]
    below = [Path(path) for tier in tiers for path, _, _ in os.walk(tier)]
    return [str(path.relative_to(directory)) for path in below if not (path / MARK).is_file()]


def test_every_directory_of_memories_has_an_empty_mark(marked: Path) -> None:
    diary = marked.parent / DIARY
    assert unmarked(diary) == []
    marks = [*diary.rglob(MARK)]
    assert len(marks) == 2 + 3 + 4 + 1
    assert all(mark.read_bytes() == b"" for mark in marks)
    assert not (diary / MARK).exists(), "the source's own directory holds no memory"


@pytest.mark.parametrize("enabled", [True, False])
def test_a_new_store_marks_what_it_finds_and_follows_no_link(marked: Path, *, enabled: bool) -> None:
    directory = marked.parent
    forget_marks(directory)
    write_tree(directory, {"elsewhere/a.md": QUESTION})
    linked(directory, f"{SCOPE}/linked", "elsewhere")
    linked(directory, f"{DIARY}/memory-linked", "elsewhere")
    shutil.rmtree(directory / DIARY / "memory-tenant")
    linked(directory, f"{DIARY}/memory-tenant", "elsewhere")
    write_manifest(directory, [KB, *diaries(enabled=enabled)])
    mark_again(marked)
    assert unmarked(directory / DIARY) == []
    assert [*(directory / "elsewhere").iterdir()] == [directory / "elsewhere" / "a.md"]


def test_a_store_that_is_refused_has_marked_what_it_found(marked: Path) -> None:
    forget_marks(marked.parent)
    write_manifest(marked.parent, [ALL, *diaries(enabled=False)])
    with open_catalog(marked) as catalog, pytest.raises(MemoryOverlapError, match=r"diary-session.*kb"):
        FileMemoryStore(catalog)
    write_manifest(marked.parent, [ALL])
    with open_catalog(marked) as catalog:
        check_nothing_leaks(catalog, known=2)


def test_a_disabled_memory_source_among_knowledge_stops_a_running_store(marked: Path) -> None:
    with open_catalog(marked) as catalog:
        store = FileMemoryStore(catalog)
        write_manifest(marked.parent, [ALL, *diaries(enabled=False)])
        catalog.reload()
        result = store.read(ALICE, QUESTION)
        assert result.passages == ()
        assert [diagnostic.code for diagnostic in result.diagnostics] == [
            KnowledgeDiagnosticCode.SOURCE_UNAVAILABLE
        ]
        assert not store.write(ALICE, entry("a word"), USER).written
        assert store.delete_scope(ALICE).tiers_deleted == 0
        check_nothing_leaks(catalog, known=2)
        write_manifest(marked.parent, [KB, *diaries()])
        catalog.reload()
        assert len(store.read(ALICE, QUESTION).passages) == 4


@pytest.mark.parametrize("watch", [False, True])
def test_a_reload_marks_memories_that_come_or_go(marked: Path, *, watch: bool) -> None:
    directory = marked.parent
    shutil.copytree(directory / DIARY, directory / "older")
    new = [source | {"path": "older"} for source in diaries()]
    with open_catalog(marked, watch_for_changes=watch, reload_debounce=soon) as catalog:
        FileMemoryStore(catalog)
        forget_marks(directory)
        generation = catalog.current.generation
        write_manifest(directory, [KB, *new])
        if watch:
            wait_until(lambda: catalog.current.generation > generation)
        else:
            catalog.reload()
        assert unmarked(directory / "older") == unmarked(directory / DIARY) == []


def test_a_catalog_without_a_store_makes_no_file_while_it_remembers_the_same(marked: Path) -> None:
    forget_marks(marked.parent)
    with open_catalog(marked) as catalog:
        check_nothing_leaks(catalog, known=2)
        write_manifest(marked.parent, [KB | {"priority": 1}, *diaries()])
        catalog.reload()
        check_nothing_leaks(catalog, known=2)
    assert [*marked.parent.rglob(MARK)] == []


@pytest.mark.parametrize("after", ["removed", "disabled", "moved", "another tier"])
@pytest.mark.parametrize("before", ["enabled", "disabled"])
def test_a_reload_marks_what_a_catalog_without_a_store_remembers(
    marked: Path, before: str, after: str
) -> None:
    directory = marked.parent
    forget_marks(directory)
    shutil.copytree(directory / DIARY, directory / "older")
    write_manifest(directory, [KB, *diaries(enabled=before == "enabled")])
    following = {
        "removed": [],
        "disabled": diaries(enabled=False),
        "moved": [source | {"path": "older"} for source in diaries()],
        "another tier": diaries()[:1],
    }
    with open_catalog(marked) as catalog:
        write_manifest(directory, [ALL, *following[after]])
        catalog.reload()
        assert before == after == "disabled" or unmarked(directory / DIARY) == []
        assert (unmarked(directory / "older") == []) == (after == "moved")
        known = {"moved": 2}.get(after)
        if known is not None:
            check_nothing_leaks(catalog, known=known)
        assert [p.concept_id for p in passages(catalog, SECRET) if not p.concept_id.startswith("older")] == []
        assert in_child(lambda: [p.concept_id for p in passages(catalog, SECRET)]) == [
            p.concept_id for p in passages(catalog, SECRET)
        ]


@pytest.mark.parametrize("searched", [True, False])
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("level", [DIARY, TIER, USER_TENANT, SCOPE, f"{SCOPE}/deeper"])
def test_memories_from_before_marks_stay_sealed_wherever_they_are_moved(
    marked: Path, level: str, *, enabled: bool, searched: bool
) -> None:
    """No store is open_catalog, and nothing tells the catalog of the move but the disk."""
    directory = marked.parent
    forget_marks(directory)
    write_manifest(directory, [KB, *diaries(enabled=enabled)])
    with open_catalog(marked) as catalog:
        if searched:
            check_nothing_leaks(catalog, known=2)
        (directory / level).rename(directory / "kb" / "moved")
        check_nothing_leaks(catalog, known=2)
        assert in_child(lambda: check_nothing_leaks(catalog)) == 2
        write_manifest(directory, [ALL])
        catalog.reload()
        check_nothing_leaks(catalog, known=2)


@pytest.mark.parametrize("bound", ["tier", "tenant", "scope", "below a scope"])
def test_memories_from_before_marks_stay_sealed_wherever_they_are_mounted(marked: Path, bound: str) -> None:
    directory = marked.parent
    forget_marks(directory)
    with open_catalog(marked) as catalog:
        check_nothing_leaks(catalog, known=2)
        with mount(directory / MOUNTED[bound][0], directory / "kb" / "mounted") as allowed:
            if not allowed:
                pytest.skip("only some may mount")
            check_nothing_leaks(catalog, known=2)


@pytest.mark.parametrize("linked_at", [DIARY, TIER])
@pytest.mark.parametrize("store", [True, False])
def test_what_a_memory_source_leads_to_by_a_link_is_sealed(
    marked: Path, linked_at: str, *, store: bool, caplog: pytest.LogCaptureFixture
) -> None:
    directory = marked.parent
    forget_marks(directory)
    (directory / linked_at).rename(directory / "kb" / "moved")
    linked(directory, linked_at, "kb/moved")
    write_manifest(directory, [KB, *diaries(enabled=False)])
    with open_catalog(marked) as catalog:
        if store:
            with contextlib.suppress(MemoryOverlapError):
                FileMemoryStore(catalog)
            told = [
                record.getMessage() for record in caplog.records if "cannot be marked" in record.getMessage()
            ]
            assert len(told) == (3 if linked_at == DIARY else 0)
        check_nothing_leaks(catalog, known=2)


@pytest.mark.parametrize("mode", [0o711, 0o700])
def test_a_memory_source_that_may_not_be_entered_is_sealed_by_name(
    marked: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    directory = marked.parent
    forget_marks(directory)
    let_others_in(directory)
    (directory / DIARY).chmod(mode)
    inside = [
        KB | {"id": "tier", "path": TIER},
        KB | {"id": "scope", "path": SCOPE},
        KB | {"id": "shouted", "path": f"{DIARY}/./memory-user"},
    ]
    write_manifest(directory, [KB, *(inside if mode == 0o711 else []), *diaries(enabled=False)])

    def act() -> object:
        with open_catalog(marked) as catalog:
            with contextlib.suppress(MemoryOverlapError):
                FileMemoryStore(catalog)
            said = [record.getMessage() for record in caplog.records]
            return said, check_nothing_leaks(catalog)

    said, known = without_privileges(act)
    assert known == 2
    assert [text for text in said if "diary-user" in text and "cannot be marked as memories" in text]


@pytest.mark.parametrize("by", ["knowledge", "command"])
def test_disabled_memory_sources_alone_are_marked_where_no_store_is_given(marked: Path, by: str) -> None:
    directory = marked.parent
    forget_marks(directory)
    write_manifest(directory, [KB, *diaries(enabled=False)])
    if by == "command":
        assert CliRunner().invoke(app, ["memory", "list", "--catalog", str(marked)]).exit_code == 1
    else:
        with open_knowledge(marked, watch_for_changes=False) as knowledge:
            assert unmarked(directory / DIARY) != []
            assert knowledge.memory is None
    assert unmarked(directory / DIARY) == []


@pytest.mark.parametrize("act", ["read", "enumerate", "text", "write"])
def test_what_the_host_makes_inside_a_scope_is_marked_when_the_scope_is_used(
    marked: Path, tmp_path: Path, act: str
) -> None:
    write_manifest(tmp_path, [KB, *diaries()])
    with open_catalog(marked) as catalog:
        store = FileMemoryStore(catalog)
        (listed,) = (c for c in store.enumerate(ALICE) if c.tier is USER and c.concept_id.endswith("monday"))
        inner = tmp_path / SCOPE / "archive" / "2020"
        write_tree(inner, {"old.md": f"{QUESTION} {SECRET}"})
        for level in (TIER, USER_TENANT, SCOPE):
            (tmp_path / level / MARK).unlink()
        acts: dict[str, Callable[[], object]] = {
            "read": lambda: store.read(ALICE, QUESTION),
            "enumerate": lambda: store.enumerate(ALICE),
            "text": lambda: store.text(ALICE, listed.concept_id),
            "write": lambda: store.write(ALICE, entry("a word"), USER),
        }
        acts[act]()
        assert unmarked(tmp_path / DIARY) == []
        with mount(inner, tmp_path / "kb" / "mounted") as allowed:
            if allowed:
                check_nothing_leaks(catalog, known=2)
        inner.rename(tmp_path / "kb" / "moved")
        check_nothing_leaks(catalog, known=2)


def test_what_may_not_be_marked_is_read_all_the_same(marked: Path) -> None:
    directory = marked.parent
    write_tree(directory, {f"{SCOPE}/archive/old.md": f"{QUESTION} {SECRET}"})
    let_others_in(directory)

    def act() -> object:
        with open_catalog(marked) as catalog:
            result = FileMemoryStore(catalog).read(ALICE, SECRET)
            return len(result.passages), [diagnostic.message for diagnostic in result.diagnostics]

    assert without_privileges(act) == (5, [])
    assert unmarked(directory / DIARY) == [f"{SCOPE.removeprefix(DIARY + '/')}/archive"]


def test_a_mark_in_another_case_is_given_its_exact_name(marked: Path) -> None:
    """A file link looks a mark up by its exact name."""
    directory = marked.parent
    for mark in directory.rglob(MARK):
        mark.rename(mark.with_name(MARK.upper()))
    mark_again(marked)
    assert unmarked(directory / DIARY) == []
    write_manifest(directory, PLACES["file_link"](directory))
    with open_catalog(marked) as catalog:
        check_nothing_leaks(catalog, known=2)
    for mark in directory.rglob(MARK):
        mark.unlink()
    write_manifest(directory, [KB, *diaries()])
    with open_catalog(marked) as catalog:
        FileMemoryStore(catalog).read(ALICE, QUESTION)
    assert unmarked(directory / DIARY) == []


def test_a_write_marks_the_way_again(marked: Path) -> None:
    with open_catalog(marked) as catalog:
        store = FileMemoryStore(catalog)
        forget_marks(marked.parent)
        assert store.write(ALICE, entry("a word"), USER).written
        for level in (TIER, USER_TENANT, SCOPE):
            assert (marked.parent / level / MARK).is_file()


def test_forgetting_a_scope_takes_its_mark_along_and_no_other(marked: Path) -> None:
    with open_catalog(marked) as catalog:
        store = FileMemoryStore(catalog)
        assert store.write(BOB, entry("a word"), USER).written
        assert store.delete_scope(ALICE, USER) == MemoryDeleteResult(
            1, None, concepts_deleted=2, scopes_deleted=1
        )
        assert not (marked.parent / SCOPE).exists()
        assert (marked.parent / USER_TENANT / MARK).is_file()
        assert unmarked(marked.parent / DIARY) == []
        assert store.read(BOB, "word").passages


def test_writers_and_deleters_leave_no_memory_without_a_mark(marked: Path) -> None:
    with open_catalog(marked) as catalog:
        store, errors, bare = FileMemoryStore(catalog), list[str](), list[str]()
        deadline = time.monotonic() + 2

        def work(act: Callable[[], str | None]) -> None:
            while time.monotonic() < deadline:
                error = act()
                if error is not None:
                    errors.append(error)

        def look() -> None:
            # Passes over directories that vanish meanwhile.
            for directory, _, names in os.walk(marked.parent / DIARY):
                for path in (Path(directory, name) for name in names if name.endswith(".md")):
                    is_bare = not (path.parent / MARK).exists()
                    if is_bare and path.exists() and path.parent.name != "deeper":
                        bare.append(str(path))

        acts: list[Callable[[], str | None]] = [
            *[lambda: store.write(ALICE, entry("a word"), SESSION).error] * 3,
            *[lambda: store.delete_scope(ALICE, SESSION).error] * 2,
            lambda: mark_again(marked),
            look,
        ]
        threads = [threading.Thread(target=work, args=(act,)) for act in acts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert bare == []


def test_what_cannot_be_marked_stays_sealed_while_the_catalog_is_open(
    marked: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = marked.parent
    forget_marks(directory)
    for path in (directory, *directory.rglob("*"), *directory.parents):
        if directory.is_relative_to("/tmp") and path.is_relative_to("/tmp") and path.is_dir():
            path.chmod(path.stat().st_mode | 0o555)

    def act() -> object:
        with open_catalog(marked) as catalog:
            FileMemoryStore(catalog)
            said = [record.getMessage() for record in caplog.records]
            os.write(writing, b"go")
            os.read(reading, 2)
            catalog.reload()
            catalog.reload()
            return said, check_nothing_leaks(catalog)

    # The host, who may write, changes the manifest meanwhile.
    (reading, told), (asked, writing) = os.pipe(), os.pipe()

    def host() -> None:
        os.read(asked, 2)
        write_manifest(directory, [ALL])
        os.write(told, b"go")

    thread = threading.Thread(target=host)
    thread.start()
    said, known = without_privileges(act)
    thread.join()
    for descriptor in (reading, told, asked, writing):
        os.close(descriptor)
    assert known == 2
    assert [text for text in said if "cannot be marked as memories" in text and "permission" in text]
    assert [*directory.rglob(MARK)] == []
