"""Measures how well questions find the right concept: ``python -m benches.relevance [DIR]``.

``DIR`` is a folder of sets (`benches.sets`). For each set: the mean reciprocal rank among ten (MRR@10: the
mean of 1/rank of the first right concept, 0 if none is among ten) and the recall among five (the share of the
right concepts, of as many as have room there). The package answers under BM25F and under K1 to K5, merged;
tantivy and bm25s search the same texts. Prints the table, and writes it into RESULTS.md.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from okf_catalog import MergedKnowledgeResolver

from benches import page, sets
from benches.finding import Finding, at_least
from benches.rivals import Bm25sStemmed, Tantivy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from okf_catalog import InMemoryKnowledgeCatalog

    from benches.rivals import Rival
    from benches.sets import Folder, Question

    Rank = Callable[[str], list[str]]
    """The ids of the best concepts for a question, best first."""
    Rivals = Mapping[str, type[Tantivy | Bm25sStemmed]]

PART = "benches.relevance"
RANKS, FIRST = 10, 5
"""Among how many concepts the right one is looked for: for MRR, and for recall."""
OURS, COUNTING = "okf-catalog, BM25F", "okf-catalog, K1 to K5"
RIVALS: Rivals = {"tantivy": Tantivy, "bm25s": Bm25sStemmed}
LEAST_MEAN, LEAST_RATIO, MOST_BEHIND = 0.64, 1.15, 0.05
LARGE_SET = 30
"""In a set of this many questions and more, no rival may be better by more than `MOST_BEHIND`."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one way reached in one set."""

    mrr: float
    recall: float

    @property
    def shown(self) -> str:
        return f"{self.mrr:.3f} {self.recall:.2f}"


@dataclass(frozen=True, slots=True)
class Measured:
    """One set, and the figures of each way."""

    name: str
    questions: int
    by_way: Mapping[str, Figures]


def measure(folder: Folder) -> list[Measured]:
    """Measures all sets of a folder.

    Raises:
        AssertionError: The catalog lacks a concept of the folder.
    """
    if not folder.sets:
        return []
    with folder.catalog() as catalog:
        _check(catalog, folder)
        ways = _ways(catalog, folder)
        return [
            Measured(
                f"{folder.name}, {kind}",
                len(questions),
                {name: figures(questions, rank) for name, rank in ways.items()},
            )
            for kind, questions in folder.sets.items()
        ]


def _check(catalog: InMemoryKnowledgeCatalog, folder: Folder) -> None:
    (source,) = catalog.report().sources
    if source.concepts != len(folder.concepts):
        raise AssertionError(f"{folder.name}: {source.concepts} of {len(folder.concepts)} concepts were read")


def _ways(catalog: InMemoryKnowledgeCatalog, folder: Folder) -> dict[str, Rank]:
    own_ids = dict(zip(folder.catalog_ids(), (concept.id for concept in folder.concepts), strict=True))

    def asked(scoring: str) -> Rank:
        resolver = MergedKnowledgeResolver(catalog, default_scoring=scoring)
        return lambda text: [
            own_ids[passage.concept_id] for passage in resolver.search_batch([text], limit=RANKS)[0].passages
        ]

    ways = {OURS: asked("bm25f"), COUNTING: asked("weighted_terms")}
    for name, kind in present(RIVALS).items():
        rival = kind()
        rival.load(folder.texts())
        ways[name] = _ranked_by(rival, folder)
    return ways


def present(kinds: Rivals) -> Rivals:
    """Those whose packages are installed."""
    return {name: kind for name, kind in kinds.items() if kind.missing() is None}


def notes(kinds: Rivals) -> list[str]:
    """A paragraph for each rival that was left out, with the reason."""
    reasons = {name: kind.missing() for name, kind in kinds.items()}
    return [f"{name} was left out: {reason}.\n" for name, reason in reasons.items() if reason is not None]


def _ranked_by(rival: Rival, folder: Folder) -> Rank:
    def rank(text: str) -> list[str]:
        found = rival.search(text, limit=RANKS)
        ranked = zip(found.positions, found.scores, strict=True)
        return [folder.concepts[int(position)].id for position, score in ranked if score > 0]

    return rank


