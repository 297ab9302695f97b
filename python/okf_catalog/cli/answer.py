"""The answer to a search, printed for a person or as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from okf_catalog import ConceptStatus, KnowledgeContext, KnowledgePassage, KnowledgeSection, TrustTier
from okf_catalog.cli.matches import clip, marked, terms_of
from okf_catalog.cli.screen import open_console, show, visible

__all__ = ["print_json", "print_readable"]

TITLE_LENGTH = 160
INDENT = 4
HEADING_SEPARATOR = " > "


def print_readable(context: KnowledgeContext, *, limit: int | None) -> None:
    """Prints three lines for each passage, four if it is a section, then the diagnostics."""
    console = open_console()
    terms = terms_of(context.query.text, context.query.scoring)
    passages = context.passages[:limit]
    for rank, passage in enumerate(passages, start=1):
        _print_passage(console, rank, passage, terms)
    if len(passages) < len(context.passages):
        show(console, Text(f"{len(passages)} of {len(context.passages)} passages.", style="dim"))
    for diagnostic in context.diagnostics:
        show(console, Text(visible(f"[{diagnostic.code.value}] {diagnostic.message}"), style="yellow"))


def _print_passage(console: Console, rank: int, passage: KnowledgePassage, terms: frozenset[str]) -> None:
    # Without colours, and where the output is not a terminal, matches are marked with characters.
    style = None if console.color_system is None else "bold yellow"
    title = clip(passage.title or passage.concept_id, terms, length=TITLE_LENGTH)
    snippet = passage.snippet
    show(console, Text.assemble((f"{rank:>{INDENT - 1}} ", "dim"), marked(title, terms, style=style)))
    show(console, Text(_particulars(passage), style="dim"), indent=INDENT)
    if passage.section is not None:
        show(console, Text(_place(passage.section), style="dim"), indent=INDENT)
    if snippet:
        show(console, marked(snippet, terms, style=style), indent=INDENT)
    show(console, Text())


def _place(section: KnowledgeSection) -> str:
    """Where a section stands in its concept: ``Refunds > By card, lines 12 to 20``."""
    first, last = section.first_line, section.last_line
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return visible(", ".join(part for part in (HEADING_SEPARATOR.join(section.heading), lines) if part))


def _particulars(passage: KnowledgePassage) -> str:
    """Source, concept and score, and warnings such as ``stale`` or ``draft``."""
    words = [f"{passage.source_id}: {passage.concept_id}", f"score {passage.score}"]
    if passage.status is not ConceptStatus.STABLE:
        words.append(passage.status.value)
    if passage.stale_after is not None:
        words.append(f"stale {'since' if passage.is_stale else 'after'} {passage.stale_after}")
    if passage.trust_tier is not TrustTier.UNVERIFIED:
        words.append(passage.trust_tier.value.replace("_", " "))
    return visible(", ".join(words))


def print_json(context: KnowledgeContext, *, stale: str, limit: int | None) -> None:
    """Prints one JSON document. ``stale`` is shown as it was typed.

    It is ASCII, so it is valid in every encoding of stdout, and no control character reaches a terminal.
    """
    query = context.query
    permitted = query.permitted_source_ids
    document = {
        "query": {
            "text": query.text,
            "tag": query.tag,
            "strategy": None if query.resolver_strategy is None else query.resolver_strategy.value,
            "quota": query.fairness_quota,
            "scoring": None if query.scoring is None else query.scoring.value,
            "unit": query.unit.value,
            "stale": stale,
            "permitted_source_ids": None if permitted is None else sorted(permitted),
        },
        "generation": context.generation,
        "passages": [_row(passage) for passage in context.passages[:limit]],
        "diagnostics": [
            {"code": diagnostic.code.value, "source_id": diagnostic.source_id, "message": diagnostic.message}
            for diagnostic in context.diagnostics
        ],
    }
    typer.echo(json.dumps(document, indent=2))


def _row(passage: KnowledgePassage) -> Mapping[str, Any]:
    return {
        "source_id": passage.source_id,
        "concept_id": passage.concept_id,
        "title": passage.title,
        "excerpt": passage.excerpt,
        "score": passage.score,
        "bundle_relative_path": passage.bundle_relative_path,
        "trust_tier": passage.trust_tier.value,
        "status": passage.status.value,
        "stale_after": passage.stale_after,
        "concept_type": passage.concept_type,
        "description": passage.description,
        "snippet": passage.snippet,
        "is_stale": passage.is_stale,
        "section": None if passage.section is None else asdict(passage.section),
    }
