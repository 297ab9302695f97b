"""Which sources a query may see (S2, S3, S5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okf_catalog.checks import drop_coroutine, type_name
from okf_catalog.errors import RefusedTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okf_catalog.ask.policy import SourceVisibilityPolicy
    from okf_catalog.ask.query import KnowledgeQuery
    from okf_catalog.catalog.generation import Generation

__all__ = ["visible_positions"]


def visible_positions(
    query: KnowledgeQuery,
    generation: Generation,
    default_policy: SourceVisibilityPolicy | None,
    *,
    where: str = "",
) -> Sequence[int]:
    """The positions of the sources that ``query`` may see, in order S1.

    The permitted ids are used before every policy, and the query's policy before the host's (S2). A policy is
    called once for each candidate and for no other source. If it raises, the exception passes unchanged.

    Raises:
        RefusedTypeError: a policy returned anything but ``True`` or ``False``, these very objects (S3). The
            message begins with ``where`` and names the type of the answer.
    """
    permitted = query.permitted_source_ids
    if permitted is not None:
        return [position for position, source in generation.candidates if source.id in permitted]
    field, policy = "source_visibility_policy", query.source_visibility_policy
    # Not `or`: a policy may be an object that counts as false, such as one with an empty `__len__`.
    if policy is None:
        field, policy = "default_source_visibility_policy", default_policy
    if policy is None:
        return generation.positions
    field = f"{where}{field}"
    return [
        position
        for position, source in generation.candidates
        if _decision(field, policy(query.scope, source))
    ]


def _decision(field: str, answer: object) -> bool:
    # Compared by identity, so that no object that only claims to be a bool, such as a mock, counts as a yes.
    if answer is True or answer is False:
        return answer
    drop_coroutine(answer)
    if hasattr(type(answer), "__await__"):
        hint = "write it without 'async'"
    else:
        hint = "return True or False" if type(answer).__module__ == "builtins" else "return bool(...) of it"
    raise RefusedTypeError(f"{field} answers with a bool, not {type_name(answer)}; {hint}")
