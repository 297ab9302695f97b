//! Answers, as handles that make Python objects on sight.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::{
    convert::{self, DiagnosticRow, ProblemRow},
    passages::Passages,
};

/// What one question got.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Answer {
    pub(crate) inner: Arc<okf_engine::ask::answer::Answer>,
    pub(crate) problems: Vec<ProblemRow>,
}

#[pymethods]
impl Answer {
    #[getter]
    fn passages(&self) -> Passages {
        Passages::whole(Arc::clone(&self.inner))
    }

    #[getter]
    fn diagnostics(&self) -> Vec<DiagnosticRow<'_>> {
        let snapshot = self.inner.snapshot();
        self.inner.diagnostics().iter().map(|one| convert::diagnostic_row(snapshot, one)).collect()
    }

    /// Files found unusable on the way that nobody was told of before (B7).
    #[getter]
    fn problems(&self) -> Vec<ProblemRow> {
        self.problems.clone()
    }
}
