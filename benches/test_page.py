"""Several programs write RESULTS.md, and none erases what another wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benches import page
from benches.finding import Finding, at_least, at_most

if TYPE_CHECKING:
    from pathlib import Path


def test_the_report_and_the_parts_keep_each_other(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    page.write_part(path, "benches.b", ["## B", "", "one"])
    page.write_report(path, "# Measured\n\nfirst\n")
    page.write_part(path, "benches.a", ["## A"])
    page.write_part(path, "benches.b", ["## B", "", "two"])
    page.write_report(path, "# Measured\n\nsecond\n")
    assert path.read_text(encoding="utf-8") == (
        "# Measured\n\nsecond\n"
        "\n<!-- begin benches.a -->\n## A\n<!-- end benches.a -->\n"
        "\n<!-- begin benches.b -->\n## B\n\ntwo\n<!-- end benches.b -->\n"
    )


def test_writing_the_same_part_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    page.write_report(path, "# Measured")
    page.write_part(path, "benches.a", ["## A", "", r"a \1 backslash"])
    before = path.read_bytes()
    page.write_part(path, "benches.a", ["## A", "", r"a \1 backslash"])
    assert path.read_bytes() == before


def test_a_table_of_targets_has_a_column_for_each_corpus() -> None:
    small = [at_least("b. speed", 0.5, 1.0), at_most("a. memory", 0.25, 0.5)]
    large = [at_least("b. speed", 3.0, 1.0), Finding("c. noted", "–", "7 ms")]
    assert page.findings([("small", small), ("large", large)], by=lambda target: target[:2]) == [
        "| target | wanted | small | large |",
        "| --- | --- | ---: | ---: |",
        "| a. memory | ≤ 0.5× | 0.25× | – |",
        "| b. speed | ≥ 1× | **0.5×** | 3× |",
        "| c. noted | – | – | 7 ms |",
    ]


@pytest.mark.parametrize("packages", [(), ("no-such-package",), ("pytest", "no-such-package")])
def test_versions_are_those_of_installed_packages(packages: tuple[str, ...]) -> None:
    wanted = [f"pytest {pytest.__version__}"] if "pytest" in packages else []
    assert page.versions(packages) == wanted
