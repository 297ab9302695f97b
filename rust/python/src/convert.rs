//! Rows that cross between Python and the engine.

use std::{num::NonZeroUsize, path::Path};

use okf_engine::{
    Question, Staleness, Strategy,
    ask::diagnostic::Diagnostic,
    document::problem::NewProblem,
    manifest::diagnostic::CatalogDiagnostic,
    manifest::snapshot::Snapshot,
    manifest::source::{Role, Source, Tier},
    text::instant::Instant,
};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyInt};

/// `(id, path, priority, enabled, role, tier)`
pub(crate) type SourceRow<'a> = (&'a str, &'a str, i32, bool, &'static str, Option<&'static str>);
/// `(code, message)`
pub(crate) type CatalogDiagnosticRow = (&'static str, String);
/// `(code, source id, message)`
pub(crate) type DiagnosticRow<'a> = (&'static str, Option<&'a str>, &'a str);
/// `(source id, path, reason)`
pub(crate) type ProblemRow = (String, String, String);

/// `(text, tag, grace days, strategy, quota, visible sources)`
pub(crate) type QuestionRow<'py> =
    (String, Option<String>, Option<Bound<'py, PyInt>>, String, Option<Bound<'py, PyInt>>, Vec<u32>);

/// A question of a batch; a bare text is asked as the ordinary one.
#[derive(FromPyObject)]
pub(crate) enum TextOrRow<'py> {
    Text(String),
    Row(QuestionRow<'py>),
}

pub(crate) fn source_row(source: &Source) -> SourceRow<'_> {
    let Source { id, path, priority, enabled, role, tier } = source;
    (id, path, *priority, *enabled, Role::as_str(*role), tier.map(Tier::as_str))
}

pub(crate) fn catalog_diagnostic_row(diagnostic: &CatalogDiagnostic) -> CatalogDiagnosticRow {
    (diagnostic.code.as_str(), diagnostic.message.clone())
}

pub(crate) fn diagnostic_row<'a>(snapshot: &'a Snapshot, diagnostic: &'a Diagnostic) -> DiagnosticRow<'a> {
    let source = diagnostic.source.map(|at| snapshot.sources[at as usize].id.as_str());
    (diagnostic.code.as_str(), source, &diagnostic.message)
}

pub(crate) fn problem_rows(snapshot: &Snapshot, problems: Vec<NewProblem>) -> Vec<ProblemRow> {
    problems
        .into_iter()
        .map(|NewProblem { source, problem }| {
            (snapshot.sources[source as usize].id.clone(), problem.path, problem.reason)
        })
        .collect()
}

/// # Errors
/// For a strategy that does not exist, or a source that is not in the snapshot.
pub(crate) fn question(row: QuestionRow<'_>, snapshot: &Snapshot) -> PyResult<Question> {
    let (text, tag, grace_days, strategy, quota, visible) = row;
    let strategy = match strategy.as_str() {
        "grouped_by_source" => Strategy::GroupedBySource,
        "merged" => Strategy::Merged,
        "priority_weighted" => Strategy::PriorityWeighted,
        other => return Err(PyValueError::new_err(format!("no strategy is called {other:?}"))),
    };
    if visible.iter().any(|at| *at as usize >= snapshot.sources.len()) {
        return Err(PyValueError::new_err("a visible source is not in the snapshot"));
    }
    let staleness = match grace_days {
        None => Staleness::Use,
        Some(days) => Staleness::Tolerate { days: clamp(&days) },
    };
    let quota =
        quota.and_then(|quota| NonZeroUsize::new(usize::try_from(clamp(&quota)).unwrap_or(usize::MAX)));
    Ok(Question { text, tag, staleness, strategy, quota, visible })
}

/// Python has checked the sign; what is too large for the engine is as good as its largest number.
fn clamp(number: &Bound<'_, PyInt>) -> u64 {
    number.extract().unwrap_or(u64::MAX)
}

/// Microseconds since 1970 as a time.
pub(crate) fn instant(now: Option<i64>) -> Option<Instant> {
    now.map(Instant::from_micros)
}

/// A path as Python spells it.
pub(crate) fn path_text(path: &Path) -> std::ffi::OsString {
    path.as_os_str().to_owned()
}
