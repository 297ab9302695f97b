"""The strategies that order the passages of an answer."""

from typing import final

from okf_catalog.checks import check_str
from okf_catalog.choice import Choice
from okf_catalog.errors import RefusedValueError

__all__ = ["KnowledgeResolverStrategy"]


@final
class KnowledgeResolverStrategy(str, Choice):  # noqa: SLOT000  (an enum like any other)
    """How the passages of several sources are ordered (R1 to R3)."""

    GROUPED_BY_SOURCE = "grouped_by_source"
    MERGED = "merged"
    PRIORITY_WEIGHTED = "priority_weighted"

    __str__ = str.__str__


def strategy_of(field: str, value: object) -> KnowledgeResolverStrategy:
    """The member that ``value`` is, or whose value it is.

    Raises:
        RefusedTypeError: it is neither a member nor a ``str``.
        RefusedValueError: no strategy has this value.
    """
    if type(value) is KnowledgeResolverStrategy:
        return value
    name = check_str(field, value, "a KnowledgeResolverStrategy")
    try:
        return KnowledgeResolverStrategy(name)
    except ValueError:
        choices = ", ".join(repr(member.value) for member in KnowledgeResolverStrategy)
        raise RefusedValueError(f"{field} is one of {choices}, not {name!r}") from None
