"""Diagnostics of a manifest are bounded in number and length; reading it does not block the event loop."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from making.bundles import write_tree
from making.catalogs import write_manifest
from okf_catalog import (
    CatalogClosedError,
    CatalogDiagnostic,
    CatalogDiagnosticCode,
    CatalogError,
    FileKnowledgeCatalog,
    Freshness,
    GroupedKnowledgeResolver,
    Knowledge,
    KnowledgeResolverRouter,
    open_knowledge,
    parse_manifest,
)
from okf_catalog.catalog.handle import opened_catalog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MANY = 60_000
"""The number of sources in a manifest; each has several faults."""
KEPT = 1000
SHORT = 500
"""The most characters of a message."""


def all_wrong(_: Path) -> str:
    return json.dumps({"version": 1, "sources": [{"id": "a b", "x": 1, "role": "\0"}] * MANY})


def no_sources(_: Path) -> str:
    return '{"version": 1, "sources": [' + ",".join(["1"] * MANY) + "]}"


def repeated(_: Path) -> str:
    keys = ",".join(f'"{number}": 0, "{number}": 0' for number in range(MANY))
    return '{"version": 1, "sources": [{"id": "a", "path": "high"}], ' + keys + "}"


def nowhere(_: Path) -> str:
    sources = [{"id": f"s{number}", "path": f"nowhere{number}"} for number in range(MANY)]
    return json.dumps({"version": 1, "sources": sources})


def outside(_: Path) -> str:
    sources = [{"id": f"s{number}", "path": "../" * 9 + "x"} for number in range(MANY)]
    return json.dumps({"version": 1, "sources": sources})


def too_many(_: Path) -> str:
    sources = ",".join(f'{{"id":"{number}","path":"high"}}' for number in range(100_001))
    return '{"version": 1, "sources": [' + sources + "]}"


def huge_texts(_: Path) -> str:
    long = "x" * 300_000
    sources: list[dict[str, Any]] = [
        {"id": long, "path": "high/" + long},
        {"id": long + "/", "path": "/" + long},
        {"id": "b", "path": long, "role": long, long: long, "\0" + long: "\0" + long},
    ]
    return json.dumps({"version": long, "sources": sources, long: 1})


def deep(_: Path) -> str:
    return '{"version": 1, "sources": ' + "[" * 3_000_000


FLOODS = {
    make.__name__: make
    for make in (all_wrong, no_sources, repeated, nowhere, outside, too_many, huge_texts, deep)
}
COUNTS = {"all_wrong": 4 * MANY, "no_sources": MANY, "repeated": 2 * MANY, "nowhere": MANY, "outside": MANY}


def check_bounded(diagnostics: tuple[CatalogDiagnostic, ...], name: str) -> None:
    assert 0 < len(diagnostics) <= KEPT
    assert max(len(diagnostic.message) for diagnostic in diagnostics) <= SHORT
    if name in COUNTS:
        assert len(diagnostics) == KEPT
        left_out = COUNTS[name] - KEPT
        assert diagnostics[-1].message.endswith(
            f"({left_out} more faults are not listed, {COUNTS[name]} in all)"
        )
        assert "not listed" not in "".join(diagnostic.message for diagnostic in diagnostics[:-1])


@pytest.mark.parametrize("name", FLOODS)
def test_the_error_of_a_catalog_that_cannot_open_is_bounded(shelf: Path, name: str) -> None:
    text = FLOODS[name](shelf)
    (shelf / "catalog.json").write_text(text)
    with pytest.raises(CatalogError) as raised:
        FileKnowledgeCatalog(shelf / "catalog.json", watch_for_changes=False)
    check_bounded(raised.value.diagnostics, name)
    assert len(str(raised.value)) < 60_000
    assert len(str(raised.value).splitlines()) <= 102
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    if name in COUNTS:
        assert f"{COUNTS[name]} in all" in str(raised.value)
    if name not in {"nowhere", "outside"} and name != "huge_texts":
        assert parse_manifest(text, manifest_directory=shelf) == raised.value.diagnostics


@pytest.mark.parametrize("name", FLOODS)
def test_the_diagnostics_and_the_log_of_a_failed_reload_are_bounded(
    catalog: FileKnowledgeCatalog, shelf: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    resolver = GroupedKnowledgeResolver(catalog)
    before = resolver.search("word")
    (shelf / "catalog.json").write_text(FLOODS[name](shelf))
    opened_catalog(catalog).file_engine.reload()
    with caplog.at_level(logging.WARNING, "okf_catalog"):
        start = time.monotonic()
        assert resolver.search("word") == before
        assert time.monotonic() - start < 2, "a search does not wait for what is wrong with a manifest"
    check_bounded(catalog.last_reload_diagnostics, name)
    assert 0 < len(caplog.records) <= 22
    assert sum(len(record.getMessage()) for record in caplog.records) < 22 * (SHORT + 100)
    if name in COUNTS:
        assert f"{COUNTS[name]} in all" in caplog.text
        assert "979 more faults in last_reload_diagnostics" in caplog.text
    caplog.clear()
    catalog.reload()
    resolver.search("word")
    assert not caplog.records, "the same failure is told once"


@pytest.mark.parametrize("count", [100, 101, 102, 103, 500])
def test_the_text_of_a_catalog_error_holds_the_first_faults_and_the_last(count: int) -> None:
    error = CatalogError(
        tuple(
            CatalogDiagnostic(CatalogDiagnosticCode.EMPTY_PATH, f"fault {number}")
            for number in range(1, count + 1)
        )
    )
    lines = str(error).splitlines()
    assert lines[0] == "[EMPTY_PATH] fault 1"
    assert lines[99] == "[EMPTY_PATH] fault 100"
    assert lines[-1] == f"[EMPTY_PATH] fault {count}"
    if count <= 101:
        assert len(lines) == count
    else:
        assert lines[100:-1] == [f"({count - 101} more in diagnostics)"]


def test_more_sources_than_files_that_may_be_open_are_searched(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    count = 700
    write_tree(tmp_path, {f"s{number}/a.md": "word" for number in range(count)})
    write_manifest(tmp_path, [{"id": f"s{number}", "path": f"s{number}"} for number in range(count)])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (400, hard))
    try:
        with FileKnowledgeCatalog(tmp_path / "catalog.json", watch_for_changes=False) as catalog:
            context = GroupedKnowledgeResolver(catalog).search("word")
            assert len(context.passages) == count
            assert not context.diagnostics
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_many_sources_of_one_directory_are_searched_as_the_strategy_says(tmp_path: Path) -> None:
    count = 3_000
    write_tree(tmp_path, {"a/a.md": "word"})
    write_manifest(tmp_path, [{"id": f"s{number}", "path": "a"} for number in range(count)])
    with open_knowledge(tmp_path / "catalog.json", watch_for_changes=False) as knowledge:
        start = time.monotonic()
        assert len(knowledge.search("word").passages) == count
        merged = KnowledgeResolverRouter(knowledge.catalog, default_strategy="merged")
        assert len(merged.search("word").passages) == 1
        assert time.monotonic() - start < 20


# The event loop goes on


Opening = Any
OPENINGS: dict[str, Callable[[Path], Opening]] = {
    "catalog": lambda path: FileKnowledgeCatalog(path, watch_for_changes=False),
    "knowledge": lambda path: open_knowledge(path, watch_for_changes=False),
}


def catalog_of(opened: Opening) -> FileKnowledgeCatalog:
    return opened.catalog if isinstance(opened, Knowledge) else opened


@pytest.mark.parametrize("kind", OPENINGS)
def test_an_async_with_block_closes_what_it_opened(shelf: Path, kind: str) -> None:
    async def run(fail: bool) -> FileKnowledgeCatalog:
        opened = OPENINGS[kind](shelf / "catalog.json")
        async with opened as given:
            assert given is opened
            assert not catalog_of(given).closed
            if fail:
                raise LookupError("inside")
        return catalog_of(opened)

    catalog = asyncio.run(run(fail=False))
    assert catalog.closed
    with pytest.raises(CatalogClosedError):
        GroupedKnowledgeResolver(catalog).search("word")
    with pytest.raises(LookupError, match="inside"):
        asyncio.run(run(fail=True))


def test_a_catalog_closes_even_when_its_closing_is_cancelled(shelf: Path) -> None:
    async def run() -> FileKnowledgeCatalog:
        loop = asyncio.get_running_loop()
        release = threading.Event()
        # All worker threads are busy for a while, so closing has to wait.
        busy = [loop.run_in_executor(None, release.wait) for _ in range(64)]
        catalog = FileKnowledgeCatalog(shelf / "catalog.json", watch_for_changes=False)

        async def block() -> None:
            async with catalog:
                pass

        task = asyncio.ensure_future(block())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        release.set()
        await asyncio.gather(*busy)
        return catalog

    assert asyncio.run(run()).closed


def test_an_async_reload_publishes_the_next_generation(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    async def run() -> None:
        write_manifest(shelf, [{"id": "low", "path": "low"}])
        snapshot = await catalog.reload_async()
        assert snapshot is catalog.current
        assert snapshot.generation == 2
        (shelf / "catalog.json").write_text("{")
        assert await catalog.reload_async() is snapshot
        assert [one.code for one in catalog.last_reload_diagnostics] == [CatalogDiagnosticCode.PARSE_ERROR]
        catalog.close()
        assert await catalog.reload_async() is snapshot

    asyncio.run(run())


def test_the_event_loop_goes_on_while_a_manifest_is_read(catalog: FileKnowledgeCatalog, shelf: Path) -> None:
    (shelf / "catalog.json").write_text(all_wrong(shelf))

    async def run() -> int:
        turns = 0
        reloading = asyncio.ensure_future(catalog.reload_async())
        while not reloading.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert asyncio.run(run()) > 5
    assert len(catalog.last_reload_diagnostics) == KEPT


# What open_knowledge passes on


def test_open_knowledge_passes_on_all_that_a_catalog_takes(shelf: Path) -> None:
    write_tree(shelf, {"high/large.md": "word " * 100})
    told: list[tuple[str, int, int]] = []

    def step(*arguments: Any) -> None:
        told.append(arguments)

    with open_knowledge(
        shelf / "catalog.json",
        catalog_root=shelf.parent,
        watch_for_changes=True,
        reload_debounce=timedelta(milliseconds=20),
        max_file_bytes=100,
        max_threads=1,
        freshness=Freshness.manual(),
        on_progress=step,
        max_question_bytes=10,
    ) as knowledge:
        catalog = knowledge.catalog
        assert catalog.catalog_root == shelf.parent
        assert catalog.freshness == Freshness.manual()
        assert catalog.on_progress is step
        assert catalog.max_question_bytes == 10
        (problem,) = (problem for source in catalog.report().sources for problem in source.problems)
        assert problem.path == "large.md"
        found = knowledge.search("word")
        write_tree(shelf, {"high/new.md": "word"})
        assert knowledge.search("word") == found, "the disk is not looked at"
        write_manifest(shelf, [{"id": "low", "path": "low"}])
        deadline = time.monotonic() + 30
        while catalog.current.generation == 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert catalog.current.generation == 2
        assert knowledge.memory is None


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("reload_debounce", 1),
        ("reload_debounce", timedelta(-1)),
        ("max_file_bytes", 0),
        ("max_threads", 0),
        ("freshness", "exact"),
        ("on_progress", 1),
        ("max_question_bytes", 0),
        ("watch_for_changes", 1),
    ],
)
def test_open_knowledge_refuses_what_a_catalog_refuses(shelf: Path, option: str, wrong: Any) -> None:
    texts: set[str] = set()
    for opening in (FileKnowledgeCatalog, open_knowledge):
        with pytest.raises((TypeError, ValueError)) as raised:
            opening(shelf / "catalog.json", **{option: wrong})
        texts.add(str(raised.value))
    assert len(texts) == 1
    assert option in texts.pop()


def test_a_memory_has_the_question_limit_of_its_catalog(notes: Knowledge) -> None:
    assert notes.memory is not None
    assert notes.memory.max_question_bytes == notes.max_question_bytes
