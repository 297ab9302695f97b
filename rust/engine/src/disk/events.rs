//! What the kernel tells of changes, read at the moment a search begins (F1).
//!
//! On Linux an event is queued before the call that made the change returns. Emptying the queue without
//! waiting, at the start of a search, therefore tells of every change that was complete before it. This is
//! why the queue is read here and not by the `notify` crate, whose own thread reads it some time later.
//!
//! A directory tells only of what is done by a name in it. Files are watched by themselves too, so that a write by
//! a hard link elsewhere, or by a descriptor opened with such a name, is told of; as long as there are few enough.
//!
//! The exceptions are kept away from it: file systems that others change too, links that lead to what is
//! not watched, and limits reached all mean that a bundle is compared with the disk instead.

use std::{collections::BTreeSet, sync::Arc};

use rustix::io::Errno;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{Events, Look, has_our_clock, holds_mounted_file, incomplete};
#[cfg(target_os = "linux")]
pub(crate) use linux::{Events, Look, has_our_clock, holds_mounted_file, incomplete};

/// Why something cannot be watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))] // Where there are no events, nothing is watched.
pub(crate) enum Unwatchable {
    /// As many files are watched by themselves as should be.
    TooMany(usize),
    /// The system refused.
    Refused(Errno),
}

impl From<Errno> for Unwatchable {
    fn from(errno: Errno) -> Self {
        Unwatchable::Refused(errno)
    }
}

/// What is known to have changed in a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dirt {
    /// Nothing.
    Clean,
    /// Files in these directories.
    Directories(BTreeSet<Arc<str>>),
    /// Anything.
    All,
}
