"""RESULTS.md, which several programs write: each its own part, without erasing the parts of the others."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benches.finding import Finding

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
_PART = re.compile(r"<!-- begin (?P<name>[\w.]+) -->\n.*?<!-- end (?P=name) -->\n", re.DOTALL)


def write_report(path: Path, text: str) -> None:
    """Replaces everything outside of parts, and keeps the parts below it."""
    _write(path, text, _parts(_read(path)))


def write_part(path: Path, name: str, lines: Sequence[str]) -> None:
    """Replaces the part of this name, or adds it; everything else stays."""
    page = _read(path)
    body = "\n".join(lines)
    parts = _parts(page) | {name: f"<!-- begin {name} -->\n{body}\n<!-- end {name} -->\n"}
    _write(path, _PART.sub("", page), parts)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _parts(page: str) -> dict[str, str]:
    return {found["name"]: found[0] for found in _PART.finditer(page)}


def _write(path: Path, report: str, parts: dict[str, str]) -> None:
    texts = [report, *(parts[name] for name in sorted(parts))]
    page = "\n".join(f"{text.strip()}\n" for text in texts if text.strip())
    path.write_text(page, encoding="utf-8")


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def head(*cells: str, words: int = 1) -> list[str]:
    """The head of a table whose first columns hold words, and all others figures."""
    return [row(*cells), row(*("---" if number < words else "---:" for number, _ in enumerate(cells)))]


def findings(
    columns: Sequence[tuple[str, Sequence[Finding]]], by: Callable[[str], str] = lambda _: ""
) -> list[str]:
    """A table of targets: a row for each, a column for each corpus. What misses its target is bold.

    Rows are in the order in which targets first occur, or sorted by ``by``.
    """
    wanted = {finding.target: finding.wanted for _, column in columns for finding in column}
    shown = [{finding.target: finding.shown for finding in column} for _, column in columns]
    return [
        *head("target", "wanted", *(label for label, _ in columns), words=2),
        *(
            row(target, wanted[target], *(column.get(target, "–") for column in shown))
            for target in sorted(wanted, key=by)
        ),
    ]


def machine() -> str:
    """The processor and the system, which figures depend on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        names = [line for line in lines if line.startswith("model name")]
        if names:
            model = names[0].partition(":")[2].strip()
    return f"{os.cpu_count()} cores of {model}, {platform.system()}"


def versions(packages: Iterable[str]) -> list[str]:
    """The installed ones of these packages, each with its version."""
    found = {package: _version(package) for package in sorted(packages)}
    return [f"{package} {version}" for package, version in found.items() if version is not None]


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
