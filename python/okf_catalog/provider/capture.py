"""What is remembered of an exchange (X10)."""

from datetime import datetime, timezone
from typing import final

from okf_catalog.choice import Choice
from okf_catalog.memory.entry import FrontmatterValue, MemoryEntry

__all__ = ["MemoryCaptureMode"]

NOTHING_SAID = "(none)"
GENERATOR = "okf-catalog"


@final
class MemoryCaptureMode(Choice):
    """Whether a provider remembers what was said."""

    DISABLED = "disabled"
    ENABLED = "enabled"


def entry_of(user_text: str | None, agent_text: str | None, now: datetime) -> MemoryEntry:
    """A section for one exchange, in the concept of its day (UTC)."""
    now = now.astimezone(timezone.utc)
    day = now.date().isoformat()
    section = (
        f"## {now:%H:%M:%S} UTC",
        f"### User\n\n{_quoted(user_text)}",
        f"### Agent\n\n{_quoted(agent_text)}",
    )
    frontmatter: dict[str, FrontmatterValue] = {
        # In few words: each of them is found by whoever uses it in a question.
        "type": "AgentMemory",
        "title": day,
        "description": f"Exchanges, {day} UTC",
        # When the concept was created (L5). Nobody who asks finds it by these words.
        "generated": {"by": GENERATOR, "at": f"{now.replace(microsecond=0, tzinfo=None).isoformat()}Z"},
    }
    return MemoryEntry(day, frontmatter, "\n\n".join(section))


def _quoted(text: str | None) -> str:
    """The text, no line of which is anything but a quotation."""
    if text is None:
        return NOTHING_SAID
    # `splitlines` knows every character that anybody takes for the end of a line.
    return "\n".join(f"> {line}" for line in text.replace("\0", "\ufffd").splitlines())
