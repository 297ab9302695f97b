"""ripgrep, a fast search in directories of files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import naive

from benches.documents import terms_of
from benches.rivals.base import Exactness, Ranking, Rival

if TYPE_CHECKING:
    from benches.documents import Corpus

_FLAGS = (
    "--fixed-strings",
    "--ignore-case",
    "--files-with-matches",
    "--no-ignore",
    "--null",
    "--glob",
    "*.md",
)


class Ripgrep(Rival):
    """Lists files that contain any term, without order or scores. All of the frontmatter is searched."""

    name = "ripgrep, one pass for all terms"
    exactness = Exactness.SET_ONLY

    def __init__(self) -> None:
        self._program = _program() or "rg"
        self._root = ""
        self._directories: list[str] = []
        self._positions: dict[str, int] = {}

    @classmethod
    def missing(cls) -> str | None:
        return None if _program() else "no `rg` on the path"

    def load(self, corpus: Corpus) -> None:
        self._root = str(corpus.manifest.parent)
        directories = _directories(corpus.manifest)
        self._directories = list(directories.values())
        self._positions = {
            f"{directories[source]}/{concept}.md": position
            for position, (source, concept) in enumerate(corpus.ids)
        }

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        patterns = [argument for term in terms_of(text) for argument in ("-e", term)]
        listed = subprocess.run(
            [self._program, *_FLAGS, "--glob", "*.md", *patterns, "--", *self._directories],
            cwd=self._root,
            stdout=subprocess.PIPE,
            check=False,
        ).stdout
        found = [self._positions.get(path) for path in os.fsdecode(listed).split("\0")]
        positions = [position for position in found if position is not None][:limit]
        return Ranking(positions, [1] * len(positions))


def _directories(manifest: Path) -> dict[str, str]:
    sources = naive.candidates(naive.read_manifest(manifest))
    return {source.id: os.path.normpath(source.path) for source in sources}


def _program() -> str | None:
    """The ``rg`` of the installed package, or else the system's."""
    return shutil.which("rg", path=Path(sys.executable).parent) or shutil.which("rg")
