//! Entering the directory of a source, with the directories on its path watched.

use std::os::fd::BorrowedFd;

use crate::{
    catalog::prepared::Preparation,
    disk::{
        above::Spot,
        directory::Directory,
        events::{Look, incomplete},
    },
};

/// The path from the catalog root to a bundle, all of whose directories are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WatchedPath {
    /// The catalog root.
    pub(super) root: Spot,
    /// The generation of the event queue before the path was walked: it grows when anything on any path changes.
    pub(super) generation: u64,
}

/// Enters the directory of a source. The path comes with it if events tell of everything that may change where
/// it leads.
///
/// # Errors
/// Why not, as the end of a sentence.
pub(super) fn enter(
    preparation: Preparation<'_>,
    path: &str,
) -> Result<(Directory, Option<WatchedPath>), String> {
    let Preparation { fence, events, .. } = preparation;
    let generation = events.look().map(|look| look.way());
    // Where the path is spelled by other links than the root, no event tells of a change to those.
    let mut is_watched = generation.is_some() && fence.is_spelled_below_root(path);
    let mut root = None;
    let mut passing = |handle: BorrowedFd<'_>| {
        if root.is_none() {
            root = Spot::of(handle).ok();
        }
        is_watched = is_watched
            && incomplete(handle).is_none()
            && events.look().is_some_and(|mut look: Look<'_>| look.watch_way(handle));
    };
    let directory = fence.enter_by(path, &mut passing).map_err(|breach| breach.reason)?;
    // The source may be the root itself.
    let root = root.or_else(|| Some(Spot::at(&directory)));
    let watched = generation.zip(root).map(|(generation, root)| WatchedPath { root, generation });
    Ok((directory, watched.filter(|_| is_watched)))
}
