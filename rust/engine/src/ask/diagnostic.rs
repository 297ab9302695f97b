//! What the asker should know about an answer (S4, D1 to D4).

use crate::{
    manifest::{quoted, snapshot::Snapshot},
    named_enum::named_enum,
};

named_enum! {
    /// The kind of a diagnostic.
    pub enum DiagnosticCode {
        /// A source could not be read (S4).
        SourceUnavailable = "SOURCE_UNAVAILABLE",
        /// Sources were searched and nothing was admitted (D2).
        NoMatches = "NO_MATCHES",
        /// There was nothing to search (D1).
        NoEnabledSources = "NO_ENABLED_SOURCES",
    }
}

/// Something the asker should know about the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind.
    pub code: DiagnosticCode,
    /// The source it is about, as a position in the snapshot.
    pub source: Option<u32>,
    /// One sentence, without absolute paths (D4).
    pub message: String,
}

impl Diagnostic {
    /// A source that could not be read, and why (D3).
    pub(crate) fn source_unavailable(snapshot: &Snapshot, source: u32, reason: &str) -> Self {
        let id = &snapshot.sources[source as usize].id;
        Self {
            code: DiagnosticCode::SourceUnavailable,
            source: Some(source),
            message: format!("source {} is unavailable: {reason}", quoted(id)),
        }
    }

    /// Nothing that was searched matches (D2).
    pub(super) fn no_matches() -> Self {
        let message = "no concept of the searched sources matches".to_owned();
        Self { code: DiagnosticCode::NoMatches, source: None, message }
    }

    /// There is no source to search, or none that the caller may see (D1). No source is named.
    pub(super) fn nothing_to_search(snapshot: &Snapshot) -> Self {
        let message = if snapshot.candidates().is_empty() {
            "the catalog has no enabled knowledge source"
        } else {
            "no source of the catalog is visible to the caller"
        };
        Self { code: DiagnosticCode::NoEnabledSources, source: None, message: message.to_owned() }
    }
}
