"""``okf-catalog memory``: list, show, write and delete what is remembered for one scope."""

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
    MemoryEntry,
    MemoryOverlapError,
    MemoryTier,
    RefusedValueError,
    memory_path,
)
from okf_catalog._engine import is_blank
from okf_catalog.cli.options import CatalogOption, JsonOption, SessionOption, TenantOption, UserOption
from okf_catalog.cli.screen import complain, log_to_stderr, open_console, show, visible
from okf_catalog.memory.marks import mark_disabled
from okf_catalog.memory.tiers import applies

__all__ = ["memory"]

TierOption: TypeAlias = Annotated[
    MemoryTier | None, typer.Option(help="Only this tier; by default every tier that applies to the scope.")
]

memory = typer.Typer(
    help="List, show, write and forget what is remembered for a scope; without any id, for the local scope.",
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

    Stderr says what cannot be listed. Exits with 0 also when there are none, 1 if something cannot be listed,
    the catalog cannot open, or it has no memory source that can be used, 2 for wrong usage.
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
    """Print the text of a concept, in each tier that has one of this name.

    Stderr says what cannot be read. Exits with 1 if there is no such concept, if something that may be one
    cannot be read, or the catalog cannot open, 2 for wrong usage.
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
def write(
    concept: Annotated[str, typer.Argument(metavar="CONCEPT", help="The name of the concept.")],
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT]", help="What to remember, as markdown; by default stdin.", show_default=False
        ),
    ] = None,
    *,
    catalog: CatalogOption,
    tenant: TenantOption = None,
    user: UserOption = None,
    session: SessionOption = None,
    tier: Annotated[
        MemoryTier | None,
        typer.Option(
            help="Where to; by default the one tier that applies to the scope, if there is only one."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in place of the concept of this name; do not append.")
    ] = False,
    title: Annotated[str | None, typer.Option(help="Of a new concept; by default its name.")] = None,
    description: Annotated[str | None, typer.Option(help="Of a new concept; by default its title.")] = None,
    concept_type: Annotated[str, typer.Option("--type", help="Of a new concept.")] = "Memory",
) -> None:
    """Remember a text in a concept: create the concept, append to it, or replace it whole.

    Exits with 1 if nothing was written, or the catalog cannot open, 2 for wrong usage.
    """
    if text is None:
        text = typer.get_binary_stream("stdin").read().decode("utf-8", "replace")
    if is_blank(text):
        raise typer.BadParameter("there is nothing to remember: the text is empty or only white space.")
    title = concept if title is None else title
    front = {
        "type": concept_type,
        "title": title,
        "description": title if description is None else description,
    }
    try:
        entry = MemoryEntry(concept, front, text)
    except RefusedValueError as error:
        raise typer.BadParameter(str(error)) from error
    with _opened(catalog, tenant, user, session) as (store, scope, tiers):
        result = store.write(scope, entry, _one_tier(tiers) if tier is None else tier, replace=replace)
    if result.error is not None:
        complain(f"nothing is written: {result.error}")
        raise typer.Exit(1)
    typer.echo(f"Remembered: {visible(concept)}.")


def _one_tier(tiers: Sequence[MemoryTier]) -> MemoryTier:
    if len(tiers) != 1:
        names = ", ".join(tier.value for tier in tiers) or "none"
        raise typer.BadParameter(
            f"say which tier; those that apply to the scope: {names}.", param_hint="--tier"
        )
    return tiers[0]


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
    yes: Annotated[bool, typer.Option("--yes", help="Delete without a question.")] = False,
) -> None:
    """Delete everything that is remembered for exactly this scope, or one concept of it, after a question.

    Without --tier that is every tier that the scope has an id for: for a user, also what is remembered for
    the whole tenant. Sessions and users that the scope does not name stay.

    With --below these are deleted too, and what is shared with other scopes stays: for a user, what is
    remembered for the tenant.

    Exits with 1 if nothing or not everything was deleted, if there is no such concept, or the catalog cannot
    open, 2 for wrong usage.
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
    """Prints what was deleted, and what was not."""
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
    """The tiers that the catalog has and that apply to the scope."""


@contextmanager
def _opened(catalog: Path, tenant: str | None, user: str | None, session: str | None) -> Generator[_Opened]:
    """A store and a scope, or one line on stderr that says why there is no store."""
    try:
        scope = KnowledgeAccessScope(tenant, user, session)
    except RefusedValueError as error:
        raise typer.BadParameter(str(error)) from error
    # The log is shown only while the catalog opens. What is left out later is in the diagnostics.
    with log_to_stderr():
        opened = FileKnowledgeCatalog(catalog, watch_for_changes=False)
        configured = {source.tier for source in opened.current.sources if source.enabled}
    with opened:
        if configured <= {None}:
            # The memories of disabled sources are marked too.
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
    """The listed concepts, and whether the list is complete. Stderr says what is missing."""
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
        # There is no input to read an answer from.
        typer.echo(err=True)
        return False


def _heading(concept: MemoryConcept) -> str:
    return f"{concept.tier.value:<8}{visible(concept.concept_id)}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _name(scope: KnowledgeAccessScope) -> str:
    ids = {"tenant": scope.tenant_id, "user": scope.user_id, "session": scope.session_id}
    return ", ".join(f"{what} {name}" for what, name in ids.items() if name is not None) or "the local scope"
