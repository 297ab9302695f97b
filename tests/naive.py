"""The specification in plain Python: slow, obvious, and what the engine is compared with.

Every rule is written the way the contract words it and carries its fact id. It imports
nothing of the package and uses no tricks: when engine and model disagree, reading the contract decides.

The manifest is taken to be valid; what makes it invalid is tested on its own.
"""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from naive_fairness import fair
from naive_reading import (
    NULLS,
    WHITE_SPACE,
    Document,
    Unusable,
    instant_of,
    is_dated,
    nanoseconds,
    read_document,
    read_fields,
    scalar,
    split_frontmatter,
    trim,
)

__all__ = [
    "NULLS",
    "WHITE_SPACE",
    "Document",
    "Unusable",
    "fair",
    "instant_of",
    "nanoseconds",
    "read_document",
    "split_frontmatter",
    "trim",
]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from naive_relevance import Relevance

GROUPED = "grouped_by_source"
MERGED = "merged"
PRIORITY_WEIGHTED = "priority_weighted"
STRATEGIES = (GROUPED, MERGED, PRIORITY_WEIGHTED)

WEIGHTED_TERMS = "weighted_terms"
BM25F = "bm25f"
SCORINGS = (WEIGHTED_TERMS, BM25F)

MAX_FILE_BYTES = 16 * 1024 * 1024
DAY = 24 * 60 * 60 * 10**9
"""Instants are whole nanoseconds since 1970."""


class Refused(Exception):  # noqa: N818  (these two are what the contract calls them)
    """The caller's own mistake (Q1, S2)."""


class SourceFailure(Exception):  # noqa: N818
    """A source that cannot be read at all (B10, S4)."""


# How texts compare (K1, K2)


def simple_uppercase(character: str) -> str:
    """K2: the simple uppercase mapping. Python only has the full one."""
    if character in "\u0131\u017f":
        return character
    upper = character.upper()
    if len(upper) == 1:
        return upper
    # Where the full mapping is longer, the simple one, if there is one, equals the title case.
    title = character.title()
    return title if len(title) == 1 else character


