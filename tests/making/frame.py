"""The messages that a context provider gives, read back by the grammar of their frame (X4)."""

from __future__ import annotations

import functools
import re
import unicodedata

from okf_catalog import ProvidedContext

TRUNCATED = "… (truncated)"
"""The last line of a block that was cut."""


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


def is_left_bracket(character: str) -> bool:
    """Whether Unicode calls a character a left angle bracket or a less-than sign."""
    name = unicodedata.name(character, "")
    angle = unicodedata.category(character) in ("Ps", "Pi") and "ANGLE" in name and "LEFT" in name
    return angle or name.endswith("LESS-THAN SIGN")


def tags(message: str) -> tuple[int, int]:
    """How many opening and closing tags a model sees that overlooks all that it can overlook."""
    seen = "".join(map(overlooked, message))
    return seen.count("<okfcontext"), len(re.findall("<[/\\\\]+okfcontext", seen))


@functools.cache
def overlooked(character: str) -> str:
    """What is left of a character when only letters, digits, angle brackets and slashes count."""
    return "".join(
        letter
        for part in unicodedata.normalize("NFKD", character)
        if unicodedata.category(part)[0] not in "CMZ"
        for letter in unicodedata.normalize("NFKD", part.casefold())
        if unicodedata.category(letter)[0] in "LN" or letter in "<>/\\"
        if letter not in "\u115f\u1160"
    )
