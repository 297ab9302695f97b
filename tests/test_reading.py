"""The engine reads every drawn file as the model does."""

from __future__ import annotations

import naive_reading
from hypothesis import example, given
from making.drawn_files import encoded
from okf_catalog._engine import read_document


@given(encoded())
@example(b'---\ntitle: "a\n---\nb"\n---\n')
@example(b"---\nx: &d\ntitle: @\ntype: *d\n---\n")
def test_every_file_is_read_as_the_model_reads_it(data: bytes) -> None:
    try:
        read = {name: value for name, value in read_document(data).items() if name not in NOT_IN_THE_MODEL}
    except ValueError:
        read = None
    assert read == expected(data)


NOT_IN_THE_MODEL = {"remarks", "nodes"}


def expected(data: bytes) -> dict[str, object] | None:
    try:
        document = naive_reading.read_document(data)
        dated = naive_reading.read_document(data, dated=True)
        values, _ = naive_reading.read_fields(data)
    except naive_reading.Unusable:
        return None
    return {
        "title": document.title,
        "description": document.description,
        "tags": [*document.tags],
        "concept_type": document.concept_type,
        "status": document.status,
        "stale_after": document.stale_after,
        "trust_tier": document.trust_tier,
        "trust_tier_since_generated": dated.trust_tier,
        "okf_version": naive_reading.scalar(values, "okf_version"),
        "body": document.body,
    }
