//! Directories that hold memories, wherever they lie: no knowledge source shows what is in them (Y8, Y10).

use std::{io, os::fd::BorrowedFd, sync::Arc};

use crate::{
    disk::{
        above::Found,
        fence::Fence,
        marks::{is_marked, is_marker},
        seals::Seals,
    },
    manifest::source::Tier,
};

/// What readers of a directory stay out of. The default is nothing: for those who count memories.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// Whether marks count.
    marks: bool,
    /// Whether memories are read, in the directory of one scope.
    scope: bool,
    /// The memory sources that this is of.
    sources: Vec<(String, Tier)>,
    /// The directories in which memory sources keep or kept their scopes, enabled or not, as the file system knows
    /// them: by whatever name or mount they are reached. They may have no mark yet.
    tiers: Arc<Seals>,
    /// Directories that should have a mark and could not be given one.
    unmarked: Arc<Seals>,
    /// The names, from the catalog root and folded, of such directories that may not be entered.
    closed: Vec<Vec<String>>,
}

impl Sealed {
    /// For those who read the directory of one scope, and mark what they find there without a mark.
    pub(crate) fn of_scope() -> Self {
        Self { scope: true, ..Self::default() }
    }

    /// Whether memories are read, in the directory of one scope.
    pub(crate) fn is_of_scope(&self) -> bool {
        self.scope
    }

    /// For readers of knowledge sources.
    pub(crate) fn new(
        sources: Vec<(String, Tier)>,
        tiers: Arc<Seals>,
        unmarked: Arc<Seals>,
        closed: Vec<Vec<String>>,
    ) -> Self {
        Self { marks: true, scope: false, sources, tiers, unmarked, closed }
    }

    /// Whether it is of these memory sources, and knows of every directory without a mark.
    pub(crate) fn is_of(&self, sources: &[(String, Tier)], tiers: &Seals, unmarked: &Seals) -> bool {
        self.sources == sources && *self.unmarked == *unmarked && *self.tiers == *tiers
    }

    /// Whether an entry of this name says that its directory holds memories.
    pub(crate) fn is_mark(&self, name: &[u8]) -> bool {
        self.marks && is_marker(name)
    }

    /// Whether a directory is known to hold memories, if it has no mark.
    pub(crate) fn has(&self, directory: BorrowedFd<'_>) -> bool {
        self.tiers.has(directory) || self.unmarked.has(directory)
    }

    /// Whether a directory is known to hold memories, or has a mark.
    ///
    /// # Errors
    /// That cannot be told.
    pub(crate) fn bars(&self, directory: BorrowedFd<'_>) -> io::Result<bool> {
        Ok(self.has(directory) || (self.marks && is_marked(directory)?))
    }

    /// Whether a directory holds memories, or lies in one that does.
    ///
    /// # Errors
    /// That cannot be told.
    pub(crate) fn encloses(&self, directory: BorrowedFd<'_>, found: &mut Found) -> io::Result<bool> {
        if !self.marks {
            return Ok(false);
        }
        found.encloses(directory, |identity, handle| {
            let is_known = self.tiers.is(identity, handle) || self.unmarked.is(identity, handle);
            Ok(is_known || is_marked(handle)?)
        })
    }

    /// Whether a path of the manifest leads, by its names, to a directory of memories that may not be entered,
    /// or below one.
    pub(crate) fn closes(&self, fence: &Fence, path: &str) -> bool {
        !self.closed.is_empty()
            && fence
                .folded_names(path)
                .is_some_and(|names| self.closed.iter().any(|closed| names.starts_with(closed)))
    }
}
