"""Documents and code cite only facts that the semantics state."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from making.project import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FACT = re.compile(r"\b[BCDFKLMQRSXY][1-9][0-9]?\b")
"""An id of a fact. Scopes' facts (A1) are left out: letters and numbers name passages in drawn rankings."""


def facts() -> set[str]:
    """Every fact that `docs/semantics.md` states."""
    page = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\*\*([A-Z][1-9][0-9]?)\b", page, re.MULTILINE))


def citing() -> list[Path]:
    """Every file that may cite the id of a fact."""
    folders = [ROOT / "python" / "okf_catalog", ROOT / "rust", ROOT / "examples"]
    files = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".pyi", ".rs")
    ]
    return [ROOT / "README.md", ROOT / "tests" / "naive.py", *files]


def test_every_cited_fact_is_stated_in_the_semantics() -> None:
    known = facts()
    assert len(known) > 60
    lost: dict[str, list[str]] = {}
    for path in citing():
        for cited in sorted({*FACT.findall(path.read_text(encoding="utf-8"))} - known):
            lost.setdefault(cited, []).append(str(path.relative_to(ROOT)))
    assert lost == {}
