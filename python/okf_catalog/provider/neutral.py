"""Neutralising: the text of a passage cannot imitate the tags and marks around it (X5)."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

__all__ = ["LESS_THAN", "neutralised", "neutralised_attribute", "without_marks"]

_LEFT = (
    "<\u226e\ufe64\uff1c\u2039\u2329\u3008\u27e8\u276c\u276e\u2770\u2991\u2993\u29fc"
    "\ufe3f\u22d6\xab\u226a\u22d8\u27ea\u300a\ufe3d\u2aa1\u2af7\u02c2\u1438\u16b2"
    "\U0001d236"
)
"""``<``, its compatibility forms, all angle brackets and angle quotation marks, single and double, and the
characters that Unicode lists as confusable with ``<``."""
_RIGHT = (
    ">\u226f\ufe65\uff1e\u203a\u232a\u3009\u27e9\u276d\u276f\u2771\u2992\u2994\u29fd"
    "\ufe40\u22d7\xbb\u226b\u22d9\u27eb\u300b\ufe3e\u2aa2\u2af8\u02c3\u1433\U0001d237"
)
"""The same for ``>``."""
_LOOKALIKES = {
    "o": (
        "0\xf8\u0275\u03bf\u03c3\u043e\u0585\u05e1\u0647\u0665\u06be\u06c1\u06d5\u06f5\u07c0\u0966\u09e6"
        "\u0a66\u0ae6\u0b20\u0b66\u0be6\u0c66\u0ce6\u0d20\u0d66\u0e50\u0ed0\u101d\u1040\u10ff\u12d0"
        "\u1d0f\u1d11\u2c9f\u2d54\u3007\ua4f3\uab3d\U00010292\U000102ab\U0001042c\U000104ea\U00010516"
        "\U000114d0\U000118c8\U000118d5\U000118d7\U000118e0"
    ),
    "k": "\u0138\u0199\u03ba\u043a\u049b\u049d\u04c4\u13e6\u16d5\u1d0b\u2c95\ua4d7\U00010518",
    "f": (
        "\u017f\u0192\u03dd\u0493\u0584\u15b4\u1e9d\ua4dd\ua730\ua799\uab35\U00010287\U000102a5"
        "\U00010525\U000118c2\U0001d213"
    ),
    "c": (
        "\u0188\u03f2\u03f9\u0441\u04ab\u13df\u1d04\u2ca5\ua4da\U000102a2\U00010302\U0001043d"
        "\U0001051c\U000118e9\U000118f2\U0001f74c"
    ),
    "n": "\u014b\u019e\u0272\u0274\u03b7\u03bd\u043f\u0578\u057c\u2c9b\ua4e0\U00010513",
    "t": (
        "\u0167\u01ad\u03c4\u0442\u13a2\u1d1b\u22a4\u27d9\u2ca7\ua4d4\U00010297\U000102b1\U00010315"
        "\U000118dc\U00016f0a\U0001f768"
    ),
    "e": ("\u025b\u03b5\u0435\u0454\u04bd\u13ac\u212e\u22ff\u2d39\ua4f0\uab32\U00010286\U000118c6\U000118ce"),
    "x": (
        "\xd7\u03c7\u0445\u04b3\u1541\u157d\u166d\u166e\u16b7\u2573\u292b\u292c\u2a2f\u2cad\u2d5d"
        "\ua4eb\uab53\U00010290\U000102b4\U00010317\U00010322\U00010527\U000118ec"
    ),
}
"""Characters that look like a letter of the tag's name: those that Unicode (UTS 39) lists as confusable with
it, and similar ones. Characters that case folding or decomposition turns into the letter are not listed, nor
those that ``_LATIN`` recognises by their Unicode name."""
_LATIN = re.compile("LATIN (?:SMALL LETTER|CAPITAL LETTER|LETTER SMALL CAPITAL) ([CEFKNOTX])(?: WITH .*)?")
"""The Unicode names of these letters, also as small capitals, or with a hook, stroke or tail."""
_ENCLOSED = (0x1F150, 0x1F170, 0x1F1E6)
"""The first code points of alphabets without a decomposition: two in black shapes, and the flag letters."""
_STROKES = frozenset("\u1428\u3161\u1173\u4e00\ua7f7")
"""Letters that look like a dash."""
_FILLERS = frozenset("\u115f\u1160")
"""Letters that are not displayed."""
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Unicode tag characters are not displayed, but some models read them as the ASCII characters they encode."""

