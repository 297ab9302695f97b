//! What a host remembers, in the memory sources of a catalog: per tier, in one directory for each scope
//! (Y3 to Y6).
//!
//! Whoever calls says which directory a scope has. Everything here is done on directory handles, entered
//! part by part without following links: what was looked at is what is read, written or deleted, whatever
//! is put in its place meanwhile.

mod below;
mod lock;
pub(crate) mod marking;
mod overlap;
mod place;
mod remove;
mod replace;
mod section;
pub(crate) mod shelf;

use crate::{
    ask::{
        answer::{Answer, Diagnostic, DiagnosticCode},
        question::Question,
        rank::Strategy,
        searched::source_unavailable,
    },
    bundle::{Effort, Failure, Fresh},
    catalog::bundles::{Prepared, Ready, Unavailable},
    disk::{
        directory::Directory, fence::Fence, location::Location, marks, os_error::plain,
        sealed::SealedDirectories,
    },
    document::{
        concept::compare_by_parts,
        problem::{Problem, Reported},
    },
    error::Error,
    manifest::{
        snapshot::Snapshot,
        source::{Role, Source},
    },
    memory::{marking::Marks, shelf::Shelf},
    search::Alone,
    text::instant::Instant,
    work::task::{Abandoned, Task},
};
use std::{os::fd::AsFd, sync::Arc};

pub use marking::Marking;
pub use overlap::Overlap;

use below::Gone;
use lock::{Refusal, acquire};

/// Where one scope's memories of one tier lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The position of the memory source in the snapshot.
    pub source: u32,
    /// The directory below that source's, with `/` between its parts.
    pub path: String,
}

/// A section, and the concept it belongs to.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The name of the concept's file, without `.md`.
    pub name: String,
    /// What the frontmatter says if the concept has yet to be created, in this order.
    pub frontmatter: Vec<(String, Value)>,
    /// What the body says then, or what is appended to it.
    pub section: String,
}

/// What a key of the frontmatter says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(String),
    /// Texts by their keys, in this order.
    Mapping(Vec<(String, String)>),
}

/// A concept that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The path below the memory source's directory, without `.md`.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
}

/// What lies in one place.
#[derive(Debug, Default)]
pub struct Contents {
    /// The concepts, sorted part by part.
    pub concepts: Vec<Remembered>,
    /// What could not be listed, a sentence each, without absolute paths: if there is none, nothing else is
    /// remembered (Y11).
    pub unread: Vec<String>,
    /// Problem files that nobody was told of before.
    pub new_problems: Vec<Problem>,
}

/// What was deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletion {
    /// How many directories of scopes are gone.
    pub scopes: u64,
    /// How many concepts are gone.
    pub concepts: u64,
    /// Why something is there still. No absolute path is in it.
    pub failure: Option<String>,
}

/// The memories of a catalog, as one snapshot of it says.
#[derive(Debug)]
pub struct Memory<'catalog> {
    pub(crate) fence: &'catalog Fence,
    pub(crate) recent: Arc<Shelf>,
    pub(crate) marks: &'catalog Marks,
    pub(crate) snapshot: &'catalog Arc<Snapshot>,
    pub(crate) max_bytes: u64,
    pub(crate) threads: usize,
}

