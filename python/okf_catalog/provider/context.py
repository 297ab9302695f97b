"""The result of a provider: what an agent is given to read."""

from dataclasses import dataclass
from typing import final

from okf_catalog.catalog.source import SourceRole
from okf_catalog.diagnostics import KnowledgeDiagnostic
from okf_catalog.provider.messages import ChatMessage

__all__ = ["ContextBlock", "ProvidedContext"]


@final
@dataclass(frozen=True, slots=True)
class ContextBlock:
    """One passage as it is in the message, and where it comes from.

    ``text`` is the block with its tags. ``truncated`` says that a part of the passage is missing. Then the
    last line between the tags says so too: ``… (truncated)``.
    """

    role: SourceRole
    source_id: str
    concept_id: str
    text: str
    truncated: bool


@final
@dataclass(frozen=True, slots=True)
class ProvidedContext:
    """What an agent is given before it answers, and how the budget was spent.

    - ``instructions`` is one fixed sentence, the same for every context. It belongs to the agent's
      instructions, and does not count against the budget.
    - ``messages`` is one message in the role of the user. If nothing was found or nothing fits, it is empty,
      and ``instructions`` is ``None`` (X8).
    - ``blocks`` are the parts of the message, in order; joined by newlines they are its text.
    - ``tokens`` is how many tokens the message has.
    - ``left_out`` is how many passages were found that are not in the message.
    - ``diagnostics`` are those of the resolver, then those of the memory store. They are for the host.
    """

    instructions: str | None = None
    messages: tuple[ChatMessage, ...] = ()
    blocks: tuple[ContextBlock, ...] = ()
    tokens: int = 0
    left_out: int = 0
    diagnostics: tuple[KnowledgeDiagnostic, ...] = ()
