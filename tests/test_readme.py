"""The sessions in the README run and print what they show."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
from typing import TYPE_CHECKING

from making.project import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def blocks() -> list[str]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)


def test_the_readme_opens_with_a_session_of_about_ten_lines() -> None:
    first, *_ = blocks()
    assert len(first.splitlines()) <= 15
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.index("```python") == readme.index("```")


def test_the_sessions_of_the_readme_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples" / "acme", tmp_path / "examples" / "acme")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "session"}
    sessions = blocks()
    assert sessions
    for session in sessions:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(session, "README.md", "exec"), names)
        # Comments in a session show what it prints.
        comments = re.findall(r"^ *# (.*)$", session, re.MULTILINE)
        assert [line for line in printed.getvalue().splitlines() if line not in comments] == []
