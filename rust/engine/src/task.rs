//! Work that somebody waits for: how far it is, and whether it is still wanted.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Shared between whoever works and whoever waits.
#[derive(Debug, Default)]
pub struct Task {
    abandoned: AtomicBool,
    readings: Mutex<Vec<Arc<Reading>>>,
}

/// The files of one source that are being read.
#[derive(Debug)]
pub struct Reading {
    /// The position of the source in the snapshot.
    pub source: u32,
    /// How many files there are to read.
    pub total: usize,
    done: AtomicUsize,
}

impl Reading {
    /// How many files are read.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The work was abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl Task {
    /// Says that nobody waits any more. The work ends soon, and loses nothing that was known before.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// [`Abandoned`] if nobody waits any more.
    pub fn go_on(&self) -> Result<(), Abandoned> {
        if self.abandoned.load(Ordering::Relaxed) { Err(Abandoned) } else { Ok(()) }
    }

    /// What was read or is being read, in the order in which it was begun.
    #[must_use]
    pub fn readings(&self) -> Vec<Arc<Reading>> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins to read files of a source.
    pub(crate) fn begin(&self, source: u32, total: usize) -> Arc<Reading> {
        let reading = Arc::new(Reading { source, total, done: AtomicUsize::new(0) });
        self.readings.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&reading));
        reading
    }
}
