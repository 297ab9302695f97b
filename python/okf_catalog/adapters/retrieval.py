"""What the retrievers of all frameworks share: from the text of a question to passages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from okf_catalog._engine import is_blank
from okf_catalog.ask.query import KnowledgeQuery
from okf_catalog.ask.resolver import KnowledgeResolver
from okf_catalog.checks import check_callable, check_count, check_kind, drop_coroutine
from okf_catalog.errors import RefusedTypeError
from okf_catalog.provider.messages import whole_characters
from okf_catalog.provider.scope import ScopeAccessor
from okf_catalog.scope import KnowledgeAccessScope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from okf_catalog._engine import KnowledgePassage
    from okf_catalog.ask.context import KnowledgeContext
    from okf_catalog.ask.scoring import KnowledgeScoring
    from okf_catalog.ask.staleness import StalePolicy
    from okf_catalog.ask.strategy import KnowledgeResolverStrategy
    from okf_catalog.ask.unit import KnowledgeUnit
    from okf_catalog.diagnostics import KnowledgeDiagnostic

__all__ = ["DiagnosticsListener", "Retrieval", "Scope", "id_of", "metadata_of", "text_of"]

Scope: TypeAlias = KnowledgeAccessScope | ScopeAccessor
"""The scope of a retriever's questions: fixed, or returned by a function of the host for each question."""

DiagnosticsListener: TypeAlias = "Callable[[tuple[KnowledgeDiagnostic, ...]], object]"
"""Called with what a list of documents cannot show, such as which source could not be read."""


HEADING_SEPARATOR = " > "
"""Stands between the headings of a section in metadata."""


class Retrieval:
    """How a retriever asks. Everything but the text of the question is chosen by the host beforehand.

    Raises:
        RefusedTypeError, RefusedValueError: an argument is refused.
    """

    __slots__ = ("_limit", "_on_diagnostics", "_query", "_resolver", "_scope")

    def __init__(
        self,
        resolver: KnowledgeResolver,
        *,
        scope: Scope,
        limit: int | None,
        resolver_strategy: KnowledgeResolverStrategy | str | None,
        fairness_quota: int | None,
        stale_policy: StalePolicy,
        scoring: KnowledgeScoring | str | None,
        unit: KnowledgeUnit | str,
        on_diagnostics: DiagnosticsListener | None,
    ) -> None:
        check_kind("resolver", resolver, KnowledgeResolver, "a KnowledgeResolver")
        if limit is not None:
            check_count("limit", limit, least=1)
        check_callable("on_diagnostics", on_diagnostics, "with a tuple of KnowledgeDiagnostic")
        self._query = KnowledgeQuery(
            "?",
            resolver_strategy=resolver_strategy,
            fairness_quota=fairness_quota,
            stale_policy=stale_policy,
            scoring=scoring,
            unit=unit,
            scope=KnowledgeAccessScope.LOCAL if callable(scope) else scope,
        )
        self._resolver = resolver
        self._scope: Callable[[], object] = scope if callable(scope) else lambda: scope
        self._limit = limit
        self._on_diagnostics = on_diagnostics

    def passages(self, text: str) -> Sequence[KnowledgePassage]:
        """The best passages for a question. A blank question has none, because frameworks do ask those.

        Raises:
            RefusedTypeError: the question is not a ``str``, or the host's function for the scope returned
                something else than a scope.
            Exception: anything that this function or the search raises, unchanged.
        """
        query = self._ask(text)
        return () if query is None else self._deliver(self._resolver.search(query))

    async def passages_async(self, text: str) -> Sequence[KnowledgePassage]:
        """What ``passages`` returns and raises. The host's function is called in the task of the caller."""
        query = self._ask(text)
        return () if query is None else self._deliver(await self._resolver.search_async(query))

    def _ask(self, text: str) -> KnowledgeQuery | None:
        check_kind("the question", text, str, "a str")
        text = whole_characters(text)
        if is_blank(text):
            return None
        return replace(self._query, text=text, scope=self._current_scope())

    def _current_scope(self) -> KnowledgeAccessScope:
        answer = self._scope()
        if not isinstance(answer, KnowledgeAccessScope):
            drop_coroutine(answer)
            raise RefusedTypeError(f"scope answers with a KnowledgeAccessScope, not {type(answer).__name__}")
        return answer

    def _deliver(self, context: KnowledgeContext) -> Sequence[KnowledgePassage]:
        if context.diagnostics and self._on_diagnostics is not None:
            self._on_diagnostics(context.diagnostics)
        return context.passages[: self._limit]


def text_of(passage: KnowledgePassage) -> str:
    """The text of a passage for a model: its section, or else its title and its snippet. Never empty."""
    if passage.section is not None and not is_blank(passage.section.text):
        return passage.section.text
    lines = (passage.title, passage.snippet)
    return "\n".join(line for line in lines if line) or passage.concept_id


def metadata_of(passage: KnowledgePassage) -> dict[str, str | int | bool | None]:
    """The other fields of a passage, as plain values that any store or tracer can write.

    ``heading``, ``first_line`` and ``last_line`` are those of the section, with the headings as one text.
    They are ``None`` for a passage that is a whole concept.
    """
    section = passage.section
    return {
        "source_id": passage.source_id,
        "concept_id": passage.concept_id,
        "title": passage.title,
        "score": passage.score,
        "bundle_relative_path": passage.bundle_relative_path,
        "concept_type": passage.concept_type,
        "trust_tier": passage.trust_tier.value,
        "status": passage.status.value,
        "stale_after": passage.stale_after,
        "is_stale": passage.is_stale,
        "heading": None if section is None else HEADING_SEPARATOR.join(section.heading),
        "first_line": None if section is None else section.first_line,
        "last_line": None if section is None else section.last_line,
    }


def id_of(passage: KnowledgePassage) -> str:
    """An id that is unique for each concept, since the id of a source has no colon in it.

    A section adds its lines. A long line may be cut into several sections, so a section of one line adds a
    checksum of its text too.
    """
    concept, section = f"knowledge:{passage.source_id}:{passage.concept_id}", passage.section
    if section is None:
        return concept
    if section.first_line < section.last_line:
        return f"{concept}#L{section.first_line}-L{section.last_line}"
    return f"{concept}#L{section.first_line}-{crc32(section.text.encode()):08x}"
