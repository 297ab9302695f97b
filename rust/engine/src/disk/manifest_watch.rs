//! Watches the manifest file, so that it can be reloaded when it changes (C4).
//!
//! A `ManifestWatch` has a thread that is woken by the `notify` crate (`listener`) and looks at the file every few
//! seconds anyway, in case an event was missed. An event only means "look again": the thread compares the file's
//! `fingerprint` with the last one, and calls back when it differs and `debounce` says that the file is stable.

mod checker;
mod debounce;
mod fingerprint;
mod listener;
mod mode;
mod resolved_path;

#[cfg(test)]
mod tests;

use crate::{disk::os_error::plain, work::process::ProcessId};
use std::{
    mem,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use arc_swap::ArcSwap;

use checker::Checker;

pub use mode::WatchMode;

/// The file is looked at this often although no event came.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Watches one file for changes, best effort.
///
/// Events come from the file's directory, and from each directory that contains a link of the path to the file. What
/// they miss is found by polling every [`POLL_INTERVAL`]: a directory further up that is replaced by another, or a
/// change made on another host. Only the content counts: writing the same content again is no change, and other
/// content with the same size and times is one.
///
/// Dropping the watch ends its threads before it returns. It waits for a callback that is running, unless it is
/// dropped within that callback. In a forked child the threads do not exist: there, dropping it leaks what it holds.
#[derive(Debug)]
pub(crate) struct ManifestWatch {
    /// The id of the process that started it.
    process: ProcessId,
    mode: Arc<ArcSwap<WatchMode>>,
    /// `None` if the thread could not be started.
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    stop: Arc<AtomicBool>,
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl ManifestWatch {
    /// Starts to watch a file, which need not exist. It never fails; see [`mode`](Self::mode).
    ///
    /// `changed` is called on the thread of the watch, one call at a time, when the content differs from that at the
    /// last call, or at the return of this function, and did not change for `debounce`. If it keeps changing, the
    /// call comes after ten times `debounce` at the latest. If a call panics, the watch goes on.
    ///
    /// Changes before the return are not reported: start the watch first, then read the file.
    pub(crate) fn start(file: &Path, debounce: Duration, changed: impl FnMut() + Send + 'static) -> Self {
        Self::start_polling(file, debounce, POLL_INTERVAL, changed)
    }

    /// As [`start`](Self::start), with another interval at which the file is looked at without an event.
    fn start_polling(
        file: &Path,
        debounce: Duration,
        poll_interval: Duration,
        changed: impl FnMut() + Send + 'static,
    ) -> Self {
        let (wake, woken) = sync_channel(1);
        let mode = Arc::new(ArcSwap::from_pointee(WatchMode::Events));
        let checker = Checker::new(file, debounce, poll_interval, wake.clone(), Arc::clone(&mode));
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("okf-watch".to_owned())
            .spawn(move || checker.run(&woken, &stopped, changed));
        let running = match thread {
            Ok(thread) => Some(Running { stop, wake, thread }),
            Err(error) => {
                let reason = format!("no thread can be started: {}", plain(&error));
                mode.store(Arc::new(WatchMode::Off { reason }));
                None
            }
        };
        Self { process: ProcessId::current(), mode, running }
    }

    /// How changes are found at present.
    pub(crate) fn mode(&self) -> WatchMode {
        if self.is_inherited() {
            return WatchMode::Off { reason: "it was started before this process was forked".to_owned() };
        }
        WatchMode::clone(&self.mode.load())
    }

    /// Whether this process is a forked child of the one that started the watch.
    fn is_inherited(&self) -> bool {
        !self.process.is_current()
    }
}

impl Drop for ManifestWatch {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        if self.is_inherited() {
            // The thread does not exist in this process, and a lock that it held is never released.
            mem::forget(running);
            return;
        }
        running.stop.store(true, Ordering::Release);
        // If the channel is full, the thread is about to wake up anyway.
        let _ = running.wake.try_send(());
        if running.thread.thread().id() != thread::current().id() {
            let _ = running.thread.join();
        }
    }
}
