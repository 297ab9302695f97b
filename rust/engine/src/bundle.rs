//! A bundle directory, and the index that is kept like it (B7, F1).

use std::{
    collections::BTreeSet,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    concept::Concept,
    containment::Directory,
    document::Document,
    index::Index,
    parallel,
    tree::{self, Content, Listed, Problem, Stamp},
};

/// How long after its last change a file's times are believed to tell of the next one, in nanoseconds.
/// The coarsest file systems in use count two seconds.
const SETTLING: i128 = 2_000_000_000;

/// The index of one directory, brought up to date by [`fresh`](Bundle::fresh).
#[derive(Debug, Default)]
pub struct Bundle {
    /// How many comparisons with the disk have begun.
    begun: AtomicU64,
    known: Mutex<Known>,
}

/// A bundle as it was at one moment after the call that asked.
#[derive(Debug, Clone, Default)]
pub struct Fresh {
    /// What can be searched.
    pub index: Arc<Index>,
    /// What cannot, sorted by path.
    pub problems: Arc<[Problem]>,
    /// Those of the problems that nobody was told of before.
    pub news: Vec<Problem>,
}

/// What was read so far.
#[derive(Debug, Default)]
struct Known {
    /// Sorted by path.
    files: Vec<KnownFile>,
    /// Problems already told.
    told: BTreeSet<Problem>,
    state: Fresh,
    /// Whether the last comparison succeeded.
    shared: bool,
}

#[derive(Debug)]
struct KnownFile {
    path: String,
    stamp: Stamp,
    /// Whether the stamp alone tells that the file is still the same.
    trusted: bool,
    /// Why the file is not a concept, if it is none.
    problem: Option<String>,
}

impl Bundle {
    /// The bundle with every change that was complete before this call (F1).
    ///
    /// Callers that wait for the same comparison with the disk share it, if it began after they came.
    ///
    /// # Errors
    /// When the directory cannot be listed (B10). What was known is kept.
    pub fn fresh(&self, directory: &Directory, max_bytes: u64, threads: usize) -> io::Result<Fresh> {
        let came = self.begun.load(Ordering::SeqCst);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if self.begun.load(Ordering::SeqCst) > came && known.shared {
            return Ok(Fresh { news: Vec::new(), ..known.state.clone() });
        }
        self.begun.fetch_add(1, Ordering::SeqCst);
        known.shared = false;
        let state = known.compare(directory, max_bytes, threads)?;
        known.shared = true;
        Ok(state)
    }
}

impl Known {
    fn compare(&mut self, directory: &Directory, max_bytes: u64, threads: usize) -> io::Result<Fresh> {
        let listing = tree::list(directory)?;
        let unchanged = self.unchanged(&listing.files);
        let suspects: Vec<&Listed> = listing
            .files
            .iter()
            .zip(&unchanged)
            .filter(|(_, unchanged)| unchanged.is_none())
            .map(|(file, _)| file)
            .collect();
        let read = parallel::map(&suspects, threads, |file| look(directory, file, max_bytes));
        // Until here nothing was changed, so that an error loses nothing.
        let mut read = read.into_iter().collect::<io::Result<Vec<_>>>()?.into_iter();

        let mut before: Vec<Option<KnownFile>> = self.files.drain(..).map(Some).collect();
        let mut problems = listing.problems;
        let mut changes = Changes::default();
        for (listed, unchanged) in listing.files.into_iter().zip(unchanged) {
            if let Some(known) = unchanged.and_then(|at| before[at].take()) {
                problems.extend(known.as_problem());
                self.files.push(known);
            } else if let Some(Some(looked)) = read.next() {
                let id = concept_id(&listed.path);
                let problem = match looked.document {
                    Ok(document) if self.state.index.get(id).is_some_and(|old| old.document == document) => {
                        changes.keep(id);
                        None
                    }
                    Ok(document) => {
                        changes.added.push(Concept { id: id.to_owned(), document });
                        None
                    }
                    Err(reason) => Some(reason),
                };
                let Looked { stamp, trusted, .. } = looked;
                let known = KnownFile { path: listed.path, stamp, trusted, problem };
                problems.extend(known.as_problem());
                self.files.push(known);
            }
        }
        changes
            .removed
            .extend(before.into_iter().flatten().filter(|file| file.problem.is_none()).map(|file| file.path));
        self.publish(changes, problems, threads);
        Ok(self.tell())
    }

    /// For each listed file, where in `files` the same file stands, if its stamp alone tells so.
    fn unchanged(&self, listed: &[Listed]) -> Vec<Option<usize>> {
        let mut known = self.files.iter().enumerate().peekable();
        listed
            .iter()
            .map(|file| {
                while known.next_if(|(_, known)| known.path < file.path).is_some() {}
                known
                    .next_if(|(_, known)| known.path == file.path)
                    .filter(|(_, known)| known.trusted && known.stamp == file.stamp)
                    .map(|(at, _)| at)
            })
            .collect()
    }

    fn publish(&mut self, changes: Changes, mut problems: Vec<Problem>, threads: usize) {
        let removed = changes.removed();
        if !removed.is_empty() || !changes.added.is_empty() {
            self.state.index = Arc::new(self.state.index.with(&removed, changes.added, threads));
        }
        problems.sort_unstable();
        if *problems != *self.state.problems {
            self.state.problems = problems.into();
        }
    }

    /// The state, with the problems that were not told yet. One that went away and comes back is news.
    fn tell(&mut self) -> Fresh {
        let current: BTreeSet<Problem> = self.state.problems.iter().cloned().collect();
        let news = current.difference(&self.told).cloned().collect();
        self.told = current;
        Fresh { news, ..self.state.clone() }
    }
}

/// How the index differs from the files.
#[derive(Default)]
struct Changes {
    /// Paths of files that were concepts and were not simply unchanged.
    removed: Vec<String>,
    /// Ids of those that turned out to say the same as before.
    kept: BTreeSet<String>,
    added: Vec<Concept>,
}

impl Changes {
    fn keep(&mut self, id: &str) {
        self.kept.insert(id.to_owned());
    }

    /// The ids of concepts that went or are replaced.
    fn removed(&self) -> Vec<String> {
        let ids = self.removed.iter().map(|path| concept_id(path));
        ids.filter(|id| !self.kept.contains(*id)).map(str::to_owned).collect()
    }
}

impl KnownFile {
    fn as_problem(&self) -> Option<Problem> {
        let reason = self.problem.clone()?;
        Some(Problem { path: self.path.clone(), reason })
    }
}

/// What a file says now.
struct Looked {
    stamp: Stamp,
    trusted: bool,
    document: Result<Document, String>,
}

/// Reads one file; `None` if it is gone.
fn look(directory: &Directory, file: &Listed, max_bytes: u64) -> io::Result<Option<Looked>> {
    let now = now_nanos();
    let Some(Content { bytes, stamp, settled }) = tree::read(directory, file, max_bytes)? else {
        return Ok(None);
    };
    let trusted = settled && stamp.changed() + SETTLING < now;
    Ok(Some(Looked { stamp, trusted, document: bytes.and_then(|bytes| Document::parse(&bytes)) }))
}

fn now_nanos() -> i128 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(i128::MAX)
}

fn concept_id(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}
