"""A catalog as rivals need it: read and case-folded once, sorted as equal scores are ranked."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING

import naive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Texts:
    """The three searched fields of each concept. A rival names a concept by its *position* in the lists."""

    titles: list[str]
    metas: list[str]
    """The description and the tags, as one text for each concept."""
    bodies: list[str]

    def __len__(self) -> int:
        return len(self.bodies)


@dataclass(frozen=True, slots=True)
class Corpus(Texts):
    """The concepts of a catalog, in the order of R2 among equal scores.

    Texts are case-folded (K2). The parts of one field are joined by line ends, which no term contains.
    """

    manifest: Path
    ids: list[tuple[str, str]]
    text_bytes: int
    """The size of all files."""


def read(manifest: Path) -> Corpus:
    """Reads a catalog with the plain-Python model of the contract."""
    sources = naive.read_manifest(manifest)
    rows: list[tuple[tuple[int, str, str], str, str, str]] = []
    text_bytes = 0
    # Nothing here becomes garbage, and the collector would visit millions of objects again and again.
    gc.disable()
    try:
        for source in naive.candidates(sources):
            root = manifest.parent / source.path
            for path in _files(root):
                data = path.read_bytes()
                try:
                    document = naive.read_document(data)
                except naive.Unusable:
                    continue
                text_bytes += len(data)
                key = (-source.priority, source.id, path.relative_to(root).as_posix().removesuffix(".md"))
                meta = "\n".join([document.description or "", *document.tags])
                rows.append((key, _fold(document.title or ""), _fold(meta), _fold(document.body)))
    finally:
        gc.enable()
    rows.sort(key=lambda row: row[0])
    return Corpus(
        manifest=manifest,
        ids=[(key[1], key[2]) for key, *_ in rows],
        titles=[row[1] for row in rows],
        metas=[row[2] for row in rows],
        bodies=[row[3] for row in rows],
        text_bytes=text_bytes,
    )


def files(manifest: Path) -> list[Path]:
    """The concept files of a catalog (B1), source by source."""
    sources = naive.candidates(naive.read_manifest(manifest))
    return [path for source in sources for path in _files(manifest.parent / source.path)]


def _files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*.md")):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if not hidden and path.name not in ("index.md", "log.md") and path.is_file():
            yield path


def _fold(text: str) -> str:
    # `str.upper` gives the same for ASCII, and is much faster.
    return text.upper() if text.isascii() else naive.fold(text)


def terms_of(text: str) -> dict[str, int]:
    """The distinct folded terms of a question, and how often each occurs in it (K1)."""
    counts: dict[str, int] = {}
    for term in naive.terms_of(text):
        counts[term] = counts.get(term, 0) + 1
    return counts


def distinct_terms(texts: Iterable[str]) -> list[str]:
    """Every term of a batch once."""
    return list(dict.fromkeys(term for text in texts for term in terms_of(text)))
