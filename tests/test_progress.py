"""Progress of reading many files, and cancelling it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from making.catalogs import make_catalog
from okf_catalog import FileKnowledgeCatalog, GroupedKnowledgeResolver, KnowledgeQuery

if TYPE_CHECKING:
    from pathlib import Path

MANY = 6000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("large")
    body = " ".join(f"word{number}" for number in range(400))
    files = {f"{number % 60}/{number}.md": f"{body} {number}\n" for number in range(MANY)}
    make_catalog(root, {"large": {"files": files}, "small": {"files": {"x.md": "word"}}}).close()
    return root / "catalog.json"


def test_progress_is_reported_on_the_calling_thread_up_to_the_end(large: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    threads: set[int] = set()

    def step(source_id: str, done: int, total: int) -> None:
        steps.append((source_id, done, total))
        threads.add(threading.get_ident())

    with FileKnowledgeCatalog(large, max_threads=1, on_progress=step) as catalog:
        catalog.refresh()
    assert threads == {threading.get_ident()}
    told = [done for source_id, done, total in steps if (source_id, total) == ("large", MANY)]
    assert told == sorted(told)
    assert told[-1] == MANY


def test_invisible_sources_report_no_progress(large: Path) -> None:
    steps: list[str] = []
    with FileKnowledgeCatalog(
        large, on_progress=lambda source_id, _done, _total: steps.append(source_id)
    ) as catalog:
        GroupedKnowledgeResolver(catalog).search(KnowledgeQuery("word", permitted_source_ids={"small"}))
    assert "large" not in steps


def test_an_error_of_the_progress_callback_ends_the_call_and_the_next_call_works(large: Path) -> None:
    refuse = True

    def step(*_: object) -> None:
        if refuse:
            raise LookupError("enough")

    with FileKnowledgeCatalog(large, max_threads=1, on_progress=step) as catalog:
        resolver = GroupedKnowledgeResolver(catalog)
        with pytest.raises(LookupError, match="enough"):
            resolver.search("word1")
        refuse = False
        assert len(resolver.search("word1").passages) == MANY


@pytest.mark.parametrize("wrong", [3, "x"])
def test_a_progress_callback_must_be_callable(large: Path, wrong: Any) -> None:
    with pytest.raises(TypeError, match="on_progress"):
        FileKnowledgeCatalog(large, on_progress=wrong)


def test_ctrl_c_ends_reading_and_a_batch_within_a_second(large: Path) -> None:
    program = (
        "import sys, time, okf_catalog\n"
        "started = []\n"
        "def step(*_):\n"
        "    if not started: started.append(1); print('reading', flush=True)\n"
        "catalog = okf_catalog.FileKnowledgeCatalog(sys.argv[1], max_threads=1, on_progress=step)\n"
        "resolver = okf_catalog.GroupedKnowledgeResolver(catalog)\n"
        "try: resolver.search('word1')\n"
        "except KeyboardInterrupt: print('called off', flush=True)\n"
        "else: print('finished', flush=True)\n"
        "resolver.search('word1')\n"
        "print('asking', flush=True)\n"
        "try: resolver.search_batch([f'word{i % 400} word {i}' for i in range(200000)])\n"
        "except KeyboardInterrupt: print('called off', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(large)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for expected in ("reading", "asking"):
            assert process.stdout.readline().strip() == expected
            # Making the questions takes time; the interrupt must come after that.
            time.sleep(0.5 if expected == "asking" else 0)
            sent = time.monotonic()
            os.kill(process.pid, signal.SIGINT)
            assert process.stdout.readline().strip() == "called off"
            assert time.monotonic() - sent < 10, "far more than the second it should take on an idle machine"
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def test_a_search_of_other_sources_does_not_wait(large: Path) -> None:
    waiting = threading.Event()
    go_on = threading.Event()

    def step(source_id: str, _done: int, _total: int) -> None:
        if source_id == "large" and not waiting.is_set():
            waiting.set()
            assert go_on.wait(30)

    with FileKnowledgeCatalog(large, max_threads=1, on_progress=step) as catalog:
        resolver = GroupedKnowledgeResolver(catalog)
        thread = threading.Thread(target=resolver.search, args=["word1"])
        thread.start()
        try:
            assert waiting.wait(30)
            small = KnowledgeQuery("word", permitted_source_ids={"small"})
            assert len(resolver.search(small).passages) == 1
        finally:
            go_on.set()
            thread.join()
