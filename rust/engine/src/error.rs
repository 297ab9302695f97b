//! Why the engine could not do what was asked.

use crate::{manifest::diagnostic::CatalogDiagnostic, work::task::Abandoned};

/// Everything that stops a call. What is wrong with one source of many is never here but in the answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The catalog cannot open: everything that is wrong with it.
    #[error("the catalog has {} fault(s)", .0.len())]
    Catalog(Vec<CatalogDiagnostic>),
    /// The catalog was closed before.
    #[error("the catalog is closed; a search needs an open one")]
    Closed,
    /// The caller abandoned the work; what was known before is kept.
    #[error("the work was abandoned")]
    Abandoned,
}

impl From<Abandoned> for Error {
    fn from(Abandoned: Abandoned) -> Self {
        Error::Abandoned
    }
}
