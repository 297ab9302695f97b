"""Measures whether an agent is given the answer: ``python -m benches.context [DIR]``.

``DIR`` is a folder of sets (`benches.sets`). A question counts if its answer has 60 characters or more. It is
*answered* if the message of 2,000 tokens (4 characters each) has the first 120 characters of the answer,
white space aside. The package fills the message with `KnowledgeContextProvider`, given only budget and
strategy. The rivals fill it with pieces of text: the best first, each below the title of its concept.

Also measured: the time of `provide` on 5,000 concepts of 6 kB. Prints the table, and writes it into
RESULTS.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from okf_catalog import (
    ChatMessage,
    InMemoryKnowledgeCatalog,
    InMemorySource,
    KnowledgeContextProvider,
    KnowledgeResolverRouter,
)

from benches import corpus, page, relevance, sets
from benches.documents import Texts
from benches.finding import Finding, at_least
from benches.people import SentenceMaker
from benches.rivals import Bm25sStemmed, TantivyOneField
from benches.timing import Times, each, quiet, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from okf_catalog import ProvidedContext

    from benches.rivals import Tantivy
    from benches.sets import Folder

    Fill = Callable[[str], str]
    """The message for a question."""

PART = "benches.context"
TOKENS = 2_000
CHARACTERS = 4 * TOKENS
"""As many characters as fit into a message."""
LEAST_ANSWER = 60
SOUGHT = 120
"""The first characters of an answer, white space aside, that the message must have."""
PIECE = 900
"""Paragraphs are joined to pieces of at most this many characters."""
_RANKED = 200
"""So many pieces are tried, best first."""
OURS = "okf-catalog"
RIVALS: relevance.Rivals = {"tantivy": TantivyOneField, "bm25s": Bm25sStemmed}
"""tantivy has titles and pieces in one field: with a field of titles it answers half as many questions."""
LEAST_SHARE, LEAST_RATIO = 0.60, 1.2
PROVIDE_CONCEPTS, PROVIDE_BYTES, PROVIDE_SECONDS = 5_000, 6_000, 0.003


@dataclass(frozen=True, slots=True)
class Measured:
    """One folder, and how many of its questions each way answers."""

    name: str
    questions: int
    by_way: Mapping[str, int]


def measure(folder: Folder) -> Measured | None:
    """Measures one folder; ``None`` if no question of it has an answer of enough characters."""
    asked = [
        question
        for questions in folder.sets.values()
        for question in questions
        if len(question.answer) >= LEAST_ANSWER
    ]
    if not asked:
        return None
    with folder.catalog() as catalog:
        ways: dict[str, Fill] = {OURS: _Provider(catalog).fill}
        for name, kind in relevance.present(RIVALS).items():
            ways[name] = filled_by(kind(), folder)
        counts = {
            name: sum(is_answered(question.answer, fill(question.text)) for question in asked)
            for name, fill in ways.items()
        }
    return Measured(folder.name, len(asked), counts)


def is_answered(answer: str, message: str) -> bool:
    return "".join(answer.split())[:SOUGHT] in "".join(message.split())


class _Provider:
    """A provider as hosts make it, which raises what a provider only reports."""

    def __init__(self, catalog: InMemoryKnowledgeCatalog) -> None:
        self._failures: list[Exception] = []
        self._provider = KnowledgeContextProvider(
            KnowledgeResolverRouter(catalog),
            token_budget=TOKENS,
            resolver_strategy="merged",
            on_internal_error=self._failures.append,
        )

    def provide(self, text: str) -> ProvidedContext:
        context = self._provider.provide([ChatMessage("user", text)])
        for failure in self._failures:
            raise AssertionError(f"no context for {text!r}") from failure
        return context

    def fill(self, text: str) -> str:
        """The whole message.

        Raises:
            AssertionError: It is longer than the budget.
        """
        message = "\n".join(message.text or "" for message in self.provide(text).messages)
        if len(message) > CHARACTERS:
            raise AssertionError(f"{len(message):,} characters are more than {TOKENS:,} tokens")
        return message


def pieces_of(body: str) -> list[str]:
    """Pieces of at most 900 characters. A longer paragraph is cut at lines, a longer line anywhere."""
    pieces: list[str] = []
    for paragraph in _parts(body):
        if pieces and len(pieces[-1]) + 2 + len(paragraph) <= PIECE:
            pieces[-1] += f"\n\n{paragraph}"
        else:
            pieces.append(paragraph)
    return pieces


def _parts(body: str) -> list[str]:
    parts: list[str] = []
    for paragraph in re.split(r"\n\s*\n", body):
        if len(paragraph) <= PIECE:
            parts.append(paragraph)
            continue
        part = ""
        for line in paragraph.split("\n"):
            if part and len(part) + 1 + len(line) > PIECE:
                parts.append(part)
                part = ""
            part = f"{part}\n{line}" if part else line
            while len(part) > PIECE:
                parts.append(part[:PIECE])
                part = part[PIECE:]
        parts.append(part)
    return [part for part in parts if part.strip()]


def filled_by(rival: Tantivy | Bm25sStemmed, folder: Folder) -> Fill:
    pieces = [(concept.title, piece) for concept in folder.concepts for piece in pieces_of(concept.body)]
    titles, bodies = [title for title, _ in pieces], [piece for _, piece in pieces]
    rival.load(Texts(titles=titles, metas=["" for _ in pieces], bodies=bodies))

    def fill(text: str) -> str:
        found = rival.search(text, limit=_RANKED)
        message = ""
        for position, score in zip(found.positions, found.scores, strict=True):
            block = "\n".join(line for line in pieces[int(position)] if line)
            longer = f"{message}\n\n{block}" if message else block
            # A piece that does not fit leaves room for a shorter one.
            if score > 0 and len(longer) <= CHARACTERS:
                message = longer
        return message

    return fill


# The time of `provide`


def provide_times(
    *, concepts: int = PROVIDE_CONCEPTS, body_bytes: int = PROVIDE_BYTES, questions: int = 300
) -> Times:
    """The seconds of `provide` for questions in sentences, each asked once."""
    texts = {
        f"{made.source_id}/{made.concept_id}": made.text
        for made in corpus.concepts(count=concepts, body_bytes=body_bytes)
    }
    bodies = list(texts.values())
    blank = ["" for _ in bodies]
    asked = SentenceMaker(Texts(titles=blank, metas=blank, bodies=bodies)).take(questions)
    with InMemoryKnowledgeCatalog([InMemorySource("docs", texts)]) as catalog:
        provider = _Provider(catalog)
        if not provider.fill(asked[0]):
            raise AssertionError(f"nothing was provided for {asked[0]!r}")
        with quiet():
            return each(provider.provide, asked, budget=30.0)


# Writing


def findings(measured: Sequence[Measured], provide: Times | None) -> list[Finding]:
    """The targets. They were set for the given sets."""
    asked = sum(one.questions for one in measured)
    counts = {way: sum(one.by_way[way] for one in measured) for way in measured[0].by_way}
    share = counts[OURS] / asked
    found = [
        Finding(
            "questions whose answer is in the context",
            f"≥ {LEAST_SHARE:.0%}",
            f"{share:.0%}",
            share >= LEAST_SHARE,
        )
    ]
    rivals = [way for way in counts if way != OURS]
    if rivals:
        better = max(rivals, key=counts.__getitem__)
        ratio = counts[OURS] / max(1, counts[better])
        found.append(at_least(f"the same, compared with {better}", ratio, LEAST_RATIO))
    if provide is not None:
        found.append(
            Finding(
                f"`provide` on {PROVIDE_CONCEPTS:,} concepts of {PROVIDE_BYTES // 1000} kB, median",
                f"≤ {spoken(PROVIDE_SECONDS)}",
                spoken(provide.median),
                provide.median <= PROVIDE_SECONDS,
            )
        )
    return found


_INTRODUCTION = """\
## Answers in context

