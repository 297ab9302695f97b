//! All that a question sees of a source: an index, and which other sources are the same one.
//!
//! Bundle directories are one producer of this, texts in memory another. Nothing in this room knows of files.

use std::sync::Arc;

use crate::search::index::Index;

/// Tells sources apart: equal identities hold the same concepts, and are searched once where sources are
/// mixed (R4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SourceIdentity(pub u128);

/// A source that can be searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Searchable<'sources> {
    pub(crate) identity: SourceIdentity,
    pub(crate) index: &'sources Arc<Index>,
}

/// A source that cannot be searched (S4).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unavailable<'sources> {
    /// Which source it is, if that is known: where sources are mixed, a second one of it adds no diagnostic.
    pub(crate) identity: Option<SourceIdentity>,
    /// Why, as the end of a sentence that names the source, for the asker: without absolute paths (D4).
    pub(crate) reason: &'sources str,
}

/// The sources of one call, each in the state in which this call searches it.
pub(crate) trait Sources {
    /// The source at a position of the snapshot, which must be one that this call prepared.
    fn searchable(&self, source: u32) -> Result<Searchable<'_>, Unavailable<'_>>;
}
