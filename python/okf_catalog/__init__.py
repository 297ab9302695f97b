"""Ask one question of many Open Knowledge Format bundles, and get one ranked, permission-filtered answer.

Start here: :func:`open_knowledge` opens a ``catalog.json``. ``search`` takes a text or a
:class:`KnowledgeQuery`. The answer is a :class:`KnowledgeContext` whose ``passages`` are ranked by a
:class:`KnowledgeResolverStrategy`.

::

    from okf_catalog import KnowledgeQuery, open_knowledge

    with open_knowledge("catalog.json", default_strategy="merged") as knowledge:
        for passage in knowledge.search(KnowledgeQuery("net revenue", fairness_quota=2)).passages[:10]:
            print(passage.score, passage.source_id, passage.title, passage.excerpt)

Ids such as ``S3`` or ``R5`` in the documentation name facts of the project's semantics.

The folders, from the lowest to the highest; each imports only those before it, and the modules beside them:
``catalog`` (the manifest and its sources), ``ask`` (from a query to its answer), ``memory`` (what a host
remembers), ``provider`` (what an agent reads), ``host`` (:func:`open_knowledge`), then ``adapters`` (for
agent frameworks) and ``cli``. The modules beside the folders, such as ``errors``, import no folder.
"""

from collections.abc import Sequence as _Sequence
from inspect import isclass, isfunction
from types import GenericAlias
from typing import TYPE_CHECKING, cast

from okf_catalog._engine import KnowledgePassage
from okf_catalog._engine import Passages as _Passages
from okf_catalog.ask.batch import KnowledgeBatch
from okf_catalog.ask.context import KnowledgeContext
from okf_catalog.ask.policy import SourceVisibilityPolicy
from okf_catalog.ask.query import KnowledgeQuery
from okf_catalog.ask.resolver import KnowledgeResolver
from okf_catalog.ask.resolvers import (
    GroupedKnowledgeResolver,
    KnowledgeResolverRouter,
    MergedKnowledgeResolver,
    PriorityWeightedKnowledgeResolver,
)
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.staleness import StalePolicy
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.ask.unit import KnowledgeUnit
from okf_catalog.catalog.catalog import KnowledgeCatalog
from okf_catalog.catalog.file import FileKnowledgeCatalog
from okf_catalog.catalog.freshness import Freshness
from okf_catalog.catalog.in_memory import InMemoryKnowledgeCatalog, InMemorySource
from okf_catalog.catalog.manifest import parse_manifest
from okf_catalog.catalog.remarks import RemarkCode, RemarkCount, SourceRemark
from okf_catalog.catalog.report import CatalogReport, SourceProblem, SourceReport
from okf_catalog.catalog.source import (
    KnowledgeCatalogSnapshot,
    KnowledgeCatalogSource,
    MemoryTier,
    SourceRole,
)
from okf_catalog.clock import Clock
from okf_catalog.diagnostics import (
    CatalogDiagnostic,
    CatalogDiagnosticCode,
    KnowledgeDiagnostic,
    KnowledgeDiagnosticCode,
)
from okf_catalog.errors import (
    CatalogClosedError,
    CatalogError,
    MemoryOverlapError,
    OkfCatalogError,
    RefusedTypeError,
    RefusedValueError,
)
from okf_catalog.host.knowledge import Knowledge
from okf_catalog.host.opening import open_knowledge
from okf_catalog.memory.entry import MemoryEntry
from okf_catalog.memory.files import FileMemoryStore
from okf_catalog.memory.paths import memory_path
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
from okf_catalog.provider.context import ContextBlock, ProvidedContext
from okf_catalog.provider.messages import ChatMessage
from okf_catalog.provider.provider import KnowledgeContextProvider
from okf_catalog.provider.rewriting import RewriteQuery
from okf_catalog.provider.scope import ScopeAccessor
from okf_catalog.scope import KnowledgeAccessScope
from okf_catalog.section import KnowledgeSection
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
    "InMemoryKnowledgeCatalog",
    "InMemorySource",
    "Knowledge",
    "KnowledgeAccessScope",
    "KnowledgeBatch",
    "KnowledgeCatalog",
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
    "KnowledgeScoring",
    "KnowledgeSection",
    "KnowledgeUnit",
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
    "RewriteQuery",
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

# Makes passages a sequence for `isinstance` and pattern matching. The engine defines all the methods.
cast("ABCMeta", _Sequence).register(_Passages)

# Every public name shows `okf_catalog` as its module, and is pickled by it. `GenericAlias` is left out,
# because `isclass` of Python 3.10 accepts an alias of a callable too.
for _value in [globals()[name] for name in __all__]:
    if isfunction(_value) or (isclass(_value) and not isinstance(_value, GenericAlias)):
        _value.__module__ = __name__
