"""Opening a catalog, compared with its necessary parts: reading files and parsing their frontmatter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import naive
import pytest
import yaml

from benches import documents, probe
from benches.ours import Ours

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

GROUP = "opening: 200 concepts"


def _found(manifest: Path) -> int:
    with Ours(manifest) as ours:
        return len(ours.search("overview").passages)


def test_opening(benchmark: BenchmarkFixture, manifest: Path) -> None:
    benchmark.group = GROUP
    wanted = len(naive.NaiveCatalog(manifest).load().search("overview").passages)
    assert _found(manifest) == wanted
    benchmark(lambda: _found(manifest))


def test_reading_all_files(benchmark: BenchmarkFixture, manifest: Path) -> None:
    benchmark.group = GROUP
    paths = documents.files(manifest)
    assert len(paths) == 200
    benchmark(lambda: [path.read_bytes() for path in paths])


def test_parsing_the_frontmatter_with_pyyaml(benchmark: BenchmarkFixture, manifest: Path) -> None:
    benchmark.group = GROUP
    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None:
        pytest.skip("this PyYAML has no C loader")
    fronts = [probe.frontmatter(path.read_bytes()) for path in documents.files(manifest)]
    assert all("type" in yaml.load(front, Loader=loader) for front in fronts)
    benchmark(lambda: [yaml.load(front, Loader=loader) for front in fronts])
