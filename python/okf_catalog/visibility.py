"""Which sources a question may see (S2, S3, S5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from okf_catalog.checks import drop_coroutine, type_name
from okf_catalog.errors import RefusedTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okf_catalog.catalog import View
    from okf_catalog.query import KnowledgeQuery, SourceVisibilityPolicy

__all__ = ["visible_sources"]


def visible_sources(
    query: KnowledgeQuery, view: View, default_policy: SourceVisibilityPolicy | None, *, where: str = ""
) -> Sequence[int]:
    """The positions of the sources that ``query`` may see, in order S1.

    The permitted set beats every policy, the query's policy beats the host's (S2). A policy is called once
    for each candidate and for no other source; what it raises passes unchanged.

    Raises:
        RefusedTypeError: a policy answered with anything but ``True`` or ``False``, the very objects (S3);
            the message begins with ``where``, and names the type of the answer.
    """
    permitted = query.permitted_source_ids
    if permitted is not None:
        return [position for position, source in view.candidates if source.id in permitted]
    field, policy = "source_visibility_policy", query.source_visibility_policy
    # Not `or`: a policy may be an object that is empty, and so counts as false.
    if policy is None:
        field, policy = "default_source_visibility_policy", default_policy
    if policy is None:
        return view.positions
    field = f"{where}{field}"
    return [position for position, source in view.candidates if _decision(field, policy(query.scope, source))]


def _decision(field: str, answer: object) -> bool:
    # The very objects: what only claims to be a bool, as a mock may, must not count as a yes by accident.
    if answer is True or answer is False:
        return answer
    drop_coroutine(answer)
    if hasattr(type(answer), "__await__"):
        hint = "write it without 'async'"
    else:
        hint = "return True or False" if type(answer).__module__ == "builtins" else "return bool(...) of it"
    raise RefusedTypeError(f"{field} answers with a bool, not {type_name(answer)}; {hint}")
