"""Answers one after the other, while later ones are being computed."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from okf_catalog.catalog import log_problems
from okf_catalog.context import context_of
from okf_catalog.errors import OkfCatalogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from okf_catalog._engine import BatchAnswer, Cancellation
    from okf_catalog.catalog import View
    from okf_catalog.context import KnowledgeContext
    from okf_catalog.query import KnowledgeQuery
    from okf_catalog.rows import Question

__all__ = ["stream"]

AHEAD = 256
"""How many questions are put at a time: enough for all cores, few enough to be held in memory."""


class _Piece(NamedTuple):
    queries: list[KnowledgeQuery]
    questions: list[Question]
    refusal: BaseException | None
    """What ended the questions, if something did."""


def stream(
    queries: Iterator[KnowledgeQuery],
    question_of: Callable[[int, KnowledgeQuery], Question],
    view: View,
    ask: Callable[[list[Question]], BatchAnswer],
    cancellation: Cancellation,
) -> Iterator[KnowledgeContext]:
    """Yields the answer to each query; ``cancellation`` ends ``ask``, and is used when nobody takes more.

    The first questions are put on the caller's thread, where reading bundles can be interrupted; all others
    on a second one, while the answers before them are taken.
    """
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # A third of what importing takes.

    numbered = enumerate(queries)
    process = os.getpid()
    piece = _next_piece(numbered, question_of)
    answers = ask(piece.questions)
    with ThreadPoolExecutor(1, thread_name_prefix="okf-catalog") as pool:
        try:
            while True:
                following = _Piece([], [], None) if piece.refusal else _next_piece(numbered, question_of)
                ahead = pool.submit(ask, following.questions) if following.questions else None
                log_problems(answers.problems)
                for place, query in enumerate(piece.queries):
                    yield context_of(query, view.snapshot.generation, answers.answer(place))
                    if os.getpid() != process:
                        # The thread that computes the rest is not here.
                        raise OkfCatalogError("a stream ends where its process forks; start one in the child")
                if piece.refusal is not None:
                    raise piece.refusal
                piece = following
                if ahead is None:
                    if piece.refusal is not None:
                        raise piece.refusal
                    return
                answers = ahead.result()
        finally:
            # Leaving the pool waits for its thread, whose answers nobody takes any more.
            cancellation.cancel()


def _next_piece(
    queries: Iterator[tuple[int, KnowledgeQuery]],
    question_of: Callable[[int, KnowledgeQuery], Question],
) -> _Piece:
    piece = _Piece([], [], None)
    try:
        for index, query in islice(queries, AHEAD):
            piece.questions.append(question_of(index, query))
            piece.queries.append(query)
    except Exception as refusal:  # noqa: BLE001  # Raised when the answers before it are taken.
        return piece._replace(refusal=refusal)
    return piece
