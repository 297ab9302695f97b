"""The memory entry for an exchange between user and agent (X10)."""

from datetime import datetime, timezone
from typing import final

from okf_catalog.choice import Choice
from okf_catalog.memory.entry import FrontmatterValue, MemoryEntry

__all__ = ["MemoryCaptureMode"]

NOTHING_SAID = "(none)"
"""Stands for a missing text."""
GENERATOR = "okf-catalog"
"""What the frontmatter names as the author of the concept."""


@final
class MemoryCaptureMode(Choice):
    """Whether a provider writes exchanges to memory."""

    DISABLED = "disabled"
    ENABLED = "enabled"


def entry_of(user_text: str | None, agent_text: str | None, now: datetime) -> MemoryEntry:
    """A section for one exchange. The concept is named after the day, in UTC."""
    now = now.astimezone(timezone.utc)
    day = now.date().isoformat()
    section = (
        f"## {now:%H:%M:%S} UTC",
        f"### User\n\n{_quoted(user_text)}",
        f"### Agent\n\n{_quoted(agent_text)}",
    )
    frontmatter: dict[str, FrontmatterValue] = {
        # Few words, because a search for any of them finds every day.
        "type": "AgentMemory",
        "title": day,
        "description": f"Exchanges, {day} UTC",
        # When the concept was created (L5). A search does not look at this field.
        "generated": {"by": GENERATOR, "at": f"{now.replace(microsecond=0, tzinfo=None).isoformat()}Z"},
    }
    return MemoryEntry(day, frontmatter, "\n\n".join(section))


def _quoted(text: str | None) -> str:
    """The text as a markdown quotation, so that no line of it can be anything else."""
    if text is None:
        return NOTHING_SAID
    # `splitlines` splits at every character that any markdown reader takes for the end of a line.
    return "\n".join(f"> {line}" for line in text.replace("\0", "\ufffd").splitlines())
