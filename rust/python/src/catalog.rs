//! The open catalog.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use okf_engine::{
    Freshness, Options,
    catalog::SourceReport,
    disk::manifest_watch::WatchMode,
    document::problem::Reported,
    document::remark::{FileRemark, Remark, RemarkCode},
    manifest::source::Source,
};
use pyo3::prelude::*;

use crate::{
    answer::Answer,
    batch::Conversation,
    convert::{self, CatalogDiagnosticRow, ProblemRow, QuestionRow, SourceRow},
    errors::run,
    memory::Memory,
    patience::{Cancellation, run_as_long_as, run_patiently, task_of},
};

/// A question of more bytes is answered on a thread of its own, where it can be interrupted.
const AT_ONCE: usize = 512;

/// What is known of one source; a dictionary for Python, as is each remark in it.
#[derive(IntoPyObject)]
struct ReportRow {
    /// Its position in the snapshot.
    source: u32,
    directory: Option<OsString>,
    concepts: usize,
    problems: Vec<(String, String)>,
    remarks: Vec<RemarkRow>,
    /// How many remarks there are of each code.
    remark_counts: Vec<(&'static str, usize)>,
    /// The id of the source that it repeats.
    duplicate_of: Option<String>,
    failure: Option<String>,
    unwatched: Option<String>,
}

#[derive(IntoPyObject)]
struct RemarkRow {
    path: String,
    line: Option<u32>,
    code: &'static str,
    sentence: String,
}

impl ReportRow {
    fn of(report: SourceReport, sources: &[Source]) -> Self {
        let problems = report.problems.into_iter().map(|problem| (problem.path, problem.reason));
        let counts = report.remarks.counts.into_iter().map(|(code, count)| (code.as_str(), count));
        Self {
            source: report.source,
            directory: report.directory.map(PathBuf::into_os_string),
            concepts: report.concepts,
            problems: problems.collect(),
            remarks: report.remarks.kept.into_iter().map(RemarkRow::of).collect(),
            remark_counts: counts.collect(),
            duplicate_of: report.duplicate_of.map(|at| sources[at as usize].id.clone()),
            failure: report.failure,
            unwatched: report.unwatched,
        }
    }
}

impl RemarkRow {
    fn of(FileRemark { path, remark }: FileRemark) -> Self {
        let Remark { line, code, sentence } = remark;
        Self { path, line, code: code.as_str(), sentence }
    }
}

type ParsedRows =
    (Vec<(String, String, i32, bool, &'static str, Option<&'static str>)>, Vec<CatalogDiagnosticRow>);

/// One immutable state of the manifest.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Snapshot {
    pub(crate) inner: Arc<okf_engine::manifest::snapshot::Snapshot>,
}

#[pymethods]
impl Snapshot {
    #[getter]
    fn generation(&self) -> u64 {
        self.inner.generation
    }

    #[allow(clippy::unused_self)] // A getter takes one.
    #[getter]
    fn version(&self) -> u32 {
        okf_engine::manifest::snapshot::Snapshot::VERSION
    }

    #[getter]
    fn manifest_directory(&self) -> OsString {
        convert::path_text(&self.inner.manifest_directory)
    }

    #[getter]
    fn sources(&self) -> Vec<SourceRow<'_>> {
        self.inner.sources.iter().map(convert::source_row).collect()
    }

    /// Indices of the searchable sources, in order S1.
    #[getter]
    fn candidates(&self) -> Vec<u32> {
        self.inner.candidates().to_vec()
    }
}

