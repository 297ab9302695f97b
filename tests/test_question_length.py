"""The length of a question is limited (max_question_bytes), and a long search can be cancelled."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, cast

import pytest
from making.asking import RESOLVERS, Entrance
from making.bundles import write_tree
from making.catalogs import write_manifest
from okf_catalog import (
    ChatMessage,
    FileKnowledgeCatalog,
    FileMemoryStore,
    GroupedKnowledgeResolver,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    KnowledgeQuery,
    MergedKnowledgeResolver,
    RefusedTypeError,
    RefusedValueError,
    open_knowledge,
)
from okf_catalog.ask.length import limit_of, shortened
from okf_catalog.catalog.limits import MAX_QUESTION_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from okf_catalog import Knowledge

CURE = "ask for less, or open the catalog with a larger max_question_bytes"

LONGEST = {"ascii": "word " * 13_107 + "w", "two bytes": "é" * 32_768, "four": "\U0001f600" * 16_384}
"""Texts of exactly the most bytes of a question."""


def test_the_bound_is_64_kib_unless_the_catalog_is_told_otherwise(shelf: Path) -> None:
    with open_knowledge(shelf / "catalog.json", watch_for_changes=False) as knowledge:
        assert knowledge.max_question_bytes == knowledge.resolver.max_question_bytes == 65_536
    with open_knowledge(shelf / "catalog.json", watch_for_changes=False, max_question_bytes=7) as knowledge:
        assert knowledge.catalog.max_question_bytes == knowledge.max_question_bytes == 7


@pytest.mark.parametrize("name", LONGEST)
def test_a_question_of_the_most_bytes_is_answered_and_one_byte_more_is_refused(
    ask: Entrance, name: str
) -> None:
    longest = LONGEST[name]
    assert len(longest.encode()) == MAX_QUESTION_BYTES
    found = ask(longest).passages
    assert bool(found) == (name == "ascii")
    ask(KnowledgeQuery("word", longest))
    for query, field in ((longest + "w", "text"), (KnowledgeQuery("word", longest + "w"), "tag")):
        with pytest.raises(RefusedValueError) as raised:
            ask(query)
        assert ask.text(raised.value) == (
            f"{field} has 65537 bytes as UTF-8, and this catalog takes at most 65536; {CURE}"
        )


def test_a_question_that_is_too_long_is_refused_before_any_policy_is_called(shelf: Path) -> None:
    def never(*_: object) -> bool:
        raise AssertionError("nothing is done for a question that is refused")

    with FileKnowledgeCatalog(
        shelf / "catalog.json", watch_for_changes=False, max_question_bytes=8
    ) as catalog:
        for make in RESOLVERS.values():
            resolver = make(catalog, default_source_visibility_policy=never)
            for wrong in ("more than 8", KnowledgeQuery("é" * 5), KnowledgeQuery("word", "a tag too long")):
                with pytest.raises(RefusedValueError, match="max_question_bytes"):
                    resolver.search(wrong)
                with pytest.raises(RefusedValueError, match=r"^queries\[1\]: (text|tag) has .* at most 8"):
                    resolver.search_batch(["word", wrong])


def test_a_stream_refuses_a_long_question_when_its_turn_comes(shelf: Path) -> None:
    with FileKnowledgeCatalog(
        shelf / "catalog.json", watch_for_changes=False, max_question_bytes=8
    ) as catalog:
        answers = MergedKnowledgeResolver(catalog).search_stream(["word", "more than 8"])
        assert len(next(answers).passages) == 5
        with pytest.raises(RefusedValueError, match=r"^queries\[1\]: text has 11 bytes"):
            next(answers)


def test_a_memory_store_refuses_a_long_question(notes: Knowledge) -> None:
    store = notes.memory
    assert isinstance(store, FileMemoryStore)
    assert store.max_question_bytes == MAX_QUESTION_BYTES

    def awaited(scope: KnowledgeAccessScope, query: Any) -> Any:
        return asyncio.run(store.read_async(scope, query))

    for read in (store.read, awaited):
        for wrong, field in (("w" * 65_537, "text"), (KnowledgeQuery("word", "é" * 40_000), "tag")):
            with pytest.raises(RefusedValueError, match=f"^{field} has .* at most 65536"):
                read(KnowledgeAccessScope.LOCAL, wrong)
        assert not read(KnowledgeAccessScope.LOCAL, "w" * 65_536).passages


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "8", None, True])
def test_the_bound_is_a_whole_number_of_at_least_1(shelf: Path, wrong: Any) -> None:
    for opening in (FileKnowledgeCatalog, open_knowledge):
        with pytest.raises((RefusedTypeError, RefusedValueError), match="max_question_bytes is"):
            opening(shelf / "catalog.json", max_question_bytes=wrong)


# Messages


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("net revenue", 11, "net revenue"),
        ("net revenue", 10, "net"),
        ("net revenue", 4, "net "),
        ("net revenue", 3, "net"),
        ("net revenue", 2, "ne"),
        ("  net revenue", 5, "net"),
        ("a  b c", 5, "a  b "),
        ("äöü", 6, "äöü"),
        ("äöü", 5, "äö"),
        ("ä ö ü", 7, "ä ö "),
        ("ä", 1, ""),
        ("\u3000a\u3000b", 6, "a\u3000b"),
        ("\u3000a\u3000b", 4, "a\u3000"),
        ("\u3000a\u3000b", 3, "a"),
        ("net revenue", None, "net revenue"),
    ],
)
def test_a_message_is_cut_at_white_space_or_after_a_character(
    text: str, most: int | None, expected: str
) -> None:
    assert shortened(text, most) == expected


@pytest.mark.parametrize("seed", range(20))
def test_a_cut_message_is_a_beginning_of_the_message_that_fits(seed: int) -> None:
    chance = random.Random(seed)
    text = "".join(chance.choices("ab é\u3000\n\U0001f600", k=200)) + "!"
    for most in range(1, len(text.encode()) + 2):
        head = shortened(text, most)
        assert len(head.encode()) <= most
        assert text.strip().startswith(head) or head == text
        words = head.split()
        assert words[:-1] == text.split()[: len(words) - 1] if words else True
        whole = words == text.split()[: len(words)]
        assert whole or len(words) == 1


def test_a_provider_uses_the_smaller_bound_of_resolver_and_store() -> None:
    class Bounded:
        def __init__(self, limit: Any) -> None:
            self.max_question_bytes = limit

    assert limit_of(Bounded(5), Bounded(7)) == 5
    assert limit_of(Bounded(9), object()) == 9
    assert limit_of(object(), None, Bounded("7"), Bounded(None)) is None


def test_a_provider_asks_with_the_beginning_of_a_long_message(shelf: Path) -> None:
    def failed(error: Exception) -> None:
        raise AssertionError(error)

    long = "word " + "filler " * 400_000 + "end"
    with FileKnowledgeCatalog(shelf / "catalog.json", watch_for_changes=False) as catalog:
        provider = KnowledgeContextProvider(GroupedKnowledgeResolver(catalog), on_internal_error=failed)
        short = provider.provide([ChatMessage("user", "word")])
        assert short.blocks
        assert provider.provide([ChatMessage("user", long)]) == short
        assert asyncio.run(provider.provide_async([ChatMessage("user", long)])) == short
        assert provider.provide([ChatMessage("user", "x" * 3_000_000)]).blocks == ()


# Cancelling


MANY = 300_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle in which a question of many terms takes long."""
    directory = tmp_path_factory.mktemp("wide")
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghij", k=6)) for _ in range(6_000)]
    write_tree(directory, {f"wide/{i}.md": " ".join(chance.choices(words, k=150)) for i in range(2_000)})
    (directory / "notes").mkdir()
    write_manifest(
        directory,
        [
            {"id": "wide", "path": "wide"},
            {"id": "notes", "path": "notes", "role": "memory", "tier": "user"},
        ],
    )
    return directory


