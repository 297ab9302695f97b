"""Sets of questions with their right answers: folders of ``concepts.jsonl`` and ``questions.jsonl``.

A concept has ``id``, ``title``, ``tags``, ``description`` and ``body``; only ``id`` and ``body`` are
required. A question has ``kind``, ``text``, ``relevant`` (the ids of the right concepts) and perhaps
``answer``, the text that answers it. A *set* is the questions of one kind about the concepts of one folder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from okf_catalog import InMemoryKnowledgeCatalog, InMemorySource

from benches import page
from benches.documents import Texts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

GIVEN = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "relevance"
"""Where the sets are that the targets are about, if they are on this machine."""
LEAST_QUESTIONS = 5
"""A set of fewer questions says nothing, and is left out."""
SOURCE = "docs"
"""The id of the source that the concepts of a folder are given as."""


@dataclass(frozen=True, slots=True)
class Concept:
    id: str
    title: str
    tags: tuple[str, ...]
    description: str
    body: str

    @property
    def markdown(self) -> str:
        """The text of the file that says this."""
        fields: dict[str, object] = {
            "title": self.title,
            "description": self.description,
            "tags": [*self.tags],
        }
        # JSON is YAML. A blank field is left out, as its author left it out.
        lines = [f"{name}: {json.dumps(value)}" for name, value in fields.items() if value]
        return "\n".join(["---", *lines, "---", "", self.body])


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    relevant: frozenset[str]
    answer: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The concepts of one folder, and its sets by kind of question."""

    name: str
    concepts: list[Concept]
    sets: dict[str, list[Question]]

    def texts(self) -> Texts:
        """The concepts as rivals need them, not case-folded."""
        return Texts(
            titles=[concept.title for concept in self.concepts],
            metas=["\n".join([concept.description, *concept.tags]) for concept in self.concepts],
            bodies=[concept.body for concept in self.concepts],
        )

    def catalog(self) -> InMemoryKnowledgeCatalog:
        """A catalog of the concepts. Their ids in it are those of `catalog_ids`.

        Raises:
            ValueError: Two concepts have one id.
        """
        named = dict(zip(self.catalog_ids(), self.concepts, strict=True))
        if len(named) != len(self.concepts):
            raise ValueError(f"{self.name}: two concepts have the same id")
        texts = {concept_id: concept.markdown for concept_id, concept in named.items()}
        return InMemoryKnowledgeCatalog([InMemorySource(SOURCE, texts)])

    def catalog_ids(self) -> list[str]:
        """The id of each concept in the catalog: its own, unless that cannot be the name of a concept."""
        return [_concept_id(concept.id) for concept in self.concepts]


def read(directory: Path) -> list[Folder]:
    """Every folder below the directory, or the directory itself if it is one; sorted by name.

    Raises:
        ValueError: There is none.
    """
    found = sorted({path.parent for path in directory.glob("**/concepts.jsonl")})
    folders = [_folder(path, path.relative_to(directory).as_posix()) for path in found]
    if not folders:
        raise ValueError("no folder here has a concepts.jsonl and a questions.jsonl")
    return folders


def add_options(parser: argparse.ArgumentParser) -> None:
    """The folder to measure, and where results go."""
    parser.add_argument(
        "directory", type=Path, nargs="?", metavar="DIR", help="a folder of sets, or of folders of sets"
    )
    parser.add_argument("--output", type=Path, default=page.RESULTS, help="the page that gets the part")


def chosen(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Path:
    """The folder that was named, or that of the given sets; ends the program if there is none."""
    directory: Path = options.directory or GIVEN
    if not directory.is_dir():
        parser.error("name a folder of sets: the given ones are not on this machine")
    return directory


def _folder(path: Path, name: str) -> Folder:
    sets: dict[str, list[Question]] = {}
    for entry in _lines(path / "questions.jsonl"):
        question = Question(entry["text"], frozenset(entry["relevant"]), entry.get("answer") or "")
        sets.setdefault(entry["kind"], []).append(question)
    concepts = [
        Concept(
            entry["id"],
            entry.get("title") or "",
            tuple(entry.get("tags") or ()),
            entry.get("description") or "",
            entry["body"],
        )
        for entry in _lines(path / "concepts.jsonl")
    ]
    large = {kind: asked for kind, asked in sorted(sets.items()) if len(asked) >= LEAST_QUESTIONS}
    return Folder(path.name if name == "." else name, concepts, large)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _concept_id(given: str) -> str:
    """The id with `_` before each part that is no name of a concept (B1), such as `index` or `.hidden`."""
    parts = [part for part in given.replace("\0", "_").split("/") if part]
    return "/".join(f"_{part}" if part in {"index", "log"} or part[0] == "." else part for part in parts)