/// An open catalog: its current snapshot, and the indexes of its bundles.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Catalog {
    inner: Arc<okf_engine::Catalog>,
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
        Ok(Self { inner: Arc::new(run(py, || okf_engine::Catalog::open(options))?) })
    }

    #[getter]
    fn root(&self) -> OsString {
        convert::path_text(self.inner.root())
    }

    /// Reloads the manifest by itself, after it was quiet for so many microseconds.
    #[pyo3(signature = (debounce, /))]
    fn watch(&self, py: Python<'_>, debounce: u64) -> PyResult<()> {
        run(py, || {
            self.inner.watch(Duration::from_micros(debounce));
            Ok(())
        })
    }

    /// Why the manifest is not watched, or is only looked at now and then; `None` if neither.
    #[getter]
    fn unwatched(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let state = run(py, || Ok(self.inner.watch_state()))?;
        Ok(match state {
            Some(WatchMode::Events) => None,
            Some(WatchMode::Polling { reason } | WatchMode::Off { reason }) => Some(reason),
            None => Some("it was not asked for".to_owned()),
        })
    }

    /// Whether the manifest is reloaded by itself.
    #[getter]
    fn watching(&self, py: Python<'_>) -> PyResult<bool> {
        let state = run(py, || Ok(self.inner.watch_state()))?;
        Ok(matches!(state, Some(WatchMode::Events | WatchMode::Polling { .. })))
    }

    /// The faults of the last reload, once for each distinct failure.
    fn news_of_reload(&self) -> Vec<CatalogDiagnosticRow> {
        self.inner.take_unreported_faults().iter().map(convert::catalog_diagnostic_row).collect()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.inner.is_closed()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { inner: self.inner.current() }
    }

    fn reload(&self, py: Python<'_>) -> PyResult<Snapshot> {
        Ok(Snapshot { inner: run(py, || Ok(self.inner.reload()))? })
    }

    fn last_reload_diagnostics(&self) -> Vec<CatalogDiagnosticRow> {
        self.inner.last_reload_diagnostics().iter().map(convert::catalog_diagnostic_row).collect()
    }

    #[pyo3(signature = (snapshot, on_progress, /))]
    fn report(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<ReportRow>, Vec<ProblemRow>)> {
        let Reported { value, problems } =
            run_patiently(py, &snapshot.inner, on_progress, |task| self.inner.report(&snapshot.inner, task))?;
        let rows = value.into_iter().map(|report| ReportRow::of(report, &snapshot.inner.sources)).collect();
        Ok((rows, convert::problem_rows(&snapshot.inner, problems)))
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
        question: QuestionRow<'_>,
        now: Option<i64>,
        on_progress: Option<&Bound<'_, PyAny>>,
        cancellation: Option<&Bound<'_, Cancellation>>,
    ) -> PyResult<Answer> {
        let question = convert::question(question, &snapshot.inner)?;
        let now = convert::instant(now);
        // Most searches find nothing changed, and take less time than starting a thread.
        let at_once = if question.text.len() <= AT_ONCE {
            run(py, || self.inner.search_unchanged(&snapshot.inner, &question, now))?
        } else {
            None
        };
        let Reported { value, problems } = match at_once {
            Some(told) => told,
            None => run_as_long_as(py, &task_of(cancellation), &snapshot.inner, on_progress, |task| {
                self.inner.search(&snapshot.inner, &question, now, task)
            })?,
        };
        Ok(Answer { inner: Arc::new(value), problems: convert::problem_rows(&snapshot.inner, problems) })
    }

    /// Begins questions that are all put at one time to one state of the files.
    #[pyo3(signature = (snapshot, now, /))]
    fn converse(&self, py: Python<'_>, snapshot: &Snapshot, now: Option<i64>) -> PyResult<Conversation> {
        let (snapshot, now) = (Arc::clone(&snapshot.inner), convert::instant(now));
        let inner = run(py, || self.inner.converse(Arc::clone(&snapshot), now))?;
        Ok(Conversation { snapshot, inner: Mutex::new(inner) })
    }

    /// What is remembered, as a snapshot says where.
    #[pyo3(signature = (snapshot, /))]
    fn memory(&self, snapshot: &Snapshot) -> Memory {
        Memory { catalog: Arc::clone(&self.inner), snapshot: Arc::clone(&snapshot.inner) }
    }

    /// Compares every bundle with the disk, whatever the freshness says.
    #[pyo3(signature = (snapshot, on_progress, /))]
    fn refresh(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        on_progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<ProblemRow>> {
        let Reported { problems, .. } = run_patiently(py, &snapshot.inner, on_progress, |task| {
            self.inner.refresh(&snapshot.inner, task)
        })?;
        Ok(convert::problem_rows(&snapshot.inner, problems))
    }
}

/// The sources of a manifest, or everything that is wrong with it (M1).
#[pyfunction]
#[pyo3(signature = (content, /))]
pub(crate) fn parse_manifest(py: Python<'_>, content: &[u8]) -> PyResult<ParsedRows> {
    let parsed = run(py, || Ok(okf_engine::manifest::parse(content)))?;
    Ok(match parsed {
        Ok(sources) => {
            let rows = sources.iter().map(|source| {
                let (id, path, priority, enabled, role, tier) = convert::source_row(source);
                (id.to_owned(), path.to_owned(), priority, enabled, role, tier)
            });
            (rows.collect(), Vec::new())
        }
        Err(diagnostics) => (Vec::new(), diagnostics.iter().map(convert::catalog_diagnostic_row).collect()),
    })
}

/// The codes of remarks, in the order of the contract.
#[pyfunction]
pub(crate) fn remark_codes() -> Vec<&'static str> {
    RemarkCode::ALL.map(RemarkCode::as_str).to_vec()
}

/// Tells the engine that this process was just forked.
#[pyfunction]
pub(crate) fn note_fork() {
    okf_engine::note_fork();
}

/// Whether the text is empty or only `White_Space` (Q1).
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn is_blank(text: &str) -> bool {
    okf_engine::text::terms::is_blank(text)
}

/// The end of the last grapheme of the text that ends at or before a place, both in code points.
#[pyfunction]
#[pyo3(signature = (text, place, /))]
pub(crate) fn last_grapheme_end(text: &str, place: usize) -> usize {
    okf_engine::text::grapheme::last_end(text, place)
}
