"""Context providers, the resolvers and stores that they ask, and the frame they write, parsed again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from okf_catalog import (
    ChatMessage,
    ConceptStatus,
    KnowledgeAccessScope,
    KnowledgeContext,
    KnowledgeContextProvider,
    KnowledgeDiagnostic,
    KnowledgePassage,
    KnowledgeQuery,
    MemoryCaptureMode,
    MemoryDeleteResult,
    MemoryEntry,
    MemoryReadResult,
    MemoryTier,
    MemoryWriteResult,
    ProvidedContext,
    TrustTier,
)

from making.clocks import at_noon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from okf_catalog import KnowledgeResolver, MemoryStore

TRUNCATED = "… (truncated)"
EXCHANGE = "## 12:00:00 UTC\n\n### User\n\n> {}\n\n### Agent\n\n> {}"
"""What is captured at noon of a question and its answer."""
WRITTEN = MemoryWriteResult(written=True, error=None)


def passage(
    concept_id: str, title: str | None = None, snippet: str = "", source_id: str = "s", **fields: Any
) -> KnowledgePassage:
    """A passage made by hand. Blocks show its snippet and never its excerpt."""
    made: dict[str, Any] = {
        "source_id": source_id,
        "concept_id": concept_id,
        "title": title,
        "excerpt": "an excerpt is in no block",
        "snippet": snippet,
        "score": 1,
        "bundle_relative_path": f"{concept_id}.md",
        "trust_tier": TrustTier.UNVERIFIED,
        "status": ConceptStatus.STABLE,
        "stale_after": None,
        "concept_type": None,
        "description": None,
        **fields,
    }
    return KnowledgePassage(**made)


def user(text: str | None) -> ChatMessage:
    return ChatMessage("user", text)


def agent(text: str | None) -> ChatMessage:
    return ChatMessage("assistant", text)


@dataclass
class Resolver:
    """Gives every question the same answer, and remembers the questions."""

    passages: Sequence[KnowledgePassage] = ()
    error: BaseException | None = None
    diagnostics: tuple[KnowledgeDiagnostic, ...] = ()
    queries: list[KnowledgeQuery] = field(default_factory=list[KnowledgeQuery])

    def search(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        assert isinstance(query, KnowledgeQuery)
        self.queries.append(query)
        if self.error is not None:
            raise self.error
        return KnowledgeContext(query, 1, self.passages, self.diagnostics)

    async def search_async(self, query: KnowledgeQuery | str, /) -> KnowledgeContext:
        return self.search(query)

    def search_batch(self, *arguments: Any, **options: Any) -> NoReturn:
        raise AssertionError


@dataclass
class Store:
    """Gives every question the same answer, writes nothing to disk, and remembers every call."""

    passages: Sequence[KnowledgePassage] = ()
    error: BaseException | None = None
    diagnostics: tuple[KnowledgeDiagnostic, ...] = ()
    result: MemoryWriteResult = WRITTEN
    reads: list[tuple[KnowledgeAccessScope, KnowledgeQuery | str]] = field(
        default_factory=list[tuple[KnowledgeAccessScope, "KnowledgeQuery | str"]]
    )
    writes: list[tuple[KnowledgeAccessScope, MemoryEntry, MemoryTier]] = field(
        default_factory=list[tuple[KnowledgeAccessScope, MemoryEntry, MemoryTier]]
    )

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        self.reads.append((scope, query))
        if self.error is not None:
            raise self.error
        return MemoryReadResult(self.passages, self.diagnostics)

    def write(self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier) -> MemoryWriteResult:
        if self.error is not None:
            raise self.error
        self.writes.append((scope, entry, tier))
        return self.result

    async def read_async(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        return self.read(scope, query)

    async def write_async(
        self, scope: KnowledgeAccessScope, entry: MemoryEntry, tier: MemoryTier
    ) -> MemoryWriteResult:
        return self.write(scope, entry, tier)

    def delete(self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str) -> MemoryDeleteResult:
        raise AssertionError

    def delete_scope(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        raise AssertionError

    def enumerate(self, scope: KnowledgeAccessScope) -> NoReturn:
        raise AssertionError

    async def delete_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier, concept_name: str
    ) -> MemoryDeleteResult:
        raise AssertionError

    async def delete_scope_async(
        self, scope: KnowledgeAccessScope, tier: MemoryTier | None = None, *, below: bool = False
    ) -> MemoryDeleteResult:
        raise AssertionError

    async def enumerate_async(self, scope: KnowledgeAccessScope) -> NoReturn:
        raise AssertionError


class Notebook(Store):
    """A store that reads back whatever the scope wrote."""

    def sections(self, scope: KnowledgeAccessScope) -> list[str]:
        """What was written for a scope, oldest first."""
        return [entry.section_markdown for owner, entry, _ in self.writes if owner == scope]

    def read(self, scope: KnowledgeAccessScope, query: KnowledgeQuery | str) -> MemoryReadResult:
        notes = self.sections(scope)
        return MemoryReadResult(tuple(passage("note", None, note, "memory:user") for note in notes), ())


class Session:
    """A session as a framework gives it: an object that a provider can hold a weak reference to."""


def provide(
    knowledge: Sequence[KnowledgePassage] = (), memory: Sequence[KnowledgePassage] = (), **options: Any
) -> ProvidedContext:
    """What a provider gives for ``word`` when knowledge and memory answer with these passages."""
    options.setdefault("on_internal_error", unexpected)
    return KnowledgeContextProvider(Resolver(knowledge), Store(memory), **options).provide([user("word")])


def quarter(text: str) -> int:
    """Counts one token for every four code points, as a provider does by itself."""
    return -(-len(text) // 4)


def provider_of(
    resolver: KnowledgeResolver, store: MemoryStore | None = None, **options: Any
) -> KnowledgeContextProvider:
    """A provider at noon, which captures every exchange if there is a store."""
    if store is not None:
        options.setdefault("memory_capture", MemoryCaptureMode.ENABLED)
    options.setdefault("clock", at_noon)
    return KnowledgeContextProvider(resolver, store, **options)


def unexpected(error: Exception) -> None:
    """For ``on_internal_error``: fails the test. A provider catches ``Exception``, which this is not."""
    pytest.fail(repr(error))


def text_of(context: ProvidedContext) -> str:
    """The one message of a context; the empty string if there is none."""
    if not context.messages:
        assert context == ProvidedContext(left_out=context.left_out, diagnostics=context.diagnostics)
        return ""
    (message,) = context.messages
    assert message.role == "user"
    text = "\n".join(block.text for block in context.blocks)
    assert message.text == text
    return text


def concepts(context: ProvidedContext) -> list[str]:
    """The concepts in the message; an ellipsis follows each that was cut."""
    return [f"{block.concept_id}…" if block.truncated else block.concept_id for block in context.blocks]


def parsed(message: str) -> list[tuple[str, list[str]]]:
    """The blocks of a message by the grammar of X4: the id of each, and the lines between its tags."""
    blocks: list[tuple[str, list[str]]] = []
    lines = iter(message.split("\n"))
    for opening in lines:
        match = re.fullmatch('<okf-context id="([^"<>]*)">', opening)
        assert match, opening
        content: list[str] = []
        for line in lines:
            if line == "</okf-context>":
                break
            content.append(line)
        else:
            raise AssertionError("a block does not end")
        blocks.append((unescaped(match[1]), content))
    return blocks


def unescaped(attribute: str) -> str:
    names = {"amp": "&", "quot": '"', "lt": "<", "gt": ">"}
    return re.sub("&(?:#([0-9]+)|([a-z]+));", lambda m: chr(int(m[1])) if m[1] else names[m[2]], attribute)
