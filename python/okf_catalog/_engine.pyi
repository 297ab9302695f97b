"""The compiled engine. Private: import from ``okf_catalog``."""

from collections.abc import Iterator, Sequence
from typing import Any, SupportsIndex, final, overload

from okf_catalog.rows import (
    CatalogDiagnosticRow,
    DeletionRow,
    DocumentRow,
    FrontmatterRow,
    KnowledgeDiagnosticRow,
    ListingRow,
    MarkingRow,
    OverlapRow,
    Progress,
    ReportRow,
    SourceProblemRow,
    SourceRow,
    TextSourceRow,
)
from okf_catalog.scope import KnowledgeAccessScope
from okf_catalog.section import KnowledgeSection
from okf_catalog.values import ConceptStatus, TrustTier

__all__ = [
    "Answer",
    "BatchAnswer",
    "Cancellation",
    "Catalog",
    "Conversation",
    "InMemoryCatalog",
    "KnowledgePassage",
    "Memory",
    "PassageIterator",
    "Passages",
    "Question",
    "Snapshot",
    "Table",
    "enum_names",
    "is_blank",
    "last_grapheme_end",
    "memory_path",
    "note_fork",
    "own_tier",
    "parse_manifest",
    "passage_body",
    "read_document",
    "read_sections",
    "tier_applies",
]

def parse_manifest(content: bytes, /) -> tuple[list[SourceRow], list[CatalogDiagnosticRow]]: ...
def is_blank(text: str, /) -> bool: ...
def last_grapheme_end(text: str, place: int, /) -> int:
    """The end of the last grapheme that ends at or before the index ``place``, both in code points."""

def enum_names() -> list[tuple[str, list[str]]]:
    """The values of each public enum whose values the engine knows, in order, under the name of the enum."""

def note_fork() -> None: ...
def memory_path(tier: str, scope: KnowledgeAccessScope, /) -> str:
    """The directory of a scope's memories of one tier, below its memory source (Y1)."""

def tier_applies(tier: str, scope: KnowledgeAccessScope, /) -> bool:
    """Whether a tier holds memories of a scope (Y2)."""

def own_tier(scope: KnowledgeAccessScope, /) -> str | None:
    """The tier that only this scope uses; ``None`` for the local scope."""

def passage_body(passage: KnowledgePassage, /) -> str | None:
    """The whole body of a passage from an answer; ``None`` for one that was constructed or unpickled."""

def read_document(data: bytes, /) -> DocumentRow:
    """What one file says.

    Raises:
        ValueError: The file is binary.
    """

def read_sections(data: bytes, /) -> list[tuple[list[str], str, int, int]]:
    """The sections of one file (V9): heading, text, first and last line.

    Raises:
        ValueError: The file is binary.
    """

@final
class Question:
    """A query whose visibility is settled.

    Without ``grace_days`` stale concepts are admitted. ``scoring``, ``unit`` and ``strategy`` are values of
    the public enums. ``visible`` are positions of sources, in order S1.
    """

    def __new__(
        cls,
        text: str,
        tag: str | None,
        grace_days: int | None,
        scoring: str,
        unit: str,
        strategy: str,
        quota: int | None,
        visible: Sequence[int],
    ) -> Question: ...

@final
class Snapshot:
    """One immutable state of a catalog: its sources, as the manifest or the host names them."""

    @property
    def generation(self) -> int: ...
    @property
    def version(self) -> int: ...
    @property
    def manifest_directory(self) -> str: ...
    @property
    def sources(self) -> list[SourceRow]: ...
    @property
    def candidates(self) -> list[int]:
        """Positions of the searchable sources, in order S1."""

