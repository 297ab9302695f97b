"""For whom an invocation runs, as the host says."""

from collections.abc import Callable
from typing import TypeAlias

from okf_catalog.checks import check_kind, drop_coroutine
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["ScopeAccessor"]

ScopeAccessor: TypeAlias = Callable[[], KnowledgeAccessScope]
"""Returns the scope of the current invocation."""


def current_scope(accessor: ScopeAccessor) -> KnowledgeAccessScope:
    """The scope that the accessor returns.

    Raises:
        RefusedTypeError: it returned something else.
        Exception: anything that the accessor raises, unchanged.
    """
    scope = accessor()
    drop_coroutine(scope)
    check_kind("what scope_accessor returns", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
    return scope
