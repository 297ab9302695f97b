//! Entering the directory of a source, with the directories on its path watched.

use std::os::fd::BorrowedFd;

use crate::disk::{
    directory::Directory,
    events::{EventQueue, QueueGuard, why_incomplete},
    fence::Fence,
    location::Location,
};

/// The path from the catalog root to a bundle, all of whose directories are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WatchedPath {
    /// The catalog root.
    pub(super) root: Location,
    /// The version of the watched paths before this one was walked: it grows when anything on any of them changes.
    pub(super) version: u64,
}

/// Enters the directory of a source. The path comes with it if events tell of everything that may change where
/// it leads.
///
/// # Errors
/// Why not, as the end of a sentence.
pub(super) fn enter(
    fence: &Fence,
    events: &EventQueue,
    path: &str,
) -> Result<(Directory, Option<WatchedPath>), String> {
    let version = events.drain().map(|queue| queue.path_version());
    // Where the path is spelled by other links than the root, no event tells of a change to those.
    let mut is_watched = version.is_some() && fence.is_spelled_below_root(path);
    let mut root = None;
    let mut passing = |handle: BorrowedFd<'_>| {
        if root.is_none() {
            root = Location::of(handle).ok();
        }
        is_watched = is_watched
            && why_incomplete(handle).is_none()
            && events.drain().is_some_and(|mut look: QueueGuard<'_>| look.watch_path_directory(handle));
    };
    let directory = fence.enter_visiting(path, &mut passing).map_err(|breach| breach.reason)?;
    // The source may be the root itself.
    let root = root.or_else(|| Some(Location::of_directory(&directory)));
    let watched = version.zip(root).map(|(version, root)| WatchedPath { root, version });
    Ok((directory, watched.filter(|_| is_watched)))
}
