//! Rows that are passed to Python as dictionaries. `okf_catalog/rows.py` has the same names.

use std::{ffi::OsString, path::PathBuf};

use okf_engine::{
    CatalogDiagnostic, Diagnostic, FileRemark, NewProblem, Problem, Remark, Snapshot, Source, SourceReport,
    Tier,
};
use pyo3::prelude::*;

/// A source, as the manifest or the host describes it.
#[derive(IntoPyObject)]
pub(crate) struct SourceRow {
    id: String,
    path: String,
    priority: i32,
    enabled: bool,
    role: &'static str,
    tier: Option<&'static str>,
}

impl SourceRow {
    pub(crate) fn of(source: &Source) -> Self {
        let Source { id, path, priority, enabled, role, tier } = source.clone();
        Self { id, path, priority, enabled, role: role.as_str(), tier: tier.map(Tier::as_str) }
    }
}

/// One fault of a manifest.
#[derive(IntoPyObject)]
pub(crate) struct CatalogDiagnosticRow {
    code: &'static str,
    message: String,
}

impl CatalogDiagnosticRow {
    pub(crate) fn all(diagnostics: &[CatalogDiagnostic]) -> Vec<Self> {
        let row = |one: &CatalogDiagnostic| Self { code: one.code.as_str(), message: one.message.clone() };
        diagnostics.iter().map(row).collect()
    }
}

/// Something that the caller should know about an answer.
#[derive(IntoPyObject)]
pub(crate) struct KnowledgeDiagnosticRow {
    code: &'static str,
    source_id: Option<String>,
    message: String,
}

impl KnowledgeDiagnosticRow {
    pub(crate) fn of(snapshot: &Snapshot, diagnostic: &Diagnostic) -> Self {
        let source_id = diagnostic.source.map(|at| snapshot.sources[at as usize].id.clone());
        Self { code: diagnostic.code.as_str(), source_id, message: diagnostic.message.clone() }
    }
}

/// A file that is left out, and its source (B7).
#[derive(IntoPyObject, Clone)]
pub(crate) struct SourceProblemRow {
    source_id: String,
    path: String,
    reason: String,
}

impl SourceProblemRow {
    pub(crate) fn all(snapshot: &Snapshot, problems: Vec<NewProblem>) -> Vec<Self> {
        let row = |NewProblem { source, problem: Problem { path, reason } }| {
            let source_id = snapshot.sources[source as usize].id.clone();
            Self { source_id, path, reason }
        };
        problems.into_iter().map(row).collect()
    }
}

/// A file that is left out (B7).
#[derive(IntoPyObject)]
pub(crate) struct ProblemRow {
    pub(crate) path: String,
    pub(crate) reason: String,
}

impl ProblemRow {
    pub(crate) fn all(problems: Vec<Problem>) -> Vec<Self> {
        problems.into_iter().map(|Problem { path, reason }| Self { path, reason }).collect()
    }
}

/// A remark on a file (B11).
#[derive(IntoPyObject)]
pub(crate) struct RemarkRow {
    path: String,
    line: Option<u32>,
    code: &'static str,
    sentence: String,
}

impl RemarkRow {
    fn of(FileRemark { path, remark }: FileRemark) -> Self {
        let Remark { line, code, sentence } = remark;
        Self { path, line, code: code.as_str(), sentence }
    }
}

/// The number of remarks with one code.
#[derive(IntoPyObject)]
pub(crate) struct RemarkCountRow {
    code: &'static str,
    count: usize,
}

/// What is known about one source.
#[derive(IntoPyObject)]
pub(crate) struct ReportRow {
    /// Its position in the snapshot.
    source: u32,
    directory: Option<OsString>,
    concepts: usize,
    problems: Vec<ProblemRow>,
    remarks: Vec<RemarkRow>,
    remark_counts: Vec<RemarkCountRow>,
    /// The id of the source that has the same directory and is searched instead.
    duplicate_of: Option<String>,
    failure: Option<String>,
    compared_because: Option<String>,
}

impl ReportRow {
    pub(crate) fn all(snapshot: &Snapshot, reports: Vec<SourceReport>) -> Vec<Self> {
        reports.into_iter().map(|report| Self::of(report, snapshot)).collect()
    }

    fn of(report: SourceReport, snapshot: &Snapshot) -> Self {
        let counts = report.remarks.counts.into_iter();
        Self {
            source: report.source,
            directory: report.directory.map(PathBuf::into_os_string),
            concepts: report.concepts,
            problems: ProblemRow::all(report.problems),
            remarks: report.remarks.kept.into_iter().map(RemarkRow::of).collect(),
            remark_counts: counts
                .map(|(code, count)| RemarkCountRow { code: code.as_str(), count })
                .collect(),
            duplicate_of: report.duplicate_of.map(|at| snapshot.sources[at as usize].id.clone()),
            failure: report.failure,
            compared_because: report.compared_because,
        }
    }
}
