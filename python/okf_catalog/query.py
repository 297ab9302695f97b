"""A question."""

from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, TypeAlias, cast, final

from okf_catalog._engine import is_blank
from okf_catalog.checks import (
    check_callable,
    check_count,
    check_kind,
    check_str,
    check_text,
    is_kind,
    keep_plain,
)
from okf_catalog.choice import Choice
from okf_catalog.errors import RefusedTypeError, RefusedValueError
from okf_catalog.manifest import KnowledgeCatalogSource
from okf_catalog.scope import KnowledgeAccessScope
from okf_catalog.staleness import StalePolicy

__all__ = ["KnowledgeQuery", "KnowledgeResolverStrategy", "SourceVisibilityPolicy"]

SourceVisibilityPolicy: TypeAlias = Callable[[KnowledgeAccessScope, KnowledgeCatalogSource], bool]
"""Says whether a scope may see a source, with ``True`` or ``False``.

Anything else is refused (S3), also what only behaves like a ``bool``, as a ``numpy.bool`` does: return
``bool(...)`` of it.
"""


@final
class KnowledgeResolverStrategy(str, Choice):  # noqa: SLOT000  (an enum like any other)
    """How the passages of several sources are put in order (R1 to R3)."""

    GROUPED_BY_SOURCE = "grouped_by_source"
    MERGED = "merged"
    PRIORITY_WEIGHTED = "priority_weighted"

    __str__ = str.__str__


@final
@dataclass(frozen=True, slots=True)
class KnowledgeQuery:
    """A question, checked when it is made (Q1).

    ``permitted_source_ids`` takes any iterable of ``str``; ``resolver_strategy`` takes a member or its
    value; ``None`` for strategy or quota leaves the choice to the host.

    Example:
        >>> query = KnowledgeQuery("net revenue", resolver_strategy="merged", fairness_quota=2)
        >>> query.resolver_strategy
        KnowledgeResolverStrategy.MERGED

    Raises:
        RefusedTypeError: a field is of the wrong kind.
        RefusedValueError: the text is blank, the quota is below 1, the strategy does not exist, or both
            ``permitted_source_ids`` and ``source_visibility_policy`` are given (S2).
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

    if TYPE_CHECKING:
        # A field holds less than what is accepted for it, which a dataclass has no words for.
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
            keep_plain(self, "resolver_strategy", strategy_of("resolver_strategy", self.resolver_strategy))
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


def query_of(field: str, query: object) -> KnowledgeQuery:
    """The query that ``query`` is, or is the text of.

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


def strategy_of(field: str, value: object) -> KnowledgeResolverStrategy:
    """The member that ``value`` is or names.

    Raises:
        RefusedTypeError: it is neither a member nor a ``str``.
        RefusedValueError: no strategy is called like that.
    """
    if type(value) is KnowledgeResolverStrategy:
        return value
    name = check_str(field, value, "a KnowledgeResolverStrategy")
    try:
        return KnowledgeResolverStrategy(name)
    except ValueError:
        choices = ", ".join(repr(member.value) for member in KnowledgeResolverStrategy)
        raise RefusedValueError(f"{field} is one of {choices}, not {name!r}") from None


def check_policy(field: str, value: object) -> None:
    """Refuses what cannot be called.

    Raises:
        RefusedTypeError: ``value`` is neither ``None`` nor callable.
    """
    check_callable(field, value, "with (scope, source)")


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