LESS_THAN = "&lt;"
"""Replaces a left bracket that begins a tag."""
_NAMED = re.compile("okfcontext|txetnocfko")
"""The name of the tag after ``_PLAIN``, and backwards, as in a text that is displayed from right to left."""
_MARKS = frozenset(["draft", "deprecated", "stale"])
_LONGEST_MARK = max(map(len, _MARKS))

_BRACKET = re.compile(f"[{_LEFT}]")
_ANY_BRACKET = re.compile(f"[\U000e003c{_LEFT}]")
"""The same, and the tag character for ``<``."""
_END = re.compile(f"[{_RIGHT}]")
_TAG = re.compile("[\U000e0020-\U000e007e]")
_SQUARE = frozenset(
    "[\uff3b\ufe47\u3010\ufe3b\u3014\ufe39\ufe5d\u3016\u3018\u301a\u27e6\u27ec\u2772\u2045\u298b\u298d\u298f"
)
"""``[``, its compatibility forms, and brackets that look like it."""
_SQUARE_END = frozenset(
    "]\uff3d\ufe48\u3011\ufe3c\u3015\ufe3a\ufe5e\u3017\u3019\u301b\u27e7\u27ed\u2773\u2046\u298c\u298e\u2990"
)
"""The same for ``]``."""
_QUOTES = frozenset("\uff02\u201c\u201d\u201e\u201f\u2033\u2036\u02ba\u02ee\u3003\u301d\u301e\u301f")
"""Characters that look like the quotation mark around the value of an attribute."""
_ATTRIBUTE_NAMES = {"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"}
_JOINERS = frozenset("\u200c\u200d")
"""Joiners are not displayed, but emoji and many scripts need them."""
_MOST_KEPT = 10_000
"""The plain forms of at most this many characters are cached, in about a megabyte."""


def neutralised(text: str) -> str:
    """The text with ``&lt;`` for each left bracket that begins a tag named ``okf-context`` (X5).

    A left bracket is ``<`` or a character that looks like it; ``_LEFT`` lists them. It begins a tag if the
    name follows before the next bracket, forwards or backwards. What is before the name, such as a slash or
    the prefix of a namespace, does not matter. A right bracket directly after the left one, as in ``<>``, is
    passed over.

    The name is found in upper and lower case, in compatibility forms (full-width, mathematical, circled), in
    black squares and circles, in tag characters, and in the look-alikes of other scripts in ``_LOOKALIKES``.
    Anything but letters and digits may be between its letters: white space and line breaks, dashes of any
    kind or none, punctuation, symbols, combining marks, variation selectors, controls, and everything that is
    not displayed.

    These are not found: names that are only similar (``okf-contents``), other brackets (``[okf-context]``,
    triangles, kana), tags that must be decoded first (``&lt;``, ``%3C``, Base64), look-alikes that are not
    listed, and pieces that only bidirectional controls put into the order of a tag.
    """
    parts: list[str] = []
    done = 0
    for place in _places_of_tags(text):
        parts += (text[done:place], LESS_THAN)
        done = place + 1
    return "".join([*parts, text[done:]]) if parts else text


def place_of_tag_across(text: str, following: str) -> int | None:
    """The index of the last left bracket of ``text``, if it begins a tag that ends in ``following``."""
    place = max(map(text.rfind, f"\U000e003c{_LEFT}"))
    return place if place >= 0 and _names_the_frame(text[place + 1 :] + following) else None


def neutralised_attribute(text: str) -> str:
    """The text as the value of an attribute in double quotes.

    Character references replace all characters that could end the value, or look as if they did, and those
    that are not displayed, such as controls. So the text can be read back, except the brackets that
    :func:`neutralised` replaces.
    """
    tags = frozenset(_places_of_tags(text))
    return "".join("&lt;" if place in tags else _referred(character) for place, character in enumerate(text))


