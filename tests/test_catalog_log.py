"""What a catalog logs, and how often (B7, C3)."""

from __future__ import annotations

import logging
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from making.asking import codes
from making.bundles import write_tree
from making.catalogs import SHELF_SOURCES, write_manifest
from okf_catalog import (
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgeQuery,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Gives the messages that were logged since the last call."""

    def take() -> list[str]:
        assert {(record.name, record.levelno) for record in caplog.records} <= {
            ("okf_catalog", logging.WARNING)
        }
        messages = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return messages

    return take


def test_a_problem_is_logged_once(
    catalog: FileKnowledgeCatalog, shelf: Path, warnings: Callable[[], list[str]]
) -> None:
    resolver = GroupedKnowledgeResolver(catalog)
    write_tree(shelf, {"low/deep/bad.md": b"\0", "high/worse.md": b"\0"})
    resolver.search("word")
    messages = sorted(warnings())
    assert len(messages) == 2
    assert "'high'" in messages[0]
    assert "'worse.md'" in messages[0]
    assert "'low'" in messages[1]
    assert "'deep/bad.md'" in messages[1]
    reasons = {problem.reason for source in catalog.report().sources for problem in source.problems}
    assert {message.rpartition("is left out: ")[2] for message in messages} == reasons
    resolver.search("other")
    resolver.search_batch(["word", "other"])
    catalog.report()
    catalog.reload()
    resolver.search("word")
    assert warnings() == []


def test_a_problem_is_logged_again_if_it_went_away_and_came_back(
    catalog: FileKnowledgeCatalog, shelf: Path, warnings: Callable[[], list[str]]
) -> None:
    resolver = GroupedKnowledgeResolver(catalog)
    for _ in range(3):
        write_tree(shelf, {"low/bad.md": b"\0"})
        resolver.search("word")
        assert len(warnings()) == 1
        write_tree(shelf, {"low/bad.md": "good"})
        resolver.search("word")
        assert warnings() == []
    (shelf / "low" / "bad.md").unlink()
    resolver.search("word")
    assert warnings() == []


def test_a_problem_with_a_new_reason_is_logged_again(
    catalog: FileKnowledgeCatalog, shelf: Path, warnings: Callable[[], list[str]]
) -> None:
    resolver = GroupedKnowledgeResolver(catalog)
    write_tree(shelf, {"low/bad.md": b"\0"})
    resolver.search("word")
    (shelf / "low/bad.md").unlink()
    os.mkfifo(shelf / "low/bad.md")
    resolver.search("word")
    first, second = warnings()
    assert first.partition("is left out")[0] == second.partition("is left out")[0]
    assert first != second


def test_an_unavailable_source_is_a_diagnostic_and_not_logged(
    catalog: FileKnowledgeCatalog, shelf: Path, warnings: Callable[[], list[str]]
) -> None:
    shutil.rmtree(shelf / "low")
    assert codes(GroupedKnowledgeResolver(catalog).search("word")) == [("SOURCE_UNAVAILABLE", "low")]
    assert warnings() == []


def test_a_failed_reload_is_logged_with_each_fault(
    catalog: FileKnowledgeCatalog, shelf: Path, warnings: Callable[[], list[str]]
) -> None:
    catalog.reload()
    assert warnings() == []
    (shelf / "catalog.json").write_text('{"version": 2, "sources": []}')
    catalog.reload()
    assert warnings() == [
        f"the catalog was not reloaded: [{diagnostic.code.name}] {diagnostic.message}"
        for diagnostic in catalog.last_reload_diagnostics
    ]
    write_manifest(shelf, SHELF_SOURCES)
    catalog.reload()
    assert warnings() == []


def test_the_library_prints_nothing(
    catalog: FileKnowledgeCatalog, shelf: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_tree(shelf, {"low/bad.md": b"\0"})
    GroupedKnowledgeResolver(catalog).search(KnowledgeQuery("word"))
    catalog.report()
    (shelf / "catalog.json").write_text("{")
    catalog.reload()
    assert capfd.readouterr() == ("", "")
