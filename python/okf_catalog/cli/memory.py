"""``okf-catalog memory``: what is remembered for one scope."""

import json
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.text import Text

from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeAccessScope,
    MemoryConcept,
    MemoryOverlapError,
    MemoryTier,
    RefusedValueError,
)
from okf_catalog.cli.options import CatalogOption, JsonOption, SessionOption, TenantOption, UserOption
from okf_catalog.cli.screen import complain, log_to_stderr, open_console, show, visible

__all__ = ["memory"]

TierOption: TypeAlias = Annotated[
    MemoryTier | None, typer.Option(help="Only this tier; by default every one that applies to the scope.")
]

memory = typer.Typer(
    help="See and forget what is remembered for a scope; without any id, for the local one.",
    pretty_exceptions_enable=False,
)


@memory.command("list")
def list_concepts(
    *,
    catalog: CatalogOption,
    tenant: TenantOption = None,
    user: UserOption = None,
    session: SessionOption = None,
    tier: TierOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the concepts that are remembered.

    Exits with 0 also when there are none, 1 if the catalog cannot open or remembers nothing at all, 2 for
    wrong usage.
    """
    with _opened(catalog, tenant, user, session) as (store, scope):
        concepts = _concepts(store, scope, tier)
    if as_json:
        rows = [
            {"tier": concept.tier.value, "concept_id": concept.concept_id, "title": concept.title}
            for concept in concepts
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    console = open_console()
    for concept in concepts:
        title = Text() if concept.title is None else Text(f"  {visible(concept.title)}", style="bold")
        show(console, Text.assemble(_heading(concept), title))
    show(console, Text(f"{_count(concepts)}.", style="dim"))


@memory.command("show")
def show_concept(
    concept: Annotated[
        str,
        typer.Argument(
            metavar="CONCEPT", help="The id of a concept, or the last part of it.", show_default=False
        ),
    ],
    *,
    catalog: CatalogOption,
    tenant: TenantOption = None,
    user: UserOption = None,
    session: SessionOption = None,
    tier: TierOption = None,
) -> None:
    """Print what a concept says, in each tier that has one of that name.

    Exits with 1 if there is none, or the catalog cannot open, 2 for wrong usage.
    """
    with _opened(catalog, tenant, user, session) as (store, scope):
        texts = [
            (found, text)
            for found in _concepts(store, scope, tier)
            if concept in (found.concept_id, found.concept_id.rpartition("/")[2])
            and (text := store.text(scope, found.concept_id)) is not None
        ]
    if not texts:
        complain(f"no concept {concept!r} is remembered for {_name(scope)}")
        raise typer.Exit(1)
    console = open_console()
    for found, text in texts:
        show(console, Text.assemble(_heading(found), style="dim"))
        for line in text.rstrip("\n").split("\n"):
            show(console, Text(visible(line)))
        show(console, Text())


@memory.command()
def forget(
    *,
    catalog: CatalogOption,
    tenant: TenantOption = None,
    user: UserOption = None,
    session: SessionOption = None,
    tier: TierOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete everything that is remembered for exactly this scope, after asking.

    Without --tier that is every tier that the scope has an id for: for a user, also what is remembered for
    the whole tenant. Sessions and users that the scope does not name stay.

    Exits with 1 if that was not done, or not wholly, or the catalog cannot open, 2 for wrong usage.
    """
    with _opened(catalog, tenant, user, session) as (store, scope):
        if not yes and not _is_sure(scope, _concepts(store, scope, tier)):
            complain("nothing is forgotten; answer y, or pass --yes")
            raise typer.Exit(1)
        result = store.delete_scope(scope, tier)
    tiers = "1 tier" if result.tiers_deleted == 1 else f"{result.tiers_deleted} tiers"
    if result.error is not None:
        complain(f"{tiers} forgotten, but {result.error}")
        raise typer.Exit(1)
    typer.echo(f"Forgotten in {tiers}.")


@contextmanager
def _opened(
    catalog: Path, tenant: str | None, user: str | None, session: str | None
) -> Generator[tuple[FileMemoryStore, KnowledgeAccessScope]]:
    """A store and a scope, or one line on stderr that says why there is none."""
    try:
        scope = KnowledgeAccessScope(tenant, user, session)
    except RefusedValueError as error:
        raise typer.BadParameter(str(error)) from error
    with log_to_stderr(), FileKnowledgeCatalog(catalog, watch_for_changes=False) as opened:
        if not any(source.enabled and source.tier is not None for source in opened.current.sources):
            complain("the catalog has no enabled memory source")
            raise typer.Exit(1)
        try:
            store = FileMemoryStore(opened)
        except MemoryOverlapError as error:
            complain(str(error))
            raise typer.Exit(1) from error
        yield store, scope


def _concepts(
    store: FileMemoryStore, scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> Sequence[MemoryConcept]:
    return [concept for concept in store.enumerate(scope) if tier in (None, concept.tier)]


def _is_sure(scope: KnowledgeAccessScope, concepts: Sequence[MemoryConcept]) -> bool:
    counts = Counter(concept.tier for concept in concepts)
    parts = [f"{counts[tier]} in tier {tier.value}" for tier in MemoryTier if tier in counts]
    question = f"Forget what is remembered for {_name(scope)}: {', '.join(parts) or 'no concept'}?"
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        # Nobody is there to answer.
        typer.echo(err=True)
        return False


def _heading(concept: MemoryConcept) -> str:
    return f"{concept.tier.value:<8}{visible(concept.concept_id)}"


def _count(concepts: Sequence[MemoryConcept]) -> str:
    return f"{len(concepts)} concept{'' if len(concepts) == 1 else 's'}"


def _name(scope: KnowledgeAccessScope) -> str:
    ids = {"tenant": scope.tenant_id, "user": scope.user_id, "session": scope.session_id}
    return ", ".join(f"{what} {name}" for what, name in ids.items() if name is not None) or "the local scope"
