//! A bundle directory, and the index that is kept like it (B7, F1).

#[cfg(test)]
mod tests;
mod watcher;

use crate::{
    disk::{
        above::Found,
        directory::Directory,
        events::{Dirt, Events, has_our_clock},
        listing::{Listed, Listing, ROOT_INDEX, Witness},
        read::{self, Content},
        sealed::Sealed,
        settling::{Now, Reading, Trust},
        stamp::Stamp,
        walk,
    },
    document::{
        self, Document,
        concept::Concept,
        problem::Problem,
        remark::{DocumentRemarks, FileRemark, Remarks, RemarksBuilder},
        version::is_dated,
    },
    search::index::Index,
    work::{
        parallel,
        task::{Abandoned, Patience, Task},
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::CStr,
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant as Moment,
};

use arc_swap::ArcSwapOption;
use rustix::fs::Stat;

use self::watcher::Watcher;

/// The index of one directory, brought up to date by [`fresh`](Bundle::fresh).
#[derive(Debug)]
pub(crate) struct Bundle {
    /// What events know it by.
    key: u64,
    /// What of the directory it is, as a path below it; empty if it is all.
    part: Box<str>,
    clock: fn() -> Now,
    /// How many comparisons with the disk have begun.
    begun: AtomicU64,
    /// Held while the bundle is compared with the disk.
    comparing: Mutex<Compared>,
    /// How the bundle was at the end of the last comparison. Reading it takes no lock, so that a forked
    /// process finds it whatever the others were doing.
    published: ArcSwapOption<State>,
}

/// What only those need who compare.
#[derive(Debug, Default)]
struct Compared {
    /// Problems already told.
    told: BTreeSet<Problem>,
    /// Whether the last comparison succeeded.
    succeeded: bool,
}

/// How a bundle was.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// What can be searched.
    pub(crate) index: Arc<Index>,
    /// What cannot, sorted by path.
    pub(crate) problems: Arc<[Problem]>,
    /// Why it is compared with the disk before each search; `None` if events tell of every change.
    pub(crate) unwatched: Option<Arc<str>>,
    /// Why only its directories are watched and not its files, if that is so. Changes by a name or a descriptor
    /// outside the bundle are then found by the comparison in the background.
    coarse: Option<Arc<str>>,
    tried: Moment,
    pub(crate) sealed: Arc<Sealed>,
    directories: BTreeMap<Arc<str>, Arc<Contents>>,
}

impl State {
    /// Why what events tell is not enough; `None` if they tell of every change that they can tell of.
    pub(crate) fn compared_because(&self) -> Option<&str> {
        self.unwatched.as_deref().or(self.coarse.as_deref())
    }

    fn count_files(&self) -> usize {
        self.directories.values().map(|contents| contents.files.len()).sum()
    }

    /// What is to be said of files that are served and of names that are passed over (B11). Brought together
    /// when it is asked for: no search needs it.
    pub(crate) fn remarks(&self) -> Remarks {
        let mut builder = RemarksBuilder::default();
        for contents in self.directories.values() {
            contents.remarks.iter().for_each(|on| builder.add(&on.path, &on.remark));
            contents.files.iter().for_each(|file| builder.add_all(&file.path, &file.remarks));
        }
        builder.finish()
    }
}

/// What was read of one directory.
#[derive(Debug, Default)]
struct Contents {
    /// Sorted by path.
    files: Vec<KnownFile>,
    problems: Vec<Problem>,
    remarks: Vec<FileRemark>,
    directories: Vec<String>,
    /// Whether the root index declares a version in which verifications count only for what was there when
    /// they were made (L5).
    dated: bool,
}

#[derive(Debug, Clone)]
struct KnownFile {
    path: String,
    stamp: Stamp,
    trust: Trust,
    /// Why the file is not a concept, if it is none.
    problem: Option<String>,
    remarks: DocumentRemarks,
}

/// A bundle as it was at one moment after the call that asked.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) state: Arc<State>,
    /// Those of its problems that nobody was told of before.
    pub(crate) new_problems: Vec<Problem>,
}

