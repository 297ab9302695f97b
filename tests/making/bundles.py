"""Directories of files to be read, and what a concept may say."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TITLED = "---\ntitle: word\n---\nnothing else"
"""Scores 3 for ``word``."""
DESCRIBED = "---\ndescription: word\n---\nnothing else"
"""Scores 2 for ``word``."""
MENTIONED = "a word in the body"
"""Scores 1 for ``word``."""
NOTE = "---\ntype: Note\n---\nword\n"
"""Scores 1 for ``word``, and nothing in it is remarked on (B11)."""


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes ``files`` below ``root``, byte for byte: no line end is translated."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root
