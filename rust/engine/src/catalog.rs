//! A catalog: its manifest, hot-swapped whole, and the bundles it names (C2, C3).

pub(crate) mod bundles;
pub(crate) mod process;

use crate::{
    ask::{answer::Answer, batch, question::Question},
    catalog::{
        bundles::{Bundles, Freshness, Preparation, Prepared},
        process::Process,
    },
    disk::{
        events::Events,
        fence::Fence,
        file_watch::{Watch, WatchState},
        open::plain,
    },
    document::{
        problem::{NewProblem, Problem, Reported},
        remark::Remarks,
    },
    error::Error,
    manifest::{
        self,
        diagnostic::{CatalogDiagnostic, CatalogDiagnosticCode, Faults},
        snapshot::Snapshot,
        source::{Role, Source, Tier},
    },
    memory::{Memory, marking::Marks},
    search::Alone,
    text::instant::Instant,
    work::{parallel, task::Task},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf, absolute},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use rustix::fs::{FileType, Mode, OFlags};

/// A manifest larger than this is not read.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// How a catalog is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The manifest file.
    pub manifest: PathBuf,
    /// The fence around all bundles; the manifest's directory if `None`.
    pub root: Option<PathBuf>,
    /// Files above this size are problems (B9).
    pub max_file_bytes: u64,
    /// How many threads one call may use.
    pub threads: usize,
    /// When bundles are compared with the disk.
    pub freshness: Freshness,
}

impl Options {
    /// The default: the manifest's directory is the root, files up to 16 MiB, all cores.
    #[must_use]
    pub fn new(manifest: impl Into<PathBuf>) -> Self {
        Self {
            manifest: manifest.into(),
            root: None,
            max_file_bytes: 16 << 20,
            threads: parallel::available_threads(),
            freshness: Freshness::default(),
        }
    }
}

/// An open catalog. Every method may be called from any number of threads, and after a fork.
#[derive(Debug)]
pub struct Catalog {
    manifest: PathBuf,
    fence: Fence,
    max_file_bytes: u64,
    threads: usize,
    freshness: Freshness,
    current: ArcSwap<Snapshot>,
    last_reload: ArcSwap<Vec<CatalogDiagnostic>>,
    /// Faults of the last reload that nobody was told of.
    unreported: ArcSwap<Vec<CatalogDiagnostic>>,
    process: ArcSwap<Process>,
    marks: Marks,
    /// How the manifest is watched, in this process and in those forked from it.
    watching: OnceLock<Watching>,
    closed: AtomicBool,
}

#[derive(Debug)]
struct Watching {
    catalog: Weak<Catalog>,
    debounce: Duration,
}