By `python -m benches.context`, on {machine}. {versions}.

A question is answered if the message of {tokens:,} tokens has the first {sought} characters of the text that
stood below its heading, white space aside. okf-catalog is `KnowledgeContextProvider(token_budget=2000,
resolver_strategy="merged")`. tantivy and bm25s rank pieces of up to {piece} characters, which fill the same
message, each below the title of its concept.
"""


def part(measured: Sequence[Measured], provide: Times | None) -> list[str]:
    """The part of RESULTS.md."""
    versions = ", ".join(page.versions({"tantivy", "bm25s", "PyStemmer"})) or "No rival is installed"
    ways = list(measured[0].by_way)
    asked = sum(one.questions for one in measured)
    totals = [sum(one.by_way[way] for one in measured) for way in ways]
    return [
        _INTRODUCTION.format(
            machine=page.machine(), versions=versions, tokens=TOKENS, sought=SOUGHT, piece=PIECE
        ),
        *relevance.notes(RIVALS),
        *page.findings([("measured", findings(measured, provide))]),
        "",
        *page.head("folder", "questions", *ways),
        *(
            page.row(one.name, str(one.questions), *(str(one.by_way[way]) for way in ways))
            for one in measured
        ),
        page.row("**all**", str(asked), *(f"**{total} ({total / asked:.0%})**" for total in totals)),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.context",
        description="Measures whether an agent is given the answer, and writes its part of RESULTS.md.",
    )
    sets.add_options(parser)
    parser.add_argument("--no-times", action="store_true", help="do not measure the time of `provide`")
    options = parser.parse_args(arguments)
    measured: list[Measured] = []
    for folder in sets.read(sets.chosen(parser, options)):
        print(folder.name, file=sys.stderr, flush=True)
        measured += [one for one in [measure(folder)] if one is not None]
    if not measured:
        parser.error(f"no question has an answer of {LEAST_ANSWER} characters or more")
    lines = part(measured, None if options.no_times else provide_times())
    print("\n".join(lines))
    page.write_part(options.output, PART, lines)


if __name__ == "__main__":
    main()
