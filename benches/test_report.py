"""The run that writes the table, on tiny corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benches import report
from benches.compare import Effort

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_page_shows_every_corpus_and_rival_and_names_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manifest: Path
) -> None:
    monkeypatch.setenv("OKF_BENCH_BUNDLE", str(manifest.parent / "source_1"))
    plan = report.Plan((30, 60), Effort(batch=40, seconds=0.01, repeats=1), broad=20, rounds=1)
    monkeypatch.setattr(report, "QUICK", plan)
    report.main(["--quick", "--body-bytes", "400", "--rivals", "TextScan", "--output", str(tmp_path)])
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    for heading in ("## Targets", "## 30 concepts", "## 60 concepts", "## source_1"):
        assert heading in page
    assert page.count("scan folded text, plain Python") == 3
    assert "opening, compared with reading all files" in page
    assert str(tmp_path.parent) not in page
