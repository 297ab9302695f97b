"""Ask one question of many Open Knowledge Format bundles, and get one ranked, permission-filtered answer.

What you meet first: :func:`open_knowledge` opens a ``catalog.json``; ``search`` takes a text or a
:class:`KnowledgeQuery`; the answer is a :class:`KnowledgeContext` whose ``passages`` are ranked by a
:class:`KnowledgeResolverStrategy`.

::

    from okf_catalog import KnowledgeQuery, open_knowledge

    with open_knowledge("catalog.json", default_strategy="merged") as knowledge:
        for passage in knowledge.search(KnowledgeQuery("net revenue", fairness_quota=2)).passages[:10]:
            print(passage.score, passage.source_id, passage.title, passage.excerpt)

Ids such as ``S3`` or ``R5`` in the documentation name the facts of the project's semantics.
"""

from collections.abc import Sequence as _Sequence
from inspect import isclass, isfunction
from types import GenericAlias
from typing import TYPE_CHECKING, cast

from okf_catalog._engine import KnowledgePassage
from okf_catalog._engine import Passages as _Passages
from okf_catalog.catalog import CatalogReport, FileKnowledgeCatalog, SourceProblem, SourceReport
from okf_catalog.context import KnowledgeBatch, KnowledgeContext, KnowledgeDiagnostic, KnowledgeDiagnosticCode
from okf_catalog.errors import (
    CatalogClosedError,
    CatalogError,
    MemoryOverlapError,
    OkfCatalogError,
    RefusedTypeError,
    RefusedValueError,
)
from okf_catalog.freshness import Freshness
from okf_catalog.host import Knowledge, open_knowledge
from okf_catalog.manifest import (
    CatalogDiagnostic,
    CatalogDiagnosticCode,
    KnowledgeCatalogSnapshot,
    KnowledgeCatalogSource,
    MemoryTier,
    SourceRole,
    parse_manifest,
)
from okf_catalog.memory.entry import MemoryEntry
from okf_catalog.memory.files import FileMemoryStore
from okf_catalog.memory.place import memory_path
from okf_catalog.memory.results import (
    MemoryConcept,
    MemoryConcepts,
    MemoryDeleteResult,
    MemoryReadResult,
    MemoryWriteResult,
)
from okf_catalog.memory.store import MemoryStore
from okf_catalog.provider.budget import CountTokens
from okf_catalog.provider.capture import MemoryCaptureMode
from okf_catalog.provider.messages import ChatMessage
from okf_catalog.provider.provided import ContextBlock, ProvidedContext
from okf_catalog.provider.provider import KnowledgeContextProvider, ScopeAccessor
from okf_catalog.query import KnowledgeQuery, KnowledgeResolverStrategy, SourceVisibilityPolicy
from okf_catalog.remarks import RemarkCode, RemarkCount, SourceRemark
from okf_catalog.resolver import (
    Clock,
    GroupedKnowledgeResolver,
    KnowledgeResolver,
    KnowledgeResolverRouter,
    MergedKnowledgeResolver,
    PriorityWeightedKnowledgeResolver,
)
from okf_catalog.scope import KnowledgeAccessScope
from okf_catalog.staleness import StalePolicy
from okf_catalog.values import ConceptStatus, TrustTier

if TYPE_CHECKING:
    from abc import ABCMeta

__all__ = [
    "CatalogClosedError",
    "CatalogDiagnostic",
    "CatalogDiagnosticCode",
    "CatalogError",
    "CatalogReport",
    "ChatMessage",
    "Clock",
    "ConceptStatus",
    "ContextBlock",
    "CountTokens",
    "FileKnowledgeCatalog",
    "FileMemoryStore",
    "Freshness",
    "GroupedKnowledgeResolver",
    "Knowledge",
    "KnowledgeAccessScope",
    "KnowledgeBatch",
    "KnowledgeCatalogSnapshot",
    "KnowledgeCatalogSource",
    "KnowledgeContext",
    "KnowledgeContextProvider",
    "KnowledgeDiagnostic",
    "KnowledgeDiagnosticCode",
    "KnowledgePassage",
    "KnowledgeQuery",
    "KnowledgeResolver",
    "KnowledgeResolverRouter",
    "KnowledgeResolverStrategy",
    "MemoryCaptureMode",
    "MemoryConcept",
    "MemoryConcepts",
    "MemoryDeleteResult",
    "MemoryEntry",
    "MemoryOverlapError",
    "MemoryReadResult",
    "MemoryStore",
    "MemoryTier",
    "MemoryWriteResult",
    "MergedKnowledgeResolver",
    "OkfCatalogError",
    "PriorityWeightedKnowledgeResolver",
    "ProvidedContext",
    "RefusedTypeError",
    "RefusedValueError",
    "RemarkCode",
    "RemarkCount",
    "ScopeAccessor",
    "SourceProblem",
    "SourceRemark",
    "SourceReport",
    "SourceRole",
    "SourceVisibilityPolicy",
    "StalePolicy",
    "TrustTier",
    "memory_path",
    "open_knowledge",
    "parse_manifest",
]

# A sequence for pattern matching and `isinstance`; every method it needs is the engine's own.
cast("ABCMeta", _Sequence).register(_Passages)

# Everything shows the module that users import it from, and pickles by it. Python 3.10 takes an alias of a
# callable for a class.
for _value in [globals()[name] for name in __all__]:
    if isfunction(_value) or (isclass(_value) and not isinstance(_value, GenericAlias)):
        _value.__module__ = __name__