class _Folding(dict[int, str]):
    """A table for ``str.translate`` that maps each character at its first use."""

    def __missing__(self, code_point: int) -> str:
        folded = self[code_point] = simple_uppercase(chr(code_point))
        return folded


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Two texts are equal under K2 if their folded texts are."""
    return text.translate(_FOLDING)


def terms_of(text: str) -> list[str]:
    """K1: the folded terms of a query, repeated ones again."""
    return [term for term in re.split(f"[{WHITE_SPACE}]", fold(text)) if term]


# Bundles (B1, B2, B7 to B10)


class Concept:
    """A document with its id, and with the folded text a search looks at."""

    def __init__(self, concept_id: str, document: Document) -> None:
        self.id = concept_id
        self.document = document
        self.title = fold(document.title or "")
        self.tags = [fold(tag) for tag in document.tags]
        self.description = fold(document.description or "")
        self.body = fold(document.body)

    def score(self, terms: Iterable[str]) -> int:
        """K3."""
        score = 0
        for term in terms:
            if term in self.title:
                score += 3
            if term in self.description or any(term in tag for tag in self.tags):
                score += 2
            if term in self.body:
                score += 1
        return score

    def excerpt(self, terms: Sequence[str]) -> str:
        """K6."""
        for line in self.document.body.split("\n"):
            shown = trim(line)
            folded = fold(shown)
            if shown and any(term in folded for term in terms):
                return shown
        return ""


@dataclass(frozen=True)
class Bundle:
    concepts: tuple[Concept, ...]
    problems: frozenset[str]
    """Paths below the root (B7)."""


def read_bundle(root: Path) -> Bundle:
    """All of a bundle.

    Raises:
        SourceFailure: The root cannot be listed (B10).
    """
    concepts: list[Concept] = []
    problems: set[str] = set()
    try:
        root = root.resolve(strict=True)
        _read_directory(root, root, concepts, problems, dated=_declares_dates(root))
    except OSError as error:
        raise SourceFailure(str(root)) from error
    return Bundle(tuple(concepts), frozenset(problems))


def _declares_dates(root: Path) -> bool:
    """L5: whether the root index declares version 0.3 or later."""
    try:
        fields, _ = read_fields(_read(root, root / "index.md"))
    except (OSError, Unusable):
        return False
    return is_dated(scalar(fields, "okf_version"))


def _read_directory(
    root: Path, directory: Path, concepts: list[Concept], problems: set[str], *, dated: bool
) -> None:
    for path in directory.iterdir():
        below = path.relative_to(root).as_posix()
        try:
            if path.name.startswith("."):
                pass
            elif path.is_dir():
                _check_directory(path)
                _read_directory(root, path, concepts, problems, dated=dated)
            elif path.name.endswith(".md") and path.name not in ("index.md", "log.md"):
                document = read_document(_read(root, path), dated=dated)
                concepts.append(Concept(below.removesuffix(".md"), document))
        except (OSError, Unusable):
            problems.add(below)


def _check_directory(path: Path) -> None:
    if path.is_symlink():
        raise Unusable("a directory that is a link")
    if not _is_utf8(path.name):
        raise Unusable("the name is not UTF-8")


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(root: Path, path: Path) -> bytes:
    if not _is_utf8(path.name):
        raise Unusable("the name is not UTF-8")
    target = Path(os.path.realpath(path, strict=True))
    if root not in target.parents:
        raise Unusable("the link leads outside")
    status = target.stat()
    if not stat.S_ISREG(status.st_mode):
        raise Unusable("not a regular file")
    if status.st_size > MAX_FILE_BYTES:
        raise Unusable("too large")
    return target.read_bytes()


# Staleness (L2 to L4)


def is_admitted(stale_after: str | None, *, grace_days: int | None, now: int) -> bool:
    """L3: ``grace_days`` is ``None`` for USE, 0 for STRICT."""
    instant = None if stale_after is None else instant_of(stale_after)
    return instant is None or grace_days is None or now < instant + grace_days * DAY


# What a catalog names (C1, S1)


@dataclass(frozen=True)
class Source:
    id: str
    path: str
    priority: int = 0
    enabled: bool = True
    role: str = "knowledge"


def read_manifest(manifest: Path) -> list[Source]:
    entries = json.loads(manifest.read_bytes().decode("utf-8-sig"))["sources"]
    return [
        Source(
            entry["id"],
            entry["path"],
            entry.get("priority", 0),
            entry.get("enabled", True),
            entry.get("role", "knowledge"),
        )
        for entry in entries
    ]


def resolve(directory: Path, source: Source, root: Path) -> Path:
    """C1: the directory of a source.

    Raises:
        SourceFailure: It is missing, outside the root, or reached through a link.
    """
    target = Path(os.path.normpath(directory / source.path))
    if target != root and root not in target.parents:
        raise SourceFailure("outside")
    below = target.relative_to(root).parts
    if any(root.joinpath(*below[:depth]).is_symlink() for depth in range(1, len(below) + 1)):
        raise SourceFailure("a link")
    if not target.is_dir():
        raise SourceFailure("not a directory")
    return target


def candidates(sources: Iterable[Source]) -> list[Source]:
    """S1."""
    searchable = [source for source in sources if source.enabled and source.role == "knowledge"]
    return sorted(searchable, key=lambda source: (-source.priority, source.id))


# Ranking (R1 to R5)


class Passage(NamedTuple):
    source_id: str
    concept_id: str
    title: str | None
    excerpt: str
    score: int
    bundle_relative_path: str
    trust_tier: str
    status: str
    stale_after: str | None
    concept_type: str | None
    description: str | None
    snippet: str
    is_stale: bool


def ranked(passages: Iterable[Passage], *, strategy: str, sources: Sequence[Source]) -> list[Passage]:
    """R1 to R3; ``sources`` is in order S1."""
    priority = {source.id: source.priority for source in sources}
    position = {source.id: index for index, source in enumerate(sources)}
    orders: dict[str, Callable[[Passage], Any]] = {
        GROUPED: lambda p: (position[p.source_id], -p.score, p.concept_id.split("/")),
        MERGED: lambda p: (-p.score, -priority[p.source_id], p.source_id, p.concept_id),
        PRIORITY_WEIGHTED: lambda p: (-priority[p.source_id], -p.score, p.source_id, p.concept_id),
    }
    return sorted(passages, key=orders[strategy])


# Answers (S2 to S5, D1 to D3, Q1)


class Answer(NamedTuple):
    passages: tuple[Passage, ...]
    diagnostics: tuple[tuple[str, str | None], ...]
    """Codes and source ids."""


class NaiveCatalog:
    """A catalog read once, for many searches: ``NaiveCatalog(manifest).load().search("orders")``."""

    def __init__(self, manifest: Path, *, root: Path | None = None) -> None:
        self.manifest = manifest
        # The root itself may be a link.
        self.directory = manifest.parent.resolve()
        self.root = self.directory if root is None else root.resolve()
        self.sources: list[Source] = []
        self._directories: dict[str, tuple[int, int]] = {}
        self._bundles: dict[str, Bundle | None] = {}

    def load(self) -> NaiveCatalog:
        """Reads the manifest and every searchable bundle again."""
        self.sources = read_manifest(self.manifest)
        self._directories = {}
        self._bundles = {}
        for source in candidates(self.sources):
            self._bundles[source.id] = self._read(source)
        return self

    def _read(self, source: Source) -> Bundle | None:
        """S4."""
        try:
            directory = resolve(self.directory, source, self.root)
            status = directory.stat()
            self._directories[source.id] = (status.st_dev, status.st_ino)
            return read_bundle(directory)
        except SourceFailure:
            return None

    def bundle(self, source_id: str) -> Bundle | None:
        """What was read for a source; ``None`` if it failed."""
        return self._bundles[source_id]

    def search(
        self,
        text: str,
        *,
        tag: str | None = None,
        grace_days: int | None = None,
        now: datetime | None = None,
        strategy: str = GROUPED,
        quota: int | None = None,
        scoring: str = WEIGHTED_TERMS,
        permitted: frozenset[str] | None = None,
        policy: Callable[[Source], bool] | None = None,
        default_quota: int | None = None,
        default_policy: Callable[[Source], bool] | None = None,
    ) -> Answer:
        """What was loaded, asked one question.

        Raises:
            Refused: Q1, S2.
        """
        from naive_relevance import relevance_of

        quota = default_quota if quota is None else quota
        visible = self._searched(
            text, strategy, quota, permitted=permitted, policy=policy, default=default_policy
        )
        if not visible:
            return Answer((), (("NO_ENABLED_SOURCES", None),))

        terms = terms_of(text)
        relevance = None
        if scoring == BM25F:
            relevance = relevance_of(text, [self._bundles[source.id] for source in visible])
        moment = nanoseconds(now or datetime.now(timezone.utc))
        passages: list[Passage] = []
        diagnostics: list[tuple[str, str | None]] = []
        for source in visible:
            bundle = self._bundles[source.id]
            if bundle is None:
                diagnostics.append(("SOURCE_UNAVAILABLE", source.id))
                continue
            passages += (
                passage
                for passage in passages_of(source.id, bundle, terms, tag=tag, now=moment, relevance=relevance)
                if is_admitted(passage.stale_after, grace_days=grace_days, now=moment)
            )
        if not passages and len(diagnostics) < len(visible):
            diagnostics.append(("NO_MATCHES", None))

        ranking = ranked(passages, strategy=strategy, sources=visible)
        if strategy != GROUPED and quota is not None:
            ranking = fair(ranking, quota, lambda passage: passage.source_id)
        return Answer(tuple(ranking), tuple(diagnostics))

    def _searched(
        self,
        text: str,
        strategy: str,
        quota: int | None,
        *,
        permitted: frozenset[str] | None,
        policy: Callable[[Source], bool] | None,
        default: Callable[[Source], bool] | None,
    ) -> Sequence[Source]:
        """The sources that a question is put to, in order S1 (S2, R4).

        Raises:
            Refused: Q1, S2.
        """
        if not trim(text) or (quota is not None and quota < 1) or strategy not in STRATEGIES:
            raise Refused
        if permitted is not None and policy is not None:
            raise Refused
        visible = [
            source
            for source in candidates(self.sources)
            if self._is_visible(source, permitted=permitted, policy=policy or default)
        ]
        return visible if strategy == GROUPED else self._without_repeated_directories(visible)

    def _is_visible(
        self, source: Source, *, permitted: frozenset[str] | None, policy: Callable[[Source], bool] | None
    ) -> bool:
        """S2."""
        if permitted is not None:
            return source.id in permitted
        return policy is None or policy(source)

    def _without_repeated_directories(self, sources: Iterable[Source]) -> list[Source]:
        """R4: the first source of each directory, and every source that has none."""
        kept: list[Source] = []
        seen: set[tuple[int, int]] = set()
        for source in sources:
            directory = self._directories.get(source.id)
            if directory is None or directory not in seen:
                kept.append(source)
            if directory is not None:
                seen.add(directory)
        return kept


def passages_of(
    source_id: str,
    bundle: Bundle,
    terms: Sequence[str],
    *,
    tag: str | None = None,
    now: int = 0,
    relevance: Relevance | None = None,
) -> Iterator[Passage]:
    """K3 to K7, L3: the concepts of one bundle that match, in no order. ``relevance`` scores by BM25F."""
    from naive_relevance import excerpt
    from naive_snippet import snippet, snippet_of_rare_terms

    wanted = fold(tag) if tag is not None and trim(tag) else None
    for concept in bundle.concepts:
        if wanted is not None and wanted not in concept.tags:
            continue
        score = concept.score(terms) if relevance is None else relevance.score(concept)
        if score:
            document = concept.document
            if relevance is None:
                shown = concept.excerpt(terms), snippet(document, terms)
            else:
                rarities = relevance.rarities
                shown = excerpt(document.body, rarities), snippet_of_rare_terms(document, rarities)
            yield Passage(
                source_id=source_id,
                concept_id=concept.id,
                title=document.title,
                excerpt=shown[0],
                score=score,
                bundle_relative_path=f"{concept.id}.md",
                trust_tier=document.trust_tier,
                status=document.status,
                stale_after=document.stale_after,
                concept_type=document.concept_type,
                description=document.description,
                snippet=shown[1],
                is_stale=not is_admitted(document.stale_after, grace_days=0, now=now),
            )
