"""Asks examples/acme one question under every strategy, and shows the answers side by side.

Another question shows other orders: ``python examples/compare_strategies.py "export outage"``.
"""

import argparse
import shutil
from itertools import zip_longest
from pathlib import Path

from okf_catalog import KnowledgeContext, KnowledgeQuery, KnowledgeResolverStrategy, open_knowledge

CATALOG = Path(__file__).parent / "acme" / "catalog.json"
COLUMNS = {
    "grouped": (KnowledgeResolverStrategy.GROUPED_BY_SOURCE, None),
    "weighted": (KnowledgeResolverStrategy.PRIORITY_WEIGHTED, None),
    "merged": (KnowledgeResolverStrategy.MERGED, None),
    "merged, quota 1": (KnowledgeResolverStrategy.MERGED, 1),
}
# The sources that every caller but Northwind may see.
PERMITTED = frozenset({"product", "support", "finance"})
ROWS = 8
"""How many passages of each answer are shown."""
GAP = 2
"""Spaces between two columns."""


def main() -> None:
    """Asks the question from the command line, and prints the answers as columns."""
    parser = argparse.ArgumentParser(description="One question to examples/acme under every strategy.")
    parser.add_argument("question", nargs="?", default="refund policy")
    question = parser.parse_args().question

    queries = [
        KnowledgeQuery(
            question, resolver_strategy=strategy, fairness_quota=quota, permitted_source_ids=PERMITTED
        )
        for strategy, quota in COLUMNS.values()
    ]
    with open_knowledge(CATALOG, watch_for_changes=False) as knowledge:
        answers = knowledge.search_batch(queries, limit=ROWS)
        columns = [[heading, *cells(answer)] for heading, answer in zip(COLUMNS, answers, strict=True)]

    print(f'"{question}", best first: score, source, end of the concept id\n')
    width = shutil.get_terminal_size((120, 24)).columns // len(columns) - GAP
    for row in zip_longest(*columns, fillvalue=""):
        print((" " * GAP).join(fit(cell, width) for cell in row).rstrip())


def cells(answer: KnowledgeContext) -> list[str]:
    """One line for each passage, or the diagnostics if there are no passages."""
    if not answer.passages:
        return [diagnostic.message for diagnostic in answer.diagnostics]
    return [
        f"{passage.score:>2} {passage.source_id} {passage.concept_id.rpartition('/')[2]}"
        for passage in answer.passages
    ]


def fit(text: str, width: int) -> str:
    """The text, padded or cut to exactly this width."""
    return text.ljust(width) if len(text) <= width else text[: width - 2] + ".."


if __name__ == "__main__":
    main()
