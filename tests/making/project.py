"""Directories of the project."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TESTS = ROOT / "tests"
EXAMPLES = ROOT / "examples"
