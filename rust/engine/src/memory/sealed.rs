//! Directories that hold memories, wherever they lie: no knowledge source shows what is in them (Y8).

use std::{
    collections::BTreeSet,
    os::fd::{AsFd, BorrowedFd},
};

use rustix::{
    fs::{AtFlags, FileType, fstat, statat},
    io::retry_on_intr,
};

use super::overlap::above;
use crate::{
    containment::{Fence, Identity},
    snapshot::Snapshot,
    source::Tier,
    tree::identity,
};

/// The directories in which the enabled memory sources of a catalog keep their scopes, as the file system
/// knows them: by whatever name or mount they are reached.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    /// The memory sources that this is of.
    sources: Vec<(String, Tier)>,
    directories: BTreeSet<Identity>,
}

impl Sealed {
    pub(crate) fn of(fence: &Fence, snapshot: &Snapshot) -> Self {
        let scopes = snapshot.memories().iter().filter_map(|(path, tier)| {
            let directory = fence.enter(path).ok()?;
            let name = format!("memory-{tier}");
            let stat = retry_on_intr(|| statat(&directory.handle, &*name, AtFlags::SYMLINK_NOFOLLOW)).ok()?;
            (FileType::from_raw_mode(stat.st_mode) == FileType::Directory).then(|| identity(&stat))
        });
        Self { sources: snapshot.memories().to_vec(), directories: scopes.collect() }
    }

    /// Whether it is of the memory sources of this snapshot.
    pub(crate) fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.sources == snapshot.memories()
    }

    /// Whether a directory is one of them.
    pub(crate) fn has(&self, directory: BorrowedFd<'_>) -> bool {
        !self.directories.is_empty()
            && fstat(directory).is_ok_and(|stat| self.directories.contains(&identity(&stat)))
    }

    /// Whether a directory is one of them, or lies in one.
    pub(crate) fn encloses(&self, directory: BorrowedFd<'_>) -> bool {
        // What cannot be told is taken to be so.
        let lies_inside = |directory: BorrowedFd<'_>| {
            directory
                .try_clone_to_owned()
                .map_or(true, |handle| !above(handle).is_disjoint(&self.directories))
        };
        !self.directories.is_empty() && lies_inside(directory.as_fd())
    }
}
