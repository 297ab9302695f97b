"""Mistakes are refused with the same message at every entrance, before anything is read (Q1)."""

from __future__ import annotations

import asyncio
import pickle
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import okf_catalog
import pytest
from making.asking import RESOLVERS, Entrance, codes
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.visibility import never
from okf_catalog import (
    CatalogClosedError,
    CatalogDiagnostic,
    CatalogDiagnosticCode,
    CatalogError,
    FileKnowledgeCatalog,
    GroupedKnowledgeResolver,
    KnowledgeQuery,
    KnowledgeResolverRouter,
    KnowledgeUnit,
    MemoryOverlapError,
    OkfCatalogError,
    RefusedTypeError,
    RefusedValueError,
    open_knowledge,
    parse_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Callable

ERRORS: list[OkfCatalogError] = [
    OkfCatalogError("anything"),
    CatalogClosedError("the catalog was closed"),
    RefusedValueError("text is empty"),
    RefusedTypeError("text is a str"),
    MemoryOverlapError("diary", "docs"),
    CatalogError(
        (
            CatalogDiagnostic(CatalogDiagnosticCode.EMPTY_PATH, "sources[0]: write a path"),
            CatalogDiagnostic(CatalogDiagnosticCode.WRONG_VERSION, "write 1"),
        )
    ),
]


# The classes


def test_every_error_is_an_okf_error_and_a_builtin_error() -> None:
    bases = {error: error.__bases__ for error in map(type, ERRORS)}
    assert bases == {
        OkfCatalogError: (Exception,),
        CatalogError: (OkfCatalogError,),
        CatalogClosedError: (OkfCatalogError, RuntimeError),
        RefusedValueError: (OkfCatalogError, ValueError),
        RefusedTypeError: (OkfCatalogError, TypeError),
        MemoryOverlapError: (RefusedValueError,),
    }
    public = [getattr(okf_catalog, name) for name in okf_catalog.__all__]
    assert bases.keys() == {it for it in public if isinstance(it, type) and issubclass(it, BaseException)}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_pickle_with_all_their_fields(error: OkfCatalogError, protocol: int) -> None:
    loaded = pickle.loads(pickle.dumps(error, protocol))
    assert type(loaded) is type(error)
    assert loaded.args == error.args
    assert str(loaded) == str(error)
    assert vars(loaded) == vars(error)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_the_repr_of_an_error_can_be_typed(error: OkfCatalogError) -> None:
    names = {name: getattr(okf_catalog, name) for name in okf_catalog.__all__}
    assert repr(eval(repr(error), names)) == repr(error)


def test_a_catalog_error_prints_one_line_for_each_fault() -> None:
    assert str(ERRORS[-1]) == "[EMPTY_PATH] sources[0]: write a path\n[WRONG_VERSION] write 1"


# Questions, wherever they are put


def test_a_text_is_refused_as_its_query_would_be(ask: Entrance) -> None:
    for text in ("", " ", "\n\u3000", "\ud800"):
        with pytest.raises(RefusedValueError) as alone:
            KnowledgeQuery(text)
        with pytest.raises(RefusedValueError) as raised:
            ask(text)
        assert type(raised.value) is RefusedValueError
        assert ask.text(raised.value) == str(alone.value)


def test_anything_but_a_question_is_refused(ask: Entrance) -> None:
    for query in (None, 1, b"word", ["word"], {"text": "word"}, KnowledgeQuery):
        with pytest.raises(RefusedTypeError) as raised:
            ask(query)
        text = f"is a KnowledgeQuery or a str, not {type(query).__name__}"
        assert str(raised.value) == f"{'queries[0]' if ask.way == 'search_batch' else 'query'} {text}"


def test_a_refused_question_reads_nothing(
    ask: Entrance, shelf: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_tree(shelf, {"low/bad.md": b"\0"})
    for query in ("", None):
        with pytest.raises((RefusedValueError, RefusedTypeError)):
            ask(query, default_source_visibility_policy=never, clock=never)
    # Reading the bundle would log its problem.
    assert caplog.records == []
    ask("word")
    assert len(caplog.records) == 1


def test_a_refused_question_is_reported_before_a_closed_catalog(ask: Entrance, shelf: Path) -> None:
    ask.catalog.close()
    with pytest.raises(RefusedValueError):
        ask("")
    with pytest.raises(CatalogClosedError):
        ask("word")


def test_an_async_search_refuses_when_it_is_awaited(catalog: FileKnowledgeCatalog) -> None:
    async def search() -> None:
        awaitable = GroupedKnowledgeResolver(catalog).search_async("")
        with pytest.raises(RefusedValueError):
            await awaitable

    asyncio.run(search())


# Batches

BATCHES: list[tuple[str, list[object], type[OkfCatalogError], str]] = [
    ("a blank one", ["a", " "], RefusedValueError, "queries[1]: text "),
    ("the first of two", ["a", "b", "", "\ud800"], RefusedValueError, "queries[2]: text "),
    ("none", [KnowledgeQuery("a"), None], RefusedTypeError, "queries[1] is a KnowledgeQuery or a str, not "),
    ("bytes", [b"a"], RefusedTypeError, "queries[0] is a KnowledgeQuery or a str, not bytes"),
]


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize(("queries", "kind", "start"), [case[1:] for case in BATCHES])
@pytest.mark.parametrize("collect", [list, iter])
def test_one_refused_question_refuses_the_batch(
    catalog: FileKnowledgeCatalog,
    resolver: str,
    queries: list[object],
    kind: type[OkfCatalogError],
    start: str,
    collect: Callable[[list[object]], Any],
) -> None:
    made = RESOLVERS[resolver](catalog, default_source_visibility_policy=never, clock=never)
    with pytest.raises(kind) as raised:
        made.search_batch(collect(queries))
    assert str(raised.value).startswith(start)


@pytest.mark.parametrize("queries", ["word", "", b"word", None, 1, KnowledgeQuery("word")])
def test_a_batch_is_a_collection_of_questions(catalog: FileKnowledgeCatalog, queries: Any) -> None:
    with pytest.raises(RefusedTypeError) as raised:
        GroupedKnowledgeResolver(catalog).search_batch(queries)
    assert str(raised.value) == f"queries is an iterable of queries, not one {type(queries).__name__}"


@pytest.mark.parametrize(
    ("limit", "kind"),
    [
        (-1, RefusedValueError),
        (-(10**30), RefusedValueError),
        (True, RefusedTypeError),
        (1.0, RefusedTypeError),
        ("1", RefusedTypeError),
    ],
)
def test_a_limit_is_a_whole_number_of_at_least_1(
    catalog: FileKnowledgeCatalog, limit: Any, kind: type[OkfCatalogError]
) -> None:
    with pytest.raises(kind, match="limit"):
        GroupedKnowledgeResolver(catalog).search_batch(map(never, [1]), limit=limit)


def test_an_error_of_a_generator_passes_unchanged(catalog: FileKnowledgeCatalog) -> None:
    error = KeyError("mine")

    def queries() -> Any:
        yield "word"
        raise error

    with pytest.raises(KeyError) as raised:
        GroupedKnowledgeResolver(catalog).search_batch(queries())
    assert raised.value is error


# Hosts

DEFAULTS: list[tuple[str, Any, type[OkfCatalogError]]] = [
    ("default_fairness_quota", 0, RefusedValueError),
    ("default_fairness_quota", -1, RefusedValueError),
    ("default_fairness_quota", True, RefusedTypeError),
    ("default_fairness_quota", 1.0, RefusedTypeError),
    ("default_fairness_quota", "1", RefusedTypeError),
    ("default_source_visibility_policy", True, RefusedTypeError),
    ("default_source_visibility_policy", "yes", RefusedTypeError),
    ("clock", datetime(2026, 1, 1, tzinfo=timezone.utc), RefusedTypeError),
    ("clock", 0, RefusedTypeError),
    ("default_strategy", "best", RefusedValueError),
    ("default_strategy", "MERGED", RefusedValueError),
    ("default_strategy", None, RefusedTypeError),
    ("default_strategy", 1, RefusedTypeError),
    ("default_scoring", "bm25", RefusedValueError),
    ("default_scoring", "BM25F", RefusedValueError),
    ("default_scoring", "", RefusedValueError),
    ("default_scoring", None, RefusedTypeError),
    ("default_scoring", 1, RefusedTypeError),
    ("default_scoring", KnowledgeUnit.CONCEPT, RefusedValueError),
]


@pytest.mark.parametrize(("field", "value", "kind"), DEFAULTS)
def test_settings_of_a_host_are_checked_at_construction(
    catalog: FileKnowledgeCatalog, field: str, value: object, kind: type[OkfCatalogError]
) -> None:
    """Every class with the setting gives the same message; ``open_knowledge`` before it opens a file."""

    def open_nothing(_: object, **defaults: Any) -> object:
        return open_knowledge("no such catalog", **defaults)

    makers: dict[str, Callable[..., object]] = {**RESOLVERS, "open": open_nothing}
    if field == "default_fairness_quota":
        del makers["grouped"]
    if field == "default_strategy":
        makers = {name: makers[name] for name in ("router", "host", "open")}
    texts = set[str]()
    for make in makers.values():
        with pytest.raises(kind) as raised:
            make(catalog, **{field: value})
        assert type(raised.value) is kind
        texts.add(str(raised.value))
    assert len(texts) == 1
    assert texts.pop().startswith(field)


@pytest.mark.parametrize("catalog", [None, "catalog.json", Path("catalog.json"), FileKnowledgeCatalog])
def test_a_resolver_needs_a_catalog(catalog: Any) -> None:
    message = "catalog is a FileKnowledgeCatalog or InMemoryKnowledgeCatalog, not"
    for name, make in RESOLVERS.items():
        if name != "host":
            with pytest.raises(RefusedTypeError, match=message):
                make(catalog)


def test_a_clock_must_return_a_datetime(ask: Entrance) -> None:
    now: object = None
    for now in (None, 0, 0.0, "2026-01-01", timedelta(1), date(2026, 1, 1)):
        with pytest.raises(RefusedTypeError) as raised:
            ask("word", clock=lambda: now)  # noqa: B023
        assert str(raised.value) == f"what clock returns is an aware datetime, not {type(now).__name__}"


def test_a_clock_without_a_time_zone_is_refused(ask: Entrance) -> None:
    with pytest.raises(RefusedValueError, match=r"clock returns an aware datetime.*time zone"):
        ask("word", clock=lambda: datetime(2026, 1, 1))  # noqa: DTZ001


def test_an_async_clock_is_refused_without_a_warning(ask: Entrance) -> None:
    async def clock() -> datetime:
        return datetime.now(timezone.utc)

    with pytest.raises(RefusedTypeError, match="not coroutine"):
        ask("word", clock=clock)


def test_an_error_of_a_clock_passes_unchanged(ask: Entrance) -> None:
    error = OSError("no battery")

    def clock() -> datetime:
        raise error

    with pytest.raises(OSError, match="no battery") as raised:
        ask("word", clock=clock)
    assert raised.value is error


# Catalogs


class BytesPath:
    def __fspath__(self) -> bytes:
        return b"catalog.json"


@pytest.mark.parametrize(
    "path", [1, b"catalog.json", BytesPath(), ["catalog.json"], Path], ids=lambda path: type(path).__name__
)
def test_a_path_must_be_text(path: Any) -> None:
    for open_catalog in (FileKnowledgeCatalog, open_knowledge):
        with pytest.raises(RefusedTypeError, match=r"^catalog_file_path is a str or a path of text, not "):
            open_catalog(path)
        with pytest.raises(RefusedTypeError, match=r"^catalog_root is a str or a path of text, not "):
            open_catalog("no such catalog", catalog_root=path)
    with pytest.raises(RefusedTypeError, match=r"^manifest_directory is a str or a path of text, not "):
        parse_manifest("", manifest_directory=path)


def test_a_catalog_needs_a_path() -> None:
    nowhere: Any = None
    for open_catalog in (FileKnowledgeCatalog, open_knowledge):
        with pytest.raises(
            RefusedTypeError, match=r"^catalog_file_path is a str or a path of text, not None"
        ):
            open_catalog(nowhere)


def test_a_path_with_a_nul_is_refused() -> None:
    with pytest.raises(RefusedValueError, match=r"^catalog_file_path holds a NUL"):
        FileKnowledgeCatalog("cata\0log.json")
    with pytest.raises(RefusedValueError, match=r"^catalog_root holds a NUL"):
        FileKnowledgeCatalog("catalog.json", catalog_root=Path("a\0b"))


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("watch_for_changes", 1, RefusedTypeError),
        ("watch_for_changes", None, RefusedTypeError),
        ("reload_debounce", 250, RefusedTypeError),
        ("reload_debounce", 0.25, RefusedTypeError),
        ("reload_debounce", timedelta(microseconds=-1), RefusedValueError),
        ("max_file_bytes", 0, RefusedValueError),
        ("max_file_bytes", None, RefusedTypeError),
        ("max_file_bytes", 1e6, RefusedTypeError),
        ("max_threads", 0, RefusedValueError),
        ("max_threads", True, RefusedTypeError),
        ("freshness", None, RefusedTypeError),
        ("freshness", "exact", RefusedTypeError),
        ("on_progress", True, RefusedTypeError),
    ],
)
def test_the_options_of_a_catalog_are_checked_before_it_opens(
    field: str, value: object, kind: type[OkfCatalogError]
) -> None:
    options: dict[str, Any] = {field: value}
    with pytest.raises(kind, match=f"^{field} is ") as raised:
        FileKnowledgeCatalog("no such catalog", **options)
    assert type(raised.value) is kind


