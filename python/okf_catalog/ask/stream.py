"""A stream of answers: they are taken one by one, while later ones are computed."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from okf_catalog.ask.context import context_of
from okf_catalog.catalog.log import log_problems
from okf_catalog.errors import OkfCatalogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from okf_catalog._engine import BatchAnswer, Cancellation
    from okf_catalog.ask.context import KnowledgeContext
    from okf_catalog.ask.query import KnowledgeQuery
    from okf_catalog.rows import Question

__all__ = ["stream"]

AHEAD = 256
"""This many queries are asked at a time: enough for all cores, and few enough to keep their answers."""


class _Piece(NamedTuple):
    """Up to ``AHEAD`` queries, and the engine's row for each."""

    queries: list[KnowledgeQuery]
    questions: list[Question]
    failure: Exception | None
    """The exception that ended the queries, raised by the caller's iterator or by a check."""


def stream(
    queries: Iterator[KnowledgeQuery],
    make_question: Callable[[int, KnowledgeQuery], Question],
    generation: int,
    ask: Callable[[list[Question]], BatchAnswer],
    cancellation: Cancellation,
) -> Iterator[KnowledgeContext]:
    """Yields the answer to each query. ``cancellation`` stops ``ask`` when the caller takes no more answers.

    The first piece is asked on the caller's thread, where reading bundles can be interrupted. Every later
    piece is asked on a second thread, while the caller takes the answers of the piece before.
    """
    # Importing it takes a third of the time that importing this package takes.
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    numbered = enumerate(queries)
    process = os.getpid()
    piece = _next_piece(numbered, make_question)
    answers = ask(piece.questions)
    with ThreadPoolExecutor(1, thread_name_prefix="okf-catalog") as pool:
        try:
            while True:
                following = _Piece([], [], None) if piece.failure else _next_piece(numbered, make_question)
                ahead = pool.submit(ask, following.questions) if following.questions else None
                log_problems(answers.problems)
                for place, query in enumerate(piece.queries):
                    yield context_of(query, generation, answers.answer(place))
                    if os.getpid() != process:
                        # A fork does not copy the thread that computes the next answers.
                        raise OkfCatalogError("a stream ends where its process forks; start one in the child")
                if piece.failure is not None:
                    raise piece.failure
                piece = following
                if ahead is None:
                    if piece.failure is not None:
                        raise piece.failure
                    return
                answers = ahead.result()
        finally:
            # Closing the pool waits for its thread. Nobody will take its answers, so it is stopped.
            cancellation.cancel()


def _next_piece(
    queries: Iterator[tuple[int, KnowledgeQuery]],
    make_question: Callable[[int, KnowledgeQuery], Question],
) -> _Piece:
    piece = _Piece([], [], None)
    try:
        for index, query in islice(queries, AHEAD):
            piece.questions.append(make_question(index, query))
            piece.queries.append(query)
    except Exception as failure:  # noqa: BLE001  # Raised after the answers before it are taken.
        return piece._replace(failure=failure)
    return piece
