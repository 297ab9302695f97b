"""The queries of a batch or a stream, and their checks."""

from collections.abc import Iterable, Iterator
from typing import cast

from okf_catalog._engine import is_blank
from okf_catalog.ask.length import check_length
from okf_catalog.ask.query import KnowledgeQuery, query_of
from okf_catalog.checks import check_count, is_kind
from okf_catalog.errors import RefusedTypeError

__all__ = ["check_limit", "check_queries", "iterate_queries"]

MOST_PASSAGES = (1 << 32) - 1
"""The largest ``limit`` that the engine takes."""


def check_limit(limit: object) -> int | None:
    """The limit for the passages of each answer.

    Raises:
        RefusedTypeError: it is neither ``None`` nor an ``int``.
        RefusedValueError: it is negative.
    """
    if limit is None:
        return None
    return min(check_count("limit", limit, least=0), MOST_PASSAGES)


def check_queries(queries: object, max_bytes: int) -> tuple[KnowledgeQuery | str, ...]:
    """The checked queries of a batch.

    A short ASCII text stays a ``str``: most answers are never accessed, and then no query is made for them.

    Raises:
        RefusedTypeError, RefusedValueError: ``queries`` or one of them is refused. The message names its
            index.
    """
    checked: list[KnowledgeQuery | str] = []
    for index, query in enumerate(_iterable(queries)):
        if type(query) is str and query.isascii() and len(query) <= max_bytes and not is_blank(query):
            checked.append(query)
        else:
            checked.append(_check_query(index, query, max_bytes))
    return tuple(checked)


def iterate_queries(queries: object, max_bytes: int) -> Iterator[KnowledgeQuery]:
    """The queries of a stream. Each is checked when it is taken.

    Raises:
        RefusedTypeError: ``queries`` is not an iterable of queries. This is raised at once.
    """
    many = enumerate(_iterable(queries))
    return (_check_query(index, query, max_bytes) for index, query in many)


def _check_query(index: int, query: object, max_bytes: int) -> KnowledgeQuery:
    field = f"queries[{index}]"
    checked = query_of(field, query)
    check_length(checked, max_bytes, where=f"{field}: ")
    return checked


def _iterable(queries: object) -> Iterable[object]:
    if is_kind(queries, (str, bytes)) or not is_kind(queries, Iterable):
        raise RefusedTypeError(f"queries is an iterable of queries, not one {type(queries).__name__}")
    return cast("Iterable[object]", queries)
