//! Reads memories: what matches a question, what there is, one text (Y3, Y11).

use std::{collections::BTreeMap, io, os::fd::AsFd, slice, sync::Arc};

use crate::{
    ask::{
        answer::Answer,
        asked::Asked,
        diagnostic::{Diagnostic, DiagnosticCode},
        question::Question,
        rank::Strategy,
        sources::{Searchable, SourceIdentity, Sources, Unavailable},
    },
    bundle::{UpToDate, error::CompareError, options::CompareOptions},
    disk::{location::Location, marks, sealed::SealedDirectories},
    document::{
        concept::compare_by_parts,
        problem::{NewProblem, Problem, Reported},
    },
    error::Error,
    manifest::{
        snapshot::Snapshot,
        source::{Role, Source},
    },
    memory::{
        directories::open_each,
        failure::{Action, Failure, FailureKind, Stop},
        left_out::sentences,
        place::Place,
        store::Memory,
    },
    search::index::Index,
    text::instant::Instant,
    work::task::Task,
};

/// A concept in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConceptTitle {
    /// The path below the directory of the memory source, without `.md`.
    pub id: String,
    /// The title.
    pub title: Option<String>,
}

/// The concepts in one place.
#[derive(Debug, Default)]
pub struct Listing {
    /// Sorted part by part of their ids.
    pub concepts: Vec<ConceptTitle>,
    /// What could not be listed, one sentence each, without absolute paths. If this is empty, there are no other
    /// concepts (Y11).
    pub unread: Vec<String>,
    /// Files that are problems and were not reported before. The caller logs them.
    pub new_problems: Vec<Problem>,
}

impl Memory<'_> {
    /// The concepts that match a question, place after place (Y3). Without `now` this is the time of the system. The
    /// snapshot of the answer has one source for each place, `memory:session` and so on. The diagnostics say what
    /// could not be read; that nothing matches is no diagnostic.
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
        let snapshot = Arc::new(self.as_sources(places));
        let mut question = Question { strategy: Strategy::GroupedBySource, quota: None, ..question.clone() };
        question.visible.clear();
        let mut read = ReadPlaces::default();
        let mut left_out = Vec::new();
        let mut problems = Vec::new();
        for (source, place) in (0_u32..).zip(places) {
            match self.up_to_date(place, task) {
                Ok(None) => continue,
                Ok(Some(UpToDate { state, new_problems })) => {
                    left_out.extend(sentences(&state.problems).into_iter().map(|message| Diagnostic {
                        code: DiagnosticCode::SourceUnavailable,
                        source: Some(source),
                        message,
                    }));
                    problems.extend(new_problems.into_iter().map(|problem| NewProblem { source, problem }));
                    read.0.insert(source, Ok(Arc::clone(&state.index)));
                }
                Err(Stop::Failed(failure)) => {
                    read.0.insert(source, Err(failure.to_string()));
                }
                Err(Stop::Abandoned) => return Err(Error::Abandoned),
            }
            question.visible.push(source);
        }
        let now = now.unwrap_or_else(Instant::now);
        let mut answer = Asked::new(&question, &snapshot, &read, now, task)?.answer(self.threads, task)?;
        answer.diagnostics.retain(|diagnostic| diagnostic.code == DiagnosticCode::SourceUnavailable);
        answer.diagnostics.append(&mut left_out);
        answer.diagnostics.sort_by_key(|diagnostic| diagnostic.source);
        Ok(Reported { value: answer, problems })
    }

    /// The concepts in a place.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was.
    pub fn list(&self, place: &Place, task: &Task) -> Result<Listing, Error> {
        match self.up_to_date(place, task) {
            Ok(None) => Ok(Listing::default()),
            Ok(Some(UpToDate { state, new_problems })) => {
                let mut concepts: Vec<ConceptTitle> = state
                    .index
                    .concepts()
                    .map(|concept| ConceptTitle {
                        id: concept.id.clone(),
                        title: concept.document.title.clone(),
                    })
                    .collect();
                concepts.sort_unstable_by(|a, b| compare_by_parts(&a.id, &b.id));
                Ok(Listing { concepts, unread: sentences(&state.problems), new_problems })
            }
            Err(Stop::Failed(failure)) => {
                let sources = self.as_sources(slice::from_ref(place));
                let unread = vec![Diagnostic::source_unavailable(&sources, 0, &failure.to_string()).message];
                Ok(Listing { unread, ..Listing::default() })
            }
            Err(Stop::Abandoned) => Err(Error::Abandoned),
        }
    }

    /// The body of one concept in a place, if it exists and can be read.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was.
    pub fn text(&self, place: &Place, id: &str, task: &Task) -> Result<Option<String>, Error> {
        match self.up_to_date(place, task) {
            Ok(found) => {
                let concept = found.as_ref().and_then(|found| found.state.index.get(id));
                Ok(concept.map(|concept| concept.document.body.clone()))
            }
            Err(Stop::Failed(_)) => Ok(None),
            Err(Stop::Abandoned) => Err(Error::Abandoned),
        }
    }

    /// The bundle of a place as it is now; `None` if its directory does not exist. It is compared with the disk each
    /// time, whatever the freshness of the catalog, so that a host reads what it wrote (F1).
    fn up_to_date(&self, place: &Place, task: &Task) -> Result<Option<UpToDate>, Stop> {
        let root = self.enter(place)?;
        let Some(opened) = open_each(root.handle.as_fd(), &place.path)? else { return Ok(None) };
        for directory in &opened {
            // Memories are read although a mark cannot be written.
            let _ = marks::mark(directory.as_fd());
        }
        let location = Location::of_directory(&root);
        let options = CompareOptions {
            events: self.cache.events(),
            max_bytes: self.max_bytes,
            threads: self.threads,
            task,
            sealed: &Arc::new(SealedDirectories::in_scope()),
            source: place.source,
        };
        match self.cache.bundle(location, &place.path).update(&root, options) {
            Ok(updated) => {
                self.cache.set_size(location, &place.path, &updated.state.index);
                Ok(Some(updated))
            }
            Err(CompareError::Abandoned) => Err(Stop::Abandoned),
            // It was deleted just now.
            Err(CompareError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(CompareError::Io(error)) => {
                Err(Failure::at(&*place.path, FailureKind::failed(Action::Read, error)).into())
            }
        }
    }

    /// The places as the sources of a search. Their ids do not tell how the host calls its memory sources (S5).
    fn as_sources(&self, places: &[Place]) -> Snapshot {
        let sources = places.iter().map(|place| Source {
            id: format!("memory:{}", place.tier),
            path: place.path.clone(),
            priority: 0,
            enabled: true,
            role: Role::Memory,
            tier: Some(place.tier),
        });
        let directory = self.snapshot.manifest_directory.clone();
        Snapshot::new(self.snapshot.generation, sources.collect(), directory)
    }
}

/// The places that are read, by their number: the index of each, or why it cannot be read.
#[derive(Default)]
struct ReadPlaces(BTreeMap<u32, Result<Arc<Index>, String>>);

impl Sources for ReadPlaces {
    fn searchable(&self, source: u32) -> Result<Searchable<'_>, Unavailable<'_>> {
        match self.0.get(&source).expect("only places that were read are asked") {
            Ok(index) => Ok(Searchable { identity: SourceIdentity(source.into()), index }),
            Err(reason) => Err(Unavailable { identity: None, reason }),
        }
    }
}
