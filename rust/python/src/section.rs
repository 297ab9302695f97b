//! Sections of concepts, as they are passed to Python.

use okf_engine::{Answer, Passage};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    sync::PyOnceLock,
    types::PyTuple,
};

/// The part of a concept that a passage shows: a `KnowledgeSection` (V9).
#[derive(Clone, PartialEq, Eq, FromPyObject)]
pub(crate) struct Section {
    pub(crate) heading: Vec<String>,
    pub(crate) text: String,
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
}

impl Section {
    /// The section that a passage of an answer shows; `None` if it shows the whole concept.
    ///
    /// Both the passages and the columns of a table take it from here. The engine answers with whole concepts so
    /// far; as soon as its `Passage` says which section it is, it is converted here, and nowhere else.
    pub(crate) fn shown(_answer: &Answer, _passage: &Passage) -> Option<Self> {
        None
    }

    /// The section that a caller gives for a passage.
    ///
    /// # Errors
    /// `TypeError` if it is not a `KnowledgeSection`; `ValueError` if a line does not fit into 32 bits.
    pub(crate) fn given(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let class = class(value.py())?;
        if !value.is_instance(class)? {
            let message = format!("section is a KnowledgeSection or None, not {}", value.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        }
        // Such a section was checked when it was made, except for the greatest number of a line.
        let too_large = |_| PyValueError::new_err(format!("a line of section is at most {}", u32::MAX));
        value.extract().map_err(too_large)
    }

    /// The value in Python.
    pub(crate) fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let heading = PyTuple::new(py, &self.heading)?;
        class(py)?.call1((heading, &self.text, self.first_line, self.last_line))
    }
}

/// The class of the values. It is looked up once.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        PyResult::Ok(py.import("okf_catalog")?.getattr("KnowledgeSection")?.unbind())
    })?;
    Ok(class.bind(py))
}
