"""Batches as Arrow tables, read by pyarrow, polars and duckdb."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from making.catalogs import make_catalog
from okf_catalog import (
    KnowledgeBatch,
    KnowledgePassage,
    KnowledgeQuery,
    KnowledgeSection,
    MergedKnowledgeResolver,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pyarrow: Any = pytest.importorskip("pyarrow")

COLUMNS = [
    "query_index",
    "rank",
    "source_id",
    "concept_id",
    "title",
    "excerpt",
    "score",
    "bundle_relative_path",
    "trust_tier",
    "status",
    "stale_after",
    "concept_type",
    "description",
    "snippet",
    "is_stale",
    "section",
]


@pytest.fixture
def resolver(tmp_path: Path) -> Iterator[MergedKnowledgeResolver]:
    head = "status: draft\ntype: Note\ndescription: what it is\nverified: {by: 'human:a'}"
    files = {f"n{i}.md": f"---\ntitle: Größe {i}\n{head}\n---\nx {i}\n" for i in range(3000)}
    plain = {"plain.md": "x and y\n", "old.md": "---\nstale_after: 2024-01-01\n---\nx\n"}
    with make_catalog(tmp_path, {"many": {"files": files}, "few": {"files": plain}}) as catalog:
        yield MergedKnowledgeResolver(catalog)


def struct_of(section: KnowledgeSection | None) -> dict[str, object] | None:
    return None if section is None else {**asdict(section), "heading": list(section.heading)}


def rows_of(batch: KnowledgeBatch) -> list[dict[str, object]]:
    return [
        {
            "query_index": index,
            "rank": rank,
            **{name: getattr(passage, name) for name in COLUMNS[2:]},
            "trust_tier": passage.trust_tier.value,
            "status": passage.status.value,
            "section": struct_of(passage.section),
        }
        for index, context in enumerate(batch)
        for rank, passage in enumerate(context.passages, start=1)
    ]


@pytest.fixture
def batch(resolver: MergedKnowledgeResolver) -> KnowledgeBatch:
    return resolver.search_batch(["x", "größe", "nothing-at-all", "y"])


def test_pyarrow_reads_every_passage(batch: KnowledgeBatch) -> None:
    table = pyarrow.table(batch.to_arrow())
    assert table.column_names == COLUMNS
    assert table.to_pylist() == rows_of(batch)
    assert len(batch.to_arrow()) == table.num_rows > 6000


def test_every_field_of_a_passage_is_a_column() -> None:
    assert set(COLUMNS[2:]) == {name for name in dir(KnowledgePassage) if not name.startswith("_")}


def test_sections_are_structs_and_whole_concepts_are_null(resolver: MergedKnowledgeResolver) -> None:
    batch = resolver.search_batch([KnowledgeQuery("y", unit="section"), KnowledgeQuery("y", unit="concept")])
    table = pyarrow.table(batch.to_arrow())
    assert table.to_pylist() == rows_of(batch)
    lines = [pyarrow.field(name, pyarrow.uint32(), nullable=False) for name in ("first_line", "last_line")]
    text = pyarrow.field("text", pyarrow.large_string(), nullable=False)
    item = pyarrow.field("item", pyarrow.large_string(), nullable=False)
    heading = pyarrow.field("heading", pyarrow.list_(item), nullable=False)
    assert table.schema.field("section").type == pyarrow.struct([heading, text, *lines])
    assert table["section"].to_pylist()[-1] is None


def test_polars_reads_every_passage(batch: KnowledgeBatch) -> None:
    polars: Any = pytest.importorskip("polars")
    assert polars.DataFrame(batch.to_arrow()).to_dicts() == rows_of(batch)


def test_duckdb_reads_every_passage(batch: KnowledgeBatch) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    passages = duckdb.from_arrow(pyarrow.RecordBatchReader.from_stream(batch.to_arrow()))
    counted = passages.aggregate("query_index, count(*), max(score)").order("query_index")
    assert counted.fetchall() == [(0, 3002, 1), (1, 3000, 3), (3, 1, 1)]


def test_a_table_can_be_read_many_times_and_abandoned(batch: KnowledgeBatch) -> None:
    table = batch.to_arrow()
    assert pyarrow.table(table).equals(pyarrow.table(table))
    reader = pyarrow.RecordBatchReader.from_stream(table)
    assert reader.read_next_batch().num_rows > 0
    del reader
    table.__arrow_c_stream__()
    assert pyarrow.schema(table).names == COLUMNS


def test_a_slice_of_a_batch_numbers_its_own_queries(batch: KnowledgeBatch) -> None:
    assert pyarrow.table(batch[1:].to_arrow()).to_pylist() == rows_of(batch[1:])
    assert pyarrow.table(batch[::-1].to_arrow()).to_pylist() == rows_of(batch[::-1])


def test_a_batch_without_passages_is_an_empty_table(resolver: MergedKnowledgeResolver) -> None:
    for queries in ([], ["nothing-at-all"]):
        table = pyarrow.table(resolver.search_batch(queries).to_arrow())
        assert (table.num_rows, table.column_names) == (0, COLUMNS)


def test_no_column_holds_anything_of_an_invisible_source(resolver: MergedKnowledgeResolver) -> None:
    batch = resolver.search_batch([KnowledgeQuery("x", permitted_source_ids={"few"})])
    table = pyarrow.table(batch.to_arrow())
    assert set(table["source_id"].to_pylist()) == {"few"}


def test_a_table_outlives_its_catalog(tmp_path: Path) -> None:
    catalog = make_catalog(tmp_path, {"a": {"files": {"x.md": "tax"}}})
    table = MergedKnowledgeResolver(catalog).search_batch(["tax"]).to_arrow()
    catalog.close()
    del catalog
    assert pyarrow.table(table)["excerpt"].to_pylist() == ["tax"]
