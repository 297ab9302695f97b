"""Catalogs open whole, reload whole or not at all, and say what is known of their sources (C2, C3, B7)."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making.asking import names
from making.bundles import write_tree
from making.catalogs import SHELF_SOURCES, write_manifest
from okf_catalog import (
    CatalogClosedError,
    CatalogDiagnosticCode,
    CatalogError,
    CatalogReport,
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    Knowledge,
    KnowledgeCatalogSnapshot,
    KnowledgeCatalogSource,
    MemoryTier,
    SourceProblem,
    SourceRole,
    open_knowledge,
    parse_manifest,
)
from okf_catalog.catalog.handle import opened_catalog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from okf_catalog._engine import Catalog, Snapshot


def ids(catalog: FileKnowledgeCatalog) -> list[str]:
    return [source.id for source in catalog.current.sources]


def faults(catalog: FileKnowledgeCatalog) -> list[str]:
    """What was wrong at the last reload."""
    return [diagnostic.code.name for diagnostic in catalog.last_reload_diagnostics]


def is_closed(catalog: FileKnowledgeCatalog) -> bool:
    # A function, because a type checker would take the attribute for one that never changes.
    return catalog.closed


# Opening


def test_a_catalog_opens_as_generation_one(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    assert catalog.current == KnowledgeCatalogSnapshot(
        version=1,
        sources=(
            KnowledgeCatalogSource("low", "low", 1),
            KnowledgeCatalogSource("off", "off", 20, enabled=False),
            KnowledgeCatalogSource("high", "high", 10),
            KnowledgeCatalogSource("diary", "diary", 30, role=SourceRole.MEMORY, tier=MemoryTier.USER),
            KnowledgeCatalogSource("also", "also", 1),
        ),
        manifest_directory=shelf,
        generation=1,
    )
    assert catalog.current is catalog.current
    assert catalog.last_reload_diagnostics == ()
    assert catalog.catalog_root == shelf
    assert not is_closed(catalog)


class OtherPath:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


@pytest.mark.parametrize("kind", [str, Path, OtherPath])
def test_a_catalog_opens_by_any_kind_of_path(shelf: Path, kind: Callable[[Path], Any]) -> None:
    with FileKnowledgeCatalog(kind(shelf / "catalog.json"), catalog_root=kind(shelf)) as catalog:
        assert catalog.current.manifest_directory == shelf
        assert catalog.catalog_root == shelf
        assert type(catalog.catalog_root) is type(Path())


def test_a_relative_path_is_resolved_once_when_the_catalog_opens(
    shelf: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shelf)
    with FileKnowledgeCatalog("catalog.json") as catalog:
        monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
        assert catalog.reload().generation == 2
        assert catalog.current.manifest_directory == shelf
        assert len(GroupedKnowledgeResolver(catalog).search("word").passages) == 5


@pytest.mark.skipif(sys.platform == "darwin", reason="all its file names are Unicode")
def test_a_catalog_opens_in_a_directory_whose_name_is_not_utf8(shelf: Path) -> None:
    odd = shelf / os.fsdecode(b"caf\xe9")
    shutil.copytree(shelf / "high", odd / "high")
    with FileKnowledgeCatalog(write_manifest(odd, [{"id": "high", "path": "high"}])) as catalog:
        assert catalog.current.manifest_directory == odd
        assert len(GroupedKnowledgeResolver(catalog).search("word").passages) == 2
        assert catalog.report().sources[0].directory == odd / "high"
        repr(catalog)


def test_a_catalog_that_cannot_open_lists_every_fault(shelf: Path) -> None:
    faults = [{"id": "a", "path": "nowhere"}, {"id": "b", "path": ".."}, {"id": "c", "path": "low"}]
    with pytest.raises(CatalogError) as raised:
        FileKnowledgeCatalog(write_manifest(shelf, faults))
    assert [diagnostic.code for diagnostic in raised.value.diagnostics] == [
        CatalogDiagnosticCode.TARGET_NOT_FOUND,
        CatalogDiagnosticCode.OUTSIDE_ROOT,
    ]
    assert "sources[0]" in raised.value.diagnostics[0].message
    assert "'b'" in raised.value.diagnostics[1].message or '"b"' in raised.value.diagnostics[1].message


def test_the_path_of_a_disabled_source_is_not_checked(shelf: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "path": "/nowhere", "enabled": False},
        {"id": "b", "path": "low"},
    ]
    with FileKnowledgeCatalog(write_manifest(shelf, rows)) as catalog:
        assert ids(catalog) == ["a", "b"]


def test_a_catalog_with_a_broken_concept_opens(shelf: Path) -> None:
    write_tree(shelf, {"low/bad.md": b"\0"})
    with FileKnowledgeCatalog(shelf / "catalog.json") as catalog:
        assert len(GroupedKnowledgeResolver(catalog).search("word").passages) == 5


def test_options_limit_the_size_of_files(shelf: Path) -> None:
    write_tree(shelf, {"low/large.md": "word " * 100})
    with FileKnowledgeCatalog(shelf / "catalog.json", max_file_bytes=499, max_threads=1) as catalog:
        low = catalog.report().sources[0]
        assert low.concepts == 2
        assert [problem.path for problem in low.problems] == ["large.md"]
    for threads in (1, 2, 10**30):
        with FileKnowledgeCatalog(
            shelf / "catalog.json", max_file_bytes=10**30, max_threads=threads
        ) as catalog:
            assert catalog.report().sources[0].concepts == 3


# Reloading


def test_a_reload_publishes_the_next_generation(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    before = catalog.current
    write_manifest(shelf, [{"id": "new", "path": "low"}])
    assert catalog.current is before
    after = catalog.reload()
    assert after is catalog.current
    assert (before.generation, after.generation) == (1, 2)
    assert ids(catalog) == ["new"]
    assert [source.id for source in before.sources] == [source["id"] for source in SHELF_SOURCES]
    assert names(GroupedKnowledgeResolver(catalog).search("word")) == ["new/strong", "new/weak"]


def test_a_reload_counts_even_if_nothing_changed(catalog: FileKnowledgeCatalog) -> None:
    before = catalog.current
    after = catalog.reload()
    assert after is not before
    assert after.generation == 2
    assert after.sources == before.sources


BREAK: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "not JSON": (lambda shelf: (shelf / "catalog.json").write_text("{"), ["PARSE_ERROR"]),
    "gone": (lambda shelf: (shelf / "catalog.json").unlink(), ["PARSE_ERROR"]),
    "two faults": (
        lambda shelf: (shelf / "catalog.json").write_text('{"version": 2, "sources": []}'),
        ["WRONG_VERSION", "EMPTY_SOURCES"],
    ),
    "a directory gone": (lambda shelf: shutil.rmtree(shelf / "low"), ["TARGET_NOT_FOUND"]),
    "one good and two bad paths": (
        lambda shelf: write_manifest(
            shelf,
            [{"id": "a", "path": "high"}, {"id": "b", "path": "nowhere"}, {"id": "c", "path": "/"}],
        ),
        ["TARGET_NOT_FOUND", "ABSOLUTE_PATH"],
    ),
}


@pytest.mark.parametrize(("damage", "expected"), BREAK.values(), ids=BREAK.keys())
def test_a_failed_reload_changes_only_the_diagnostics(
    catalog: FileKnowledgeCatalog, shelf: Path, damage: Callable[[Path], object], expected: list[str]
) -> None:
    resolver = GroupedKnowledgeResolver(catalog)
    before = catalog.current
    damage(shelf)
    for _ in range(2):
        assert catalog.reload() is before
        assert catalog.current is before
        assert faults(catalog) == expected
        for diagnostic in catalog.last_reload_diagnostics:
            assert str(shelf) not in diagnostic.message
        assert resolver.search("word").generation == 1


def test_failed_reloads_use_no_generation_and_a_reload_clears_their_diagnostics(
    catalog: FileKnowledgeCatalog, shelf: Path
) -> None:
    for _ in range(3):
        (shelf / "catalog.json").write_text("{")
        catalog.reload()
    assert faults(catalog) == ["PARSE_ERROR"]
    write_manifest(shelf, SHELF_SOURCES)
    assert catalog.reload().generation == 2
    assert faults(catalog) == []


def test_a_source_is_checked_when_it_is_enabled(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    write_manifest(shelf, [{"id": "off", "path": "off"}])
    catalog.reload()
    assert names(GroupedKnowledgeResolver(catalog).search("word")) == ["off/strong"]


@pytest.fixture
def impatience() -> Iterator[None]:
    """Threads switch as often as possible, so that races show."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("reloads", [0, 1, 9, 50])
