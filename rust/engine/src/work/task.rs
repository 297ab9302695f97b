//! Work that somebody waits for: how far it is, and whether it is still wanted.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// How soon whoever waits for somebody else looks again at first; most things take little.
const FIRST_WAIT: Duration = Duration::from_micros(50);
/// How soon at last.
const LONGEST_WAIT: Duration = Duration::from_millis(5);

/// Shared between whoever works and whoever waits.
#[derive(Debug, Default)]
pub struct Task {
    abandoned: Arc<AtomicBool>,
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
    /// Work that is abandoned as soon as the flag is set, which somebody else may hold too.
    #[must_use]
    pub fn until(abandoned: Arc<AtomicBool>) -> Self {
        Self { abandoned, readings: Mutex::default() }
    }

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

/// Waits for somebody else, longer each time, as long as somebody waits for the outcome.
#[derive(Debug)]
pub(crate) struct Patience(Duration);

impl Default for Patience {
    fn default() -> Self {
        Self(FIRST_WAIT)
    }
}

impl Patience {
    pub(crate) fn wait(&mut self, task: &Task) -> Result<(), Abandoned> {
        task.go_on()?;
        thread::sleep(self.0);
        self.0 = LONGEST_WAIT.min(self.0 * 2);
        Ok(())
    }
}
