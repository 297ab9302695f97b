//! Watching one file for change, so that it can be looked at again (C4).
//!
//! [`Watch`] listens to the operating system, and looks by itself now and then in case it is told
//! nothing. Whatever it hears means "look again", never more: it compares what it sees with what it saw,
//! and calls when that differs.

mod chain;
mod ears;
mod pace;
mod print;

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;

use crate::disk::open::plain;
use chain::Chain;
use ears::Ears;
use pace::Pace;
use print::{Eye, Print};

/// How often the file is looked at although nothing was heard, unless something else is asked for.
pub const POLL: Duration = Duration::from_secs(2);

/// The same where nothing can be heard.
const POLL_ALONE: Duration = Duration::from_millis(500);

/// Looking takes at most this share of the time, however large the file and slow the disk.
const POLL_SHARE: u32 = 50;

/// A longer pause than this means the same, and would leave the range of times.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How often the way to the file is followed again if it changes meanwhile.
const TRIES: usize = 4;

/// Watches one file for change, best effort.
///
/// Its directory is watched, and every directory that holds a link of the way to it, each again when it
/// is replaced; whatever that misses, such as another directory in the place of one further up, or a
/// change made on another host, is found by looking every [`POLL`]. Only content counts: writing the same
/// again is no change, and other content with the same size and times is one.
///
/// Dropping it ends its threads before it returns; it waits for a call that is under way, unless it is
/// dropped within that call. In a child of `fork`, where there are no such threads, it is
/// forgotten with what it holds.
///
/// ```
/// use std::{sync::mpsc, time::Duration};
/// use okf_engine::disk::file_watch::Watch;
///
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("catalog.json");
/// std::fs::write(&file, "{}")?;
/// let (sender, changes) = mpsc::channel();
/// let watch = Watch::start(&file, Duration::from_millis(20), move || sender.send(()).unwrap());
/// std::fs::write(&file, r#"{"version": 1}"#)?;
/// assert!(changes.recv_timeout(Duration::from_secs(30)).is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Watch {
    process: u32,
    state: Arc<ArcSwap<WatchState>>,
    /// Nothing if the thread could not be started.
    running: Option<Running>,
}

/// How changes are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchState {
    /// The operating system tells of them.
    Events,
    /// Only by looking every now and then.
    Polling {
        /// Why, as a part of a sentence and without a path (D4).
        reason: String,
    },
    /// Not at all.
    Off {
        /// Why, as a part of a sentence.
        reason: String,
    },
}

impl WatchState {
    /// Whether changes are found at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        match self {
            WatchState::Events | WatchState::Polling { .. } => true,
            WatchState::Off { .. } => false,
        }
    }
}

#[derive(Debug)]
struct Running {
    stop: Arc<AtomicBool>,
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Starts to watch a file, which need not be there. It never fails; see [`state`](Self::state).
    ///
    /// `changed` is called on a thread of the watch, never twice at once, when the file differs from what
    /// it was at the last call, or else when this returned, and nothing has changed for `debounce`. A
    /// steady stream of changes puts the call off for ten times that at most. A call that panics does
    /// not end the watch.
    ///
    /// Changes before the return are not reported: start first, then read the file.
    pub fn start(file: &Path, debounce: Duration, changed: impl FnMut() + Send + 'static) -> Self {
        Self::start_polling(file, debounce, POLL, changed)
    }

    /// As [`start`](Self::start), but looks every `poll` for what no event told of.
    pub fn start_polling(
        file: &Path,
        debounce: Duration,
        poll: Duration,
        changed: impl FnMut() + Send + 'static,
    ) -> Self {
        let (wake, heard) = sync_channel(1);
        let lookout = Lookout::new(file, debounce, poll, wake.clone());
        let state = Arc::clone(&lookout.state);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("okf-watch".to_owned())
            .spawn(move || lookout.run(&heard, &stopped, changed));
        let running = match thread {
            Ok(thread) => Some(Running { stop, wake, thread }),
            Err(error) => {
                let reason = format!("no thread can be started: {}", plain(&error));
                state.store(Arc::new(WatchState::Off { reason }));
                None
            }
        };
        Self { process: process::id(), state, running }
    }

