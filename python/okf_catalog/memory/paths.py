"""The directories of memories: one for each tier and scope. The engine makes them."""

from okf_catalog import _engine
from okf_catalog.catalog.source import MemoryTier
from okf_catalog.checks import check_kind
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["memory_path"]


def memory_path(tier: MemoryTier, scope: KnowledgeAccessScope) -> str:
    """The directory of a scope, below the root of the tier's memory source, with ``/`` between parts (Y1).

    Each part is the id in lower case and the first 16 hexadecimal digits of its SHA-256, so that different
    ids never share a directory, not even ids that differ only in case, on no file system. For ``None`` the
    part is ``_local``.

    Example:
        >>> memory_path(MemoryTier.USER, KnowledgeAccessScope("acme", "alice"))
        'memory-user/acme-822b33ad87c148a0/alice-2bd806c97f0e00af'

    Raises:
        RefusedTypeError: ``tier`` is not a ``MemoryTier``, or ``scope`` not a ``KnowledgeAccessScope``.
    """
    check_kind("tier", tier, MemoryTier, "a MemoryTier")
    check_kind("scope", scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
    return _engine.memory_path(tier.value, scope)
