//! Directories that hold memories, wherever they lie: no knowledge source shows what is in them (Y8, Y10).

use std::{collections::BTreeSet, io, os::fd::BorrowedFd, sync::Arc};

use rustix::{
    fs::{AtFlags, FileType, fstat, statat},
    io::retry_on_intr,
};

use super::{
    above::Found,
    marker::{is_marked, is_marker},
    marking::Marks,
};
use crate::{
    containment::{Fence, Identity},
    snapshot::Snapshot,
    source::Tier,
    tree::identity,
};

/// What readers of a directory stay out of. The default is nothing: for those who read memories.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// Whether marks count.
    marks: bool,
    /// The memory sources that this is of.
    sources: Vec<(String, Tier)>,
    /// The directories in which the memory sources of a catalog keep their scopes, enabled or not, as the file
    /// system knows them: by whatever name or mount they are reached. They may have no mark yet.
    tiers: BTreeSet<Identity>,
    /// Directories that should have a mark and could not be given one.
    unmarked: Arc<BTreeSet<Identity>>,
}

impl Sealed {
    pub(crate) fn of(fence: &Fence, snapshot: &Snapshot, marks: &Marks) -> Self {
        let scopes = snapshot.memories().iter().filter_map(|(path, tier)| {
            let directory = fence.enter(path).ok()?;
            let name = format!("memory-{tier}");
            let stat = retry_on_intr(|| statat(&directory.handle, &*name, AtFlags::SYMLINK_NOFOLLOW)).ok()?;
            (FileType::from_raw_mode(stat.st_mode) == FileType::Directory).then(|| identity(&stat))
        });
        Self {
            marks: true,
            sources: snapshot.memories().to_vec(),
            tiers: scopes.collect(),
            unmarked: marks.unmarked(),
        }
    }

    /// Whether it is of the memory sources of this snapshot, and knows of every directory without a mark.
    pub(crate) fn is_of(&self, snapshot: &Snapshot, marks: &Marks) -> bool {
        self.sources == snapshot.memories() && self.unmarked == marks.unmarked()
    }

    /// Whether an entry of this name says that its directory holds memories.
    pub(crate) fn is_mark(&self, name: &[u8]) -> bool {
        self.marks && is_marker(name)
    }

    /// Whether a directory is known to hold memories, if it has no mark.
    pub(crate) fn has(&self, directory: BorrowedFd<'_>) -> bool {
        !(self.tiers.is_empty() && self.unmarked.is_empty())
            && fstat(directory).is_ok_and(|stat| self.knows(identity(&stat)))
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
        found.encloses(directory, |identity, handle| Ok(self.knows(identity) || is_marked(handle)?))
    }

    fn knows(&self, identity: Identity) -> bool {
        self.tiers.contains(&identity) || self.unmarked.contains(&identity)
    }
}