    /// How changes are found at present.
    #[must_use]
    pub fn state(&self) -> WatchState {
        if self.is_inherited() {
            return WatchState::Off { reason: "it was started before this process was forked".to_owned() };
        }
        WatchState::clone(&self.state.load())
    }

    /// Whether this is a copy in a child of `fork`, without the threads.
    fn is_inherited(&self) -> bool {
        self.process != process::id()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        if self.is_inherited() {
            // Its thread is not there, and a lock that the thread held would never be released.
            mem::forget(running);
            return;
        }
        running.stop.store(true, Ordering::Release);
        // If it is full, the thread is about to wake anyway.
        let _ = running.wake.try_send(());
        if running.thread.thread().id() != thread::current().id() {
            let _ = running.thread.join();
        }
    }
}

/// What the thread owns.
struct Lookout {
    eye: Eye,
    ears: Ears,
    pace: Pace,
    poll: Duration,
    state: Arc<ArcSwap<WatchState>>,
}

impl Lookout {
    fn new(file: &Path, debounce: Duration, poll: Duration, heard: SyncSender<()>) -> Self {
        // Without a current directory a relative path leads nowhere either way.
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let (eye, ears) = (Eye::new(file), Ears::new(heard));
        let state = Arc::new(ArcSwap::from_pointee(WatchState::Events));
        let debounce = debounce.min(LONGEST);
        let pace = Pace::new(debounce, None, Instant::now());
        let mut lookout = Self { eye, ears, pace, poll: poll.min(LONGEST), state };
        let (print, next_poll) = lookout.look();
        lookout.pace = Pace::new(debounce, print, next_poll);
        lookout
    }

    fn run(mut self, heard: &Receiver<()>, stop: &AtomicBool, mut changed: impl FnMut()) {
        loop {
            let wait = self.pace.next_look().saturating_duration_since(Instant::now());
            let word = heard.recv_timeout(wait);
            if stop.load(Ordering::Acquire) || word == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            if word.is_ok() {
                self.pace.stir(Instant::now());
            }
            if Instant::now() < self.pace.next_look() {
                continue;
            }
            let (print, next_poll) = self.look();
            if self.pace.looked(print, Instant::now(), next_poll) && !stop.load(Ordering::Acquire) {
                // A caller's mistake must not leave it with a file that nobody watches.
                let _ = catch_unwind(AssertUnwindSafe(&mut changed));
            }
        }
    }

    /// Sees to it that whatever changes from now on is heard, then looks. Also says when to look next.
    fn look(&mut self) -> (Option<Print>, Instant) {
        let begin = Instant::now();
        let mut anew = self.pace.is_stirred() || self.ears.fault().is_some();
        for _ in 0..TRIES {
            let chain = Chain::follow(self.eye.file());
            if !anew && self.ears.listen_to(&chain) {
                break;
            }
            self.ears.listen(chain);
            anew = false;
        }
        let print = self.eye.look();
        let poll = match self.ears.fault() {
            None => {
                self.state.store(Arc::new(WatchState::Events));
                self.poll
            }
            Some(reason) => {
                self.state.store(Arc::new(WatchState::Polling { reason: reason.to_owned() }));
                self.poll.min(POLL_ALONE)
            }
        };
        let now = Instant::now();
        (print, now + poll.max((now - begin) * POLL_SHARE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_in_another_process_says_so_and_is_dropped_without_waiting() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("catalog.json");
        let mut watch = Watch::start(&file, Duration::ZERO, || ());
        let stop = Arc::clone(&watch.running.as_ref().unwrap().stop);
        watch.process += 1;
        assert!(matches!(watch.state(), WatchState::Off { .. }));
        drop(watch);
        assert!(!stop.swap(true, Ordering::Release));
    }
}
