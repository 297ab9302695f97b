"""No directory of memories is served as knowledge (Y10), whatever was moved, linked or mounted."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from making.bundles import write_tree
from making.catalogs import open_catalog, write_manifest
from making.leaks import (
    ALL,
    DIARY,
    KB,
    KNOWN,
    MOUNTED,
    PLACES,
    QUESTION,
    SCOPE,
    SECRET,
    TIER,
    check_nothing_leaks,
    diaries,
    forget_marks,
    mark_again,
    mount,
    remember,
)
from making.processes import in_child
from making.waiting import SOON, wait_until
from okf_catalog import (
    FileMemoryStore,
    KnowledgeResolverRouter,
    RemarkCode,
)
from okf_catalog.cli.app import app
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["marked", "from before there were marks"])
def manifest(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    manifest = remember(tmp_path)
    if request.param != "marked":
        assert forget_marks(tmp_path) == 10
        mark_again(manifest)
    return manifest


@pytest.mark.parametrize("place", sorted(PLACES))
def test_a_new_catalog_finds_no_memory(manifest: Path, place: str) -> None:
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
def test_a_catalog_that_watches_its_manifest_finds_no_memory(manifest: Path, place: str) -> None:
    with open_catalog(manifest, watch_for_changes=True, reload_debounce=SOON) as catalog:
        check_nothing_leaks(catalog, known=2)
        generation = catalog.current.generation
        sources = PLACES[place](manifest.parent)
        # The manifest has not changed.
        assert KnowledgeResolverRouter(catalog).search(SECRET).passages == ()
        write_manifest(manifest.parent, sources)
        wait_until(lambda: catalog.current.generation > generation)
        check_nothing_leaks(catalog, known=KNOWN.get(place, 2))


@pytest.mark.parametrize("sources", [[ALL], [KB], [ALL, *diaries(enabled=False)]])
@pytest.mark.parametrize("bound", sorted(MOUNTED))
def test_a_mount_exposes_no_memory(manifest: Path, bound: str, sources: list[dict[str, Any]]) -> None:
    directory = manifest.parent
    write_manifest(directory, sources)
    known = {"scope over all knowledge": 0, "scope over knowledge": 1, "below a scope": 1}.get(bound, 2)
    source, place = MOUNTED[bound]
    with open_catalog(manifest, watch_for_changes=True, reload_debounce=SOON) as running:
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


def test_a_mount_inside_a_mount_exposes_no_memory(marked: Path, tmp_path: Path) -> None:
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
    with open_catalog(marked, watch_for_changes=True, reload_debounce=SOON) as catalog:
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
