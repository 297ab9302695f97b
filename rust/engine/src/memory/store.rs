//! The memories of a catalog.

use std::sync::Arc;

use crate::{
    disk::{directory::Directory, fence::Fence},
    error::Error,
    manifest::snapshot::Snapshot,
    memory::{
        cache::ScopeCache,
        failure::{Failure, SourceFault},
        known_directories::{KnownDirectories, Marking},
        overlap::{self, Overlap},
        place::Place,
    },
    work::task::Task,
};

/// The memories of a catalog, in the memory sources of one snapshot of it.
///
/// Everything is done on directory handles, which are opened part by part without following links: the directory
/// that was checked is the one that is read, written or deleted, whatever takes its place meanwhile.
#[derive(Debug)]
pub struct Memory<'catalog> {
    pub(crate) fence: &'catalog Fence,
    pub(crate) cache: Arc<ScopeCache>,
    pub(crate) known: &'catalog KnownDirectories,
    pub(crate) snapshot: &'catalog Arc<Snapshot>,
    /// Files with more bytes are neither read nor written.
    pub(crate) max_bytes: u64,
    /// Files are read by at most this many threads.
    pub(crate) threads: usize,
}

impl Memory<'_> {
    /// The first memory source that is not apart from what others may see (Y8).
    #[must_use]
    pub fn overlap(&self) -> Option<Overlap> {
        overlap::find(self.fence, self.snapshot)
    }

    /// Marks every directory of memories that has no mark (Y10), in the memory sources of the snapshot, enabled or
    /// not. The names of directories decide, not what is in them. No link is followed. A directory that cannot be
    /// marked is counted, and no knowledge source enters it as long as the catalog is open.
    ///
    /// A reload that changes the memory sources does this too, for the old ones and the new ones.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was.
    pub fn mark(&self, task: &Task) -> Result<Vec<Marking>, Error> {
        Ok(self.known.mark(self.fence, &self.snapshot.sources, task)?)
    }

    /// Enters the directory of a place's memory source.
    pub(super) fn enter(&self, place: &Place) -> Result<Directory, Failure> {
        let source = place.source_in(self.snapshot);
        let directory = self
            .fence
            .enter(&source.path)
            .map_err(|breach| Failure::of_source(SourceFault::NotEntered(breach)))?;
        // It may have been mounted or moved there since the manifest was read.
        match overlap::is_among_memories(&directory) {
            Ok(false) => Ok(directory),
            Ok(true) => Err(Failure::of_source(SourceFault::AmongMemories)),
            Err(error) => Err(Failure::of_source(SourceFault::NotExamined(error))),
        }
    }
}