def question() -> str:
    """Some megabytes of distinct terms, most of which occur in the bundle."""
    chance = random.Random(8)
    return " ".join("".join(chance.choices("abcdefghij", k=4)) + f" {i % 10}{i}x" for i in range(MANY))


@pytest.fixture
def wide(large: Path) -> Iterator[FileKnowledgeCatalog]:
    with FileKnowledgeCatalog(
        large / "catalog.json", watch_for_changes=False, max_question_bytes=1 << 30
    ) as catalog:
        GroupedKnowledgeResolver(catalog).search("a")
        yield catalog


WAYS = {
    "search": "resolver.search(question)",
    "search of a stale index": "touch(); resolver.search(question)",
    "search_batch": "resolver.search_batch([question])",
    "many in a batch": "resolver.search_batch([f'{i} {question}' for i in range(3)])",
    "search_stream": "list(resolver.search_stream(['a', question]))",
    "a later part of a stream": "list(resolver.search_stream(['a'] * 256 + [question]))",
    "search_async": "asyncio.run(resolver.search_async(question))",
}


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_ends_a_question_of_megabytes(large: Path, way: str) -> None:
    program = (
        "import asyncio, pathlib, random, sys, time\n"
        "from okf_catalog import *\n"
        "path = sys.argv[1] + '/catalog.json'\n"
        "catalog = FileKnowledgeCatalog(path, max_question_bytes=1 << 30, max_threads=1)\n"
        "resolver = GroupedKnowledgeResolver(catalog)\n"
        "question = sys.stdin.read()\n"
        "def touch(): (pathlib.Path(sys.argv[1]) / 'wide' / 'new.md').write_text('x')\n"
        "resolver.search('a')\n"
        "print('asking', flush=True)\n"
        f"try: {WAYS[way]}\n"
        "except KeyboardInterrupt: print('called off', flush=True)\n"
        "else: print('finished', flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(large)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(question())
        process.stdin.close()
        assert process.stdout.readline().strip() == "asking"
        time.sleep(0.3)
        sent = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline().strip() == "called off"
        assert time.monotonic() - sent < 5, (
            "far more than the fifth of a second it should take on an idle machine"
        )
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


async def cancelled_soon(waited_for: Any) -> float:
    """Cancels an awaitable after a moment; gives the seconds that its thread went on."""
    task = asyncio.ensure_future(waited_for)
    await asyncio.sleep(0.3)
    assert not task.done()
    task.cancel()
    start = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.get_running_loop().shutdown_default_executor()
    return time.monotonic() - start


def test_a_cancelled_search_leaves_no_thread_at_work(wide: FileKnowledgeCatalog) -> None:
    resolver = GroupedKnowledgeResolver(wide)
    assert asyncio.run(cancelled_soon(resolver.search_async(question()))) < 5


def test_a_cancelled_memory_read_leaves_no_thread_at_work(wide: FileKnowledgeCatalog, large: Path) -> None:
    store = FileMemoryStore(wide)
    place = large / "notes" / "memory-user" / "_local" / "_local"
    place.mkdir(parents=True, exist_ok=True)
    chance = random.Random(9)
    for number in range(300):
        (place / f"{number}.md").write_text(
            " ".join("".join(chance.choices("abcdefghij", k=7)) for _ in range(900))
        )
    store.read(KnowledgeAccessScope.LOCAL, "a")
    assert asyncio.run(cancelled_soon(store.read_async(KnowledgeAccessScope.LOCAL, question()))) < 5


def test_an_awaited_search_gives_the_whole_answer(wide: FileKnowledgeCatalog) -> None:
    resolver = GroupedKnowledgeResolver(wide)
    assert asyncio.run(resolver.search_async("abc " * 1000)) == resolver.search("abc " * 1000)


def test_an_abandoned_stream_leaves_no_thread_at_work(wide: FileKnowledgeCatalog) -> None:
    text = question()
    stream = cast("Any", GroupedKnowledgeResolver(wide).search_stream(["a"] * 256 + [text] * 3))
    assert next(stream).passages
    start = time.monotonic()
    stream.close()
    assert time.monotonic() - start < 5
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("okf-catalog")]