def test_a_slow_thread_gets_the_same_snapshot_object_as_others(
    catalog: FileKnowledgeCatalog, monkeypatch: pytest.MonkeyPatch, reloads: int
) -> None:
    """While one thread holds the handle of a generation, other threads reload and ask for the snapshot."""
    seen = [catalog.current, catalog.reload()]

    class Slow:
        """The engine; other threads run between taking the first handle and using it."""

        asked = 0

        def __init__(self, engine: Catalog) -> None:
            self.engine = engine

        def __getattr__(self, name: str) -> object:
            return getattr(self.engine, name)

        def snapshot(self) -> Snapshot:
            handle = self.engine.snapshot()
            self.asked += 1
            if self.asked == 1:
                seen.extend(catalog.reload() for _ in range(reloads))
            return handle

    inside = opened_catalog(catalog)
    slow = Slow(inside.file_engine)
    monkeypatch.setattr(inside, "engine", slow)
    seen += [catalog.current, catalog.current]
    assert slow.asked > reloads
    assert catalog.current.generation == 2 + reloads
    assert len({id(snapshot) for snapshot in seen}) == len({snapshot.generation for snapshot in seen})


def test_all_threads_get_the_same_snapshot_object(catalog: FileKnowledgeCatalog, impatience: None) -> None:
    """A generation is one object, for every thread."""
    stop = threading.Event()

    def look() -> list[KnowledgeCatalogSnapshot]:
        seen = [catalog.current]
        while not stop.is_set():
            if catalog.current is not seen[-1]:
                seen.append(catalog.current)
        return seen

    with ThreadPoolExecutor(4) as pool:
        looks = [pool.submit(look) for _ in range(4)]
        seen = [catalog.reload() for _ in range(200)]
        stop.set()
        for ahead in looks:
            seen += ahead.result()
    assert catalog.current.generation == 201
    assert len({id(snapshot) for snapshot in seen}) == len({snapshot.generation for snapshot in seen})


