"""Corpora in scripts that are written without spaces.

Their sentences are those of the folder of sets if it has Japanese or Chinese ones (`benches.sets`): drawn
again and again, in another order. Otherwise they are made of common characters: words of one to three, drawn
by the frequencies of natural text.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING

from benches import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_SPACELESS = re.compile(r"[々〆぀-ヿ㐀-鿿]")
_SENTENCE = re.compile(r"[^。！？\n]+[。！？]?")
_LEAST_SHARE = 0.3
"""A text is in such a script if at least this share of its characters is."""

_PARTICLES = "的一是在不了有和人这中大为上个国我以要他时来用们のをにがはでともへや"
_COMMON = (
    "生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经十三之进着等部度家电力里如水化高自"
    "二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线"
    "内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员"
    "革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必"
    "战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什认六共权收证改清己美再采"
)
_WORDS = 6_000
"""How many words the made texts have."""


def sentences_of(bodies: Sequence[str]) -> list[str]:
    """The sentences of the bodies that are in such a script."""
    found: list[str] = []
    for body in bodies:
        if len(_SPACELESS.findall(body)) >= _LEAST_SHARE * len("".join(body.split())):
            found += [sentence.strip() for sentence in _SENTENCE.findall(body) if sentence.strip()]
    return found


def made_sentences(count: int, *, seed: int = 0) -> list[str]:
    """Sentences of made words."""
    random = Random(seed)
    known = [_made_word(rank) for rank in range(_WORDS)]
    weights = list(accumulate(1.0 / (rank + 2.7) for rank in range(_WORDS)))
    return [
        "".join(random.choices(known, cum_weights=weights, k=random.randint(5, 25))) + "。"
        for _ in range(count)
    ]


def _made_word(rank: int) -> str:
    if rank < len(_PARTICLES):
        return _PARTICLES[rank]
    bits = words.mixed(rank)
    letters = (_COMMON[(bits >> shift) % len(_COMMON)] for shift in (8, 24, 40))
    return "".join(letters)[: 2 + (bits % 5 == 0)]


def write(directory: Path, sentences: Sequence[str], *, count: int, body_bytes: int, seed: int = 0) -> Path:
    """Writes a catalog of concepts whose sentences are drawn from these; returns its ``catalog.json``."""
    random = Random(seed)
    folder = directory / "spaceless"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        title = json.dumps(random.choice(sentences)[:16], ensure_ascii=False)
        body = _body(lambda: random.choice(sentences), body_bytes)
        (folder / f"c{number}.md").write_text(f"---\ntitle: {title}\n---\n\n{body}\n", encoding="utf-8")
    manifest = directory / "catalog.json"
    sources = [{"id": "spaceless", "path": "spaceless"}]
    manifest.write_text(json.dumps({"version": 1, "sources": sources}), encoding="utf-8")
    return manifest


def _body(draw: Callable[[], str], body_bytes: int) -> str:
    """Sentences of about this many bytes, one to five in a paragraph."""
    drawn: list[str] = []
    size = 0
    while size < body_bytes:
        sentence = draw()
        size += len(sentence.encode()) + 1
        drawn.append(sentence)
    return "\n\n".join("".join(drawn[start : start + 4]) for start in range(0, len(drawn), 4))
