//! Device and inode: which file or directory it is.

use std::{fs::Metadata, os::unix::fs::MetadataExt};

use rustix::fs::Stat;

/// A file or directory, as the file system tells it apart from others. Two paths with equal identities lead to the
/// same one, however they are spelled (R4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Identity {
        Identity { device: metadata.dev(), inode: metadata.ino() }
    }

    // The types of these fields differ between systems.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, clippy::cast_sign_loss)]
    pub(crate) fn of_stat(stat: &Stat) -> Identity {
        Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
    }
}
