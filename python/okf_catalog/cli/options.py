"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from okf_catalog.ask.scoring import KnowledgeScoring
from okf_catalog.ask.staleness import StalePolicy
from okf_catalog.ask.strategy import KnowledgeResolverStrategy
from okf_catalog.cli.find import find_catalog

CatalogOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        metavar="PATH",
        help="The catalog.json to open; by default the one that OKF_CATALOG names, or the nearest one in "
        "this directory or above it.",
        default_factory=find_catalog,
        show_default=False,
    ),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document, without colours.")
]
StrategyOption: TypeAlias = Annotated[
    KnowledgeResolverStrategy, typer.Option(help="How passages of several sources are ordered.")
]
ScoringOption: TypeAlias = Annotated[
    KnowledgeScoring,
    typer.Option(help="What makes a match better: weighted_terms for key words, bm25f for sentences."),
]
QuotaOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="At most N passages in a row from one source, if others have some; not for grouped_by_source.",
    ),
]
StaleOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="use|strict|DAYS",
        help="Concepts past their stale_after: use all, none, or those less than DAYS days past it.",
    ),
]
TenantOption: TypeAlias = Annotated[str | None, typer.Option(metavar="ID", help="The scope's tenant.")]
UserOption: TypeAlias = Annotated[str | None, typer.Option(metavar="ID", help="The scope's user.")]
SessionOption: TypeAlias = Annotated[str | None, typer.Option(metavar="ID", help="The scope's session.")]


def stale_policy_of(word: str) -> StalePolicy:
    """The policy for the value of ``--stale``."""
    if word == "use":
        return StalePolicy.USE
    if word == "strict":
        return StalePolicy.STRICT
    # Nine digits are more days than any calendar has.
    if word.isascii() and word.isdecimal() and len(word) <= 9:
        return StalePolicy.tolerate(int(word))
    raise typer.BadParameter(f"{word!r} is not 'use', 'strict' or a number of days.", param_hint="--stale")
