//! A directory that was entered: it stays the same directory whatever its path leads to later.

use std::{os::fd::OwnedFd, path::PathBuf};

use crate::disk::identity::Identity;

/// An entered directory. What is opened below `handle` is in this directory, even if a link takes its place.
#[derive(Debug)]
pub(crate) struct Directory {
    /// Where it was found. For messages: opening this path again could lead elsewhere.
    pub(crate) path: PathBuf,
    /// Open for listing.
    pub(crate) handle: OwnedFd,
    pub(crate) identity: Identity,
}
