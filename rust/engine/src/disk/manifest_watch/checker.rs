//! Waits for an event or the next poll, looks at the file, and calls back. This is what the thread of a watch does.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;

use super::{
    debounce::Debounce,
    fingerprint::{Fingerprint, Fingerprinter},
    listener::Listener,
    mode::WatchMode,
    resolved_path::ResolvedPath,
};

/// The file is looked at this often where there are no events.
const POLL_INTERVAL_WITHOUT_EVENTS: Duration = Duration::from_millis(500);

/// Looking at the file takes at most one in this many seconds, however large the file and slow the disk.
const POLL_SHARE: u32 = 50;

/// Longer durations than a day are cut to a day, so that no sum of times overflows.
const MAX_DURATION: Duration = Duration::from_secs(24 * 60 * 60);

/// The path is resolved again at most this many times if it changes meanwhile.
const MAX_ATTEMPTS: usize = 4;

/// What the thread of a watch owns.
pub(super) struct Checker {
    file: PathBuf,
    fingerprinter: Fingerprinter,
    listener: Listener,
    debounce: Debounce,
    poll_interval: Duration,
    mode: Arc<ArcSwap<WatchMode>>,
}

impl Checker {
    /// Looks at the file for the first time. Later changes are reported.
    pub(super) fn new(
        file: &Path,
        debounce: Duration,
        poll_interval: Duration,
        wake: SyncSender<()>,
        mode: Arc<ArcSwap<WatchMode>>,
    ) -> Self {
        // Without a current directory, a relative path leads nowhere, absolute or not.
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let debounce_time = debounce.min(MAX_DURATION);
        let mut this = Self {
            file,
            fingerprinter: Fingerprinter::default(),
            listener: Listener::new(wake),
            debounce: Debounce::new(debounce_time, None, Instant::now()),
            poll_interval: poll_interval.min(MAX_DURATION),
            mode,
        };
        let (fingerprint, next_poll) = this.look();
        this.debounce = Debounce::new(debounce_time, fingerprint, next_poll);
        this
    }

    /// Runs until `stop` is set or `woken` is disconnected.
    pub(super) fn run(mut self, woken: &Receiver<()>, stop: &AtomicBool, mut changed: impl FnMut()) {
        loop {
            let wait = self.debounce.next_look().saturating_duration_since(Instant::now());
            let message = woken.recv_timeout(wait);
            if stop.load(Ordering::Acquire) || message == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            if message.is_ok() {
                self.debounce.note_event(Instant::now());
            }
            if Instant::now() < self.debounce.next_look() {
                continue;
            }
            let (fingerprint, next_poll) = self.look();
            if self.debounce.note_look(fingerprint, Instant::now(), next_poll)
                && !stop.load(Ordering::Acquire)
            {
                // A panic in the callback must not end the watch.
                let _ = catch_unwind(AssertUnwindSafe(&mut changed));
            }
        }
    }

    /// Makes sure that events tell of every change from now on, and only then looks at the file, which opens it once.
    /// Also says when to look next without an event.
    fn look(&mut self) -> (Option<Fingerprint>, Instant) {
        let begin = Instant::now();
        let mut listen_again = self.debounce.is_unsettled() || self.listener.failure().is_some();
        for _ in 0..MAX_ATTEMPTS {
            let path = ResolvedPath::of(&self.file);
            if !listen_again && self.listener.covers(&path) {
                break;
            }
            self.listener.listen_to(path);
            listen_again = false;
        }
        let fingerprint = self.fingerprinter.take(&self.file);
        let poll_interval = match self.listener.failure() {
            None => {
                self.mode.store(Arc::new(WatchMode::Events));
                self.poll_interval
            }
            Some(reason) => {
                self.mode.store(Arc::new(WatchMode::Polling { reason: reason.to_owned() }));
                self.poll_interval.min(POLL_INTERVAL_WITHOUT_EVENTS)
            }
        };
        let now = Instant::now();
        (fingerprint, now + poll_interval.max((now - begin) * POLL_SHARE))
    }
}
