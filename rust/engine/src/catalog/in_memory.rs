//! A catalog whose sources are texts instead of directories: the same facts, no disk (A2).

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use arc_swap::{ArcSwap, ArcSwapOption};
use hashbrown::HashMap;

use crate::{
    ask::{
        answer::Answer,
        asked::Asked,
        batch,
        question::Question,
        sources::{Searchable, SourceIdentity, Sources, Unavailable},
    },
    catalog::{conversation::MAX_INLINE_QUESTIONS, options::MAX_FILE_BYTES, report::SourceReport},
    document::{
        Document,
        concept::Concept,
        name::is_concept,
        problem::{NewProblem, Problem, Reported},
        remark::{DocumentRemarks, Remarks, RemarksBuilder},
        version::is_dated,
    },
    error::Error,
    manifest::{
        snapshot::Snapshot,
        source::{Role, Source},
    },
    search::index::Index,
    text::instant::Instant,
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// The id of the text that says what a source is, as the root `index.md` of a directory does. It is no concept.
const ROOT_INDEX: &str = "index";

/// A source made of texts.
#[derive(Debug, Clone)]
pub struct TextSource {
    /// One segment, unique in its catalog (M2).
    pub id: String,
    /// Higher is asked first.
    pub priority: i32,
    /// A disabled source is not searched.
    pub enabled: bool,
    /// The text of each concept under its id (B2), in any order.
    pub concepts: Vec<(String, String)>,
}

/// A source whose texts were read.
#[derive(Debug)]
struct ReadSource {
    identity: SourceIdentity,
    index: Arc<Index>,
    problems: Vec<Problem>,
    remarks: Remarks,
}

impl ReadSource {
    /// Its problems, which were not reported before; `source` is its position in the snapshot.
    fn new_problems(&self, source: u32) -> impl Iterator<Item = NewProblem> {
        self.problems.iter().cloned().map(move |problem| NewProblem { source, problem })
    }
}

/// The sources of one generation.
#[derive(Debug)]
pub struct TextSnapshot {
    snapshot: Arc<Snapshot>,
    /// Nothing once the catalog was closed while this generation was in force, so that the texts are freed.
    sources: ArcSwapOption<ReadSources>,
}

/// One for each source of a snapshot.
#[derive(Debug)]
struct ReadSources(Vec<Arc<ReadSource>>);

impl TextSnapshot {
    fn new(generation: u64, sources: Vec<(Source, Arc<ReadSource>)>) -> Self {
        let (sources, read) = sources.into_iter().unzip();
        let snapshot = Arc::new(Snapshot::new(generation, sources, PathBuf::new()));
        Self { snapshot, sources: ArcSwapOption::from_pointee(ReadSources(read)) }
    }

    /// The ids and settings of the sources.
    #[must_use]
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    fn sources(&self) -> Result<Arc<ReadSources>, Error> {
        self.sources.load_full().ok_or(Error::Closed)
    }

    fn pairs(&self) -> Result<Vec<(Source, Arc<ReadSource>)>, Error> {
        Ok(self.snapshot.sources.iter().cloned().zip(self.sources()?.0.iter().cloned()).collect())
    }
}

impl Sources for ReadSources {
    fn searchable(&self, source: u32) -> Result<Searchable<'_>, Unavailable<'_>> {
        let ReadSource { identity, index, .. } = &*self.0[source as usize];
        Ok(Searchable { identity: *identity, index })
    }
}

/// A catalog in memory. Every method may be called from any number of threads, and after a fork.
#[derive(Debug)]
pub struct InMemoryCatalog {
    current: ArcSwap<TextSnapshot>,
    /// Texts with more bytes are problems (B9).
    max_text_bytes: u64,
    threads: usize,
    closed: AtomicBool,
}

impl InMemoryCatalog {
    /// A catalog with these sources, in their order, as generation 1; and the problem texts in them. Of two sources with
    /// one id, the later one counts.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was.
    pub fn open(
        sources: Vec<TextSource>,
        max_text_bytes: Option<u64>,
        threads: Option<usize>,
        task: &Task,
    ) -> Result<Reported<Self>, Error> {
        let this = Self {
            current: ArcSwap::from_pointee(TextSnapshot::new(1, Vec::new())),
            max_text_bytes: max_text_bytes.unwrap_or(MAX_FILE_BYTES),
            threads: threads.unwrap_or_else(parallel::available_threads).max(1),
            closed: AtomicBool::new(false),
        };
        let mut places: HashMap<String, usize> = HashMap::with_capacity(sources.len());
        let mut pairs: Vec<(Source, Arc<ReadSource>)> = Vec::with_capacity(sources.len());
        for source in sources {
            let pair = this.read(source, task)?;
            if let Some(place) = places.get(&pair.0.id) {
                pairs[*place] = pair;
            } else {
                places.insert(pair.0.id.clone(), pairs.len());
                pairs.push(pair);
            }
        }
        let enabled = (0_u32..).zip(&pairs).filter(|(_, (source, _))| source.enabled);
        let problems = enabled.flat_map(|(at, (_, read))| read.new_problems(at)).collect();
        this.current.store(Arc::new(TextSnapshot::new(1, pairs)));
        Ok(Reported { value: this, problems })
    }

    /// The sources in force.
    #[must_use]
    pub fn current(&self) -> Arc<TextSnapshot> {
        self.current.load_full()
    }

    /// Adds a source, or replaces the one of its id whole, in its place: one atomic swap. Problem texts are given
    /// with the generation they came with.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was; nothing changes then.
    pub fn put(&self, source: TextSource, task: &Task) -> Result<Reported<Arc<TextSnapshot>>, Error> {
        let id = source.id.clone();
        let pair = self.read(source, task)?;
        let read = Arc::clone(&pair.1);
        let (value, _) = self.change(|pairs| {
            replace(pairs, pair.clone());
            true
        })?;
        let position = value.snapshot.sources.iter().position(|source| source.id == id);
        let source = position.and_then(|at| u32::try_from(at).ok()).unwrap_or_default();
        // Nothing is said of a source that is not searched.
        let problems = if pair.0.enabled { read.new_problems(source).collect() } else { Vec::new() };
        Ok(Reported { value, problems })
    }

    /// Removes the source of an id, in one atomic swap; whether there was one. Otherwise nothing changes.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn remove(&self, id: &str) -> Result<bool, Error> {
        let (_, has_changed) = self.change(|pairs| {
            let before = pairs.len();
            pairs.retain(|(source, _)| source.id != id);
            pairs.len() < before
        })?;
        Ok(has_changed)
    }

    /// Publishes the changed sources as the next generation, if they changed: the sources in force
    /// afterwards, and whether they changed.
    fn change(
        &self,
        change: impl Fn(&mut Vec<(Source, Arc<ReadSource>)>) -> bool,
    ) -> Result<(Arc<TextSnapshot>, bool), Error> {
        self.check_open()?;
        // No lock, which a forked process could find taken: if another thread was quicker, the change is applied
        // to what that thread published.
        loop {
            let current = self.current();
            let mut pairs = current.pairs()?;
            if !change(&mut pairs) {
                return Ok((current, false));
            }
            let next = Arc::new(TextSnapshot::new(current.snapshot.generation + 1, pairs));
            let before = self.current.compare_and_swap(&current, Arc::clone(&next));
            if Arc::ptr_eq(&before, &current) {
                if self.is_closed() {
                    // It was closed meanwhile, and found only the generation before.
                    next.sources.store(None);
                }
                return Ok((next, true));
            }
        }
    }

    /// Answers one question; without `now`, at the system's time.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn search(
        &self,
        texts: &TextSnapshot,
        question: &Question,
        now: Option<Instant>,
        task: &Task,
    ) -> Result<Answer, Error> {
        self.check_open()?;
        let now = now.unwrap_or_else(Instant::now);
        let asked = Asked::new(question, &texts.snapshot, &*texts.sources()?, now, task)?;
        Ok(asked.answer(self.threads, task)?)
    }

    /// Answers as [`search`](Self::search) does if that takes less time than starting a thread; `None` otherwise.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn search_inline(
        &self,
        texts: &TextSnapshot,
        question: &Question,
        now: Option<Instant>,
    ) -> Result<Option<Answer>, Error> {
        if question.is_short() {
            self.search(texts, question, now, &Task::default()).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Answers each question as [`search`](Self::search) does, in their order; `limit` keeps the top of each answer.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn search_batch(
        &self,
        texts: &TextSnapshot,
        questions: &[Question],
        now: Instant,
        limit: Option<usize>,
        task: &Task,
    ) -> Result<Vec<Answer>, Error> {
        self.check_open()?;
        Ok(batch::answer(&texts.snapshot, &*texts.sources()?, questions, now, limit, self.threads, task)?)
    }

    /// Answers as [`search_batch`](Self::search_batch) does, if there are few and short questions: that takes less time
    /// than starting a thread. `None` otherwise.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn search_batch_inline(
        &self,
        texts: &TextSnapshot,
        questions: &[Question],
        now: Instant,
        limit: Option<usize>,
    ) -> Result<Option<Vec<Answer>>, Error> {
        self.check_open()?;
        if questions.len() > MAX_INLINE_QUESTIONS || !questions.iter().all(Question::is_short) {
            return Ok(None);
        }
        let (sources, task) = (texts.sources()?, Task::default());
        Ok(Some(batch::answer(&texts.snapshot, &*sources, questions, now, limit, 1, &task)?))
    }

    /// What is known of each source, in their order.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn report(&self, texts: &TextSnapshot) -> Result<Vec<SourceReport>, Error> {
        self.check_open()?;
        let sources = texts.sources()?;
        let reports = (0_u32..).zip(texts.snapshot.sources.iter().zip(&sources.0));
        Ok(reports
            .map(|(at, (source, read))| {
                let report = SourceReport { source: at, ..SourceReport::default() };
                if !source.enabled {
                    return report;
                }
                SourceReport {
                    concepts: read.index.len(),
                    problems: read.problems.clone(),
                    remarks: read.remarks.clone(),
                    ..report
                }
            })
            .collect())
    }

    /// Does nothing, since texts change only with their source.
    ///
    /// # Errors
    /// Fails if the catalog is closed.
    pub fn refresh(&self, texts: &TextSnapshot) -> Result<(), Error> {
        self.check_open()?;
        texts.sources().map(drop)
    }

    /// Lets go of all texts. Calls that are under way finish; later ones fail.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.current.load().sources.store(None);
    }

    /// Whether [`close`](Self::close) was called.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    fn check_open(&self) -> Result<(), Error> {
        if self.is_closed() { Err(Error::Closed) } else { Ok(()) }
    }

    /// Reads the texts of a source.
    fn read(&self, source: TextSource, task: &Task) -> Result<(Source, Arc<ReadSource>), Abandoned> {
        static IDENTITIES: AtomicU64 = AtomicU64::new(0);
        let TextSource { id, priority, enabled, mut concepts } = source;
        let source = Source { id, path: String::new(), priority, enabled, role: Role::Knowledge, tier: None };
        let is_too_large = |text: &str| text.len() as u64 > self.max_text_bytes;
        let version = |(id, text): &(String, String)| {
            let is_index = id == ROOT_INDEX && !is_too_large(text);
            is_index.then(|| Document::read(text.as_bytes()).ok()?.okf_version).flatten()
        };
        let dated = concepts.iter().find_map(version).is_some_and(|version| is_dated(&version));
        concepts.retain(|(id, _)| is_searched(id));
        concepts.sort_unstable();
        let read = parallel::map(&concepts, self.threads, |(_, text)| {
            task.go_on()?;
            if is_too_large(text) {
                return Ok(Err(format!("it has more than {} bytes", self.max_text_bytes)));
            }
            Ok(Document::read(text.as_bytes()))
        });
        let (mut problems, mut added, mut noted) = (Vec::new(), Vec::new(), Vec::new());
        for ((id, _), read) in concepts.into_iter().zip(read) {
            let path = format!("{id}.md");
            match read? {
                Ok(mut read) => {
                    read.document.count_verified(dated);
                    noted.push((path, DocumentRemarks::of(read.remarks, read.remark_counts)));
                    added.push(Concept { id, document: read.document });
                }
                Err(reason) => problems.push(Problem { path, reason }),
            }
        }
        let mut builder = RemarksBuilder::default();
        for (path, remarks) in &noted {
            builder.add_all(path, remarks);
        }
        let index = Arc::new(Index::default().with(&[], added, self.threads, task)?);
        let identity = SourceIdentity(IDENTITIES.fetch_add(1, Ordering::Relaxed).into());
        let remarks = builder.finish();
        Ok((source, Arc::new(ReadSource { identity, index, problems, remarks })))
    }
}

/// Whether a file of this concept id would be a concept (B1): no part starts with a dot, and the last is neither
/// `index` nor `log`.
fn is_searched(id: &str) -> bool {
    let name = id.rsplit('/').next().unwrap_or(id);
    is_concept(&format!("{name}.md")) && id.split('/').all(|part| !part.starts_with('.'))
}

/// Puts a source in the place of the one of its id, or at the end.
fn replace(pairs: &mut Vec<(Source, Arc<ReadSource>)>, pair: (Source, Arc<ReadSource>)) {
    match pairs.iter_mut().find(|(source, _)| source.id == pair.0.id) {
        Some(place) => *place = pair,
        None => pairs.push(pair),
    }
}
