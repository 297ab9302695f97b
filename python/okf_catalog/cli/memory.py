"""``okf-catalog memory``: what is remembered for one scope."""

import json
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import typer
from rich.text import Text

from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeAccessScope,
    MemoryConcept,
    MemoryDeleteResult,
    MemoryOverlapError,
    MemoryTier,
    RefusedValueError,
    memory_path,
)
from okf_catalog.cli.options import CatalogOption, JsonOption, SessionOption, TenantOption, UserOption
from okf_catalog.cli.screen import complain, log_to_stderr, open_console, show, visible
from okf_catalog.memory.marks import mark_disabled
from okf_catalog.memory.paths import applies

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

    What cannot be listed is said on stderr. Exits with 0 also when there are none, 1 if something cannot be
    listed, or the catalog cannot open or remembers nothing at all, 2 for wrong usage.
    """
    with _opened(catalog, tenant, user, session) as (store, scope, _):
        concepts, whole = _concepts(store, scope, tier)
    _print(concepts, as_json=as_json)
    if not whole:
        raise typer.Exit(1)


def _print(concepts: Sequence[MemoryConcept], *, as_json: bool) -> None:
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
    show(console, Text(f"{_counted(len(concepts), 'concept')}.", style="dim"))


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

    What cannot be read is said on stderr. Exits with 1 if there is no such concept, if something that may be
    one cannot be read, or the catalog cannot open, 2 for wrong usage.
    """
    with _opened(catalog, tenant, user, session) as (store, scope, _):
        concepts, whole = _concepts(store, scope, tier)
        texts = [
            (found, text)
            for found in concepts
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
    if not whole:
        raise typer.Exit(1)


@memory.command()
def forget(
    concept: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONCEPT]",
            help="One concept, by its name or its id; by default all.",
            show_default=False,
        ),
    ] = None,
    *,
    catalog: CatalogOption,
    tenant: TenantOption = None,
    user: UserOption = None,
    session: SessionOption = None,
    tier: TierOption = None,
    below: Annotated[
        bool,
        typer.Option(
            "--below", help="Also every scope below: a user's sessions, a tenant's users and their sessions."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete everything that is remembered for exactly this scope, or one concept of it, after asking.

    Without --tier that is every tier that the scope has an id for: for a user, also what is remembered for
    the whole tenant. Sessions and users that the scope does not name stay.

    With --below they go too, and what is shared with other scopes stays: for a user, what is remembered for
    the tenant.

    Exits with 1 if that was not done, or not wholly, if there is no such concept, or the catalog cannot open,
    2 for wrong usage.
    """
    if below and concept is not None:
        raise typer.BadParameter("--below is for all that is remembered, not for one concept.")
    with _opened(catalog, tenant, user, session) as (store, scope, tiers):
        if not yes and not _is_sure(_question(store, scope, tier, concept, below=below)):
            complain("nothing is forgotten; answer y, or pass --yes")
            raise typer.Exit(1)
        if concept is None:
            result = store.delete_scope(scope, tier, below=below)
        else:
            result = _forget_one(store, scope, tiers if tier is None else (tier,), concept)
    _tell(result, scope, concept, below=below)


def _question(
    store: FileMemoryStore,
    scope: KnowledgeAccessScope,
    tier: MemoryTier | None,
    concept: str | None,
    *,
    below: bool,
) -> str:
    name = _name(scope)
    if below:
        where = "" if tier is None else f" in tier {tier.value} and those below it"
        return f"Forget all that is remembered{where} for {name} and for every scope below?"
    concepts, _ = _concepts(store, scope, tier)
    if concept is not None:
        tiers = [
            f"tier {found.tier.value}"
            for found in concepts
            if concept
            in (found.concept_id, found.concept_id.removeprefix(f"{memory_path(found.tier, scope)}/"))
        ]
        return f"Forget {concept!r} for {name}, which is listed in {', '.join(tiers) or 'no tier'}?"
    counts = Counter(found.tier for found in concepts)
    parts = [f"{counts[tier]} in tier {tier.value}" for tier in MemoryTier if tier in counts]
    return f"Forget what is remembered for {name}: {', '.join(parts) or 'no concept'}?"


def _forget_one(
    store: FileMemoryStore, scope: KnowledgeAccessScope, tiers: Iterable[MemoryTier], concept: str
) -> MemoryDeleteResult:
    try:
        results = [store.delete(scope, tier, concept) for tier in tiers]
    except RefusedValueError as error:
        raise typer.BadParameter(str(error)) from error
    errors = [result.error for result in results if result.error is not None]
    count = sum(result.concepts_deleted for result in results)
    return MemoryDeleteResult(0, "; ".join(errors) or None, count)


def _tell(
    result: MemoryDeleteResult, scope: KnowledgeAccessScope, concept: str | None, *, below: bool
) -> None:
    """Says what was forgotten, and what was not."""
    tiers = _counted(result.tiers_deleted, "tier")
    concepts = _counted(result.concepts_deleted, "concept")
    done = f"{concepts} in {tiers}"
    if concept is not None:
        done = concepts
    elif below:
        done = f"{concepts} of {_counted(result.scopes_deleted, 'scope')} in {tiers}"
    if result.error is not None:
        complain(f"{done} forgotten, but {result.error}")
        raise typer.Exit(1)
    if concept is not None and not result.concepts_deleted:
        complain(f"no concept {concept!r} is remembered for {_name(scope)}")
        raise typer.Exit(1)
    typer.echo(f"Forgotten: {done}.")


class _Opened(NamedTuple):
    store: FileMemoryStore
    scope: KnowledgeAccessScope
    tiers: tuple[MemoryTier, ...]
    """Those that the catalog has and that apply to the scope."""


@contextmanager
def _opened(catalog: Path, tenant: str | None, user: str | None, session: str | None) -> Generator[_Opened]:
    """A store and a scope, or one line on stderr that says why there is none."""
    try:
        scope = KnowledgeAccessScope(tenant, user, session)
    except RefusedValueError as error:
        raise typer.BadParameter(str(error)) from error
    # Not logged while memories are read: what is left out then is told in full by the answer.
    with log_to_stderr():
        opened = FileKnowledgeCatalog(catalog, watch_for_changes=False)
        configured = {source.tier for source in opened.current.sources if source.enabled}
    with opened:
        if configured <= {None}:
            # What is remembered by a source that is disabled is marked all the same.
            with log_to_stderr():
                mark_disabled(opened)
            complain("the catalog has no enabled memory source")
            raise typer.Exit(1)
        try:
            store = FileMemoryStore(opened)
        except MemoryOverlapError as error:
            complain(str(error))
            raise typer.Exit(1) from error
        tiers = tuple(tier for tier in MemoryTier if tier in configured and applies(tier, scope))
        yield _Opened(store, scope, tiers)


def _concepts(
    store: FileMemoryStore, scope: KnowledgeAccessScope, tier: MemoryTier | None
) -> tuple[Sequence[MemoryConcept], bool]:
    """What is listed, and whether that is everything; what is not is said on stderr."""
    listed = store.enumerate(scope)
    untold = [
        diagnostic
        for diagnostic in listed.diagnostics
        if tier is None or diagnostic.source_id == f"memory:{tier.value}"
    ]
    for diagnostic in untold:
        complain(diagnostic.message)
    return [concept for concept in listed if tier in (None, concept.tier)], not untold


def _is_sure(question: str) -> bool:
    try:
        return typer.confirm(visible(question), err=True)
    except typer.Abort:
        # Nobody is there to answer.
        typer.echo(err=True)
        return False


def _heading(concept: MemoryConcept) -> str:
    return f"{concept.tier.value:<8}{visible(concept.concept_id)}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _name(scope: KnowledgeAccessScope) -> str:
    ids = {"tenant": scope.tenant_id, "user": scope.user_id, "session": scope.session_id}
    return ", ".join(f"{what} {name}" for what, name in ids.items() if name is not None) or "the local scope"
