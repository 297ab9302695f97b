//! Functions on texts and manifests, and the notice of a fork.

use okf_engine::{is_blank as engine_is_blank, last_grapheme_end as engine_last_grapheme_end};
use pyo3::prelude::*;

use crate::{
    errors::run,
    rows::{CatalogDiagnosticRow, SourceRow},
};

/// The sources of a manifest, or all of its faults (M1). One of the two lists is empty.
#[pyfunction]
#[pyo3(signature = (content, /))]
pub(crate) fn parse_manifest(
    py: Python<'_>,
    content: &[u8],
) -> PyResult<(Vec<SourceRow>, Vec<CatalogDiagnosticRow>)> {
    Ok(match run(py, || Ok(okf_engine::parse_manifest(content)))? {
        Ok(sources) => (sources.iter().map(SourceRow::of).collect(), Vec::new()),
        Err(diagnostics) => (Vec::new(), CatalogDiagnosticRow::all(&diagnostics)),
    })
}

/// Tells the engine that this process was just forked.
#[pyfunction]
pub(crate) fn note_fork() {
    okf_engine::note_fork();
}

/// Whether the text is empty or has only `White_Space` (Q1).
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn is_blank(text: &str) -> bool {
    engine_is_blank(text)
}

/// The end of the last grapheme that ends at or before the index `place`. Both are counted in code points.
#[pyfunction]
#[pyo3(signature = (text, place, /))]
pub(crate) fn last_grapheme_end(text: &str, place: usize) -> usize {
    engine_last_grapheme_end(text, place)
}