@final
class Catalog:
    """An open catalog: its current snapshot, and the indexes of its bundles."""

    def __new__(
        cls,
        manifest: str,
        root: str | None,
        max_file_bytes: int | None = None,
        threads: int | None = None,
        manual: bool = False,
    ) -> Catalog: ...
    @property
    def root(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    @property
    def watching(self) -> bool: ...
    def watch(self, debounce: int, /) -> None: ...
    def take_unreported_faults(self) -> list[CatalogDiagnosticRow]:
        """The faults of the last reload, unless they were taken before; each distinct failure comes once."""
    def snapshot(self) -> Snapshot: ...
    def reload(self) -> Snapshot: ...
    def last_reload_diagnostics(self) -> list[CatalogDiagnosticRow]: ...
    def report(
        self, snapshot: Snapshot, on_progress: Progress | None, /
    ) -> tuple[list[ReportRow], list[SourceProblemRow]]: ...
    def close(self) -> None: ...
    def search(
        self,
        snapshot: Snapshot,
        question: Question,
        now: int | None,
        on_progress: Progress | None,
        cancellation: Cancellation | None = None,
        /,
    ) -> Answer:
        """The answer to one question.

        ``now`` is in microseconds since 1970; ``None`` reads the system's clock.
        """
    def converse(self, snapshot: Snapshot, now: int | None, /) -> Conversation: ...
    def memory(self, snapshot: Snapshot, /) -> Memory: ...
    def refresh(self, snapshot: Snapshot, on_progress: Progress | None, /) -> list[SourceProblemRow]: ...

@final
class InMemoryCatalog:
    """A catalog whose sources are texts (A2), with the methods that catalogs of both kinds have."""

    def __new__(
        cls,
        sources: Sequence[TextSourceRow],
        max_text_bytes: int | None = None,
        threads: int | None = None,
    ) -> InMemoryCatalog: ...
    @property
    def problems(self) -> list[SourceProblemRow]:
        """The problem texts in the sources that it was opened with."""
    @property
    def closed(self) -> bool: ...
    def take_unreported_faults(self) -> list[CatalogDiagnosticRow]:
        """Nothing: there is no manifest."""
    def put(self, source: TextSourceRow, /) -> list[SourceProblemRow]:
        """Adds or replaces a source; the problem texts in it."""
    def remove(self, source_id: str, /) -> bool:
        """Removes a source; whether there was one."""
    def snapshot(self) -> Snapshot: ...
    def report(
        self, snapshot: Snapshot, on_progress: Progress | None, /
    ) -> tuple[list[ReportRow], list[SourceProblemRow]]: ...
    def close(self) -> None: ...
    def search(
        self,
        snapshot: Snapshot,
        question: Question,
        now: int | None,
        on_progress: Progress | None,
        cancellation: Cancellation | None = None,
        /,
    ) -> Answer: ...
    def converse(self, snapshot: Snapshot, now: int | None, /) -> Conversation: ...
    def refresh(self, snapshot: Snapshot, on_progress: Progress | None, /) -> list[SourceProblemRow]: ...

@final
class Cancellation:
    """Lets one thread stop the work of another thread, when its result is not needed any more."""

    def __new__(cls) -> Cancellation: ...
    def cancel(self) -> None:
        """Ends every call that was given this object, at its next slice. A later call ends at once."""

@final
class Conversation:
    """Questions that are all put at one time to one state of the sources, batch after batch."""

    def ask(
        self,
        questions: Sequence[Question | str],
        ordinary: Question,
        limit: int | None,
        on_progress: Progress | None,
        cancellation: Cancellation | None = None,
        /,
    ) -> BatchAnswer:
        """Answers every question, in order. A plain text is asked like ``ordinary``, with its own text."""

@final
class Memory:
    """The memory sources of one snapshot.

    A place is where one tier keeps the memories of one scope: the position of its source, and the scope.
    """

    def overlap(self) -> OverlapRow | None:
        """A memory source and another source that overlap (Y8)."""
    def mark(self) -> list[MarkingRow]:
        """Marks directories of memories that have no mark (Y10); one row for each memory source."""
    def read(
        self,
        places: Sequence[tuple[int, KnowledgeAccessScope]],
        question: Question,
        now: int | None,
        cancellation: Cancellation | None = None,
        /,
    ) -> Answer: ...
    def list(self, at: tuple[int, KnowledgeAccessScope], /) -> ListingRow: ...
    def text(self, at: tuple[int, KnowledgeAccessScope], id: str, /) -> str | None: ...
    def write(
        self,
        at: tuple[int, KnowledgeAccessScope],
        name: str,
        frontmatter: Sequence[FrontmatterRow],
        section: str,
        replace: bool,
        /,
    ) -> str | None:
        """Why nothing was written, if nothing was. ``replace``: in place of the concept of this name."""
    def delete(self, at: tuple[int, KnowledgeAccessScope], below: bool, /) -> DeletionRow:
        """Deletes a place; with ``below``, every scope below it too."""
    def delete_concept(self, at: tuple[int, KnowledgeAccessScope], name: str, /) -> DeletionRow: ...

@final
class Answer:
    """The answer to one question."""

    @property
    def passages(self) -> Passages: ...
    @property
    def diagnostics(self) -> list[KnowledgeDiagnosticRow]: ...
    @property
    def problems(self) -> list[SourceProblemRow]:
        """Files found unusable on the way that were not reported before (B7)."""

@final
class BatchAnswer:
    """The answers to a batch of questions, in order."""

    def __len__(self) -> int: ...
    def answer(self, index: int, /) -> Answer: ...
    def table(self, places: Sequence[int], /) -> Table: ...
    @property
    def problems(self) -> list[SourceProblemRow]: ...

@final
class KnowledgePassage:
    """One concept that answers a question, or a section of one."""

    def __new__(
        cls,
        *,
        source_id: str,
        concept_id: str,
        title: str | None,
        excerpt: str,
        score: int,
        bundle_relative_path: str,
        trust_tier: TrustTier,
        status: ConceptStatus,
        stale_after: str | None,
        concept_type: str | None,
        description: str | None,
        snippet: str | None = None,
        is_stale: bool = False,
        section: KnowledgeSection | None = None,
    ) -> KnowledgePassage: ...
    @property
    def source_id(self) -> str: ...
    @property
    def concept_id(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def excerpt(self) -> str: ...
    @property
    def score(self) -> int: ...
    @property
    def bundle_relative_path(self) -> str: ...
    @property
    def trust_tier(self) -> TrustTier: ...
    @property
    def status(self) -> ConceptStatus: ...
    @property
    def stale_after(self) -> str | None: ...
    @property
    def concept_type(self) -> str | None: ...
    @property
    def description(self) -> str | None: ...
    @property
    def snippet(self) -> str:
        """What a reader should see: one line of at most 320 characters (K7)."""
    @property
    def is_stale(self) -> bool:
        """Whether ``stale_after`` was reached when the question was asked, whatever its policy (L3)."""
    @property
    def section(self) -> KnowledgeSection | None:
        """The part of the concept that the passage shows; ``None`` if it is the whole concept (V9)."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Passages(Sequence[KnowledgePassage]):
    """The passages of an answer. It behaves as a tuple, but makes a passage only when it is accessed."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> KnowledgePassage: ...
    @overload
    def __getitem__(self, index: slice, /) -> Passages: ...
    def __iter__(self) -> Iterator[KnowledgePassage]: ...
    def __reversed__(self) -> Iterator[KnowledgePassage]: ...
    def __contains__(self, value: object, /) -> bool: ...
    def index(
        self, value: object, start: SupportsIndex | None = None, stop: SupportsIndex | None = None, /
    ) -> int: ...
    def count(self, value: object, /) -> int: ...
    def __mul__(self, value: SupportsIndex, /) -> tuple[KnowledgePassage, ...]: ...
    def __rmul__(self, value: SupportsIndex, /) -> tuple[KnowledgePassage, ...]: ...
    def __lt__(self, other: tuple[KnowledgePassage, ...] | Passages, /) -> bool: ...
    def __le__(self, other: tuple[KnowledgePassage, ...] | Passages, /) -> bool: ...
    def __gt__(self, other: tuple[KnowledgePassage, ...] | Passages, /) -> bool: ...
    def __ge__(self, other: tuple[KnowledgePassage, ...] | Passages, /) -> bool: ...
    def __add__(self, other: tuple[KnowledgePassage, ...] | Passages, /) -> tuple[KnowledgePassage, ...]: ...
    def __radd__(self, other: tuple[KnowledgePassage, ...], /) -> tuple[KnowledgePassage, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class PassageIterator:
    """An iterator over passages."""

    def __iter__(self) -> PassageIterator: ...
    def __next__(self) -> KnowledgePassage: ...
    def __length_hint__(self) -> int: ...

@final
class Table:
    """Passages as rows of the Arrow PyCapsule interface, which are made while they are read."""

    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
