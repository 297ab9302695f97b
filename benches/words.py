"""An endless vocabulary whose words are drawn with the frequencies of natural text.

Each word has a *rank*; rank 0 is the most frequent. In the first `HEAD` ranks, frequencies fall with the rank
as Zipf's law says. In the endless tail above, they fall faster. So a growing text keeps getting new words, as
Heaps' law says: about 120,000 distinct tokens in 30 MB. Many of them are names, paths and numbers that occur
once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = 8_000
"""The ranks below this have a fixed share of the text each. All others are the tail."""
SLOTS = 1 << 18
"""Entries of the table from which tokens are drawn; each is drawn equally often."""
RARE_SHARE = 0.08
"""The share of the text that is words of the tail."""
TAIL_EXPONENT = 1.75
"""How fast frequencies fall in the tail: with this power of the rank."""

_COMMON_TEXT = (
    "the of and to in a is for by each with from data on table be this as are it or per at not that id "
    "one all date value order only when rows same field name type user customer key column event time "
    "source must query join report total amount count net day month year using into which new first last "
    "used no between other if more status product account revenue price policy where sum group after "
    "before version owner schema daily metric number created updated null string integer see also any "
    "line item store region currency margin fiscal dataset record unique reference example may should "
    "every must have has been its their than then these those will can rate payment invoice session "
    "channel category country partition refresh pipeline quality check review team finance marketing "
    "sales support warehouse model"
)
COMMON = _COMMON_TEXT.split()
"""The most frequent words, in order. All other words are made of syllables."""

_OTHER_SCRIPTS_TEXT = (
    "café résumé naïve Größe Straße año niño façade Übersicht señal données Żółw Привет заказ склад отчёт "
    "数据 报表 订单 データ 注文 λόγος τιμής σύνολος ŞİŞLİ ılık crème cœur déjà Ångström Łódź"
)
OTHER_SCRIPTS = _OTHER_SCRIPTS_TEXT.split()

_SYLLABLES_TEXT = (
    "ba ce di fo gu ha in jo ka le mi no or pa qui re sa te un va wo xe yi za bra cle dro fla gre sta tri "
    "con der ent ist men ous par per pro ver al an ar en er es is on or ur st nd ck th sh"
)
_SYLLABLES = _SYLLABLES_TEXT.split()
_PREFIXES = ("", "", "", "", "", "re", "un", "pre", "inter", "sub", "over", "non", "multi", "auto", "de")
_SUFFIXES = (
    "",
    "",
    "",
    "s",
    "s",
    "ed",
    "ing",
    "er",
    "tion",
    "ment",
    "able",
    "ly",
    "ness",
    "ity",
    "al",
    "ism",
)
_PARTS = ("id", "ts", "amount", "name", "code", "key", "at", "count", "total", "flag", "date", "type")
_DIRECTORIES = ("tables", "metrics", "references", "policies", "datasets", "https://example.com/docs")

_MASK = (1 << 64) - 1


def mixed(number: int) -> int:
    """A hash of 64 bits (the mixing function of SplitMix64)."""
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


def _stem(bits: int, syllables: int) -> str:
    parts: list[str] = []
    for _ in range(syllables):
        bits, choice = divmod(bits, len(_SYLLABLES))
        parts.append(_SYLLABLES[choice])
    return "".join(parts)


def plain_word(rank: int) -> str:
    """The word of a rank, without punctuation. Some words look like identifiers."""
    if rank < len(COMMON):
        return COMMON[rank]
    bits = mixed(rank)
    if rank % 97 == 0:
        return OTHER_SCRIPTS[bits % len(OTHER_SCRIPTS)]
    # Many words share a stem, so that some words contain others, as in a natural language.
    stem = _stem(mixed(bits % (200 + rank // 6)), 2 + bits % 2)
    prefix = _PREFIXES[(bits >> 20) % len(_PREFIXES)]
    suffix = _SUFFIXES[(bits >> 30) % len(_SUFFIXES)]
    word = f"{prefix}{stem}{suffix}"
    if rank % 11 == 0:
        return f"{word}_{_PARTS[(bits >> 40) % len(_PARTS)]}"
    return word


def _name(rank: int, bits: int) -> str:
    """A token of technical text: a column, path, instant, hash or number."""
    owner = COMMON[bits % len(COMMON)]
    part = _PARTS[(bits >> 8) % len(_PARTS)]
    kind = (bits >> 16) % 12
    if kind < 4:
        return f"{owner}_{_stem(bits >> 20, 2)}.{_stem(bits >> 30, 2)}_{part}"
    if kind < 6:
        directory = _DIRECTORIES[(bits >> 20) % len(_DIRECTORIES)]
        return f"[{owner}](../{directory}/{owner}-{_stem(bits >> 24, 3)}.md)"
    if kind < 8:
        return (
            f"{2015 + bits % 12}-{1 + (bits >> 8) % 12:02}-{1 + (bits >> 20) % 28:02}T{rank % 24:02}:00:00Z"
        )
    if kind == 8:
        return f"{bits:016x}"
    if kind == 9:
        return f"#{rank}"
    if kind == 10:
        return f"`{_stem(bits >> 20, 2)}.{owner}_{part}`"
    return f"{rank * 7 % 100_000}.{bits % 100:02}"


def token(rank: int, style: int) -> str:
    """The word of a rank as it occurs in a text; ``style``, 0 to 31, decides its punctuation."""
    word = plain_word(rank)
    if style < 22:
        return word
    if style < 24:
        return f"{word},"
    if style < 26:
        return f"{word}."
    if style < 29:
        return word.capitalize()
    return (f"`{word}`", f"({word})", f"**{word}**")[style - 29]


def rare_token(rank: int) -> str:
    """The token of a rank in the tail."""
    bits = mixed(rank * 2 + 1)
    return _name(rank, bits) if bits % 5 < 2 else token(rank, (bits >> 50) % 32)


def _shares() -> list[float]:
    weights = [1.0 / (rank + 2.7) for rank in range(HEAD)]
    whole = sum(weights) / (1.0 - RARE_SHARE)
    return [weight / whole for weight in weights]


def frequent_tokens() -> list[str]:
    """`SLOTS` tokens, each repeated by its share. The empty string stands for a token of the tail."""
    table: list[str] = []
    due = 0.0
    for rank, share in enumerate(_shares()):
        due += share * SLOTS
        already = len(table)
        table.extend(token(rank, mixed(rank << 20 | turn) % 32) for turn in range(round(due) - already))
    table.extend([""] * (SLOTS - len(table)))
    return table


def rare_rank(uniform: Callable[[], float]) -> int:
    """Draws a rank of the tail."""
    return int(HEAD * (1.0 - uniform()) ** (-1.0 / (TAIL_EXPONENT - 1.0)))
