"""Bundles to measure with: ``python -m benches.corpus DIR --concepts N`` writes a catalog of them.

The same arguments give the same bytes. Word frequencies are those of natural text (`benches.words`). Each
concept has a topic, whose words it uses more often than other concepts do. Sizes are log-normal. The markdown
has what published bundles have: headings, paragraphs in long lines, lists, tables and code.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from benches import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")

BODY_BYTES = 6_000
"""The mean size of a body in bytes. A real catalog of 5,120 concepts has 31 MB, which is 6 KB for each."""

_OPENING = "# Overview\n\nThe knowledge of this concept and what is described below:"
IN_EVERY_CONCEPT = tuple(_OPENING.lower().strip("#:").split())
"""Words that every concept contains."""

_SPREAD = 0.8
"""The standard deviation of the logarithm of a body's size."""
_TOPIC_SHARE = 0.4
"""At most this share of a body's words is replaced by words of its topic."""
_TOPIC_WORDS = 24
"""How many words a topic has."""
_BYTES_PER_WORD = 11.0
"""The mean bytes of a word in a body, markup included. Measured, so that bodies get the size asked for."""

_KINDS = (
    ("BigQuery Table", "tables"),
    ("BigQuery Table", "tables"),
    ("Metric", "metrics"),
    ("Reference", "references/joins"),
    ("Policy", "policies"),
    ("Attested Computation", "computations"),
)
_DOMAINS = (
    "sales",
    "finance",
    "web",
    "supply",
    "people",
    "support",
    "risk",
    "ads",
    "core",
    "lab",
    "ops",
    "edge",
)
_TAGS_TEXT = (
    "finance revenue orders customers events sessions inventory compliance headline-metric pii internal "
    "marketing growth deprecated-source gold silver bronze daily hourly ga4 blockchain stackoverflow"
)
_TAGS = _TAGS_TEXT.split()
_SIGNERS = (
    "human:jsmith@acme",
    "human:priya@acme",
    "agent/checker-2",
    "reference_agent/model-5",
    "ci/nightly",
)


class Concept(NamedTuple):
    """One file of a bundle."""

    source_id: str
    concept_id: str
    text: str


def concepts(
    *, count: int, sources: int = 3, seed: int = 0, body_bytes: int = BODY_BYTES
) -> Iterator[Concept]:
    """The concepts of a catalog, spread over its sources. The same arguments give the same concepts."""
    author = _Author(seed, body_bytes)
    for number in range(count):
        yield author.concept(f"source_{number % sources}", number)


