//! Work that a caller waits for: its progress, and whether the caller has abandoned it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

/// How long a thread that polls for another thread sleeps at first. Most work is done sooner.
const FIRST_WAIT: Duration = Duration::from_micros(50);
/// How long it sleeps at most. The time doubles with each sleep.
const LONGEST_WAIT: Duration = Duration::from_millis(5);

/// Shared between the threads that work and the caller that waits.
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
    /// How many files must be read.
    pub total: usize,
    done: AtomicUsize,
}

impl Reading {
    /// How many files have been read.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The error of work that its caller has abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl Task {
    /// A task that is abandoned as soon as the flag is set. Several tasks may share one flag.
    #[must_use]
    pub fn until(abandoned: Arc<AtomicBool>) -> Self {
        Self { abandoned, readings: Mutex::default() }
    }

    /// Asks the work to end soon, because the caller no longer waits. What earlier calls have read is kept.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// Checks whether to go on.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was abandoned.
    pub fn go_on(&self) -> Result<(), Abandoned> {
        if self.abandoned.load(Ordering::Relaxed) { Err(Abandoned) } else { Ok(()) }
    }

    /// The readings that have begun, finished ones included, in the order in which they began.
    #[must_use]
    pub fn readings(&self) -> Vec<Arc<Reading>> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reports that `total` files of a source are going to be read.
    pub(crate) fn begin(&self, source: u32, total: usize) -> Arc<Reading> {
        let reading = Arc::new(Reading { source, total, done: AtomicUsize::new(0) });
        self.readings.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&reading));
        reading
    }
}

/// Exponential backoff of a thread that polls for another thread.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(FIRST_WAIT)
    }
}

impl Backoff {
    /// Sleeps, twice as long as the last time.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was, without sleeping.
    pub(crate) fn wait(&mut self, task: &Task) -> Result<(), Abandoned> {
        task.go_on()?;
        thread::sleep(self.0);
        self.0 = LONGEST_WAIT.min(self.0 * 2);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_share_a_flag_are_abandoned_together() {
        let flag = Arc::new(AtomicBool::new(false));
        let (one, two) = (Task::until(Arc::clone(&flag)), Task::until(flag));
        assert_eq!((one.go_on(), two.go_on()), (Ok(()), Ok(())));
        one.abandon();
        assert_eq!((one.go_on(), two.go_on()), (Err(Abandoned), Err(Abandoned)));
        assert_eq!(Task::default().go_on(), Ok(()));
    }

    #[test]
    fn readings_say_how_many_files_of_which_source_were_read() {
        let task = Task::default();
        let first = task.begin(7, 2);
        task.begin(3, 5);
        first.advance();
        let told: Vec<_> = task.readings().iter().map(|one| (one.source, one.done(), one.total)).collect();
        assert_eq!(told, [(7, 1, 2), (3, 0, 5)]);
    }

    #[test]
    fn waiting_takes_longer_each_time_up_to_a_bound_and_ends_with_the_task() {
        let (task, mut backoff) = (Task::default(), Backoff::default());
        for expected in [100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            backoff.wait(&task).unwrap();
            assert_eq!(backoff.0, Duration::from_micros(expected));
        }
        task.abandon();
        assert_eq!(backoff.wait(&task), Err(Abandoned));
    }
}
