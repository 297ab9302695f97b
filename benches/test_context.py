"""The measure of contexts: what counts as an answer, how rivals fill a message, and one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from okf_catalog import KnowledgeResolverRouter

from benches import context, sets
from benches.context import OURS, Measured
from benches.rivals import Bm25sStemmed, TantivyOneField
from benches.test_sets import ANIMALS, write
from benches.timing import Times

if TYPE_CHECKING:
    from pathlib import Path


def test_an_answer_counts_by_its_first_characters_without_white_space() -> None:
    answer = "One  two\nthree " + "x" * 200 + "END"
    assert context.is_answered(answer, "…\nOne two three " + "x" * 109)
    assert not context.is_answered(answer, "One two three " + "x" * 108)
    assert not context.is_answered(answer, "")


def test_pieces_are_short_and_have_all_of_the_text_in_order() -> None:
    body = "\n\n".join(
        ["a" * 300, "b" * 300, "c" * 298, "d " * 700, "\n".join(["e" * 400] * 5), " \n ", "f" * 2_000, "g"]
    )
    pieces = context.pieces_of(body)
    assert all(0 < len(piece) <= context.PIECE for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(body.split())
    assert pieces[0] == "a" * 300 + "\n\n" + "b" * 300
    assert context.pieces_of(" \n\n ") == []


@pytest.mark.parametrize("kind", [TantivyOneField, Bm25sStemmed])
def test_a_rival_fills_a_message_with_its_best_pieces(
    tmp_path: Path, kind: type[TantivyOneField | Bm25sStemmed], monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind.missing() is not None:
        pytest.skip(f"{kind.__name__}: {kind.missing()}")
    (folder,) = sets.read(write(tmp_path / "animals"))
    fill = context.filled_by(kind(), folder)
    message = fill("Where does the heron sleep?")
    best = "\n".join([folder.concepts[1].title, *context.pieces_of(folder.concepts[1].body)])
    assert message.startswith(f"{best}\n\n")
    monkeypatch.setattr(context, "CHARACTERS", len(best))
    assert fill("Where does the heron sleep?") == best
    monkeypatch.setattr(context, "CHARACTERS", len(best) - 1)
    # The best piece does not fit, and shorter ones are tried.
    shorter = fill("Where does the heron sleep?")
    assert "heron" not in shorter
    assert 0 < len(shorter) < len(best)


def test_the_program_counts_the_answered_questions_and_writes_its_part(tmp_path: Path) -> None:
    write(tmp_path / "sets" / "animals")
    output = tmp_path / "RESULTS.md"
    context.main([str(tmp_path / "sets"), "--output", str(output), "--no-times"])
    page = output.read_text(encoding="utf-8")
    assert page.startswith("<!-- begin benches.context -->\n")
    assert f"| animals | {len(ANIMALS)} |" in page
    assert str(tmp_path) not in page


def test_targets_compare_with_the_better_rival() -> None:
    measured = [
        Measured("a", 100, {OURS: 70, "tantivy": 40, "bm25s": 20}),
        Measured("b", 20, {OURS: 5, "tantivy": 5, "bm25s": 50}),
    ]
    share, ratio, times = context.findings(measured, Times([0.001, 0.004, 0.002]))
    assert (share.measured, share.met) == ("62%", True)
    assert (ratio.measured, ratio.met) == ("1.07×", False)
    assert "bm25s" in ratio.target
    assert (times.measured, times.met) == ("2 ms", True)


def test_provide_is_timed_once_for_each_question() -> None:
    assert len(context.provide_times(concepts=30, body_bytes=500, questions=25)) == 25


def test_a_failing_provider_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> object:
        raise OSError("gone")

    monkeypatch.setattr(KnowledgeResolverRouter, "search", fail)
    (folder,) = sets.read(write(tmp_path / "animals"))
    with pytest.raises(AssertionError, match="no context"):
        context.measure(folder)