def write(
    directory: Path, *, count: int, sources: int = 3, seed: int = 0, body_bytes: int = BODY_BYTES
) -> Path:
    """Writes a catalog and its bundles into a directory; returns the path of ``catalog.json``."""
    made: set[Path] = set()
    for concept in concepts(count=count, sources=sources, seed=seed, body_bytes=body_bytes):
        path = directory / concept.source_id / f"{concept.concept_id}.md"
        if path.parent not in made:
            made.add(path.parent)
            path.parent.mkdir(parents=True, exist_ok=True)
            (path.parent / "index.md").write_bytes(b"# Index\n")
        path.write_bytes(concept.text.encode())
    manifest = directory / "catalog.json"
    entries = [
        {"id": f"source_{number}", "path": f"source_{number}", "priority": number // 2}
        for number in range(sources)
    ]
    manifest.write_text(json.dumps({"version": 1, "sources": entries}, indent=2) + "\n", encoding="utf-8")
    return manifest


class _Author:
    """Makes one concept after the other."""

    def __init__(self, seed: int, body_bytes: int) -> None:
        # Only `random()` is used: no other method of `Random` gives the same in every Python version.
        self._uniform = Random(seed).random
        self._frequent = words.frequent_tokens()
        self._rare: dict[int, str] = {}
        # The mean of a log-normal is exp(mu + sigma^2 / 2).
        self._log_words = math.log(max(body_bytes - len(_OPENING), 20) / _BYTES_PER_WORD) - _SPREAD**2 / 2

    def concept(self, source_id: str, number: int) -> Concept:
        topic = [self._rare_token() if self._chance(0.3) else self._word() for _ in range(_TOPIC_WORDS)]
        kind, directory = self._one_of(_KINDS)
        domain = self._one_of(_DOMAINS)
        name = words.plain_word(self._below(words.HEAD)).lower()
        text = f"---\n{self._frontmatter(kind, domain, name, topic)}---\n\n{self._body(topic)}\n"
        return Concept(source_id, f"{directory}/{domain}/{name}-{number}", text)

    # Draws

    def _below(self, limit: int) -> int:
        return int(self._uniform() * limit)

    def _chance(self, share: float) -> bool:
        return self._uniform() < share

    def _one_of(self, choices: Sequence[T]) -> T:
        return choices[self._below(len(choices))]

    def _size(self) -> int:
        """A log-normal number of words."""
        radius = math.sqrt(-2.0 * math.log(1.0 - self._uniform()))
        normal = radius * math.cos(2.0 * math.pi * self._uniform())
        return max(12, int(math.exp(self._log_words + _SPREAD * min(normal, 3.5))))

    def _word(self) -> str:
        """A frequent word, without punctuation."""
        while True:
            word = self._one_of(self._frequent).strip(".,`()*")
            if word:
                return word

    def _rare_token(self) -> str:
        rank = words.rare_rank(self._uniform)
        found = self._rare.get(rank)
        if found is None:
            found = self._rare[rank] = words.rare_token(rank)
        return found

    def _tokens(self, count: int, topic: list[str]) -> list[str]:
        """Words drawn by frequency, some replaced by words of the topic. This takes most of the time."""
        uniform, frequent, slots = self._uniform, self._frequent, words.SLOTS
        drawn = [frequent[int(uniform() * slots)] for _ in range(count)]
        for index, token in enumerate(drawn):
            if not token:
                drawn[index] = self._rare_token()
        size = len(topic)
        for _ in range(int(count * _TOPIC_SHARE)):
            drawn[int(uniform() * count)] = topic[int(uniform() * uniform() * size)]
        return drawn

    # Frontmatter

    def _frontmatter(self, kind: str, domain: str, name: str, topic: list[str]) -> str:
        title = (
            f"{name.replace('_', ' ').capitalize()} {' '.join(self._word() for _ in range(self._below(4)))}"
        )
        about = [self._word() for _ in range(6 + self._below(14))]
        lines = [
            f"type: {kind}",
            f"resource: https://example.com/projects/acme/{domain}/{name}",
            f"title: {_scalar(title.strip())}",
        ]
        if self._chance(0.9):
            # On two lines, as YAML emitters with a line width write it.
            lines += [f"description: Says of {domain}", f"  {' '.join(_safe(word) for word in about)}."]
        lines += self._tags(topic)
        lines += ["generated:", f"  by: {self._one_of(_SIGNERS)}", f"  at: '{self._day()}T22:59:00+00:00'"]
        if self._chance(0.6):
            entries = [self._one_of(_SIGNERS) for _ in range(1 + self._below(2))]
            lines += ["verified:", *(f"  - {{ by: {by}, at: {self._day()}T09:00:00Z }}" for by in entries)]
        if self._chance(0.8):
            lines.append(f"status: {self._one_of(('stable', 'stable', 'stable', 'draft', 'deprecated'))}")
        if self._chance(0.4):
            lines.append(f"stale_after: {self._day()}{self._one_of(('', 'T00:00:00Z'))}")
        if self._chance(0.5):
            lines += [
                "sources:",
                f"- resource: {domain}/{name}.md",
                f"  title: {_scalar(title)}",
                "  id: origin",
            ]
        return "\n".join(lines) + "\n"

    def _tags(self, topic: list[str]) -> list[str]:
        chosen = [self._one_of(_TAGS) for _ in range(1 + self._below(4))]
        if self._chance(0.5):
            chosen.append(_safe(topic[0]) or "misc")
        form = self._below(7)
        if form == 0:
            return []
        if form < 3:
            return ["tags:", *(f"- {_scalar(tag)}" for tag in chosen)]
        if form < 5:
            return [f"tags: [{', '.join(_scalar(tag) for tag in chosen)}]"]
        return [f"tags: {json.dumps(', '.join(chosen), ensure_ascii=False)}"]

    def _day(self) -> str:
        return f"{2024 + self._below(6)}-{1 + self._below(12):02}-{1 + self._below(28):02}"

    # Body

    def _body(self, topic: list[str]) -> str:
        drawn = self._tokens(self._size(), topic)
        blocks = [_OPENING]
        start = 0
        while start < len(drawn):
            form = self._below(8)
            length = (60, 60, 80, 100, 50, 60, 40, 3)[form] + self._below(40 if form < 7 else 3)
            part = drawn[start : start + length]
            start += length
            if form < 4:
                blocks.append(" ".join(part))
            elif form == 4:
                blocks.append(_bullets(part, 6 + self._below(8)))
            elif form == 5:
                blocks.append(_table(part))
            elif form == 6:
                blocks.append(_code(part))
            else:
                blocks.append(f"{'#' * (1 + self._below(3))} {' '.join(part)}")
        return "\n\n".join(blocks)


def _rows(tokens: list[str], width: int) -> Iterator[list[str]]:
    for start in range(0, len(tokens), width):
        yield tokens[start : start + width]


def _bullets(tokens: list[str], width: int) -> str:
    return "\n".join(f"- `{row[0]}`: {' '.join(row[1:])}" for row in _rows(tokens, width))


def _table(tokens: list[str]) -> str:
    rows = [f"| {' | '.join(row)} |" for row in _rows(tokens, 4)]
    return "\n".join([rows[0], "| --- | --- | --- | --- |", *rows[1:]])


def _code(tokens: list[str]) -> str:
    lines = [f"  {row[0]} AS {row[-1]}, -- {' '.join(row)}" for row in _rows(tokens, 4)]
    return "\n".join(["```sql", "SELECT", *lines, "```"])


def _safe(word: str) -> str:
    """The word without characters that mean something in YAML."""
    return "".join(letter for letter in word if letter.isalnum() or letter in "_-").strip("-")


def _scalar(text: str) -> str:
    """The text as a YAML scalar: plain if that is safe, otherwise quoted."""
    if text and all(
        part and part.isalnum() and part[0].isalpha() for part in text.replace("-", " ").split(" ")
    ):
        return text
    return json.dumps(text, ensure_ascii=False)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benches.corpus", description="Writes a catalog to measure with."
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument(
        "--concepts", type=int, required=True, help="number of concepts in all sources together"
    )
    parser.add_argument("--sources", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--body-bytes", type=int, default=BODY_BYTES, help="mean size of a body, in bytes")
    options = parser.parse_args(arguments)
    manifest = write(
        options.directory,
        count=options.concepts,
        sources=options.sources,
        seed=options.seed,
        body_bytes=options.body_bytes,
    )
    print(manifest)


if __name__ == "__main__":
    main()
