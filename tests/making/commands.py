"""The command line, run in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from okf_catalog.cli.app import app
from typer.testing import CliRunner

from making.bundles import write_tree
from making.catalogs import write_manifest

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = """\
---
type: Guide
title: Orders guide
description: How orders travel.
tags: [sales, "50%"]
stale_after: 2024-05-01
verified: {by: human:ada}
---

Every order starts as a draft.
"""
NOTES = """\
---
type: Note
status: draft
---

Late orders are chased on Mondays.
"""


def write_sales(directory: Path) -> Path:
    """A manifest of two sources, ``sales`` above ``archive``."""
    write_tree(directory, {"sales/orders/guide.md": GUIDE, "archive/notes.md": NOTES})
    return write_manifest(
        directory, [{"id": "archive", "path": "archive"}, {"id": "sales", "path": "sales", "priority": 5}]
    )


class Result(NamedTuple):
    """How a command ended, what it printed, and what it said on stderr."""

    code: int
    stdout: str
    stderr: str


def result_of(*arguments: str | Path, env: dict[str, str] | None = None, typed: str | None = None) -> Result:
    """Runs a command; ``typed`` is what it reads from stdin."""
    result = CliRunner(env=env).invoke(app, [*map(str, arguments)], input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Result(result.exit_code, result.stdout, result.stderr)


def output(*arguments: str | Path, code: int = 0, env: dict[str, str] | None = None) -> tuple[str, str]:
    """What a command that ends with ``code`` prints, and what it says on stderr."""
    result = result_of(*arguments, env=env)
    assert result.code == code, result
    return result.stdout, result.stderr


def run(*arguments: str | Path, code: int = 0, env: dict[str, str] | None = None) -> str:
    """What a command that ends with ``code`` prints; it says nothing on stderr."""
    stdout, stderr = output(*arguments, code=code, env=env)
    assert stderr == ""
    return stdout


def complaint(*arguments: str | Path, code: int) -> str:
    """What a command that ends with ``code`` says on stderr; it prints nothing."""
    stdout, stderr = output(*arguments, code=code)
    assert stdout == ""
    return stderr