def test_a_long_question_finds_what_its_terms_find(wide: FileKnowledgeCatalog) -> None:
    """The engine adds up the scores of very many terms in another way than those of few."""
    resolver = GroupedKnowledgeResolver(wide)
    chance = random.Random(10)
    terms = ["".join(chance.choices("abcdefghij", k=chance.choice((2, 3, 4)))) for _ in range(300)]
    scores: dict[str, int] = {}
    for term in terms:
        for passage in resolver.search(term).passages:
            scores[passage.concept_id] = scores.get(passage.concept_id, 0) + passage.score
    expected = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    context = resolver.search(" ".join(terms))
    assert [(passage.concept_id, passage.score) for passage in context.passages] == expected
    batch = resolver.search_batch([" ".join(terms), " ".join(terms[:20])])
    assert batch[0] == context


def test_excerpts_of_a_long_question_are_the_lines_with_a_term(wide: FileKnowledgeCatalog) -> None:
    resolver = GroupedKnowledgeResolver(wide)
    rare = " ".join(f"{i}-nowhere-{i}" for i in range(20_000))
    context = resolver.search(rare + " abc")
    assert len(context.passages) == len(resolver.search("abc").passages) > 0
    start = time.monotonic()
    for passage in context.passages[:50]:
        assert "abc" in passage.excerpt
    assert time.monotonic() - start < 10
