"""What people and agents say to each other, whatever framework carries it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast, final

from okf_catalog._engine import is_blank
from okf_catalog.checks import check_kind, check_str, is_kind, keep_plain
from okf_catalog.errors import RefusedTypeError

__all__ = ["ChatMessage"]

USER = "user"
ASSISTANT = "assistant"

_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")


@final
@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation; ``text`` is ``None`` where it holds something else.

    ``role`` is ``"user"``, ``"assistant"`` or whatever else a framework has.

    Example:
        >>> ChatMessage("user", "How long do refunds take?")
        ChatMessage(role='user', text='How long do refunds take?')

    Raises:
        RefusedTypeError: a field is of the wrong kind.
    """

    role: str
    text: str | None

    def __post_init__(self) -> None:
        keep_plain(self, "role", check_str("role", self.role))
        if self.text is not None:
            keep_plain(self, "text", check_str("text", self.text, "a str or None"))


def messages_of(field: str, messages: object) -> list[ChatMessage]:
    """The messages.

    Raises:
        RefusedTypeError: ``messages`` is no iterable of ``ChatMessage``; the text names ``field``.
    """
    if is_kind(messages, (str, bytes, ChatMessage)) or not is_kind(messages, Iterable):
        raise RefusedTypeError(f"{field} is an iterable of ChatMessage, not one {type(messages).__name__}")
    checked = list(cast("Iterable[object]", messages))
    for index, message in enumerate(checked):
        check_kind(f"{field}[{index}]", message, ChatMessage, "a ChatMessage")
    return cast("list[ChatMessage]", checked)


def last_text(messages: list[ChatMessage], role: str) -> str | None:
    """What was last said in a role; what is only white space is nothing (X1)."""
    for message in reversed(messages):
        if message.role == role and message.text is not None:
            text = whole_characters(message.text)
            if not is_blank(text):
                return text
    return None


def whole_characters(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair, which can be neither searched nor sent."""
    return text if text.isascii() else _HALF_CHARACTERS.sub("\ufffd", text)