# Reports


def test_a_report_says_what_is_known_of_every_source(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    write_tree(shelf, {"low/b.md": b"\0", "low/a.md": b"\0", "low/index.md": "word"})
    rows: list[dict[str, Any]] = [
        *SHELF_SOURCES,
        {"id": "twin", "path": "./high", "priority": 10},
        {"id": "lost", "path": "lost"},
    ]
    (shelf / "lost").mkdir()
    write_manifest(shelf, rows)
    catalog.reload()
    (shelf / "lost").rmdir()
    report = catalog.report()
    assert isinstance(report, CatalogReport)
    assert report.generation == 2
    assert tuple(source.source for source in report.sources) == catalog.current.sources
    low, off, high, diary, also, twin, lost = report.sources
    assert (low.directory, low.concepts, low.failure) == (shelf / "low", 2, None)
    assert [problem.path for problem in low.problems] == ["a.md", "b.md"]
    assert all(isinstance(problem, SourceProblem) and problem.reason for problem in low.problems)
    assert (off.directory, off.concepts, off.problems, off.failure) == (None, 0, (), None)
    assert (diary.directory, diary.concepts) == (shelf / "diary", 1)
    assert (high.concepts, also.concepts, twin.concepts) == (2, 1, 2)
    assert [source.duplicate_of for source in report.sources] == [None] * 5 + ["high", None]
    assert lost.directory is None
    assert lost.failure
    assert str(shelf) not in lost.failure


def test_a_report_is_up_to_date(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    assert catalog.report() == catalog.report()
    write_tree(shelf, {"low/new.md": "word"})
    assert catalog.report().sources[0].concepts == 3
    shutil.rmtree(shelf / "low")
    assert catalog.report().sources[0].failure is not None
    write_tree(shelf, {"low/a.md": "word"})
    assert catalog.report().sources[0].failure is None


# Closing


def test_a_catalog_can_be_closed_twice(catalog: FileKnowledgeCatalog) -> None:
    for _ in range(2):
        catalog.close()
        assert is_closed(catalog)
    with pytest.raises(CatalogClosedError, match="closed"):
        catalog.report()


def test_a_closed_catalog_does_not_change(
    catalog: FileKnowledgeCatalog, shelf: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = catalog.current
    (shelf / "catalog.json").write_text("{")
    catalog.reload()
    diagnostics = catalog.last_reload_diagnostics
    assert len(diagnostics) == 1
    catalog.close()
    caplog.clear()
    write_manifest(shelf, [{"id": "new", "path": "low"}])
    assert catalog.reload() is before
    assert catalog.current is before
    assert catalog.last_reload_diagnostics == diagnostics
    assert catalog.catalog_root == shelf
    assert caplog.records == []


def test_a_with_block_closes_its_catalog_also_after_an_error(shelf: Path) -> None:
    with FileKnowledgeCatalog(shelf / "catalog.json") as catalog:
        assert not is_closed(catalog)
    assert is_closed(catalog)
    with pytest.raises(KeyError), FileKnowledgeCatalog(shelf / "catalog.json") as catalog:
        raise KeyError
    assert is_closed(catalog)


def test_knowledge_closes_its_catalog(shelf: Path) -> None:
    with open_knowledge(shelf / "catalog.json") as knowledge:
        assert isinstance(knowledge, Knowledge)
        assert isinstance(knowledge.catalog, FileKnowledgeCatalog)
        assert not is_closed(knowledge.catalog)
    assert is_closed(knowledge.catalog)
    knowledge.close()
    with pytest.raises(CatalogClosedError):
        knowledge.search("word")
    with pytest.raises(CatalogClosedError):
        knowledge.search_batch(["word"])


def test_two_catalogs_of_one_manifest_are_independent(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    with open_knowledge(shelf / "catalog.json") as other:
        catalog.reload()
        catalog.close()
        assert other.catalog.current.generation == 1
        assert len(other.search("word").passages) == 5


# Manifests

MANIFEST = json.dumps(
    {"version": 1, "sources": [{"id": "é".encode().hex(), "path": "dir/é"}]}, ensure_ascii=False
)


@pytest.mark.parametrize(
    "text", [MANIFEST, MANIFEST.encode(), f"\ufeff{MANIFEST}", f"\ufeff{MANIFEST}".encode()]
)
def test_a_manifest_parses_from_text_and_bytes_with_or_without_a_byte_order_mark(text: str | bytes) -> None:
    assert parse_manifest(text, manifest_directory="nowhere") == KnowledgeCatalogSnapshot(
        1, (KnowledgeCatalogSource("c3a9", "dir/é"),), Path("nowhere"), 1
    )


@pytest.mark.parametrize("kind", [str, Path, OtherPath])
def test_parsing_a_manifest_reads_no_file(kind: Callable[[Path], Any], shelf: Path) -> None:
    parsed = parse_manifest(MANIFEST, manifest_directory=kind(shelf / "nowhere"))
    assert isinstance(parsed, KnowledgeCatalogSnapshot)
    assert parsed.manifest_directory == shelf / "nowhere"


@pytest.mark.parametrize(
    "text", ["\ud800", f"{MANIFEST}\udcff", MANIFEST.replace("dir", "\ud83d"), "\ufeff", b"\xff"]
)
def test_a_manifest_that_is_not_utf8_is_a_fault_and_raises_nothing(text: str | bytes) -> None:
    parsed = parse_manifest(text, manifest_directory=".")
    assert isinstance(parsed, tuple)
    assert [diagnostic.code.name for diagnostic in parsed] == ["PARSE_ERROR"]