impl Memory<'_> {
    /// The first memory source that does not lie apart from everything that others may see (Y8).
    #[must_use]
    pub fn overlap(&self) -> Option<Overlap> {
        overlap::find(self.fence, self.snapshot)
    }

    /// Marks every directory of memories that has no mark (Y10): those of the memory sources of the snapshot,
    /// enabled or not, by what they are called and not by what they hold. No link is followed. Whatever cannot
    /// be marked is counted, and stays sealed as long as the catalog is open.
    ///
    /// A reload that changes the memory sources does so too, for those that are named no more as for those that
    /// are new.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was.
    pub fn mark(&self, task: &Task) -> Result<Vec<Marking>, Error> {
        Ok(self.marks.put(self.fence, &self.snapshot.sources, task)?)
    }

    /// What is remembered of a question, place after place (Y3); without `now`, at the system's time. The
    /// answer's snapshot has a source for each place, `memory:session` and so on; its diagnostics say what
    /// could not be read.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was.
    pub fn read(
        &self,
        places: &[Place],
        question: &Question,
        now: Option<Instant>,
        task: &Task,
    ) -> Result<Reported<Answer>, Error> {
        let mut prepared = Prepared::default();
        let mut question = Question { strategy: Strategy::GroupedBySource, quota: None, ..question.clone() };
        question.visible.clear();
        let mut left_out = Vec::new();
        for (at, place) in (0_u32..).zip(places) {
            let ready =
                match self.bundle(place, task)? {
                    Ok(None) => continue,
                    Ok(Some((directory, fresh))) => {
                        left_out.extend(unread(&fresh.state.problems).into_iter().map(|message| {
                            Diagnostic { code: DiagnosticCode::SourceUnavailable, source: Some(at), message }
                        }));
                        prepared.report(at, fresh.new_problems);
                        let Directory { path, identity, .. } = directory;
                        Ok(Ready { identity, directory: path.into(), state: fresh.state })
                    }
                    Err(reason) => Err(Unavailable::because(reason, None)),
                };
            prepared.set(at, ready);
            question.visible.push(at);
        }
        let snapshot = Arc::new(self.as_sources(places));
        let searched = Arc::new(question.searched(&snapshot, &prepared));
        let criteria = question.criteria(now.unwrap_or_else(Instant::now), task)?;
        let mut answer = question.answer(searched, criteria, &Alone, None, self.threads, task)?;
        // That nothing is remembered is nothing to be told of.
        answer.diagnostics.retain(|diagnostic| diagnostic.code == DiagnosticCode::SourceUnavailable);
        answer.diagnostics.append(&mut left_out);
        answer.diagnostics.sort_by_key(|diagnostic| diagnostic.source);
        Ok(Reported { value: answer, problems: prepared.new_problems })
    }

    /// What lies in a place.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was.
    pub fn list(&self, place: &Place, task: &Task) -> Result<Contents, Error> {
        Ok(match self.bundle(place, task)? {
            Ok(None) => Contents::default(),
            Ok(Some((_, Fresh { state, new_problems }))) => {
                let mut concepts: Vec<Remembered> = state
                    .index
                    .concepts()
                    .map(|concept| Remembered {
                        id: concept.id.clone(),
                        title: concept.document.title.clone(),
                    })
                    .collect();
                concepts.sort_unstable_by(|a, b| compare_by_parts(&a.id, &b.id));
                Contents { concepts, unread: unread(&state.problems), new_problems }
            }
            Err(reason) => {
                let sources = self.as_sources(std::slice::from_ref(place));
                let unread = vec![source_unavailable(&sources, 0, &reason).message];
                Contents { unread, ..Contents::default() }
            }
        })
    }

    /// The body of one concept in a place, if it is there and can be read.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was.
    pub fn text(&self, place: &Place, id: &str, task: &Task) -> Result<Option<String>, Error> {
        let found = self.bundle(place, task)?.ok().flatten();
        let concept = found.and_then(|(_, fresh)| fresh.state.index.get(id).cloned());
        Ok(concept.map(|concept| concept.document.body.clone()))
    }

    /// Creates a concept in a place, or appends to it (Y4). When this returns well, the section is on the disk,
    /// and readers saw all of it or nothing (Y5). Otherwise it says why not, without absolute paths.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was, while another writer was waited for; nothing is written then.
    pub fn write(&self, place: &Place, entry: &Entry, task: &Task) -> Result<Result<(), String>, Error> {
        told(self.try_write(place, entry, task))
    }

    fn try_write(&self, place: &Place, entry: &Entry, task: &Task) -> Result<(), Refusal> {
        if entry.name.starts_with('.') || entry.name.contains(['/', '\0']) {
            return Err(Refusal::Because(format!("{:?} is no name of a file", entry.name)));
        }
        let root = self.enter(place)?;
        let Some(held) = acquire(&root, &place.path, true, task)? else {
            return Err(Refusal::Because("its directory cannot be made".to_owned()));
        };
        marking::mark_below(held.parent(), held.name(), self.marks, task)?;
        let name = format!("{}.md", entry.name);
        let shown = |reason: String| format!("\"{}/{name}\" {reason}", place.path);
        let existing = replace::read(held.directory(), &name, self.max_bytes).map_err(shown)?;
        let known = existing.as_ref().map(|existing| &*existing.bytes);
        let text = section::with(known, &entry.frontmatter, &entry.section).map_err(shown)?;
        if text.len() as u64 > self.max_bytes {
            let reason = format!("would have more than {} bytes, and not be read any more", self.max_bytes);
            return Err(shown(reason).into());
        }
        if existing.is_none() {
            // The way there may have been made by somebody who did not come to say that it is on the disk.
            held.settle_way().map_err(|error| format!("its directory cannot be made: {}", plain(&error)))?;
        }
        replace::replace(held.directory(), &name, &text, existing.map(|existing| existing.stat))
            .map_err(shown)?;
        Ok(())
    }

    /// Deletes everything in a place, and the place (Y6). If `levels` is not zero, the place holds the
    /// directories of scopes so many levels down, and each is deleted as if alone (Y12).
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was; scopes that were deleted before stay so.
    pub fn delete(&self, place: &Place, levels: usize, task: &Task) -> Result<Deletion, Error> {
        let mut gone = Gone::default();
        match self.enter(place) {
            Ok(root) => {
                let cleared = below::clear(&root, &place.path, levels, &mut gone, task);
                self.recent.forget(Location::of_directory(&root), &place.path);
                cleared.map_err(|Abandoned| Error::Abandoned)?;
            }
            Err(reason) => gone.fail(reason),
        }
        Ok(Deletion { scopes: gone.scopes, concepts: gone.concepts, failure: gone.failure() })
    }

    /// Deletes one concept in a place, if it is there (Y12). `name` is its path below the place, without
    /// `.md`.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was, while a writer was waited for; nothing is deleted then.
    pub fn forget(&self, place: &Place, name: &str, task: &Task) -> Result<Deletion, Error> {
        Ok(match told(self.try_forget(place, name, task))? {
            Ok(forgotten) => Deletion { concepts: u64::from(forgotten), ..Deletion::default() },
            Err(reason) => Deletion { failure: Some(reason), ..Deletion::default() },
        })
    }

    fn try_forget(&self, place: &Place, name: &str, task: &Task) -> Result<bool, Refusal> {
        let root = self.enter(place)?;
        let Some(held) = acquire(&root, &place.path, false, task)? else { return Ok(false) };
        // What a killed writer left may be what is to be forgotten. If it cannot be removed, nothing can.
        let _ = replace::clear_temporary(held.directory());
        let forgotten = remove::forget(held.directory(), name);
        self.recent.forget(Location::of_directory(&root), &place.path);
        Ok(forgotten.map_err(|reason| format!("in {:?}: {reason}", place.path))?)
    }

    /// The directory of a place's source.
    fn enter(&self, place: &Place) -> Result<Directory, String> {
        let source = self.source(place);
        // Who remembers need not know what the host calls it (S5).
        let unusable = |reason: &str| format!("the tier's memory source cannot be used: {reason}");
        let directory = self.fence.enter(&source.path).map_err(|breach| unusable(&breach.reason))?;
        // It may have been mounted or moved there since the manifest was read.
        match overlap::is_among_memories(&directory) {
            Ok(false) => Ok(directory),
            Ok(true) => Err(unusable("its directory lies among other memories")),
            Err(error) => {
                Err(unusable(&format!("where its directory lies cannot be told: {}", plain(&error))))
            }
        }
    }

    fn source(&self, place: &Place) -> &Source {
        &self.snapshot.sources[place.source as usize]
    }

    /// What a place holds now; `None` if nothing is there. Memories are compared with the disk whenever they
    /// are read, so that a host reads what it wrote, whatever the catalog's freshness (F1).
    #[allow(clippy::type_complexity)] // A result in a result, and read in one place.
    fn bundle(
        &self,
        place: &Place,
        task: &Task,
    ) -> Result<Result<Option<(Directory, Fresh)>, String>, Error> {
        let entered = self.enter(place).and_then(|root| {
            let found = place::walk(root.handle.as_fd(), &place.path, false)?;
            // Where that cannot be done, memories are read all the same.
            found.iter().flatten().for_each(|directory| drop(marks::mark(directory.as_fd())));
            Ok((root, found.is_some()))
        });
        let root = match entered {
            Ok((root, true)) => root,
            Ok((_, false)) => return Ok(Ok(None)),
            Err(reason) => return Ok(Err(reason)),
        };
        let memories = &self.recent;
        let spot = Location::of_directory(&root);
        let bundle = memories.take(spot, &place.path);
        let sealed = Arc::new(SealedDirectories::in_scope());
        let effort = Effort {
            events: memories.events(),
            max_bytes: self.max_bytes,
            threads: self.threads,
            task,
            sealed: &sealed,
            source: place.source,
        };
        match bundle.fresh(&root, effort) {
            Ok(fresh) => {
                memories.weigh(spot, &place.path, &fresh.state.index);
                Ok(Ok(Some((root, fresh))))
            }
            Err(Failure::Abandoned) => Err(Error::Abandoned),
            // It was deleted just now.
            Err(Failure::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(Ok(None)),
            Err(Failure::Io(error)) => Ok(Err(format!("{:?} cannot be read: {}", place.path, plain(&error)))),
        }
    }

    /// The places as the sources of a search.
    fn as_sources(&self, places: &[Place]) -> Snapshot {
        let sources = places.iter().map(|place| {
            let tier = self.source(place).tier;
            Source {
                id: format!("memory:{}", tier.map_or("", |tier| tier.as_str())),
                path: place.path.clone(),
                priority: 0,
                enabled: true,
                role: Role::Memory,
                tier,
            }
        });
        let directory = self.snapshot.manifest_directory.clone();
        Snapshot::new(self.snapshot.generation, sources.collect(), directory)
    }
}

/// How many files that cannot be read are named; of the others, how many there are.
const MOST_NAMED: usize = 20;
/// How many characters of a path are shown, those at its end.
const MOST_SHOWN: usize = 500;

/// What is said of files that are left out, a sentence each.
fn unread(problems: &[Problem]) -> Vec<String> {
    let sentence = |problem: &Problem| {
        let characters = problem.path.chars().count();
        let shown: String = if characters > MOST_SHOWN {
            "…".chars().chain(problem.path.chars().skip(characters - MOST_SHOWN)).collect()
        } else {
            problem.path.clone()
        };
        format!("{shown:?} is left out: {}", problem.reason)
    };
    let mut sentences: Vec<String> = problems.iter().take(MOST_NAMED).map(sentence).collect();
    let more = problems.len() - sentences.len();
    if more > 0 {
        sentences.push(format!("and {more} more are left out"));
    }
    sentences
}

fn told<T>(result: Result<T, Refusal>) -> Result<Result<T, String>, Error> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Refusal::Because(reason)) => Ok(Err(reason)),
        Err(Refusal::Abandoned) => Err(Error::Abandoned),
    }
}
