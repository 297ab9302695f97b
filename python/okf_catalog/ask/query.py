"""A query: what a caller asks."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, cast, final

from okf_catalog._engine import is_blank
from okf_catalog.ask.policy import SourceVisibilityPolicy, check_policy
from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.staleness import StalePolicy
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.ask.unit import KnowledgeUnit
from okf_catalog.checks import (
    check_choice,
    check_count,
    check_kind,
    check_str,
    check_text,
    is_kind,
    keep_plain,
)
from okf_catalog.errors import RefusedTypeError, RefusedValueError
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["KnowledgeQuery"]


@final
@dataclass(frozen=True, slots=True)
class KnowledgeQuery:
    """A query. Its fields are checked when it is made (Q1).

    ``permitted_source_ids`` takes any iterable of ``str``. ``resolver_strategy``, ``scoring`` and ``unit``
    take a member or its value. If strategy, quota or scoring is ``None``, the host's default is used.
    ``scoring`` says what makes a match better (V1), and ``unit`` whether a passage is a whole concept or a
    section of one (V9).

    Example:
        >>> query = KnowledgeQuery("net revenue", resolver_strategy="merged", fairness_quota=2)
        >>> query.resolver_strategy
        KnowledgeResolverStrategy.MERGED

    Raises:
        RefusedTypeError: a field has the wrong type.
        RefusedValueError: the text is blank, the quota is below 1, there is no such strategy, scoring or
            unit, or both ``permitted_source_ids`` and ``source_visibility_policy`` are given (S2).
    """

    text: str
    tag: str | None = None
    _: KW_ONLY
    stale_policy: StalePolicy = StalePolicy.USE
    resolver_strategy: KnowledgeResolverStrategy | None = None
    fairness_quota: int | None = None
    scope: KnowledgeAccessScope = KnowledgeAccessScope.LOCAL
    permitted_source_ids: frozenset[str] | None = None
    source_visibility_policy: SourceVisibilityPolicy | None = None
    scoring: KnowledgeScoring | None = None
    unit: KnowledgeUnit = KnowledgeUnit.CONCEPT

    if TYPE_CHECKING:
        # Some arguments accept more types than the field holds afterwards, which a dataclass cannot say.
        def __init__(
            self,
            text: str,
            tag: str | None = None,
            *,
            stale_policy: StalePolicy = StalePolicy.USE,
            resolver_strategy: KnowledgeResolverStrategy | str | None = None,
            fairness_quota: int | None = None,
            scope: KnowledgeAccessScope = KnowledgeAccessScope.LOCAL,
            permitted_source_ids: Iterable[str] | None = None,
            source_visibility_policy: SourceVisibilityPolicy | None = None,
            scoring: KnowledgeScoring | str | None = None,
            unit: KnowledgeUnit | str = KnowledgeUnit.CONCEPT,
        ) -> None: ...

    def __post_init__(self) -> None:
        text = check_text("text", self.text)
        if text is not self.text:
            keep_plain(self, "text", text)
        if is_blank(text):
            raise RefusedValueError("text is empty or only white space; ask for at least one word")
        if self.tag is not None:
            keep_plain(self, "tag", check_text("tag", self.tag))
        check_kind("stale_policy", self.stale_policy, StalePolicy, "a StalePolicy")
        if self.resolver_strategy is not None:
            strategy = check_choice("resolver_strategy", self.resolver_strategy, KnowledgeResolverStrategy)
            keep_plain(self, "resolver_strategy", strategy)
        if self.fairness_quota is not None:
            keep_plain(self, "fairness_quota", check_count("fairness_quota", self.fairness_quota, least=1))
        check_kind("scope", self.scope, KnowledgeAccessScope, "a KnowledgeAccessScope")
        if self.permitted_source_ids is not None:
            keep_plain(self, "permitted_source_ids", _ids(self.permitted_source_ids))
            if self.source_visibility_policy is not None:
                raise RefusedValueError(
                    "permitted_source_ids and source_visibility_policy exclude each other; give one of them"
                )
        check_policy("source_visibility_policy", self.source_visibility_policy)
        if self.scoring is not None:
            keep_plain(self, "scoring", check_choice("scoring", self.scoring, KnowledgeScoring))
        keep_plain(self, "unit", check_choice("unit", self.unit, KnowledgeUnit))


def query_of(field: str, query: object) -> KnowledgeQuery:
    """Returns ``query`` if it is a query, or the query with this text.

    Raises:
        RefusedTypeError: it is neither.
        RefusedValueError: the text is blank (Q1); the message begins with ``field`` unless that is ``query``.
    """
    if type(query) is KnowledgeQuery or is_kind(query, KnowledgeQuery):
        return cast("KnowledgeQuery", query)
    text = check_str(field, query, "a KnowledgeQuery or a str")
    if field == "query":
        return KnowledgeQuery(text)
    try:
        return KnowledgeQuery(text)
    except RefusedValueError as error:
        raise RefusedValueError(f"{field}: {error}") from None


def _ids(value: object) -> frozenset[str]:
    if is_kind(value, (str, bytes)):
        raise RefusedTypeError(
            f"permitted_source_ids is a collection of ids, not one {type(value).__name__}; "
            f"write {{{value!r}}}"
        )
    if not is_kind(value, Iterable):
        raise RefusedTypeError(f"permitted_source_ids is a collection of str, not {type(value).__name__}")
    return frozenset(
        check_str("each of permitted_source_ids", member) for member in cast("Iterable[object]", value)
    )
