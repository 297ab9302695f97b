"""Messages of a conversation, independent of any agent framework."""

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

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@final
@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation. ``text`` is ``None`` if it has something else, such as an image.

    ``role`` is ``"user"``, ``"assistant"`` or another role of the framework.

    Example:
        >>> ChatMessage("user", "How long do refunds take?")
        ChatMessage(role='user', text='How long do refunds take?')

    Raises:
        RefusedTypeError: a field has the wrong type.
    """

    role: str
    text: str | None

    def __post_init__(self) -> None:
        keep_plain(self, "role", check_str("role", self.role))
        if self.text is not None:
            keep_plain(self, "text", check_str("text", self.text, "a str or None"))


def messages_of(field: str, messages: object) -> list[ChatMessage]:
    """The checked messages.

    Raises:
        RefusedTypeError: ``messages`` is not an iterable of ``ChatMessage``. The error names ``field``.
    """
    if is_kind(messages, (str, bytes, ChatMessage)) or not is_kind(messages, Iterable):
        raise RefusedTypeError(f"{field} is an iterable of ChatMessage, not one {type(messages).__name__}")
    checked = list(cast("Iterable[object]", messages))
    for index, message in enumerate(checked):
        check_kind(f"{field}[{index}]", message, ChatMessage, "a ChatMessage")
    return cast("list[ChatMessage]", checked)


def last_text(messages: list[ChatMessage], role: str) -> str | None:
    """The last text of a role that is not only white space (X1)."""
    for message in reversed(messages):
        if message.role == role and message.text is not None:
            text = spoken(message.text)
            if text is not None:
                return text
    return None


def spoken(text: str) -> str | None:
    """The text as it can be searched, or ``None`` if it is only white space."""
    text = whole_characters(text)
    return None if is_blank(text) else text


def whole_characters(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which can be neither searched nor sent."""
    return text if text.isascii() else _LONE_SURROGATES.sub("\ufffd", text)
