//! A directory that was entered, and stays the same whatever its path leads to later.

use std::{os::fd::OwnedFd, path::PathBuf};

use crate::disk::identity::Identity;

/// An entered directory: no link can be swapped in below `handle` any more.
#[derive(Debug)]
pub struct Directory {
    /// Where it was found, for people. Opening this again could lead elsewhere.
    pub path: PathBuf,
    /// The directory itself, open for listing.
    pub handle: OwnedFd,
    /// Which directory it is.
    pub identity: Identity,
}
