//! An open catalog over bundle directories: its manifest, replaced whole, and what it keeps per process (C2 to C4).

use std::{
    io,
    path::{Path, PathBuf, absolute},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;

use crate::{
    catalog::{
        load::{check_paths, read_sources, unreadable},
        options::{Freshness, Options},
        process::Process,
    },
    disk::{
        fence::Fence,
        file_watch::{Watch, WatchState},
        open::plain,
    },
    error::Error,
    manifest::{
        diagnostic::{CatalogDiagnostic, CatalogDiagnosticCode},
        snapshot::Snapshot,
        source::{Role, Tier},
    },
    memory::{KnownDirectories, Memory},
    work::task::Task,
};

/// An open catalog. Every method may be called from any number of threads, and after a fork.
#[derive(Debug)]
pub struct Catalog {
    manifest: PathBuf,
    pub(super) fence: Fence,
    pub(super) max_file_bytes: u64,
    pub(super) threads: usize,
    pub(super) freshness: Freshness,
    current: ArcSwap<Snapshot>,
    last_reload: ArcSwap<Vec<CatalogDiagnostic>>,
    /// Faults of the last reload that the caller was not told of.
    unreported: ArcSwap<Vec<CatalogDiagnostic>>,
    process: ArcSwap<Process>,
    pub(super) known_memories: KnownDirectories,
    /// How the manifest is watched, in this process and in those forked from it.
    watching: OnceLock<Watching>,
    closed: AtomicBool,
}

#[derive(Debug)]
struct Watching {
    catalog: Weak<Catalog>,
    debounce: Duration,
}

impl Catalog {
    /// Reads the manifest, checks the path of every enabled source, and publishes generation 1 (C2).
    ///
    /// # Errors
    /// [`Error::Catalog`] with every fault at once.
    pub fn open(options: Options) -> Result<Self, Error> {
        let Options { manifest, root, max_file_bytes, threads, freshness } = options;
        let unreadable = |error: &io::Error| Error::Catalog(vec![unreadable(&manifest, error)]);
        let manifest = absolute(&manifest).map_err(|error| unreadable(&error))?;
        let sources = read_sources(&manifest).map_err(Error::Catalog)?;
        let directory = manifest.parent().unwrap_or(Path::new("/"));
        let fence = Fence::new(root.as_deref().unwrap_or(directory), directory).map_err(|error| {
            Error::Catalog(vec![CatalogDiagnostic {
                code: CatalogDiagnosticCode::TargetNotFound,
                message: format!("the catalog root cannot be entered: {}", plain(&error)),
            }])
        })?;
        check_paths(&fence, &sources).map_err(Error::Catalog)?;
        let snapshot = Snapshot::new(1, sources, fence.manifest_directory().to_owned());
        let known_memories = KnownDirectories::default();
        known_memories.note_tiers(&fence, &snapshot);
        Ok(Self {
            manifest,
            fence,
            max_file_bytes,
            threads: threads.max(1),
            freshness,
            current: ArcSwap::from_pointee(snapshot),
            last_reload: ArcSwap::default(),
            unreported: ArcSwap::default(),
            watching: OnceLock::new(),
            known_memories,
            process: ArcSwap::from_pointee(Process::new()),
            closed: AtomicBool::new(false),
        })
    }

    /// The snapshot in force.
    #[must_use]
    pub fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// What was wrong with the manifest at the last reload; empty if nothing was.
    #[must_use]
    pub fn last_reload_diagnostics(&self) -> Arc<Vec<CatalogDiagnostic>> {
        self.last_reload.load_full()
    }

    /// The fence around all bundles.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.fence.root()
    }

    /// Reads the manifest again: all of it is right and takes effect, or nothing does (C3).
    ///
    /// Returns the snapshot that is in force afterwards.
    pub fn reload(&self) -> Arc<Snapshot> {
        let process = self.process();
        let _reloading = process.lock_reload();
        if self.is_closed() {
            return self.current();
        }
        let sources = read_sources(&self.manifest)
            .and_then(|sources| check_paths(&self.fence, &sources).map(|()| sources));
        match sources {
            Err(diagnostics) => {
                let diagnostics = Arc::new(diagnostics);
                if **self.last_reload.load() != *diagnostics {
                    self.unreported.store(Arc::clone(&diagnostics));
                }
                self.last_reload.store(diagnostics);
            }
            Ok(sources) => {
                let generation = self.current.load().generation + 1;
                let directory = self.fence.manifest_directory().to_owned();
                let snapshot = Arc::new(Snapshot::new(generation, sources, directory));
                self.mark_memories(&snapshot);
                process.state.bundles.keep_only(&self.current.load(), &snapshot, &process.state.events);
                self.current.store(snapshot);
                self.last_reload.store(Arc::default());
                self.unreported.store(Arc::default());
            }
        }
        self.current()
    }

    /// Marks the memories of the current and the next snapshot before the next one is in force, if its memory
    /// sources differ: also those that it does not name any more (Y10). What cannot be marked stays sealed while
    /// the catalog is open.
    fn mark_memories(&self, next: &Snapshot) {
        fn memories(of: &Snapshot) -> impl Iterator<Item = (&str, Option<Tier>, bool)> {
            let memories = of.sources.iter().filter(|source| source.role == Role::Memory);
            memories.map(|source| (&*source.path, source.tier, source.enabled))
        }
        let current = self.current();
        if !memories(&current).eq(memories(next)) {
            let task = Task::default();
            for snapshot in [&*current, next] {
                // No other thread has this task, so it is never abandoned.
                let _ = self.known_memories.mark(&self.fence, &snapshot.sources, &task);
            }
        }
    }

    /// The faults of the last reload, if this was not called since; each distinct failure is given once (C4).
    #[must_use]
    pub fn take_unreported_faults(&self) -> Arc<Vec<CatalogDiagnostic>> {
        if self.unreported.load().is_empty() { Arc::default() } else { self.unreported.swap(Arc::default()) }
    }

    /// From now on reloads the manifest by itself, when it has changed and was quiet for `debounce` (C4); best
    /// effort, see [`watch_state`](Self::watch_state).
    pub fn watch(self: &Arc<Self>, debounce: Duration) {
        let watching = Watching { catalog: Arc::downgrade(self), debounce };
        if self.watching.set(watching).is_ok() && !self.is_closed() {
            self.watch_in(&self.process());
        }
    }

    /// How the manifest is watched, if it is.
    #[must_use]
    pub fn watch_state(&self) -> Option<WatchState> {
        self.process().watch_state()
    }

    fn watch_in(&self, process: &Process) {
        let Some(Watching { catalog, debounce }) = self.watching.get() else { return };
        let watched = Weak::clone(catalog);
        process.watch(Watch::start(&self.manifest, *debounce, move || {
            if let Some(catalog) = watched.upgrade() {
                catalog.reload();
            }
        }));
        // The manifest may have changed after it was read and before it was watched.
        if read_sources(&self.manifest).is_ok_and(|sources| sources != self.current.load().sources) {
            self.reload();
        }
    }

    /// The memory sources of a snapshot of this catalog.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn memory<'catalog>(
        &'catalog self,
        snapshot: &'catalog Arc<Snapshot>,
    ) -> Result<Memory<'catalog>, Error> {
        let (cache, known) = (Arc::clone(&self.open_process()?.memories), &self.known_memories);
        let (max_bytes, threads) = (self.max_file_bytes, self.threads);
        Ok(Memory { fence: &self.fence, cache, known, snapshot, max_bytes, threads })
    }

    /// Lets go of all bundles. Calls that are under way finish; later ones fail.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.process().end();
    }

    /// Whether [`close`](Self::close) was called.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// What belongs to this process, unless the catalog is closed.
    pub(super) fn open_process(&self) -> Result<Arc<Process>, Error> {
        if self.is_closed() { Err(Error::Closed) } else { Ok(self.process()) }
    }

    /// What belongs to this process. After a fork it is made anew.
    fn process(&self) -> Arc<Process> {
        let process = self.process.load_full();
        if process.is_current() {
            return process;
        }
        let inherited = Arc::new(process.inherited());
        let before = self.process.compare_and_swap(&process, Arc::clone(&inherited));
        if Arc::ptr_eq(&before, &process) {
            // Dropping it would end its thread, which this process does not have, and take its locks, which may
            // stay locked for ever.
            std::mem::forget(process);
            if !self.is_closed() {
                self.watch_in(&inherited);
            }
            inherited
        } else {
            Arc::clone(&before)
        }
    }
}

impl Drop for Catalog {
    fn drop(&mut self) {
        self.process.load().end();
    }
}
