"""``okf-catalog search``."""

from typing import Annotated

import typer

from okf_catalog import (
    FileKnowledgeCatalog,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    KnowledgeUnit,
    RefusedTypeError,
    RefusedValueError,
)
from okf_catalog.cli.answer import print_json, print_readable
from okf_catalog.cli.options import (
    CatalogOption,
    JsonOption,
    QuotaOption,
    ScoringOption,
    StaleOption,
    StrategyOption,
    stale_policy_of,
)
from okf_catalog.cli.progress import progress_bars
from okf_catalog.cli.screen import log_to_stderr

__all__ = ["search"]


def search(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="What to search for; white space separates terms.", show_default=False
        ),
    ],
    *,
    catalog: CatalogOption,
    strategy: StrategyOption = KnowledgeResolverStrategy.GROUPED_BY_SOURCE,
    scoring: ScoringOption = KnowledgeScoring.WEIGHTED_TERMS,
    sections: Annotated[
        bool,
        typer.Option("--sections", help="Show sections of the best concepts, with their headings and lines."),
    ] = False,
    quota: QuotaOption = None,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="Only concepts with this tag.")] = None,
    stale: StaleOption = "use",
    permit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Search only this source; repeat it for more. By default all are searched.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Show no more passages than this.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Search the sources of a catalog.

    Exits with 0 also when nothing matches, 1 if the catalog cannot open, 2 for wrong usage.
    """
    stale_policy = stale_policy_of(stale)
    try:
        query = KnowledgeQuery(
            text,
            tag,
            stale_policy=stale_policy,
            resolver_strategy=strategy,
            fairness_quota=quota,
            permitted_source_ids=frozenset(permit) if permit else None,
            scoring=scoring,
            unit=KnowledgeUnit.SECTION if sections else KnowledgeUnit.CONCEPT,
        )
    except (RefusedTypeError, RefusedValueError) as error:
        raise typer.BadParameter(str(error)) from error
    with (
        log_to_stderr(),
        progress_bars() as tell,
        FileKnowledgeCatalog(catalog, watch_for_changes=False, on_progress=tell) as opened,
    ):
        context = KnowledgeResolverRouter(opened).search(query)
    if as_json:
        print_json(context, stale=stale, limit=limit)
    else:
        print_readable(context, limit=limit)