def without_marks(line: str) -> str:
    """The line with ``&#91;`` for each ``[`` of text at its end that looks like status marks.

    So only the block itself can put marks at the end of a line. Characters that are passed over in a tag are
    passed over here too.
    """
    parts: list[str] = []
    word, closed = "", False
    end = place = len(line)
    while place and len(word) <= _LONGEST_MARK:
        place -= 1
        if line[place] not in _SQUARE:
            word = line[place].translate(_PLAIN) + word
            closed = closed or (not word and line[place] in _SQUARE_END)
        elif word in _MARKS and closed:
            parts += (line[place + 1 : end], "&#91;")
            word, closed, end = "", False, place
        else:
            break
    return "".join([line[:end], *reversed(parts)]) if parts else line


def _places_of_tags(text: str) -> list[int]:
    """The indices of the left brackets that begin a tag."""
    has_tag_characters = _TAG.search(text) is not None
    if not has_tag_characters and not _NAMED.search(text.translate(_PLAIN)):
        return []
    places = _begins_of_tags(text, _BRACKET)
    if has_tag_characters:
        # In a separate pass: a bracket that is not displayed does not end the tag of one that is.
        places = sorted({*places, *_begins_of_tags(text, _ANY_BRACKET)})
    return places


def _begins_of_tags(text: str, bracket: re.Pattern[str]) -> list[int]:
    ends = [*(match.start() for match in bracket.finditer(text)), len(text)]
    # Each bracket is looked at up to the next one only, so the time is linear in the length of the text.
    return [place for place, end in pairwise(ends) if _names_the_frame(text[place + 1 : end])]


def _names_the_frame(text: str) -> bool:
    """Whether the name is there before the first right bracket; one at the very start is passed over."""
    readings = [text, text.translate(_TAGS)] if _TAG.search(text) else [text]
    for reading in readings:
        plain = next(filter(None, (part.translate(_PLAIN) for part in _END.split(reading))), "")
        if _NAMED.search(plain):
            return True
    return False


def _referred(character: str) -> str:
    """A character of an attribute's value, as a character reference if it needs one."""
    if character in _ATTRIBUTE_NAMES:
        return _ATTRIBUTE_NAMES[character]
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"} and character not in _JOINERS
    if hidden or character in _LEFT or character in _RIGHT or character in _QUOTES:
        return f"&#{ord(character)};"
    return character


class _Plain(dict[int, str]):
    """Maps a code point to what a reader sees in it: letters and digits in lower case, or nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._letters = {
            character: letter for letter, characters in _LOOKALIKES.items() for character in characters
        }

    def __missing__(self, code: int) -> str:
        plain = self._enclosed(code) or "".join(self._parts(chr(code)))
        # The limit keeps a text of a million different characters from filling the memory.
        if len(self) < _MOST_KEPT:
            self[code] = plain
        return plain

    @staticmethod
    def _enclosed(code: int) -> str:
        return next((chr(ord("a") + code - first) for first in _ENCLOSED if 0 <= code - first < 26), "")

    def _parts(self, character: str) -> Iterator[str]:
        # Combining marks are dropped before case folding, which turns one of them (U+0345) into a letter.
        for part in filter(_is_displayed, unicodedata.normalize("NFD", character)):
            if part in self._letters:
                yield self._letters[part]
                continue
            for form in filter(_is_displayed, unicodedata.normalize("NFKD", part)):
                for letter in filter(_is_displayed, unicodedata.normalize("NFD", form.casefold())):
                    letter = self._letters.get(letter) or _latin(letter)  # noqa: PLW2901
                    if _is_letter(letter):
                        yield letter


def _latin(character: str) -> str:
    """The letter of the tag's name that a character is a form of, or the character itself."""
    if character.isascii():
        return character
    match = _LATIN.fullmatch(unicodedata.name(character, ""))
    return match[1].lower() if match else character


def _is_displayed(character: str) -> bool:
    return unicodedata.category(character)[0] not in "MZC"


def _is_letter(character: str) -> bool:
    """Whether a character is a letter or a digit that a reader sees."""
    category = unicodedata.category(character)
    return category[0] in "LN" and category != "Lm" and character not in _STROKES | _FILLERS


_PLAIN = _Plain()
