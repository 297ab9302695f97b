"""Every rival gives the answers that it claims to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import naive
import pytest

from benches import rivals
from benches.rivals import Exactness, Ranking, Rival

if TYPE_CHECKING:
    from benches.documents import Corpus
    from benches.queries import QueryMaker


def opened(kind: type[Rival], corpus: Corpus) -> Rival:
    """A rival that has loaded the corpus.

    Raises:
        pytest.skip.Exception: The rival cannot run here.
    """
    reason = kind.missing()
    if reason is not None:
        pytest.skip(f"{kind.__name__}: {reason}")
    rival = kind()
    rival.load(corpus)
    return rival


def _model(corpus: Corpus) -> naive.NaiveCatalog:
    return naive.NaiveCatalog(corpus.manifest).load()


def _wanted(model: naive.NaiveCatalog, corpus: Corpus, text: str) -> list[tuple[int, int]]:
    places = {concept: position for position, concept in enumerate(corpus.ids)}
    passages = model.search(text, strategy=naive.MERGED).passages
    return [(places[passage.source_id, passage.concept_id], passage.score) for passage in passages]


@pytest.mark.parametrize("kind", rivals.ALL, ids=lambda kind: kind.__name__)
def test_exact_rivals_rank_as_the_model_does(kind: type[Rival], concepts: Corpus, maker: QueryMaker) -> None:
    rival = opened(kind, concepts)
    texts = [text for text in maker.all_kinds(60).texts if rival.can_answer(text)]
    if kind is rivals.Stateless:
        texts = texts[:3]
    model = _model(concepts)
    batch = rival.batch(texts, limit=5)
    assert len(batch) == len(texts)
    for text, top in zip(texts, batch, strict=True):
        answer, wanted = rival.search(text), _wanted(model, concepts, text)
        if rival.exactness in (Exactness.EXACT, Exactness.LONG_TERMS):
            assert answer.rows() == wanted, text
            assert top.rows() == wanted[:5], text
        elif rival.exactness is Exactness.SET_ONLY:
            # It also finds words in other fields of the frontmatter.
            assert {position for position, _ in wanted} <= set(answer.positions), text
        else:
            assert len(top.positions) <= 5


@pytest.mark.parametrize("kind", rivals.ALL, ids=lambda kind: kind.__name__)
def test_no_character_of_a_question_is_syntax_to_a_rival(kind: type[Rival], concepts: Corpus) -> None:
    rival = opened(kind, concepts)
    for text in (
        '"over',
        "post:view",
        "-the",
        "over* AND (",
        "NOT the",
        "%ver_",
        "title:[a TO b]",
        "--files",
    ):
        if rival.can_answer(text):
            rival.search(text, limit=3)


@pytest.mark.parametrize("limit", [None, 1, 3, 100])
def test_ranking_an_array_sorts_it(limit: int | None) -> None:
    numpy = pytest.importorskip("numpy")
    from benches.rivals import arrays

    scores = numpy.array([0, 2, 5, 2, 0, 5, 1, 2], dtype="int16")
    wanted = [(2, 5), (5, 5), (1, 2), (3, 2), (7, 2), (6, 1)]
    assert arrays.ranking_of(scores, limit).rows() == wanted[:limit]
    assert arrays.ranking_of(arrays.empty_scores(8), limit).rows() == []


def test_a_rival_whose_package_is_missing_gives_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals.Tantivy, "packages", ("no_such_package",))
    assert rivals.Tantivy.missing() == "not installed: no_such_package"


def test_a_ranking_has_rows_of_whole_numbers() -> None:
    assert Ranking([3, 1], [2, 1]).rows() == [(3, 2), (1, 1)]
