"""What an agent is given to read."""

from dataclasses import dataclass
from typing import final

from okf_catalog.catalog.source import SourceRole
from okf_catalog.diagnostics import KnowledgeDiagnostic
from okf_catalog.provider.messages import ChatMessage

__all__ = ["ContextBlock", "ProvidedContext"]


@final
@dataclass(frozen=True, slots=True)
class ContextBlock:
    """One passage as it stands in the message, and where it comes from.

    ``text`` is the block with its tags; ``truncated`` says that something of the passage is missing,
    as the last line between the tags does: ``… (truncated)``.
    """

    role: SourceRole
    source_id: str
    concept_id: str
    text: str
    truncated: bool


@final
@dataclass(frozen=True, slots=True)
class ProvidedContext:
    """What an agent is given before it answers, and how the budget was spent on it.

    ``instructions`` is one fixed sentence, the same for every context, and belongs where instructions go; it
    is not counted against the budget. ``messages`` is one message, in the role of the user. Both are missing
    (``None`` and an empty tuple) if nothing was found or nothing had room (X8).

    ``blocks`` are what the message is made of, in order: joined by newlines they are its text.
    ``tokens`` is what the message counts. ``left_out`` is how many passages were found that are not in it.
    ``diagnostics`` are what the resolver and then the memory store had to say; they are for the host.
    """

    instructions: str | None = None
    messages: tuple[ChatMessage, ...] = ()
    blocks: tuple[ContextBlock, ...] = ()
    tokens: int = 0
    left_out: int = 0
    diagnostics: tuple[KnowledgeDiagnostic, ...] = ()
