//! Which process this is: a forked child has other locks, threads and descriptors than its parent.

use std::{
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// How often this process was forked from another, as far as [`note_fork`] was called.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Tells that this process was just forked. Another process id tells that too, but a process in another namespace
/// may have the same one.
pub fn note_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Tells a process from those that it was forked from, and from those that it forks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessId {
    id: u32,
    forks: u32,
}

impl ProcessId {
    /// This process.
    pub(crate) fn current() -> Self {
        Self { id: process::id(), forks: FORKS.load(Ordering::Relaxed) }
    }

    /// Whether this is the process that the id was taken in, and no forked child of it.
    pub(crate) fn is_current(self) -> bool {
        self == Self::current()
    }

    /// Another process.
    #[cfg(test)]
    pub(crate) fn another() -> Self {
        Self { forks: FORKS.load(Ordering::Relaxed) + 1, ..Self::current() }
    }
}
