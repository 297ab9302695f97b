"""Visibility policies: a host's function that says which sources a scope may see."""

from collections.abc import Callable
from typing import TypeAlias

from okf_catalog.catalog.source import KnowledgeCatalogSource
from okf_catalog.checks import check_callable
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["SourceVisibilityPolicy"]

SourceVisibilityPolicy: TypeAlias = Callable[[KnowledgeAccessScope, KnowledgeCatalogSource], bool]
"""Says whether a scope may see a source, with ``True`` or ``False``.

Anything else is refused (S3), also an object that only behaves like a ``bool``, such as a ``numpy.bool``:
return ``bool(...)`` of it.
"""


def check_policy(field: str, value: object) -> None:
    """Raises if ``value`` cannot be called.

    Raises:
        RefusedTypeError: ``value`` is neither ``None`` nor callable.
    """
    check_callable(field, value, "with (scope, source)")
