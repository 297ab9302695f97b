"""A catalog reloads a changed manifest by itself (C4), also in forked processes."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making.catalogs import make_catalog
from making.waiting import wait_until
from okf_catalog import FileKnowledgeCatalog, GroupedKnowledgeResolver

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES: dict[str, dict[str, Any]] = {
    "a": {"files": {"x.md": "word"}},
    "b": {"files": {"y.md": "word"}, "enabled": False},
}


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[FileKnowledgeCatalog]:
    options: dict[str, Any] = {"watch_for_changes": True, "reload_debounce": timedelta(milliseconds=30)}
    with make_catalog(tmp_path, SOURCES, **options) as catalog:
        yield catalog


def manifest(*ids: str) -> str:
    return json.dumps({"version": 1, "sources": [{"id": name, "path": name} for name in ids]})


def replace(path: Path, text: str) -> None:
    beside = path.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def is_newer(catalog: FileKnowledgeCatalog, generation: int) -> bool:
    return catalog.current.generation > generation


def test_the_catalog_reloads_a_changed_manifest(catalog: FileKnowledgeCatalog, tmp_path: Path) -> None:
    assert catalog.watching
    for ids in (["a", "b"], ["b"], ["a"]):
        generation = catalog.current.generation
        replace(tmp_path / "catalog.json", manifest(*ids))
        wait_until(partial(is_newer, catalog, generation))
        assert [source.id for source in catalog.current.sources] == ids
        found = GroupedKnowledgeResolver(catalog).search("word").passages
        assert [passage.source_id for passage in found] == ids


def test_a_watched_manifest_with_a_fault_keeps_the_snapshot_and_logs_once(
    catalog: FileKnowledgeCatalog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = catalog.current
    with caplog.at_level(logging.WARNING, "okf_catalog"):
        (tmp_path / "catalog.json").write_text('{"version"', encoding="utf-8")
        wait_until(lambda: catalog.last_reload_diagnostics != ())
        assert catalog.current is before
        catalog.reload()
        catalog.reload()
        assert catalog.current is before
        assert len([record for record in caplog.records if "not reloaded" in record.message]) == 1
        (tmp_path / "catalog.json").write_text(manifest("a", "b"), encoding="utf-8")
        wait_until(lambda: catalog.current.generation > before.generation)
        assert catalog.last_reload_diagnostics == ()


def test_a_catalog_without_watching_does_not_reload(tmp_path: Path) -> None:
    with make_catalog(tmp_path, SOURCES) as catalog:
        assert not catalog.watching
        replace(tmp_path / "catalog.json", manifest("a", "b"))
        assert catalog.current.generation == 1
        assert catalog.reload().generation == 2


def test_a_closed_catalog_does_not_watch(tmp_path: Path) -> None:
    with make_catalog(tmp_path, SOURCES, watch_for_changes=True) as catalog:
        pass
    assert not catalog.watching
    replace(tmp_path / "catalog.json", manifest("a", "b"))
    assert catalog.reload().generation == 1


def test_a_forked_child_watches_the_manifest_by_itself(tmp_path: Path) -> None:
    make_catalog(tmp_path, SOURCES).close()
    program = (
        "import os, sys, time, pathlib, okf_catalog\n"
        "from datetime import timedelta\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "catalog = okf_catalog.FileKnowledgeCatalog(path, reload_debounce=timedelta(milliseconds=30))\n"
        "resolver = okf_catalog.GroupedKnowledgeResolver(catalog)\n"
        "resolver.search('word')\n"
        "pid = os.fork()\n"
        "me = 'parent' if pid else 'child'\n"
        "assert len(resolver.search('word').passages) in (1, 2)\n"
        "(path.parent / 'a' / f'{me}.md').write_text('word')\n"
        "print(me, 'ready', flush=True)\n"
        "deadline = time.monotonic() + 30\n"
        "while catalog.current.generation == 1 or len(resolver.search('word').passages) != 4:\n"
        "    assert time.monotonic() < deadline, (me, catalog.current.generation)\n"
        "    time.sleep(0.01)\n"
        "if pid:\n"
        "    assert os.waitpid(pid, 0)[1] == 0\n"
        "    print('both', flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "catalog.json")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        with process.stdout:
            said = sorted(process.stdout.readline().strip() for _ in range(2))
            assert said == ["child ready", "parent ready"]
            replace(tmp_path / "catalog.json", manifest("a", "b"))
            assert process.stdout.readline().strip() == "both"
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()


def test_a_process_that_exits_with_open_catalogs_prints_nothing(tmp_path: Path) -> None:
    make_catalog(tmp_path, SOURCES).close()
    program = (
        "import sys, okf_catalog\n"
        "kept = [okf_catalog.open_knowledge(sys.argv[1]) for _ in range(5)]\n"
        "for knowledge in kept: knowledge.search('word')\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program, str(tmp_path / "catalog.json")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors cannot be counted here")
def test_opening_and_closing_leaves_no_thread_and_no_descriptor(tmp_path: Path) -> None:
    def held() -> tuple[int, int]:
        return len([*Path("/proc/self/fd").iterdir()]), len([*Path("/proc/self/task").iterdir()])

    make_catalog(tmp_path, SOURCES).close()
    before = held()
    for _ in range(300):
        with FileKnowledgeCatalog(tmp_path / "catalog.json") as catalog:
            GroupedKnowledgeResolver(catalog).search("word")
    wait_until(lambda: held() <= before)