/// What is known of one source.
#[derive(Debug)]
pub struct SourceReport {
    /// Its position in the snapshot.
    pub source: u32,
    /// Where its bundle is, if it was entered.
    pub directory: Option<PathBuf>,
    /// How many concepts it has.
    pub concepts: usize,
    /// Files that are none, sorted by path.
    pub problems: Vec<Problem>,
    /// What is to be said of files that are served and of names that are passed over (B11).
    pub remarks: Remarks,
    /// The source before it, in order S1, that names the same directory.
    pub duplicate_of: Option<u32>,
    /// Why the source is unavailable, if it is.
    pub failure: Option<String>,
    /// Why the bundle is compared with the disk, before each search unless it says otherwise; `None` if the
    /// kernel tells of every change that it can tell of.
    pub unwatched: Option<String>,
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
        let marks = Marks::default();
        marks.meet_all(&fence, &snapshot);
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
            marks,
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
        let _one_at_a_time = process.reload_alone();
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
                self.mark_anew(&snapshot);
                process.bundles.keep_only(&self.current.load(), &snapshot, &process.events);
                self.current.store(snapshot);
                self.last_reload.store(Arc::default());
                self.unreported.store(Arc::default());
            }
        }
        self.current()
    }

    /// Marks memories before other sources are in force, whether or not a store was opened: also of those that are
    /// named no more from then on. What cannot be marked stays sealed as long as the catalog is open.
    fn mark_anew(&self, next: &Snapshot) {
        fn memories(of: &Snapshot) -> impl Iterator<Item = (&str, Option<Tier>, bool)> {
            let memories = of.sources.iter().filter(|source| source.role == Role::Memory);
            memories.map(|source| (&*source.path, source.tier, source.enabled))
        }
        let current = self.current();
        if !memories(&current).eq(memories(next)) {
            let task = Task::default();
            for snapshot in [&*current, next] {
                // Nobody abandons it.
                let _ = self.marks.put(&self.fence, &snapshot.sources, &task);
            }
        }
    }

    /// The faults of the last reload, once for each distinct failure (C4).
    #[must_use]
    pub fn take_unreported_faults(&self) -> Arc<Vec<CatalogDiagnostic>> {
        if self.unreported.load().is_empty() { Arc::default() } else { self.unreported.swap(Arc::default()) }
    }

    /// Reloads the manifest by itself from now on, when it has changed and was quiet for `debounce` (C4);
    /// best effort, see [`watch_state`](Self::watch_state).
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
        // What changed between reading the manifest and watching it was seen by neither.
        if read_sources(&self.manifest).is_ok_and(|sources| sources != self.current.load().sources) {
            self.reload();
        }
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

    /// Answers one question from a snapshot of this catalog; without `now`, at the system's time.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn search(
        &self,
        snapshot: &Arc<Snapshot>,
        question: &Question,
        now: Option<Instant>,
        task: &Task,
    ) -> Result<Reported<Answer>, Error> {
        let now = now.unwrap_or_else(Instant::now);
        let mut prepared = Prepared::default();
        self.prepare(&mut prepared, snapshot, &question.visible, task)?;
        self.answer(snapshot, question, now, prepared, task)
    }

    /// Answers as [`search`](Self::search) does if nothing has to be read for it; `None` otherwise.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn search_unchanged(
        &self,
        snapshot: &Arc<Snapshot>,
        question: &Question,
        now: Option<Instant>,
    ) -> Result<Option<Reported<Answer>>, Error> {
        let now = now.unwrap_or_else(Instant::now);
        let process = self.open_process()?;
        let mut prepared = Prepared::default();
        let task = Task::default();
        let preparation = self.preparation(&process, &task);
        let missing = prepared.add_unchanged(snapshot, &question.visible, preparation);
        if missing.is_empty() {
            self.answer(snapshot, question, now, prepared, &task).map(Some)
        } else {
            Ok(None)
        }
    }

    fn answer(
        &self,
        snapshot: &Arc<Snapshot>,
        question: &Question,
        now: Instant,
        prepared: Prepared,
        task: &Task,
    ) -> Result<Reported<Answer>, Error> {
        let searched = Arc::new(question.searched(snapshot, &prepared));
        let criteria = question.criteria(now, task)?;
        let answer = question.answer(searched, criteria, &Alone, None, self.threads, task)?;
        Ok(Reported { value: answer, problems: prepared.new_problems })
    }

    /// Begins a conversation: questions that are all put at one time to one state of the files.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn converse(
        self: &Arc<Self>,
        snapshot: Arc<Snapshot>,
        now: Option<Instant>,
    ) -> Result<Conversation, Error> {
        if self.is_closed() {
            return Err(Error::Closed);
        }
        let now = now.unwrap_or_else(Instant::now);
        Ok(Conversation { catalog: Arc::clone(self), snapshot, now, prepared: Prepared::default() })
    }

    /// What is remembered in the memory sources of a snapshot of this catalog.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn memory<'catalog>(
        &'catalog self,
        snapshot: &'catalog Arc<Snapshot>,
    ) -> Result<Memory<'catalog>, Error> {
        let process = self.open_process()?;
        let (max_bytes, threads) = (self.max_file_bytes, self.threads);
        let recent = Arc::clone(&process.memories);
        Ok(Memory { fence: &self.fence, recent, marks: &self.marks, snapshot, max_bytes, threads })
    }

    /// Brings every source of the snapshot up to date, whatever the freshness says, so that later searches
    /// see what was complete before this call.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn refresh(&self, snapshot: &Arc<Snapshot>, task: &Task) -> Result<Reported<()>, Error> {
        let process = self.open_process()?;
        let preparation = Preparation { freshness: Freshness::Exact, ..self.preparation(&process, task) };
        let mut prepared = Prepared::default();
        prepared.add_unchanged(snapshot, snapshot.candidates(), preparation);
        prepared.add(snapshot, snapshot.candidates(), preparation)?;
        Ok(Reported { value: (), problems: prepared.new_problems })
    }

    /// What is known of each source of the snapshot, in the order of the manifest.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn report(
        &self,
        snapshot: &Arc<Snapshot>,
        task: &Task,
    ) -> Result<Reported<Vec<SourceReport>>, Error> {
        let enabled = |role: Role| {
            move |&at: &u32| {
                let source = &snapshot.sources[at as usize];
                source.enabled && source.role == role
            }
        };
        let all = || (0_u32..).take(snapshot.sources.len());
        let memories: Vec<u32> = all().filter(enabled(Role::Memory)).collect();
        let mut prepared = Prepared::default();
        self.prepare(&mut prepared, snapshot, snapshot.candidates(), task)?;
        {
            // All memories of all scopes are only counted: neither kept in mind nor watched.
            let (process, bundles, events) = (self.open_process()?, Bundles::default(), Events::none());
            let passing =
                Preparation { bundles: &bundles, events: &events, ..self.preparation(&process, task) };
            let told = prepared.new_problems.len();
            prepared.add(snapshot, &memories, passing)?;
            // Whoever reads a memory is told of its problems, once; here they would be news every time.
            prepared.new_problems.truncate(told);
        }
        let ordered = [snapshot.candidates(), &memories].concat();
        let mut first = BTreeMap::new();
        let mut duplicates = BTreeMap::new();
        for &source in &ordered {
            if let Ok(ready) = prepared.get(source) {
                let original = *first.entry(ready.identity).or_insert(source);
                duplicates.insert(source, Some(original).filter(|original| *original != source));
            }
        }
        let report = |source: u32| {
            let mut report = SourceReport {
                source,
                directory: None,
                concepts: 0,
                problems: Vec::new(),
                remarks: Remarks::default(),
                duplicate_of: duplicates.get(&source).copied().flatten(),
                failure: None,
                unwatched: None,
            };
            if snapshot.sources[source as usize].enabled {
                match prepared.get(source) {
                    Err(unavailable) => {
                        report.failure = Some(unavailable.reason.clone());
                        if unavailable.among_memories {
                            report.remarks = Remarks::of_memories("", &unavailable.reason);
                        }
                    }
                    Ok(ready) => {
                        report.directory = Some(ready.directory.to_path_buf());
                        report.concepts = ready.state.index.len();
                        report.problems = ready.state.problems.to_vec();
                        report.remarks = ready.state.remarks();
                        if !memories.contains(&source) {
                            report.unwatched = ready.state.compared_because().map(str::to_owned);
                        }
                    }
                }
            }
            report
        };
        let value = all().map(report).collect();
        Ok(Reported { value, problems: prepared.new_problems })
    }

    fn prepare(
        &self,
        prepared: &mut Prepared,
        snapshot: &Snapshot,
        sources: &[u32],
        task: &Task,
    ) -> Result<(), Error> {
        let process = self.open_process()?;
        let preparation = self.preparation(&process, task);
        if !prepared.add_unchanged(snapshot, sources, preparation).is_empty() {
            prepared.add(snapshot, sources, preparation)?;
            process.keep(&self.fence);
        }
        Ok(())
    }

    fn preparation<'call>(&'call self, process: &'call Process, task: &'call Task) -> Preparation<'call> {
        Preparation {
            fence: &self.fence,
            bundles: &process.bundles,
            events: &process.events,
            marks: &self.marks,
            freshness: self.freshness,
            max_bytes: self.max_file_bytes,
            threads: self.threads,
            task,
        }
    }

    fn open_process(&self) -> Result<Arc<Process>, Error> {
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
            // Its thread is not there to be ended, and its locks may be held for ever.
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

/// Questions that are all put at one time to one state of the files, batch after batch.
#[derive(Debug)]
pub struct Conversation {
    catalog: Arc<Catalog>,
    snapshot: Arc<Snapshot>,
    now: Instant,
    prepared: Prepared,
}

impl Conversation {
    /// Answers each question as [`Catalog::search`] would, in their order; `limit` keeps the top of each
    /// answer. A source is compared with the disk when the first question needs it.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn ask(
        &mut self,
        questions: &[Question],
        limit: Option<usize>,
        task: &Task,
    ) -> Result<Vec<Answer>, Error> {
        let sources: BTreeSet<u32> = questions.iter().flat_map(|q| q.visible.iter().copied()).collect();
        let sources: Vec<u32> = sources.into_iter().collect();
        self.catalog.prepare(&mut self.prepared, &self.snapshot, &sources, task)?;
        let Self { catalog, snapshot, now, prepared } = self;
        Ok(batch::answer(snapshot, prepared, questions, *now, limit, catalog.threads, task)?)
    }

    /// The problem files that were met since this was last asked, and that nobody was told of before.
    pub fn take_new_problems(&mut self) -> Vec<NewProblem> {
        std::mem::take(&mut self.prepared.new_problems)
    }
}

