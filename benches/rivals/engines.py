"""Search engines that find whole words only: fast, but their answers differ from the contract."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from benches.rivals.base import Exactness, Ranking, Rival, module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benches.documents import Texts

_TOP = 20
"""How many results a question without a limit gets."""
_WORD = re.compile(r"\w\w+")
_LETTERS = re.compile(r"[^\W_]+")
"""What tantivy's tokenizer takes as a word. Many other characters are syntax in its query language."""


def pairs_of(text: str) -> list[str]:
    """The overlapping pairs of characters of every run of letters."""
    return [run[at : at + 2] for run in _LETTERS.findall(text.lower()) for at in range(len(run) - 1)]


class Tantivy(Rival):
    """Three fields with the weights of the contract."""

    name = "tantivy, word tokens, top results"
    exactness = Exactness.INEXACT
    packages = ("tantivy",)
    remark = "three weighted fields, top 20"
    boosts: ClassVar[dict[str, float]] = {"title": 3.0, "meta": 2.0, "body": 1.0}
    tokenizer: ClassVar[str] = "default"

    def __init__(self) -> None:
        self._index: Any = None
        self._searcher: Any = None
        self._names = list(self.boosts)

    def load(self, corpus: Texts) -> None:
        tantivy = module("tantivy")
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("position", fast=True)
        for name in self._names:
            # Positions in the text are not stored, because no question here has a phrase.
            builder.add_text_field(name, index_option="freq", tokenizer_name=self.tokenizer)
        self._index = tantivy.Index(builder.build())
        self._register(tantivy)
        writer = self._index.writer(256_000_000, 1)
        for position in range(len(corpus)):
            fields = dict(zip(self._names, self._texts(corpus, position), strict=True))
            writer.add_document(tantivy.Document(position=position, **fields))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def _register(self, tantivy: Any) -> None:
        """Tells the index about a tokenizer that is not built in."""

    def _texts(self, corpus: Texts, position: int) -> list[str]:
        return [corpus.titles[position], corpus.metas[position], corpus.bodies[position]]

    def _words(self, text: str) -> list[str]:
        return _LETTERS.findall(text.lower())

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        words = " ".join(self._words(text))
        query, _ = self._index.parse_query_lenient(words, self._names, self.boosts)
        hits = self._searcher.search(query, limit or _TOP, count=False).hits
        positions = self._searcher.fast_field_values("position", [address for _, address in hits])
        return Ranking(positions, [score for score, _ in hits])


class TantivyPairs(Tantivy):
    """Three fields of overlapping pairs of characters, for scripts that are written without spaces."""

    name = "tantivy, pairs of characters, top results"
    tokenizer = "pairs"

    def _register(self, tantivy: Any) -> None:
        pairs = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(2, 2, False)).filter(
            tantivy.Filter.lowercase()
        )
        self._index.register_tokenizer(self.tokenizer, pairs.build())

    def _words(self, text: str) -> list[str]:
        return pairs_of(text)


class TantivyOneField(Tantivy):
    """All text in one field: the least work for a search by words."""

    name = "tantivy, one field without weights"
    remark = "top 20"
    boosts: ClassVar[dict[str, float]] = {"text": 1.0}

    def _texts(self, corpus: Texts, position: int) -> list[str]:
        return ["\n".join(super()._texts(corpus, position))]


class Bm25s(Rival):
    """Computes scores when it indexes, and stores them in one sparse matrix."""

    name = "bm25s, word tokens"
    exactness = Exactness.INEXACT
    packages: ClassVar[tuple[str, ...]] = ("bm25s", "numpy")
    remark = "one field, top 20"

    def __init__(self) -> None:
        self._retriever: Any = None
        self._size = 0

    def load(self, corpus: Texts) -> None:
        self._size = len(corpus)
        self._retriever = module("bm25s").BM25(backend="auto")
        texts = zip(corpus.titles, corpus.metas, corpus.bodies, strict=True)
        self._retriever.index([_WORD.findall("\n".join(fields)) for fields in texts], show_progress=False)

    def search(self, text: str, *, limit: int | None = None) -> Ranking:
        return self._retrieve([text], limit or _TOP)[0]

    def batch(self, texts: Sequence[str], *, limit: int) -> list[Ranking]:
        return self._retrieve(texts, limit)

    def _retrieve(self, texts: Sequence[str], limit: int) -> list[Ranking]:
        words = [_WORD.findall(text.upper()) for text in texts]
        found, scores = self._retriever.retrieve(words, k=min(limit, self._size), show_progress=False)
        return [Ranking(row, points) for row, points in zip(found, scores, strict=True)]


class Bm25sStemmed(Bm25s):
    """As people use it for text: English stems and stop words, the title three times, the tags twice."""

    name = "bm25s, English stems and stop words"
    packages = ("bm25s", "numpy", "Stemmer")
    remark = "one field"

    def __init__(self) -> None:
        super().__init__()
        self._stemmer: Any = None

    def load(self, corpus: Texts) -> None:
        self._size = len(corpus)
        self._stemmer = module("Stemmer").Stemmer("english")
        self._retriever = module("bm25s").BM25(backend="auto")
        fields = zip(corpus.titles, corpus.metas, corpus.bodies, strict=True)
        texts = ["\n".join([title] * 3 + [meta] * 2 + [body]) for title, meta, body in fields]
        self._retriever.index(self._tokens(texts), show_progress=False)

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        tokens: list[list[str]] = module("bm25s").tokenize(
            list(texts), stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return tokens

    def _retrieve(self, texts: Sequence[str], limit: int) -> list[Ranking]:
        found, scores = self._retriever.retrieve(
            self._tokens(texts), k=min(limit, self._size), show_progress=False
        )
        return [Ranking(row, points) for row, points in zip(found, scores, strict=True)]
