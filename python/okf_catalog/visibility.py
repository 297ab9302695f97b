"""Which sources a question may see (S2, S3, S5)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from okf_catalog.errors import RefusedTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okf_catalog.catalog import View
    from okf_catalog.query import KnowledgeQuery, SourceVisibilityPolicy

__all__ = ["visible_sources"]


def visible_sources(
    query: KnowledgeQuery, view: View, default_policy: SourceVisibilityPolicy | None
) -> Sequence[int]:
    """The positions of the sources that ``query`` may see, in order S1.

    The permitted set beats every policy, the query's policy beats the host's (S2). A policy is called once
    for each candidate and for no other source; what it raises passes unchanged.

    Raises:
        RefusedTypeError: a policy answered with anything but a ``bool`` (S3).
    """
    permitted = query.permitted_source_ids
    if permitted is not None:
        return [position for position, source in view.candidates if source.id in permitted]
    policy = query.source_visibility_policy or default_policy
    if policy is None:
        return view.positions
    return [position for position, source in view.candidates if _decision(policy(query.scope, source))]


def _decision(answer: object) -> bool:
    if isinstance(answer, bool):
        return answer
    if inspect.iscoroutine(answer):
        # It will never be awaited, and should not warn of that.
        answer.close()
        raise RefusedTypeError(
            "a source visibility policy answers with a bool, not a coroutine; write it without 'async'"
        )
    raise RefusedTypeError(f"a source visibility policy answers with a bool, not {type(answer).__name__}")
