"""``okf-catalog search``."""

from pathlib import Path
from typing import Annotated

import typer

from okf_catalog import (
    FileKnowledgeCatalog,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeResolverStrategy,
    RefusedTypeError,
    RefusedValueError,
    StalePolicy,
)
from okf_catalog.cli.answer import print_json, print_readable
from okf_catalog.cli.progress import progress_bars
from okf_catalog.cli.screen import log_to_stderr

__all__ = ["search"]


def search(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="What to look for; white space separates terms.", show_default=False
        ),
    ],
    *,
    catalog: Annotated[
        Path, typer.Option(metavar="PATH", help="The catalog.json to ask.", show_default=False)
    ],
    strategy: Annotated[
        KnowledgeResolverStrategy, typer.Option(help="How passages of several sources are ordered.")
    ] = KnowledgeResolverStrategy.GROUPED_BY_SOURCE,
    quota: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Passages in a row from one source, while another has some; not for grouped_by_source.",
        ),
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="Only concepts with this tag.")] = None,
    stale: Annotated[
        str,
        typer.Option(
            metavar="use|strict|DAYS",
            help="Concepts past their stale_after: use them all, none, or those less than DAYS days past it.",
        ),
    ] = "use",
    permit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="A source that may be seen; repeat it for more. Without it, all may."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Show no more passages than this.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document, without colours.")
    ] = False,
) -> None:
    """Ask a question of the sources of a catalog.

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


def stale_policy_of(word: str) -> StalePolicy:
    """What ``--stale`` says."""
    if word == "use":
        return StalePolicy.USE
    if word == "strict":
        return StalePolicy.STRICT
    # More digits are more days than any calendar has.
    if word.isascii() and word.isdecimal() and len(word) <= 9:
        return StalePolicy.tolerate(int(word))
    raise typer.BadParameter(f"{word!r} is not 'use', 'strict' or a number of days.", param_hint="--stale")
