//! Why a directory or file cannot be watched.

use rustix::io::Errno;

/// Why a directory or file cannot be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))] // Without events, nothing is watched.
pub(crate) enum Unwatchable {
    /// As many files are watched one by one as may be: this many.
    TooMany(usize),
    /// The system refused.
    Refused(Errno),
}

impl From<Errno> for Unwatchable {
    fn from(errno: Errno) -> Self {
        Unwatchable::Refused(errno)
    }
}