@pytest.mark.parametrize("text", [None, 1, bytearray(b"{}"), memoryview(b"{}"), Path("catalog.json")])
def test_a_manifest_must_be_text_or_bytes(text: Any) -> None:
    with pytest.raises(RefusedTypeError, match=r"^text is a str or bytes, not "):
        parse_manifest(text, manifest_directory=".")


def test_the_error_of_a_catalog_that_cannot_open_holds_every_diagnostic(tmp_path: Path) -> None:
    write_manifest(
        tmp_path, [{"id": "a", "path": "nowhere"}, {"id": "b", "path": "/etc"}, {"id": "c", "path": ".."}]
    )
    texts = set[str]()
    for open_catalog in (FileKnowledgeCatalog, open_knowledge):
        with pytest.raises(CatalogError) as raised:
            open_catalog(tmp_path / "catalog.json")
        error = raised.value
        assert [diagnostic.code.name for diagnostic in error.diagnostics] == [
            "TARGET_NOT_FOUND",
            "ABSOLUTE_PATH",
            "OUTSIDE_ROOT",
        ]
        assert str(error) == "\n".join(f"[{d.code.name}] {d.message}" for d in error.diagnostics)
        assert str(tmp_path) not in str(error)
        texts.add(str(error))
    assert len(texts) == 1


# Closed


def test_a_search_of_a_closed_catalog_says_that_it_is_closed(ask: Entrance) -> None:
    before = ask("word")
    ask.catalog.close()
    ask.catalog.close()
    with pytest.raises(CatalogClosedError, match="closed"):
        ask("word")
    # Answers from before stay.
    assert codes(before) == []
    assert len(before.passages) > 0
    with pytest.raises(CatalogClosedError):
        KnowledgeResolverRouter(ask.catalog).search_batch([])
    with pytest.raises(CatalogClosedError):
        ask.catalog.report()
