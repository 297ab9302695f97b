//! Reads one file, for comparisons with other readers of frontmatter.

use okf_engine::{Document, ParsedFile, Remark, nodes};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};

/// `(line, code, sentence)`
type RemarkRow = (Option<u32>, &'static str, String);

/// `(fields, body, remarks, nodes of the frontmatter)`
type DocumentRow<'py> = (Bound<'py, PyDict>, String, Vec<RemarkRow>, Vec<(&'static str, String)>);

/// The content of one file.
///
/// # Errors
/// `ValueError` if it is not text.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn read_document<'py>(py: Python<'py>, data: &[u8]) -> PyResult<DocumentRow<'py>> {
    let read = py.detach(|| Document::read(data)).map_err(PyValueError::new_err)?;
    let nodes = py.detach(|| nodes(data));
    let ParsedFile { document, okf_version, remarks, remark_counts: _ } = read;
    let fields = PyDict::new(py);
    fields.set_item("title", document.title)?;
    fields.set_item("description", document.description)?;
    fields.set_item("tags", document.tags)?;
    fields.set_item("type", document.concept_type)?;
    fields.set_item("status", document.status.as_str())?;
    fields.set_item("stale_after", document.stale_after)?;
    fields.set_item("trust_tier", document.verified.at_any_time.as_str())?;
    fields.set_item("trust_tier_since_generated", document.verified.since_generated.as_str())?;
    fields.set_item("okf_version", okf_version)?;
    let row = |Remark { line, code, sentence }| (line, code.as_str(), sentence);
    Ok((fields, document.body, remarks.into_iter().map(row).collect(), nodes))
}
