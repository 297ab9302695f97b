//! Size and times of a file, by which a later look tells whether its content changed.

use rustix::fs::Stat;

use crate::disk::identity::Identity;

/// Identity, size and times of a file. If two reads see equal stamps, they saw the same content, unless the file
/// changed so soon after the first read that its times stayed the same: see [`granularity`](super::granularity).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    identity: Identity,
    size: u64,
    /// `mtime`, in nanoseconds since the epoch.
    modified: i128,
    /// `ctime`, in nanoseconds since the epoch.
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

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// The `ctime`: when the file last changed in any way, in nanoseconds since the epoch. No program can set it.
    pub(crate) fn changed(&self) -> i128 {
        self.changed
    }
}
