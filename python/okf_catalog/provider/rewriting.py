"""What is asked, as the host words it: its function that makes a question out of the messages (X1)."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from okf_catalog.checks import check_str, drop_coroutine
from okf_catalog.provider.messages import USER, ChatMessage, last_text, spoken

__all__ = ["RewriteQuery"]

RewriteQuery: TypeAlias = Callable[[Sequence[ChatMessage]], str | None]
"""Makes the question for a conversation out of its messages; ``None`` or a blank text asks nothing."""


def question_text(messages: list[ChatMessage], rewrite_query: RewriteQuery | None) -> str | None:
    """The text to ask: what the host's function returns, or else the last text of the user.

    Raises:
        RefusedTypeError: the function returned neither a ``str`` nor ``None``.
        Exception: anything that the function raises, unchanged.
    """
    if rewrite_query is None or not messages:
        return last_text(messages, USER)
    answer = rewrite_query(tuple(messages))
    if answer is None:
        return None
    drop_coroutine(answer)
    return spoken(check_str("what rewrite_query returns", answer, "a str or None"))
