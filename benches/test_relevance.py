"""The measure of relevance counts right, and runs with and without rivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benches import relevance, sets
from benches.relevance import COUNTING, OURS, Figures, Measured
from benches.rivals import Bm25sStemmed, Tantivy
from benches.sets import Question
from benches.test_sets import write

if TYPE_CHECKING:
    from pathlib import Path


def _question(*relevant: str) -> Question:
    return Question("?", frozenset(relevant), "")


@pytest.mark.parametrize(
    ("found", "relevant", "mrr", "recall"),
    [
        (["a", "b"], ["a"], 1.0, 1.0),
        (["x", "b", "y", "z", "w", "v"], ["b"], 0.5, 1.0),
        (["1", "2", "3", "4", "5", "a"], ["a"], 1 / 6, 0.0),
        ([str(number) for number in range(10)] + ["a"], ["a"], 0.0, 0.0),
        (["a", "x", "b"], ["a", "b", "c", "d"], 1.0, 0.5),
        (list("abcdefg"), list("abcdefg"), 1.0, 1.0),
        ([], ["a"], 0.0, 0.0),
    ],
)
def test_figures_of_one_question(found: list[str], relevant: list[str], mrr: float, recall: float) -> None:
    figures = relevance.figures([_question(*relevant)], lambda _: found)
    assert (figures.mrr, figures.recall) == pytest.approx((mrr, recall))


def test_figures_are_means_over_questions_and_then_over_sets() -> None:
    answers = iter([["a"], ["x", "a"]])
    figures = relevance.figures([_question("a"), _question("a")], lambda _: next(answers))
    assert figures == Figures(0.75, 1.0)
    measured = [
        Measured("large", 100, {OURS: Figures(0.5, 0.4)}),
        Measured("small", 5, {OURS: Figures(1.0, 0.8)}),
    ]
    mean = relevance.means(measured)[OURS]
    assert (mean.mrr, mean.recall) == pytest.approx((0.75, 0.6))


def _measured(name: str, questions: int, ours: float, tantivy: float, bm25s: float) -> Measured:
    mrrs = {OURS: ours, "tantivy": tantivy, "bm25s": bm25s}
    return Measured(name, questions, {way: Figures(mrr, 0.0) for way, mrr in mrrs.items()})


def test_targets_compare_with_the_better_rival_and_with_each_in_large_sets() -> None:
    reached = [_measured("a", 30, 0.66, 0.5, 0.54), _measured("b", 29, 0.66, 0.9, 0.2)]
    assert [finding.met for finding in relevance.findings(reached)] == [True, False, True]
    behind = [_measured("a", 30, 0.63, 0.1, 0.69), _measured("b", 29, 0.64, 0.1, 0.1)]
    mean, ratio, lead = relevance.findings(behind)
    assert (mean.met, ratio.met, lead.met) == (False, True, False)
    assert "(a, bm25s)" in lead.target
    assert lead.measured == "-0.060"


def test_the_program_finds_the_right_concepts_and_writes_its_part(tmp_path: Path) -> None:
    write(tmp_path / "sets" / "animals")
    output = tmp_path / "RESULTS.md"
    output.write_text("# Measured\n", encoding="utf-8")
    relevance.main([str(tmp_path / "sets"), "--output", str(output)])
    page = output.read_text(encoding="utf-8")
    assert page.startswith("# Measured\n\n<!-- begin benches.relevance -->\n")
    assert "| animals, question | 6 | 1.000 1.00 |" in page
    assert "| animals, heading | 6 | 1.000 1.00 |" in page
    assert str(tmp_path) not in page


@pytest.mark.parametrize("rival", [Tantivy, Bm25sStemmed])
def test_rivals_find_whole_words(tmp_path: Path, rival: type[Tantivy | Bm25sStemmed]) -> None:
    if rival.missing() is not None:
        pytest.skip(f"{rival.__name__}: {rival.missing()}")
    (folder,) = sets.read(write(tmp_path / "animals"))
    for one in relevance.measure(folder):
        name = "tantivy" if rival is Tantivy else "bm25s"
        assert one.by_way[name].mrr == 1.0


def test_a_missing_rival_is_left_out_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tantivy, "packages", ("no_such_package",))
    monkeypatch.setattr(Bm25sStemmed, "packages", ("no_such_package",))
    (folder,) = sets.read(write(tmp_path / "animals"))
    measured = relevance.measure(folder)
    assert {tuple(one.by_way) for one in measured} == {(OURS, COUNTING)}
    page = "\n".join(relevance.part(measured))
    assert "tantivy was left out: not installed: no_such_package." in page
    assert len(relevance.findings(measured)) == 1


def test_without_sets_the_program_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sets, "GIVEN", tmp_path / "absent")
    with pytest.raises(SystemExit):
        relevance.main([])
    assert "name a folder of sets" in capsys.readouterr().err
