//! One immutable state of a catalog.

use std::{ffi::OsString, sync::Arc};

use okf_engine::{Snapshot as EngineSnapshot, TextSnapshot};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::rows::SourceRow;

/// One immutable state of a catalog: its sources, as the manifest or the host describes them.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Snapshot {
    pub(crate) inner: Arc<EngineSnapshot>,
    /// The texts, if the sources are texts.
    texts: Option<Arc<TextSnapshot>>,
}

impl Snapshot {
    pub(crate) fn of_files(inner: Arc<EngineSnapshot>) -> Self {
        Self { inner, texts: None }
    }

    pub(crate) fn of_texts(texts: Arc<TextSnapshot>) -> Self {
        Self { inner: Arc::clone(texts.snapshot()), texts: Some(texts) }
    }

    /// The texts of the sources.
    ///
    /// # Errors
    /// `ValueError` if it is a snapshot of a catalog of directories.
    pub(crate) fn texts(&self) -> PyResult<&Arc<TextSnapshot>> {
        self.texts.as_ref().ok_or_else(|| PyValueError::new_err("the snapshot is of another kind of catalog"))
    }
}

#[pymethods]
impl Snapshot {
    #[getter]
    fn generation(&self) -> u64 {
        self.inner.generation
    }

    #[allow(clippy::unused_self)] // A getter must take `self`.
    #[getter]
    fn version(&self) -> u32 {
        EngineSnapshot::VERSION
    }

    #[getter]
    fn manifest_directory(&self) -> OsString {
        self.inner.manifest_directory.as_os_str().to_owned()
    }

    #[getter]
    fn sources(&self) -> Vec<SourceRow> {
        self.inner.sources.iter().map(SourceRow::of).collect()
    }

    /// Positions of the searchable sources, in order S1.
    #[getter]
    fn candidates(&self) -> Vec<u32> {
        self.inner.candidates().to_vec()
    }
}
