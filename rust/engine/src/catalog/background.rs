//! A thread that compares watched bundles with the disk now and then.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError, Weak},
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{catalog::shared::SharedState, disk::fence::Fence};

/// How often watched bundles are compared with the disk although no event came. A change that the kernel sends no
/// event of is found within this time, if it changes the file's timestamps.
const INTERVAL: Duration = Duration::from_secs(30);

/// The running thread.
#[derive(Debug)]
pub(super) struct BackgroundCheck {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: JoinHandle<()>,
}

impl BackgroundCheck {
    /// `None` if no thread can be started; then bundles are not checked.
    pub(super) fn start(state: Weak<SharedState>, fence: Fence) -> Option<Self> {
        let stop: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let stopped = Arc::clone(&stop);
        let work = move || {
            let (stopped, wake) = &*stopped;
            loop {
                let waiting = stopped.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = wake.wait_timeout_while(waiting, INTERVAL, |stopped| !*stopped);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    return;
                }
                let Some(state) = state.upgrade() else { return };
                state.bundles.check(&fence, &state.events);
            }
        };
        let thread = thread::Builder::new().name("okf-catalog".to_owned()).spawn(work).ok()?;
        Some(Self { stop, thread })
    }

    /// Ends the thread, and waits for it.
    pub(super) fn end(self) {
        let (stopped, wake) = &*self.stop;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
        // If it panicked there is nothing left to end.
        let _ = self.thread.join();
    }
}
