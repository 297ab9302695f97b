"""``okf-catalog context``: the message that a model would be given, and how the budget was spent."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from json import dumps
from pathlib import Path
from typing import Annotated, Any, TypeAlias, cast

import typer
from rich.text import Text

from okf_catalog import (
    ChatMessage,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    KnowledgePassage,
    KnowledgeQuery,
    KnowledgeResolver,
    KnowledgeResolverStrategy,
    KnowledgeScoring,
    MemoryOverlapError,
    MemoryStore,
    ProvidedContext,
    RefusedTypeError,
    RefusedValueError,
    open_knowledge,
)
from okf_catalog.cli.options import (
    CatalogOption,
    JsonOption,
    QuotaOption,
    ScoringOption,
    SessionOption,
    StaleOption,
    StrategyOption,
    TenantOption,
    UserOption,
    stale_policy_of,
)
from okf_catalog.cli.progress import progress_bars
from okf_catalog.cli.screen import complain, log_to_stderr, open_console, show, visible
from okf_catalog.cli.table import table
from okf_catalog.provider.budget import tokens_of_length
from okf_catalog.provider.frame import BlockContent

__all__ = ["context"]

_MakeProvider: TypeAlias = Callable[[KnowledgeResolver, MemoryStore | None], KnowledgeContextProvider]

HEADINGS = ("source", "found", "given", "cut", "tokens")


def context(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What a user asks an agent.", show_default=False)
    ],
    *,
    catalog: CatalogOption,
    budget: Annotated[
        int, typer.Option(metavar="N", min=1, help="Tokens for the message; four characters are one token.")
    ] = 2000,
    knowledge_share: Annotated[
        float, typer.Option(metavar="PART", help="The share of the budget that knowledge gets at first.")
    ] = 0.6,
    memory_share: Annotated[
        float, typer.Option(metavar="PART", help="The share of the budget that memory gets at first.")
    ] = 0.4,
    content: Annotated[
        BlockContent,
        typer.Option(help="What to show of a concept: the line that answers best, or the whole body."),
    ] = "snippet",
    strategy: StrategyOption = KnowledgeResolverStrategy.GROUPED_BY_SOURCE,
    scoring: ScoringOption = KnowledgeScoring.BM25F,
    quota: QuotaOption = None,
    stale: StaleOption = "use",
    tenant: TenantOption = None,
    user: UserOption = None,
    session: SessionOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the message that a model would be given with a question, and how the budget was spent.

    For each source it shows how many passages were found, how many of them are given, how many of those are
    cut, and how many tokens they have. Exits with 0 also when nothing is found, 1 if the catalog cannot open
    or a memory source overlaps with another source, 2 for wrong usage.
    """
    errors: list[Exception] = []
    try:
        scope = KnowledgeAccessScope(tenant, user, session)
        make_provider = partial(
            KnowledgeContextProvider,
            token_budget=budget,
            knowledge_budget_share=knowledge_share,
            memory_budget_share=memory_share,
            resolver_strategy=strategy,
            fairness_quota=quota,
            stale_policy=stale_policy_of(stale),
            scoring=scoring,
            block_content=content,
            scope_accessor=lambda: scope,
            on_internal_error=errors.append,
        )
        provided, spending = _provide(catalog, text, make_provider)
    except MemoryOverlapError as error:
        complain(str(error))
        raise typer.Exit(1) from error
    except (RefusedTypeError, RefusedValueError) as error:
        raise typer.BadParameter(str(error)) from error
    if errors:
        raise errors[0]
    (_print_json if as_json else _print_readable)(provided, spending, budget=budget)


def _provide(
    catalog: Path, text: str, make_provider: _MakeProvider
) -> tuple[ProvidedContext, list["_Spending"]]:
    """The context for a text of the user, and what became of each source."""
    # A blank text is refused as by a search. A provider would take it for a user who said nothing.
    KnowledgeQuery(text)
    with (
        log_to_stderr(),
        progress_bars() as tell,
        open_knowledge(catalog, watch_for_changes=False, on_progress=tell) as knowledge,
    ):
        known, remembered = _Recording(knowledge), _Recording(knowledge.memory)
        store = None if remembered.asked is None else cast("MemoryStore", remembered)
        provider = make_provider(cast("KnowledgeResolver", known), store)
        provided = provider.provide([ChatMessage("user", text)])
        return provided, list(_spending([*known.passages, *remembered.passages], provided))


@dataclass
class _Recording:
    """Passes questions on to a resolver or a store, and keeps the passages of the answer."""

    asked: Any
    passages: Sequence[KnowledgePassage] = ()

    @property
    def max_question_bytes(self) -> Any:
        return getattr(self.asked, "max_question_bytes", None)

    def search(self, query: KnowledgeQuery) -> Any:
        answer = self.asked.search(query)
        self.passages = answer.passages
        return answer

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery) -> Any:
        answer = self.asked.read(scope, query)
        self.passages = answer.passages
        return answer


@dataclass(frozen=True)
class _Spending:
    """How many passages of one source were found, given and cut, and their tokens."""

    source_id: str
    found: int
    given: int
    cut: int
    tokens: int


def _spending(passages: Sequence[KnowledgePassage], provided: ProvidedContext) -> Iterator[_Spending]:
    """The sources in the message, in its order, then the others. Their tokens add up to the message's."""
    found = Counter(passage.source_id for passage in passages)
    given, cut, tokens = Counter[str](), Counter[str](), Counter[str]()
    length = 0
    for block in provided.blocks:
        given[block.source_id] += 1
        cut[block.source_id] += block.truncated
        # The newline before a block is part of it. Differences of sums add up exactly in spite of rounding.
        longer = length + len(block.text) + (length > 0)
        tokens[block.source_id] += tokens_of_length(longer) - tokens_of_length(length)
        length = longer
    for source_id in dict.fromkeys([*given, *found]):
        yield _Spending(source_id, found[source_id], given[source_id], cut[source_id], tokens[source_id])


def _print_readable(provided: ProvidedContext, spending: Sequence[_Spending], *, budget: int) -> None:
    console = open_console()
    for message in provided.messages:
        for line in (message.text or "").split("\n"):
            show(console, Text(visible(line)))
        show(console, Text())
    if spending:
        rows = [tuple(map(str, asdict(source).values())) for source in spending]
        for line in table(HEADINGS, rows, numbers=HEADINGS[1:]):
            show(console, Text(visible(line), style="dim"))
        show(console, Text())
    show(console, Text(f"{provided.tokens} of {budget} tokens spent.", style="dim"))
    for diagnostic in provided.diagnostics:
        show(console, Text(visible(f"[{diagnostic.code.value}] {diagnostic.message}"), style="yellow"))


def _print_json(provided: ProvidedContext, spending: Sequence[_Spending], *, budget: int) -> None:
    """Prints one JSON document. It is ASCII: valid in every encoding, and harmless on a terminal."""
    document = {
        "instructions": provided.instructions,
        "message": provided.messages[0].text if provided.messages else None,
        "budget": budget,
        "tokens": provided.tokens,
        "left_out": provided.left_out,
        "sources": [asdict(source) for source in spending],
        "blocks": [
            {
                "role": block.role.value,
                "source_id": block.source_id,
                "concept_id": block.concept_id,
                "truncated": block.truncated,
            }
            for block in provided.blocks
        ],
        "diagnostics": [
            {"code": diagnostic.code.value, "source_id": diagnostic.source_id, "message": diagnostic.message}
            for diagnostic in provided.diagnostics
        ],
    }
    typer.echo(dumps(document, indent=2))
