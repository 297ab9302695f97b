//! Which file or directory it is, as the file system knows it.

use std::{fs::Metadata, os::unix::fs::MetadataExt};

use rustix::fs::Stat;

/// What the file system knows a directory or file by. Two paths with equal identities are one
/// thing, however they are spelled (R4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The thing in it.
    pub inode: u64,
}

impl Identity {
    /// The identity that metadata speak of.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Identity {
        Identity { device: metadata.dev(), inode: metadata.ino() }
    }

    /// The identity that a `stat` speaks of.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, clippy::cast_sign_loss)]
    #[must_use]
    pub(crate) fn of_stat(stat: &Stat) -> Identity {
        Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }
}