def figures(questions: Sequence[Question], rank: Rank) -> Figures:
    """What one way reaches for these questions."""
    reciprocal = recall = 0.0
    for question in questions:
        found = rank(question.text)[:RANKS]
        right = [place for place, concept in enumerate(found, start=1) if concept in question.relevant]
        reciprocal += 1 / right[0] if right else 0.0
        room = min(FIRST, len(question.relevant))
        recall += sum(place <= FIRST for place in right) / room if room else 0.0
    return Figures(reciprocal / len(questions), recall / len(questions))


# Writing


def means(measured: Sequence[Measured]) -> dict[str, Figures]:
    """The mean over the sets, however many questions each has."""
    count = len(measured)
    return {
        way: Figures(
            sum(one.by_way[way].mrr for one in measured) / count,
            sum(one.by_way[way].recall for one in measured) / count,
        )
        for way in measured[0].by_way
    }


def findings(measured: Sequence[Measured]) -> list[Finding]:
    """The targets. They were set for the eleven given sets, and hold for others too."""
    mean = means(measured)
    found = [
        Finding(
            f"mean MRR@{RANKS}",
            f"≥ {LEAST_MEAN}",
            f"{mean[OURS].mrr:.3f}",
            mean[OURS].mrr >= LEAST_MEAN,
        )
    ]
    rivals = [name for name in mean if name in RIVALS]
    if not rivals:
        return found
    better = max(rivals, key=lambda name: mean[name].mrr)
    ratio = mean[OURS].mrr / mean[better].mrr
    found.append(at_least(f"mean MRR@{RANKS}, compared with {better}", ratio, LEAST_RATIO))
    leads = [
        (one.by_way[OURS].mrr - one.by_way[rival].mrr, f"{one.name}, {rival}")
        for one in measured
        for rival in rivals
        if one.questions >= LARGE_SET
    ]
    if leads:
        lead, where = min(leads)
        target = f"least lead over a rival, in a set of {LARGE_SET} questions or more ({where})"
        found.append(Finding(target, f"≥ −{MOST_BEHIND}", f"{lead:+.3f}", lead >= -MOST_BEHIND))
    return found


_INTRODUCTION = """\
## Relevance

By `python -m benches.relevance`. {versions}.

Headings and descriptions of real documentation were taken out of the text that is searched, and asked. A set
is the questions of one kind about the concepts of one folder. Each cell has MRR@{ranks} and recall@{first}.
{name} is asked with `merged`. tantivy searches three weighted fields (3, 2, 1). bm25s searches one field that
has the title three times, and tags and description twice, with English stems and stop words.
"""


def part(measured: Sequence[Measured]) -> list[str]:
    """The part of RESULTS.md."""
    versions = ", ".join(page.versions({"tantivy", "bm25s", "PyStemmer"})) or "No rival is installed"
    ways = list(measured[0].by_way)
    mean = means(measured)
    return [
        _INTRODUCTION.format(versions=versions, ranks=RANKS, first=FIRST, name="okf-catalog"),
        *notes(RIVALS),
        *page.findings([("measured", findings(measured))]),
        "",
        *page.head("set", "questions", *ways),
        *(
            page.row(one.name, str(one.questions), *(one.by_way[way].shown for way in ways))
            for one in measured
        ),
        page.row("**mean**", "", *(f"**{mean[way].shown}**" for way in ways)),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.relevance",
        description="Measures how well questions find the right concept, and writes its part of RESULTS.md.",
    )
    sets.add_options(parser)
    options = parser.parse_args(arguments)
    measured: list[Measured] = []
    for folder in sets.read(sets.chosen(parser, options)):
        print(folder.name, file=sys.stderr, flush=True)
        measured += measure(folder)
    if not measured:
        parser.error(f"no folder has a kind of {sets.LEAST_QUESTIONS} questions or more")
    lines = part(measured)
    print("\n".join(lines))
    page.write_part(options.output, PART, lines)


if __name__ == "__main__":
    main()
