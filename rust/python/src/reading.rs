//! Reads one file, for tests and benchmarks that compare this with other readers.

use okf_engine::{Document, ParsedFile, Remark, Section, nodes};
use pyo3::{exceptions::PyValueError, prelude::*};

/// The content of one file, as it is passed to Python.
#[derive(IntoPyObject)]
pub(crate) struct DocumentRow {
    title: Option<String>,
    description: Option<String>,
    tags: Vec<String>,
    concept_type: Option<String>,
    status: &'static str,
    stale_after: Option<String>,
    trust_tier: &'static str,
    /// The trust tier in a bundle that declares `okf_version` 0.3 or later (L5).
    trust_tier_since_generated: &'static str,
    okf_version: Option<String>,
    body: String,
    remarks: Vec<LineRemarkRow>,
    /// The frontmatter as pairs of kind and text.
    nodes: Vec<(&'static str, String)>,
}

/// A remark on a line of the file.
#[derive(IntoPyObject)]
pub(crate) struct LineRemarkRow {
    line: Option<u32>,
    code: &'static str,
    sentence: String,
}

/// The content of one file.
///
/// # Errors
/// `ValueError` if it is not text.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn read_document(py: Python<'_>, data: &[u8]) -> PyResult<DocumentRow> {
    let (read, nodes) = py.detach(|| (Document::read(data), nodes(data)));
    let ParsedFile { document, okf_version, remarks, remark_counts: _ } =
        read.map_err(PyValueError::new_err)?;
    let row = |Remark { line, code, sentence }| LineRemarkRow { line, code: code.as_str(), sentence };
    Ok(DocumentRow {
        title: document.title,
        description: document.description,
        tags: document.tags,
        concept_type: document.concept_type,
        status: document.status.as_str(),
        stale_after: document.stale_after,
        trust_tier: document.verified.at_any_time.as_str(),
        trust_tier_since_generated: document.verified.since_generated.as_str(),
        okf_version,
        body: document.body,
        remarks: remarks.into_iter().map(row).collect(),
        nodes,
    })
}

/// A section of the body of a file: the fields of a `KnowledgeSection`.
type SectionRow = (Vec<String>, String, u32, u32);

/// The sections of the body of one file, in order (V9).
///
/// # Errors
/// `ValueError` if it is not text.
#[pyfunction]
#[pyo3(signature = (data, /))]
pub(crate) fn read_sections(py: Python<'_>, data: &[u8]) -> PyResult<Vec<SectionRow>> {
    let sections = py.detach(|| {
        let document = Document::read(data)?.document;
        let row = |section: Section| {
            let text = document.body[section.range].to_owned();
            (section.heading.to_vec(), text, section.first_line, section.last_line)
        };
        Ok(document.sections().map(row).collect())
    });
    sections.map_err(PyValueError::new_err::<String>)
}
