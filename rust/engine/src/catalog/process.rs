//! What of a catalog belongs to one process: locks, events, a thread.
//!
//! After a fork none of these can be used: a lock may be held by a thread that is not there, and a queue of
//! events is shared with the parent. The child begins with new ones, and with what the parent had read.

use std::{
    process,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU32, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    catalog::bundles::Bundles,
    disk::{
        events::EventQueue,
        fence::Fence,
        manifest_watch::{ManifestWatch, WatchMode},
    },
    memory::shelf::Shelf,
};

/// How often watched bundles are compared with the disk all the same. What is written without an event is found
/// by then, if the file system stamps it.
const BACKED_UP: Duration = Duration::from_secs(30);

/// How often this process was forked from another, as far as it was told.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Tells that this process was just forked. Another process id tells that too, but one from another
/// namespace may be the same.
pub fn note_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Tells processes apart.
fn identity() -> (u32, u32) {
    (process::id(), FORKS.load(Ordering::Relaxed))
}

/// The part of a catalog that does not survive a fork.
#[derive(Debug)]
pub(crate) struct Process {
    id: (u32, u32),
    pub(crate) bundles: Bundles,
    pub(crate) events: EventQueue,
    pub(crate) memories: Arc<Shelf>,
    /// Held while the manifest is loaded again, never while somebody searches.
    reloading: Mutex<()>,
    keeper: Mutex<Option<Keeper>>,
    watch: Mutex<Option<ManifestWatch>>,
}

/// The thread that backs up the events.
#[derive(Debug)]
struct Keeper {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: JoinHandle<()>,
}

impl Process {
    pub(crate) fn new() -> Self {
        Self::with(Bundles::default())
    }

    /// What a forked process goes on with.
    pub(crate) fn inherited(&self) -> Self {
        Self::with(self.bundles.inherited())
    }

    fn with(bundles: Bundles) -> Self {
        Self {
            id: identity(),
            bundles,
            events: EventQueue::new(),
            memories: Arc::new(Shelf::new()),
            reloading: Mutex::default(),
            keeper: Mutex::default(),
            watch: Mutex::default(),
        }
    }

    /// Whether this is the process that it was made in.
    pub(crate) fn is_current(&self) -> bool {
        self.id == identity()
    }

    pub(crate) fn reload_alone(&self) -> MutexGuard<'_, ()> {
        self.reloading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to back up the events, if that is not being done.
    pub(crate) fn keep(self: &Arc<Self>, fence: &Fence) {
        if self.events.why_unavailable().is_some() {
            return;
        }
        // Who finds this taken can rely on whoever took it.
        let Ok(mut keeper) = self.keeper.try_lock() else { return };
        if keeper.is_none() {
            *keeper = Keeper::start(Arc::downgrade(self), fence.clone());
        }
    }

    /// Has the manifest watched.
    pub(crate) fn watch(&self, watch: ManifestWatch) {
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch);
    }

    /// How the manifest is watched, if it is.
    pub(crate) fn watch_state(&self) -> Option<WatchMode> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(ManifestWatch::mode)
    }

    /// Ends the threads. The bundles are forgotten.
    pub(crate) fn end(&self) {
        if !self.is_current() {
            return;
        }
        // Dropped without the lock: its thread may be waiting for another one.
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(watch);
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(keeper) = keeper {
            keeper.end();
        }
        // All watches end with the queue, at once.
        self.events.close();
        self.bundles.clear(&self.events);
        self.memories.clear();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        if let Ok(mut keeper) = self.keeper.try_lock() {
            // In a forked process there is no thread behind this handle.
            std::mem::forget(keeper.take());
        }
    }
}

impl Keeper {
    /// `None` if there is no thread to be had; events then go without a backup.
    fn start(process: Weak<Process>, fence: Fence) -> Option<Self> {
        let stop: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let told = Arc::clone(&stop);
        let work = move || {
            let (stopped, wake) = &*told;
            loop {
                let waiting = stopped.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = wake.wait_timeout_while(waiting, BACKED_UP, |stopped| !*stopped);
                if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                    return;
                }
                let Some(process) = process.upgrade() else { return };
                process.bundles.back_up(&fence, &process.events);
            }
        };
        let thread = thread::Builder::new().name("okf-catalog".to_owned()).spawn(work).ok()?;
        Some(Self { stop, thread })
    }

    fn end(self) {
        let (stopped, wake) = &*self.stop;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
        // The thread itself may be the last to let go of the process.
        if self.thread.thread().id() != thread::current().id() {
            let _ = self.thread.join();
        }
    }
}
