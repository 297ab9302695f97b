//! What the file system says of the content of a file.

use rustix::fs::Stat;

use crate::disk::identity::Identity;

/// What the file system says of a file. Two reads between which it stayed the same saw the same content,
/// unless the file changed too soon after the first to get another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    identity: Identity,
    pub(super) size: u64,
    /// Nanoseconds since the epoch.
    modified: i128,
    changed: i128,
}

impl Stamp {
    // The types of these fields differ between systems.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, clippy::cast_lossless)]
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos = |seconds: i128, nanos: i128| seconds * 1_000_000_000 + nanos;
        Self {
            identity: Identity::of_stat(stat),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanos(stat.st_mtime as i128, stat.st_mtime_nsec as i128),
            changed: nanos(stat.st_ctime as i128, stat.st_ctime_nsec as i128),
        }
    }

    /// Which file it is.
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// When the file last changed in any way; no program can set this time.
    #[must_use]
    pub fn changed(&self) -> i128 {
        self.changed
    }
}
