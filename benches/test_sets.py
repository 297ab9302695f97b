"""Folders of concepts and questions become catalogs that hold every concept as it was given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from okf_catalog import KnowledgeQuery, MergedKnowledgeResolver

from benches import sets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ANIMALS = ("otter", "heron", "badger", "lynx", "viper", "newt")
ODD_IDS = ("otters", "b/index", "log", ".hidden/badger", "größe und ßpace", "//v")


def write(directory: Path, *, ids: Sequence[str] = ODD_IDS) -> Path:
    """A folder with a concept and two questions for each animal, the second with an answer."""
    directory.mkdir(parents=True)
    concepts: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    for animal, concept_id in zip(ANIMALS, ids, strict=True):
        answer = f"The {animal} lives where nobody disturbs it, and sleeps there for most of a long winter."
        body = f"\n# About the {animal}\n\nAn animal of the forest.\n\n{answer}\n"
        concepts.append({"id": concept_id, "title": f"The {animal}: a “life”", "body": body})
        if animal == "lynx":
            concepts[-1] |= {"title": "", "tags": ["cat: wild"], "description": "Ears\nwith tufts."}
        question = f"Where does the {animal} sleep?"
        questions.append({"kind": "question", "text": question, "relevant": [concept_id], "answer": answer})
        questions.append({"kind": "heading", "text": f"About the {animal}", "relevant": [concept_id]})
    questions.append({"kind": "rare", "text": "Who?", "relevant": [ids[0]], "answer": None})
    for name, lines in (("concepts.jsonl", concepts), ("questions.jsonl", questions)):
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def test_a_folder_has_a_set_for_each_kind_of_five_questions_or_more(tmp_path: Path) -> None:
    write(tmp_path / "b" / "deep")
    write(tmp_path / "a")
    folders = sets.read(tmp_path)
    assert [folder.name for folder in folders] == ["a", "b/deep"]
    assert {kind: len(asked) for kind, asked in folders[0].sets.items()} == {"heading": 6, "question": 6}


def test_one_folder_can_be_named_alone(tmp_path: Path) -> None:
    (folder,) = sets.read(write(tmp_path / "alone"))
    assert folder.name == "alone"


def test_a_directory_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"concepts\.jsonl"):
        sets.read(tmp_path)


def test_every_concept_is_in_the_catalog_with_its_fields(tmp_path: Path) -> None:
    (folder,) = sets.read(write(tmp_path / "alone"))
    with folder.catalog() as catalog:
        resolver = MergedKnowledgeResolver(catalog)
        by_id = {passage.concept_id: passage for passage in resolver.search("animal").passages}
        tagged = resolver.search(KnowledgeQuery("animal", tag="cat: wild")).passages
    assert sorted(by_id) == sorted(folder.catalog_ids())
    assert by_id["otters"].title == "The otter: a “life”"
    lynx = by_id["_.hidden/badger"]
    assert (lynx.title, lynx.description) == (None, "Ears\nwith tufts.")
    assert list(tagged) == [lynx]


def test_two_concepts_with_one_id_are_refused(tmp_path: Path) -> None:
    ids = (*ODD_IDS[:-1], "_log")
    (folder,) = sets.read(write(tmp_path / "alone", ids=ids))
    with pytest.raises(ValueError, match="same id"):
        folder.catalog()