fn read_sources(manifest: &Path) -> Result<Vec<Source>, Vec<CatalogDiagnostic>> {
    let bytes = read_manifest(manifest).map_err(|error| vec![unreadable(manifest, &error)])?;
    manifest::parse(&bytes)
}

/// The manifest's bytes. The file may be a link, as mounted configuration maps are.
fn read_manifest(manifest: &Path) -> io::Result<Vec<u8>> {
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let handle = rustix::fs::open(manifest, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&handle)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
        _ => return Err(io::Error::other("it is not a regular file")),
    }
    let mut bytes = Vec::new();
    File::from(handle).take(MAX_MANIFEST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_MANIFEST_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_MANIFEST_BYTES} bytes")));
    }
    Ok(bytes)
}

fn unreadable(manifest: &Path, error: &io::Error) -> CatalogDiagnostic {
    let name = manifest.file_name().unwrap_or_default().to_string_lossy();
    CatalogDiagnostic {
        code: CatalogDiagnosticCode::ParseError,
        message: format!("the manifest {name:?} cannot be read: {}", plain(error)),
    }
}

/// Checks the path of every enabled source (C1, C2).
fn check_paths(fence: &Fence, sources: &[Source]) -> Result<(), Vec<CatalogDiagnostic>> {
    let mut faults = Faults::default();
    for (at, source) in sources.iter().enumerate().filter(|(_, source)| source.enabled) {
        if let Err(breach) = fence.enter(&source.path) {
            let name = || manifest::source_label(at, Some(&source.id));
            faults.push(breach.code, || format!("{}: {}", name(), breach.reason));
        }
    }
    faults.into_result(())
}
