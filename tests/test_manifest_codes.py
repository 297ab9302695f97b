"""Every fault of a manifest has a code, and parsing lists them all (M1, M2)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from okf_catalog import (
    CatalogDiagnostic,
    CatalogDiagnosticCode,
    CatalogError,
    FileKnowledgeCatalog,
    KnowledgeCatalogSnapshot,
    MemoryTier,
    SourceRole,
    parse_manifest,
)

SOURCE = {"id": "a", "path": "b"}


def manifest(*sources: object, **root: object) -> str:
    return json.dumps({"version": 1, "sources": [*sources], **root})


def with_source(**fields: object) -> str:
    return manifest({**SOURCE, **fields})


def without(key: str) -> str:
    return manifest({name: value for name, value in SOURCE.items() if name != key})


def faults(text: str | bytes) -> tuple[CatalogDiagnostic, ...]:
    parsed = parse_manifest(text, manifest_directory=Path("somewhere"))
    assert not isinstance(parsed, KnowledgeCatalogSnapshot), parsed
    return parsed


def codes(text: str | bytes) -> list[str]:
    return [fault.code.value for fault in faults(text)]


def memory(id: str, tier: str) -> dict[str, str]:
    return {"id": id, "path": "b", "role": "memory", "tier": tier}


CASES: list[tuple[str, str | bytes, list[str]]] = [
    ("nothing", "", ["PARSE_ERROR"]),
    ("not JSON", "{", ["PARSE_ERROR"]),
    ("a trailing comma", '{"version": 1, "sources": [{"id": "a", "path": "b"},]}', ["PARSE_ERROR"]),
    ("a comment", "// no\n" + with_source(), ["PARSE_ERROR"]),
    ("something behind", with_source() + "{}", ["PARSE_ERROR"]),
    ("NaN", '{"version": NaN, "sources": [{"id": "a", "path": "b"}]}', ["PARSE_ERROR"]),
    ("not UTF-8", b'{"version": 1, "sources": [{"id": "caf\xe9", "path": "b"}]}', ["PARSE_ERROR"]),
    ("UTF-16", with_source().encode("utf-16"), ["PARSE_ERROR"]),
    ("half a surrogate pair", '{"version": 1, "sources": [{"id": "a", "path": "\\ud800"}]}', ["PARSE_ERROR"]),
    ("the root is a list", "[]", ["PARSE_ERROR"]),
    ("the root is null", "null", ["PARSE_ERROR"]),
    ("a source is no object", manifest("a"), ["PARSE_ERROR"]),
    ("two sources are no objects", manifest("a", SOURCE, 1), ["PARSE_ERROR", "PARSE_ERROR"]),
    (
        "a repeated root key",
        '{"version": 1, "version": 1, "sources": [{"id": "a", "path": "b"}]}',
        ["PARSE_ERROR"],
    ),
    (
        "a repeated source key",
        '{"version": 1, "sources": [{"id": "a", "id": "a", "path": "b"}]}',
        ["PARSE_ERROR"],
    ),
    ("deeply nested", "[" * 100_000, ["PARSE_ERROR"]),
    ("an unknown root property", manifest(SOURCE, name="n"), ["UNKNOWN_ROOT_PROPERTY"]),
    ("a root property in another case", manifest(SOURCE, Version=1), ["UNKNOWN_ROOT_PROPERTY"]),
    ("no version", json.dumps({"sources": [SOURCE]}), ["WRONG_VERSION"]),
    ("version 2", manifest(SOURCE, version=2), ["WRONG_VERSION"]),
    ("version 1.0", manifest(SOURCE, version=1.0), ["WRONG_VERSION"]),
    ("version true", manifest(SOURCE, version=True), ["WRONG_VERSION"]),
    ("version as text", manifest(SOURCE, version="1"), ["WRONG_VERSION"]),
    ("version null", manifest(SOURCE, version=None), ["WRONG_VERSION"]),
    ("no sources", json.dumps({"version": 1}), ["EMPTY_SOURCES"]),
    ("an empty list", manifest(), ["EMPTY_SOURCES"]),
    ("sources null", manifest(sources=None), ["EMPTY_SOURCES"]),
    ("sources by name", manifest(sources={"a": "b"}), ["EMPTY_SOURCES"]),
    ("an unknown source property", with_source(name="n"), ["UNKNOWN_SOURCE_PROPERTY"]),
    ("two of them", with_source(name="n", Path="b"), ["UNKNOWN_SOURCE_PROPERTY"] * 2),
    ("no id", without("id"), ["INVALID_SOURCE_ID"]),
    ("id null", with_source(id=None), ["INVALID_SOURCE_ID"]),
    ("id a number", with_source(id=1), ["INVALID_SOURCE_ID"]),
    ("id empty", with_source(id=""), ["INVALID_SOURCE_ID"]),
    ("id with a slash", with_source(id="a/b"), ["INVALID_SOURCE_ID"]),
    ("id with a space", with_source(id="a b"), ["INVALID_SOURCE_ID"]),
    ("id with a newline", with_source(id="a\n"), ["INVALID_SOURCE_ID"]),
    ("id that starts with a dot", with_source(id=".a"), ["INVALID_SOURCE_ID"]),
    ("id that starts with a dash", with_source(id="-a"), ["INVALID_SOURCE_ID"]),
    ("id with an accent", with_source(id="é"), ["INVALID_SOURCE_ID"]),
    ("id with a digit of another script", with_source(id="a\u0661"), ["INVALID_SOURCE_ID"]),
    ("one id twice", manifest(SOURCE, SOURCE), ["DUPLICATE_SOURCE_ID"]),
    ("one id thrice", manifest(SOURCE, SOURCE, SOURCE), ["DUPLICATE_SOURCE_ID"] * 2),
    ("no path", without("path"), ["EMPTY_PATH"]),
    ("path empty", with_source(path=""), ["EMPTY_PATH"]),
    ("path null", with_source(path=None), ["EMPTY_PATH"]),
    ("path a list", with_source(path=["b"]), ["EMPTY_PATH"]),
    ("priority a fraction", with_source(priority=1.5), ["MALFORMED_PRIORITY"]),
    ("priority 1.0", with_source(priority=1.0), ["MALFORMED_PRIORITY"]),
    ("priority as text", with_source(priority="1"), ["MALFORMED_PRIORITY"]),
    ("priority true", with_source(priority=True), ["MALFORMED_PRIORITY"]),
    ("priority null", with_source(priority=None), ["MALFORMED_PRIORITY"]),
    ("priority too large", with_source(priority=2**31), ["MALFORMED_PRIORITY"]),
    ("priority too small", with_source(priority=-(2**31) - 1), ["MALFORMED_PRIORITY"]),
    ("priority huge", with_source(priority=10**40), ["MALFORMED_PRIORITY"]),
    ("enabled 1", with_source(enabled=1), ["MALFORMED_ENABLED"]),
    ("enabled as text", with_source(enabled="true"), ["MALFORMED_ENABLED"]),
    ("enabled null", with_source(enabled=None), ["MALFORMED_ENABLED"]),
    ("role unknown", with_source(role="other"), ["ILLEGAL_ROLE"]),
    ("role in another case", with_source(role="Knowledge"), ["ILLEGAL_ROLE"]),
    ("role null", with_source(role=None), ["ILLEGAL_ROLE"]),
    ("knowledge with a tier", with_source(tier="user"), ["ILLEGAL_TIER"]),
    ("memory without a tier", with_source(role="memory"), ["ILLEGAL_TIER"]),
    ("memory with an unknown tier", with_source(role="memory", tier="team"), ["ILLEGAL_TIER"]),
    ("memory with tier null", with_source(role="memory", tier=None), ["ILLEGAL_TIER"]),
    ("one tier twice", manifest(memory("a", "user"), memory("b", "user")), ["DUPLICATE_MEMORY_TIER"]),
    ("NUL in an id", with_source(id="a\0"), ["EMBEDDED_NUL"]),
    ("NUL in a path", with_source(path="b\0c"), ["EMBEDDED_NUL"]),
    ("NUL in a role", with_source(role="knowledge\0"), ["EMBEDDED_NUL"]),
    ("nothing but NUL in a role", with_source(role="\0"), ["EMBEDDED_NUL"]),
    ("NUL in a tier", with_source(role="memory", tier="us\0er"), ["EMBEDDED_NUL"]),
    ("NUL in a tier that has no place", with_source(tier="\0"), ["EMBEDDED_NUL"]),
    ("NUL in a priority", with_source(priority="1\0"), ["EMBEDDED_NUL"]),
    ("NUL in enabled", with_source(enabled="\0"), ["EMBEDDED_NUL"]),
    ("NUL in a version", manifest(SOURCE, version="\0" + "1"), ["EMBEDDED_NUL"]),
    ("NUL for sources", manifest(sources="\0"), ["EMBEDDED_NUL"]),
    ("NUL for a source", manifest("\0"), ["EMBEDDED_NUL"]),
    ("NUL for a manifest", json.dumps("\0"), ["EMBEDDED_NUL"]),
    ("NUL in three fields", with_source(id="\0", path="\0", role="\0"), ["EMBEDDED_NUL"] * 3),
    ("many NUL in one text", with_source(role="\0" * 9), ["EMBEDDED_NUL"]),
    ("NUL in an unknown value", with_source(x="\0"), ["UNKNOWN_SOURCE_PROPERTY", "EMBEDDED_NUL"]),
    (
        "NUL deep in an unknown value",
        with_source(x=[{"a": ["b", {"c": "\0"}]}]),
        ["UNKNOWN_SOURCE_PROPERTY", "EMBEDDED_NUL"],
    ),
    ("NUL in a key deep in one", with_source(x={"\0": 1}), ["UNKNOWN_SOURCE_PROPERTY", "EMBEDDED_NUL"]),
    (
        "NUL in an unknown value of the root",
        manifest(SOURCE, x=["\0", "\0"]),
        ["UNKNOWN_ROOT_PROPERTY", "EMBEDDED_NUL"],
    ),
    ("NUL in a key", with_source(**{"ro\0le": "memory"}), ["EMBEDDED_NUL"]),
    ("NUL in a key of the root", manifest(SOURCE, **{"\0": 1}), ["EMBEDDED_NUL"]),
    ("NUL in a list for a path", with_source(path=["\0"]), ["EMBEDDED_NUL", "EMPTY_PATH"]),
    ("NUL in an object for a role", with_source(role={"a": "\0"}), ["EMBEDDED_NUL", "ILLEGAL_ROLE"]),
    ("what only looks like NUL", with_source(role="\\u0000"), ["ILLEGAL_ROLE"]),
    ("a bare NUL", with_source(role="a").replace('"a"}', '"a\0"}'), ["PARSE_ERROR"]),
    (
        "everything at once",
        json.dumps(
            {
                "version": 0,
                "extra": 1,
                "sources": [
                    {
                        "id": "a b",
                        "path": "",
                        "priority": "1",
                        "enabled": 0,
                        "role": "none",
                        "tier": 1,
                        "x": 1,
                    },
                    "b",
                    {"id": "c", "path": "\0", "tier": "user"},
                    {"id": "c", "path": "d"},
                ],
            }
        ),
        [
            *(
                "UNKNOWN_ROOT_PROPERTY",
                "WRONG_VERSION",
                "UNKNOWN_SOURCE_PROPERTY",
                "INVALID_SOURCE_ID",
                "EMPTY_PATH",
            ),
            *("MALFORMED_PRIORITY", "MALFORMED_ENABLED", "ILLEGAL_ROLE"),
            *("PARSE_ERROR", "EMBEDDED_NUL", "ILLEGAL_TIER", "DUPLICATE_SOURCE_ID"),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_every_fault_of_a_manifest_has_its_code(text: str | bytes, expected: list[str]) -> None:
    assert codes(text) == expected


def test_the_cases_cover_every_code_of_a_manifest() -> None:
    """The other codes are those of C1. INVALID_PATH is never reached, because EMBEDDED_NUL comes first."""
    of_paths = {"INVALID_PATH", "ABSOLUTE_PATH", "OUTSIDE_ROOT", "TARGET_NOT_FOUND", "REPARSE_POINT_IN_PATH"}
    caused = {code for _, _, expected in CASES for code in expected}
    assert caused == {code.value for code in CatalogDiagnosticCode} - of_paths


def test_a_fault_names_its_source_by_index_and_id() -> None:
    (fault,) = faults(
        manifest({"id": "zero", "path": "b"}, {"id": "second", "path": "b", "priority": "high"})
    )
    assert "1" in fault.message
    assert "second" in fault.message
    assert "high" in fault.message
    assert "zero" not in fault.message


@pytest.mark.parametrize("id", ["a", "A", "_", "0", "a.b", "a-b", "a_b", "9.-_", "a" * 300])
def test_a_source_id_is_one_segment(id: str) -> None:
    parsed = parse_manifest(with_source(id=id), manifest_directory=Path("somewhere"))
    assert isinstance(parsed, KnowledgeCatalogSnapshot)
    assert parsed.sources[0].id == id


@pytest.mark.parametrize("before", ["", "\ufeff", " \n"])
def test_a_manifest_is_read_with_its_defaults(before: str) -> None:
    text = before + manifest(
        SOURCE,
        {"id": "z", "path": "c", "priority": -(2**31), "enabled": False, "role": "knowledge"},
        {"id": "m", "path": "d", "priority": 2**31 - 1, "role": "memory", "tier": "tenant"},
    )
    parsed = parse_manifest(text, manifest_directory=Path("somewhere"))
    assert isinstance(parsed, KnowledgeCatalogSnapshot)
    assert parsed.version == 1
    assert [
        (source.id, source.path, source.priority, source.enabled, source.role, source.tier)
        for source in parsed.sources
    ] == [
        ("a", "b", 0, True, SourceRole.KNOWLEDGE, None),
        ("z", "c", -(2**31), False, SourceRole.KNOWLEDGE, None),
        ("m", "d", 2**31 - 1, True, SourceRole.MEMORY, MemoryTier.TENANT),
    ]
    assert parse_manifest(text.encode(), manifest_directory=Path("somewhere")) == parsed


@pytest.mark.parametrize("content", [b"", b"\xff", b"{}", manifest(SOURCE, SOURCE).encode()])
def test_a_catalog_that_cannot_open_lists_every_fault_of_its_manifest(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "catalog.json").write_bytes(content)
    with pytest.raises(CatalogError) as raised:
        FileKnowledgeCatalog(tmp_path / "catalog.json", watch_for_changes=False)
    assert raised.value.diagnostics == faults(content)


@pytest.mark.parametrize("name", ["nothing.json", "directory", "pipe"])
def test_a_manifest_that_is_no_file_is_a_parse_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CatalogError) as raised:
        FileKnowledgeCatalog(tmp_path / name, watch_for_changes=False)
    assert [diagnostic.code for diagnostic in raised.value.diagnostics] == [CatalogDiagnosticCode.PARSE_ERROR]


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["version", "sources", "id", "path", "priority", "enabled", "role", "tier", "x"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(json_values, st.booleans())
def test_parsing_a_manifest_never_raises_for_its_content(value: Any, is_whole: bool) -> None:
    text = json.dumps(value) if is_whole else manifest(value)
    parsed = parse_manifest(text, manifest_directory=Path("somewhere"))
    assert isinstance(parsed, KnowledgeCatalogSnapshot) or len(parsed) > 0


@given(st.binary(max_size=40))
def test_parsing_a_manifest_never_raises_for_any_bytes(content: bytes) -> None:
    parse_manifest(content, manifest_directory=Path("somewhere"))
