//! The catalog whose sources are directories.

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use okf_engine::{
    Catalog as EngineCatalog, Conversation as EngineConversation, Freshness, Instant, Options, Reported,
    WatchMode,
};
use pyo3::prelude::*;

use crate::{
    answer::Answer,
    conversation::Conversation,
    errors::run,
    memory::Memory,
    question::Question,
    rows::{CatalogDiagnosticRow, ReportRow, SourceProblemRow},
    snapshot::Snapshot,
    wait::{Call, Cancellation},
};

/// An open catalog: its current snapshot, and the indexes of its bundles.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Catalog {
    inner: Arc<EngineCatalog>,
}

#[pymethods]
impl Catalog {
    #[new]
    #[pyo3(signature = (manifest, root, max_file_bytes=None, threads=None, manual=false))]
    fn new(
        py: Python<'_>,
        manifest: PathBuf,
        root: Option<PathBuf>,
        max_file_bytes: Option<u64>,
        threads: Option<usize>,
        manual: bool,
    ) -> PyResult<Self> {
        let mut options = Options::new(manifest);
        options.root = root;
        options.max_file_bytes = max_file_bytes.unwrap_or(options.max_file_bytes);
        options.threads = threads.unwrap_or(options.threads);
        options.freshness = if manual { Freshness::Manual } else { Freshness::Exact };
        Ok(Self { inner: Arc::new(run(py, || EngineCatalog::open(options))?) })
    }

    #[getter]
    fn root(&self) -> OsString {
        self.inner.root().as_os_str().to_owned()
    }

    /// Starts to watch the manifest. It is reloaded after it has not changed for `debounce` microseconds.
    #[pyo3(signature = (debounce, /))]
    fn watch(&self, py: Python<'_>, debounce: u64) -> PyResult<()> {
        run(py, || {
            self.inner.watch(Duration::from_micros(debounce));
            Ok(())
        })
    }

    /// Whether the manifest is watched.
    #[getter]
    fn watching(&self, py: Python<'_>) -> PyResult<bool> {
        run(py, || Ok(self.inner.watch_state().as_ref().is_some_and(WatchMode::is_on)))
    }

    /// The faults of the last reload, unless they were taken before. Each distinct failure is returned once.
    fn take_unreported_faults(&self) -> Vec<CatalogDiagnosticRow> {
        CatalogDiagnosticRow::all(&self.inner.take_unreported_faults())
    }

    #[getter]
    fn closed(&self) -> bool {
        self.inner.is_closed()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::of_files(self.inner.current())
    }

    fn reload(&self, py: Python<'_>) -> PyResult<Snapshot> {
        Ok(Snapshot::of_files(run(py, || Ok(self.inner.reload()))?))
    }

    fn last_reload_diagnostics(&self) -> Vec<CatalogDiagnosticRow> {
        CatalogDiagnosticRow::all(&self.inner.last_reload_diagnostics())
    }

    #[pyo3(signature = (snapshot, on_progress, /))]
    fn report(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<ReportRow>, Vec<SourceProblemRow>)> {
        let snapshot = &snapshot.inner;
        let call = Call { py, snapshot, on_progress, cancellation: None };
        let Reported { value, problems } = call.wait(|task| self.inner.report(snapshot, task))?;
        Ok((ReportRow::all(snapshot, value), SourceProblemRow::all(snapshot, problems)))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        run(py, || {
            self.inner.close();
            Ok(())
        })
    }

    /// Answers one question. `now` is in microseconds since 1970; `None` reads the system's clock.
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
        let snapshot = &snapshot.inner;
        let question = question.of(snapshot)?;
        let now = now.map(Instant::from_micros);
        let Reported { value, problems } =
            match run(py, || self.inner.search_unchanged(snapshot, question, now))? {
                Some(answer) => answer,
                None => Call { py, snapshot, on_progress, cancellation }
                    .wait(|task| self.inner.search(snapshot, question, now, task))?,
            };
        Ok(Answer::new(Arc::new(value), SourceProblemRow::all(snapshot, problems)))
    }

    /// Begins a conversation: all its questions are answered at one time, from one state of the files.
    #[pyo3(signature = (snapshot, now, /))]
    fn converse(&self, py: Python<'_>, snapshot: &Snapshot, now: Option<i64>) -> PyResult<Conversation> {
        let (snapshot, now) = (Arc::clone(&snapshot.inner), now.map(Instant::from_micros));
        let inner = run(py, || EngineConversation::begin(&self.inner, Arc::clone(&snapshot), now))?;
        Ok(Conversation::with_files(snapshot, inner))
    }

    /// The memory sources of a snapshot.
    #[pyo3(signature = (snapshot, /))]
    fn memory(&self, snapshot: &Snapshot) -> Memory {
        Memory { catalog: Arc::clone(&self.inner), snapshot: Arc::clone(&snapshot.inner) }
    }

    /// Compares every bundle with the disk, under every freshness.
    #[pyo3(signature = (snapshot, on_progress, /))]
    fn refresh(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<SourceProblemRow>> {
        let snapshot = &snapshot.inner;
        let call = Call { py, snapshot, on_progress, cancellation: None };
        let Reported { problems, .. } = call.wait(|task| self.inner.refresh(snapshot, task))?;
        Ok(SourceProblemRow::all(snapshot, problems))
    }
}
