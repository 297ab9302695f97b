"""Questions in sentences: how they are drawn, and one run of the program that measures them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benches import sentences, spaceless
from benches.documents import Texts
from benches.ours import Ours, Scored
from benches.people import LEAST_WORDS, MOST_WORDS, SentenceMaker, SpacelessMaker
from benches.rivals import Tantivy
from benches.sentences import Effort, Measured
from benches.test_sets import write

if TYPE_CHECKING:
    from okf_catalog import KnowledgeContext

    from benches.documents import Corpus

SPACED = re.compile(r"\s")


def _texts(bodies: list[str]) -> Texts:
    return Texts(titles=[""] * len(bodies), metas=[""] * len(bodies), bodies=bodies)


def test_sentences_have_8_to_15_words_and_none_comes_twice(concepts: Corpus) -> None:
    asked = SentenceMaker(concepts).take(300)
    assert {len(text.split()) for text in asked} == set(range(LEAST_WORDS, MOST_WORDS + 1))
    assert len(set(asked)) == len(asked)
    assert all(text[0].isupper() for text in asked)


def test_the_same_seed_gives_the_same_sentences(concepts: Corpus) -> None:
    first, second, other = (SentenceMaker(concepts, seed=seed).take(20) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_most_sentences_have_several_words_of_nearly_every_concept(concepts: Corpus) -> None:
    common = {word for word in ("the", "of", "to", "in", "is", "a", "and") if _share(concepts, word) > 0.9}
    asked = SentenceMaker(concepts).take(200)
    assert sum(len(common & set(text.lower().strip("?.").split())) >= 2 for text in asked) > 120


def _share(concepts: Corpus, word: str) -> float:
    return sum(word.upper() in body for body in concepts.bodies) / len(concepts)


def test_questions_without_spaces_have_phrases_of_the_texts() -> None:
    made = spaceless.made_sentences(50)
    asked = SpacelessMaker(_texts(made)).take(100)
    assert all(6 <= len(text) <= 3 * 8 + 4 and not SPACED.search(text) for text in asked)
    assert all(any(text[:3] in sentence for sentence in made) for text in asked)


def test_made_sentences_depend_on_the_seed_only() -> None:
    first, second, other = (spaceless.made_sentences(20, seed=seed) for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_real_sentences_are_those_of_texts_without_spaces() -> None:
    bodies = [
        "English text with 漢字 in it.",
        "証明書の取得。\n費用はかかりますか？ はい",
        "这是一个测试。没有空格",
    ]
    assert spaceless.sentences_of(bodies) == [
        "証明書の取得。",
        "費用はかかりますか？",
        "はい",
        "这是一个测试。",
        "没有空格",
    ]


def test_the_program_measures_both_kinds_of_scripts_and_writes_its_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentences, "FULL", Effort(alone=5, batch=5, rounds=1, seconds=0.01))
    output = tmp_path / "RESULTS.md"
    sets = write(tmp_path / "sets" / "animals").parent
    options = ["--sizes", "40", "--body-bytes", "400", "--output", str(output)]
    sentences.main([str(sets), *options])
    page = output.read_text(encoding="utf-8")
    assert page.startswith("<!-- begin benches.sentences -->\n")
    assert "### 40 concepts: " in page
    assert "### 40 concepts without spaces: " in page
    assert "3. whole ranking, one thread, faster than counting" in page
    assert "4. memory in all" in page
    assert str(tmp_path) not in page


def test_without_its_rival_the_program_still_compares_with_counting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Tantivy, "packages", ("no_such_package",))
    monkeypatch.setattr(sentences, "QUICK", Effort(alone=3, batch=3, rounds=1, seconds=0.01))
    output = tmp_path / "RESULTS.md"
    sentences.main(["--quick", "--cpu", "--sizes", "20", "--body-bytes", "300", "--output", str(output)])
    shown = capsys.readouterr().out
    assert "Without tantivy." in shown
    assert "faster than tantivy" not in shown
    assert "faster than counting" in shown
    assert not output.exists()


def test_the_version_before_must_be_one_without_the_scoring(manifest: Path) -> None:
    measured = Measured("small", 200, 1)
    with pytest.raises(ValueError, match="has BM25F already"):
        sentences.probe_both(measured, manifest, Path(sys.executable), 1)


def test_a_top_that_is_not_the_beginning_of_the_ranking_ends_the_run(
    manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ours(manifest) as ours:
        engine = ours.under("bm25f")
        sentences.check([engine], ["Which of these is the knowledge of the concept?"])
        whole = engine.full("described below")

        def other(_engine: Scored, _text: str) -> KnowledgeContext:
            return whole

        monkeypatch.setattr(Scored, "full", other)
        with pytest.raises(AssertionError, match="not the first 20"):
            sentences.check([engine], ["Which of these is the knowledge of the concept?"])
