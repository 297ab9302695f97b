//! Answers, as handles that make a Python object only when it is accessed.

use std::sync::Arc;

use okf_engine::Answer as EngineAnswer;
use pyo3::prelude::*;

use crate::{
    passages::Passages,
    rows::{KnowledgeDiagnosticRow, SourceProblemRow},
};

/// The answer to one question.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Answer {
    inner: Arc<EngineAnswer>,
    problems: Vec<SourceProblemRow>,
}

impl Answer {
    pub(crate) fn new(inner: Arc<EngineAnswer>, problems: Vec<SourceProblemRow>) -> Self {
        Self { inner, problems }
    }
}

#[pymethods]
impl Answer {
    #[getter]
    fn passages(&self) -> Passages {
        Passages::whole(Arc::clone(&self.inner))
    }

    #[getter]
    fn diagnostics(&self) -> Vec<KnowledgeDiagnosticRow> {
        let snapshot = self.inner.snapshot();
        self.inner.diagnostics().iter().map(|one| KnowledgeDiagnosticRow::of(snapshot, one)).collect()
    }

    /// Problem files that this search found and that were not reported before (B7).
    #[getter]
    fn problems(&self) -> Vec<SourceProblemRow> {
        self.problems.clone()
    }
}