/// Why a bundle could not be brought up to date. What was known is kept.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The directory cannot be listed (B10).
    Io(io::Error),
    /// Nobody waits any more.
    Abandoned,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl From<Abandoned> for Failure {
    fn from(Abandoned: Abandoned) -> Self {
        Failure::Abandoned
    }
}

/// How to go about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort<'call> {
    pub(crate) events: &'call Events,
    pub(crate) max_bytes: u64,
    pub(crate) threads: usize,
    pub(crate) task: &'call Task,
    /// What is not to be entered.
    pub(crate) sealed: &'call Arc<Sealed>,
    /// The source that is reported as being read.
    pub(crate) source: u32,
}

impl Bundle {
    /// A bundle of which a state may be known already.
    pub(crate) fn new(known: Option<Arc<State>>) -> Self {
        Self::part("", known)
    }

    /// The part of a bundle that lies at a path below its directory. Ids start there too, as in the whole.
    pub(crate) fn part(part: &str, known: Option<Arc<State>>) -> Self {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let told = known.iter().flat_map(|state| state.problems.iter().cloned()).collect();
        Self {
            key: KEYS.fetch_add(1, Ordering::Relaxed),
            part: part.into(),
            clock: Now::read,
            begun: AtomicU64::new(0),
            comparing: Mutex::new(Compared { told, succeeded: false }),
            published: ArcSwapOption::new(known),
        }
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// How the bundle was at the end of the last comparison, if there was one.
    pub(crate) fn published(&self) -> Option<Arc<State>> {
        self.published.load_full()
    }

    /// The bundle with every change that was complete before this call (F1).
    ///
    /// Callers that wait for the same comparison with the disk share it, if it began after they came.
    pub(crate) fn fresh(&self, directory: &Directory, effort: Effort<'_>) -> Result<Fresh, Failure> {
        let came = self.begun.load(Ordering::SeqCst);
        let mut compared = self.lock(effort.task)?;
        let known = self.published();
        if let Some(state) = &known {
            let shared = self.begun.load(Ordering::SeqCst) > came && compared.succeeded;
            let clean =
                state.unwatched.is_none() && effort.events.look().is_some_and(|look| look.is_clean(self.key));
            // Neither tells anything if other directories were sealed then.
            if state.sealed == *effort.sealed && (shared || clean) {
                return Ok(Fresh { state: Arc::clone(state), new_problems: Vec::new() });
            }
        }
        self.begun.fetch_add(1, Ordering::SeqCst);
        compared.succeeded = false;
        let result = self.compare(directory, known.as_deref(), effort).map(Arc::new);
        // Published first: whoever finds the bundle clean takes what is published.
        if let Ok(state) = &result {
            self.published.store(Some(Arc::clone(state)));
        }
        if let Some(mut look) = effort.events.look() {
            look.end(self.key, result.is_ok());
            if result.as_ref().is_ok_and(|state| state.unwatched.is_some()) {
                look.release(self.key);
            }
        }
        let state = result?;
        compared.succeeded = true;
        // A problem that went away and comes back is news.
        let current: BTreeSet<Problem> = state.problems.iter().cloned().collect();
        let new_problems = current.difference(&compared.told).cloned().collect();
        compared.told = current;
        Ok(Fresh { state, new_problems })
    }

    /// Whether the disk looks otherwise than events have told, which backs them up where they are blind:
    /// a file that is written through memory, or on another machine. Nobody waits for this.
    pub(crate) fn differs(&self, directory: &Directory, found: &mut Found) -> bool {
        let Some(state) = self.published() else { return false };
        // What cannot be told is for the next search to tell.
        if state.sealed.encloses(directory.handle.as_fd(), found).unwrap_or(true) {
            return true;
        }
        walk::walk(directory, &self.part, &state.sealed, &mut Unseen).is_ok_and(|listed| {
            listed.len() != state.directories.len()
                || listed.iter().any(|(path, listing)| {
                    state.directories.get(&**path).is_none_or(|contents| !contents.resembles(listing))
                })
        })
    }

    fn lock(&self, task: &Task) -> Result<MutexGuard<'_, Compared>, Abandoned> {
        let mut patience = Patience::default();
        loop {
            match self.comparing.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(PoisonError::into_inner(poisoned)),
                Err(TryLockError::WouldBlock) => patience.wait(task)?,
            }
        }
    }

    fn compare(
        &self,
        directory: &Directory,
        known: Option<&State>,
        effort: Effort<'_>,
    ) -> Result<State, Failure> {
        let begun = (self.clock)();
        let mut watcher = Watcher::of(self.key, directory, known, effort.events);
        let dirt = watcher.begin();
        let before = known.map(|state| &state.directories);
        let sealed_as_before = known.is_some_and(|state| state.sealed == *effort.sealed);
        let listed = match (dirt, before.filter(|_| sealed_as_before)) {
            (Dirt::Directories(paths), Some(before)) => {
                self.list_some(directory, &paths, before, effort.sealed, &mut watcher)?
            }
            (Dirt::Clean, Some(_)) if watcher.is_watching() => Some(Vec::new()),
            _ => None,
        };
        let (listed, whole) = match listed {
            Some(listed) => (listed, false),
            None => (watcher.walk(directory, &self.part, effort.sealed)?, true),
        };
        let mut directories = before.cloned().unwrap_or_default();
        let mut changes = Changes::default();
        if whole {
            let met: BTreeSet<&str> = listed.iter().map(|(path, _)| &**path).collect();
            directories.retain(|path, contents| {
                let is_met = met.contains(&**path);
                if !is_met {
                    changes.lose(&contents.files);
                }
                is_met
            });
        }
        let index = known.map(|state| Arc::clone(&state.index)).unwrap_or_default();
        let looked = look_at(directory, &listed, &directories, effort)?;
        let our_clock = has_our_clock(directory.handle.as_fd());
        let ended = (self.clock)().steady;
        // What is mounted inside the bundle may have another clock.
        let reading_of = |stamp: &Stamp| {
            let our_clock = our_clock && stamp.identity().device == directory.identity.device;
            Reading { begun, ended, our_clock }
        };
        for ((path, listing), looked) in listed.into_iter().zip(looked) {
            let old = directories.get(&*path).cloned().unwrap_or_default();
            if old.is_still(&listing, &looked) {
                continue;
            }
            directories
                .insert(path.into(), Arc::new(changes.take(&old, listing, looked, &index, &reading_of)));
        }
        changes.date(&index, before, &directories);
        let index = if changes.are_none() {
            index
        } else {
            let removed = changes.removed();
            Arc::new(index.with(&removed, changes.added, effort.threads, effort.task)?)
        };
        let problems = problems_of(&directories);
        let (unwatched, coarse, tried) = watcher.outcome();
        let sealed = Arc::clone(effort.sealed);
        Ok(State { index, problems, unwatched, coarse, tried, sealed, directories })
    }

    /// Lists directories anew; `None` if that does not tell everything.
    fn list_some(
        &self,
        root: &Directory,
        paths: &BTreeSet<Arc<str>>,
        before: &BTreeMap<Arc<str>, Arc<Contents>>,
        sealed: &Sealed,
        witness: &mut Watcher<'_>,
    ) -> io::Result<Option<Vec<(String, Listing)>>> {
        let mut listed = Vec::with_capacity(paths.len());
        for path in paths {
            let Some(old) = before.get(path) else { return Ok(None) };
            match walk::list_one(root, &self.part, path, sealed, witness)? {
                Some(listing) if listing.directories == old.directories => {
                    witness.forget(path, &old.files, &listing.files);
                    listed.push((path.to_string(), listing));
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(listed))
    }
}

/// Everything that cannot be searched, sorted by path.
fn problems_of(directories: &BTreeMap<Arc<str>, Arc<Contents>>) -> Arc<[Problem]> {
    let each = directories.values().flat_map(|contents| {
        let files = contents.files.iter().filter_map(KnownFile::as_problem);
        contents.problems.iter().cloned().chain(files)
    });
    let mut problems: Vec<Problem> = each.collect();
    problems.sort_unstable();
    problems.into()
}

/// For each directory and each file in it: where it stands among the known ones if its stamp alone tells
/// that it is the same, or else what it says now.
fn look_at(
    root: &Directory,
    listed: &[(String, Listing)],
    known: &BTreeMap<Arc<str>, Arc<Contents>>,
    effort: Effort<'_>,
) -> Result<Vec<Vec<Looked>>, Failure> {
    let unchanged: Vec<Vec<Option<usize>>> = listed
        .iter()
        .map(|(path, listing)| {
            let known = known.get(&**path).map_or(&[][..], |contents| &contents.files);
            unchanged(&listing.files, known)
        })
        .collect();
    let files = listed.iter().zip(&unchanged).flat_map(|((_, listing), unchanged)| {
        listing.files.iter().zip(unchanged).filter(|(_, at)| at.is_none()).map(|(file, _)| file)
    });
    let suspects: Vec<&Listed> = files.collect();
    let reading = effort.task.begin(effort.source, suspects.len());
    let read = parallel::map(&suspects, effort.threads, |file| {
        effort.task.go_on()?;
        let read = look(root, file, effort.sealed, effort.max_bytes)?;
        reading.advance();
        Ok(read)
    });
    let mut read = read.into_iter().collect::<Result<Vec<_>, Failure>>()?.into_iter();
    let looked = unchanged.into_iter().map(|files| {
        let files = files.into_iter().map(|at| match at {
            Some(at) => Looked::Unchanged(at),
            None => read.next().flatten().map_or(Looked::Gone, |read| Looked::Read(Box::new(read))),
        });
        files.collect()
    });
    Ok(looked.collect())
}

/// For each listed file, where among the known ones the same file stands, if its stamp alone tells so.
fn unchanged(listed: &[Listed], known: &[KnownFile]) -> Vec<Option<usize>> {
    let mut known = known.iter().enumerate().peekable();
    listed
        .iter()
        .map(|file| {
            while known.next_if(|(_, known)| known.path < file.path).is_some() {}
            known
                .next_if(|(_, known)| known.path == file.path)
                .filter(|(_, known)| known.trust == Trust::Full && known.stamp == file.stamp)
                .map(|(at, _)| at)
        })
        .collect()
}

/// What became of a listed file.
enum Looked {
    /// It stands among the known ones.
    Unchanged(usize),
    Read(Box<Read>),
    Gone,
}

/// What a file says now.
struct Read {
    stamp: Stamp,
    /// Whether the stamp stayed the same while the file was read.
    settled: bool,
    document: Result<document::ParsedFile, String>,
}

/// Reads one file; `None` if it is gone.
fn look(directory: &Directory, file: &Listed, sealed: &Sealed, max_bytes: u64) -> io::Result<Option<Read>> {
    let Some(Content { bytes, stamp, settled }) = read::read(directory, file, sealed, max_bytes)? else {
        return Ok(None);
    };
    let document = bytes.and_then(|bytes| Document::read(&bytes));
    Ok(Some(Read { stamp, settled, document }))
}

/// How the index differs from the files.
#[derive(Default)]
struct Changes {
    /// Ids of concepts that are gone or replaced.
    removed: BTreeSet<String>,
    added: Vec<Concept>,
}

impl Changes {
    /// Takes over what is now known of a directory.
    fn take(
        &mut self,
        old: &Contents,
        listing: Listing,
        looked: Vec<Looked>,
        index: &Index,
        reading_of: &dyn Fn(&Stamp) -> Reading,
    ) -> Contents {
        let Listing { files, problems, remarks, directories } = listing;
        let mut kept: BTreeSet<usize> = BTreeSet::new();
        let mut known = Vec::with_capacity(files.len());
        let mut dated = false;
        for (file, looked) in files.into_iter().zip(looked) {
            match looked {
                Looked::Gone => {}
                Looked::Unchanged(at) => {
                    kept.insert(at);
                    dated |= file.path == ROOT_INDEX && old.dated;
                    known.push(old.files[at].clone());
                }
                Looked::Read(read) => {
                    let Read { stamp, settled, document } = *read;
                    let at = old.files.binary_search_by(|known| known.path.cmp(&file.path));
                    let met = at.ok().map(|at| &old.files[at]).filter(|known| known.stamp == stamp);
                    let trust = reading_of(&stamp).judge(&stamp, settled, met.map(|known| known.trust));
                    if file.path == ROOT_INDEX {
                        let version = document.ok().and_then(|read| read.okf_version);
                        dated = version.is_some_and(|version| is_dated(&version));
                        let (problem, remarks) = (None, DocumentRemarks::default());
                        known.push(KnownFile { path: file.path, stamp, trust, problem, remarks });
                        continue;
                    }
                    let id = concept_id(&file.path);
                    let (problem, remarks) = match document {
                        Ok(read) => {
                            if index.get(id).is_some_and(|old| old.document.says_the_same(&read.document)) {
                                kept.extend(at);
                            } else {
                                self.added.push(Concept { id: id.to_owned(), document: read.document });
                            }
                            (None, DocumentRemarks::of(read.remarks, read.remark_counts))
                        }
                        Err(reason) => (Some(reason), DocumentRemarks::default()),
                    };
                    known.push(KnownFile { path: file.path, stamp, trust, problem, remarks });
                }
            }
        }
        let lost = old.files.iter().enumerate().filter(|(at, _)| !kept.contains(at));
        self.removed.extend(lost.filter_map(|(_, file)| file.concept()));
        Contents { files: known, problems, remarks, directories, dated }
    }

    /// Gives every concept the trust that holds in its bundle (L5).
    fn date(
        &mut self,
        index: &Index,
        before: Option<&BTreeMap<Arc<str>, Arc<Contents>>>,
        after: &BTreeMap<Arc<str>, Arc<Contents>>,
    ) {
        let is_dated = |directories: &BTreeMap<Arc<str>, Arc<Contents>>| {
            directories.get("").is_some_and(|root| root.dated)
        };
        let dated = is_dated(after);
        for concept in &mut self.added {
            concept.document.count_verified(dated);
        }
        if before.is_some_and(is_dated) == dated {
            return;
        }
        let touched: BTreeSet<&str> = self.added.iter().map(|concept| &*concept.id).collect();
        let depends = |concept: &&Arc<Concept>| concept.document.depends_on_version();
        let stay =
            |concept: &&Arc<Concept>| !touched.contains(&*concept.id) && !self.removed.contains(&concept.id);
        let mut others: Vec<Concept> =
            index.concepts().filter(depends).filter(stay).map(|concept| (**concept).clone()).collect();
        for concept in &mut others {
            concept.document.count_verified(dated);
            self.removed.insert(concept.id.clone());
        }
        self.added.append(&mut others);
    }

    /// Files that are not there any more.
    fn lose(&mut self, files: &[KnownFile]) {
        self.removed.extend(files.iter().filter_map(KnownFile::concept));
    }

    fn are_none(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    fn removed(&self) -> Vec<String> {
        self.removed.iter().cloned().collect()
    }
}

impl Contents {
    /// Whether a directory holds what it held.
    fn is_still(&self, listing: &Listing, looked: &[Looked]) -> bool {
        looked.len() == self.files.len()
            && looked.iter().all(|looked| matches!(looked, Looked::Unchanged(_)))
            && listing.problems == self.problems
            && listing.remarks == self.remarks
            && listing.directories == self.directories
            && !(listing.files.is_empty() && listing.directories.is_empty())
    }

    /// Whether a directory looks, to a walk that opens no file, as it did.
    fn resembles(&self, listing: &Listing) -> bool {
        listing.problems == self.problems
            && listing.remarks == self.remarks
            && listing.directories == self.directories
            && listing.files.len() == self.files.len()
            && listing.files.iter().zip(&self.files).all(|(file, known)| {
                file.path == known.path && (file.stamp == known.stamp || known.problem.is_some())
            })
    }
}

impl KnownFile {
    fn as_problem(&self) -> Option<Problem> {
        let reason = self.problem.clone()?;
        Some(Problem { path: self.path.clone(), reason })
    }

    /// The id of the concept that the file is, if it is one.
    fn concept(&self) -> Option<String> {
        let is_concept = self.problem.is_none() && self.path != ROOT_INDEX;
        is_concept.then(|| concept_id(&self.path).to_owned())
    }
}

fn concept_id(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}

/// Sees nothing.
struct Unseen;

impl Witness for Unseen {
    fn directory(&mut self, _path: &str, _handle: BorrowedFd<'_>) {}
    fn file(&mut self, _path: &str, _parent: BorrowedFd<'_>, _name: &CStr, _stat: &Stat) -> bool {
        false
    }
    fn link(&mut self) {}
}
