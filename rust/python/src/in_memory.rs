//! The catalog whose sources are texts.

use std::sync::Arc;

use okf_engine::{
    InMemoryCatalog as EngineCatalog, Instant, Reported, Snapshot as EngineSnapshot, TextSource,
};
use pyo3::prelude::*;

use crate::{
    answer::Answer,
    conversation::Conversation,
    errors::run,
    question::Question,
    rows::{CatalogDiagnosticRow, ReportRow, SourceProblemRow},
    snapshot::Snapshot,
    wait::{Call, Cancellation},
};

/// A source made of texts, with its concepts as pairs of id and text.
#[derive(FromPyObject)]
struct TextSourceRow {
    id: String,
    concepts: Vec<(String, String)>,
    priority: i32,
    enabled: bool,
}

impl TextSourceRow {
    fn source(self) -> TextSource {
        let Self { id, concepts, priority, enabled } = self;
        TextSource { id, priority, enabled, concepts }
    }
}

/// A catalog in memory. It has the methods that both kinds of catalogs have.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct InMemoryCatalog {
    inner: Arc<EngineCatalog>,
    problems: Vec<SourceProblemRow>,
}

#[pymethods]
impl InMemoryCatalog {
    #[new]
    #[pyo3(signature = (sources, max_text_bytes=None, threads=None))]
    fn new(
        py: Python<'_>,
        sources: Vec<TextSourceRow>,
        max_text_bytes: Option<u64>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let sources = sources.into_iter().map(TextSourceRow::source).collect();
        let nothing = EngineSnapshot::empty();
        let Reported { value, problems } = Call::plain(py, &nothing)
            .wait(|task| EngineCatalog::open(sources, max_text_bytes, threads, task))?;
        let problems = SourceProblemRow::all(value.current().snapshot(), problems);
        Ok(Self { inner: Arc::new(value), problems })
    }

    /// The problem texts in the sources that it was opened with.
    #[getter]
    fn problems(&self) -> Vec<SourceProblemRow> {
        self.problems.clone()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.inner.is_closed()
    }

    fn close(&self) {
        self.inner.close();
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::of_texts(self.inner.current())
    }

    /// Adds or replaces a source; returns its problem texts.
    #[pyo3(signature = (source, /))]
    fn put(&self, py: Python<'_>, source: TextSourceRow) -> PyResult<Vec<SourceProblemRow>> {
        let (current, source) = (self.inner.current(), source.source());
        let Reported { value, problems } =
            Call::plain(py, current.snapshot()).wait(|task| self.inner.put(source, task))?;
        Ok(SourceProblemRow::all(value.snapshot(), problems))
    }

    /// Removes a source; returns whether there was one.
    #[pyo3(signature = (source_id, /))]
    fn remove(&self, py: Python<'_>, source_id: &str) -> PyResult<bool> {
        run(py, || self.inner.remove(source_id))
    }

    /// Always empty, because there is no manifest.
    #[allow(clippy::unused_self)] // `Catalog` has the same method.
    fn take_unreported_faults(&self) -> Vec<CatalogDiagnosticRow> {
        Vec::new()
    }

    /// Answers one question, as `Catalog::search` does, but reads nothing.
    #[pyo3(signature = (snapshot, question, now, on_progress, cancellation=None, /))]
    fn search(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        question: &Question,
        now: Option<i64>,
        on_progress: Option<&Bound<'_, PyAny>>,
        cancellation: Option<&Bound<'_, Cancellation>>,
    ) -> PyResult<Answer> {
        let (texts, question) = (snapshot.texts()?, question.of(&snapshot.inner)?);
        let now = now.map(Instant::from_micros);
        let answer = match run(py, || self.inner.search_inline(texts, question, now))? {
            Some(answer) => answer,
            None => Call { py, snapshot: &snapshot.inner, on_progress, cancellation }
                .wait(|task| self.inner.search(texts, question, now, task))?,
        };
        Ok(Answer::new(Arc::new(answer), Vec::new()))
    }

    #[pyo3(signature = (snapshot, now, /))]
    fn converse(&self, snapshot: &Snapshot, now: Option<i64>) -> PyResult<Conversation> {
        let texts = Arc::clone(snapshot.texts()?);
        Ok(Conversation::with_texts(Arc::clone(&self.inner), texts, now.map(Instant::from_micros)))
    }

    /// What is known about each source, as `Catalog::report` returns it.
    #[pyo3(signature = (snapshot, on_progress, /))]
    fn report(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<ReportRow>, Vec<SourceProblemRow>)> {
        // There is no progress to report: the texts were read when their source was added.
        let _ = on_progress;
        let texts = snapshot.texts()?;
        let reports = run(py, || self.inner.report(texts))?;
        Ok((ReportRow::all(&snapshot.inner, reports), Vec::new()))
    }

    /// Does what `Catalog::refresh` does: nothing, because texts change only with their source.
    #[pyo3(signature = (snapshot, on_progress, /))]
    fn refresh(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<SourceProblemRow>> {
        let _ = on_progress; // Nothing is read.
        let texts = snapshot.texts()?;
        run(py, || self.inner.refresh(texts))?;
        Ok(Vec::new())
    }
}
