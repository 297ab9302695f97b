"""What a context provider asks, and the frame it writes, told apart again."""

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
    KnowledgeDiagnostic,
    KnowledgePassage,
    KnowledgeQuery,
    MemoryDeleteResult,
    MemoryEntry,
    MemoryReadResult,
    MemoryTier,
    MemoryWriteResult,
    ProvidedContext,
    TrustTier,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

TRUNCATED = "… (truncated)"
WRITTEN = MemoryWriteResult(written=True, error=None)


def passage(
    concept_id: str, title: str | None = None, snippet: str = "", source_id: str = "s", **fields: Any
) -> KnowledgePassage:
    """A passage made by hand, which shows a snippet."""
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
    """Answers every question alike, and remembers them."""

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
    """Answers every question alike, writes nowhere, and remembers what was asked of it."""

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


def unexpected(error: Exception) -> None:
    """For ``on_internal_error``: what is raised here is no ``Exception`` and not to be overlooked."""
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
    """The concepts in the message, those that were cut with an ellipsis."""
    return [f"{block.concept_id}…" if block.truncated else block.concept_id for block in context.blocks]


def parsed(message: str) -> list[tuple[str, list[str]]]:
    """The ids of the blocks of a message, and the lines between their tags, by the grammar of X4."""
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
