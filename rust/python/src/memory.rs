//! The memories in a catalog's memory sources.

use std::sync::Arc;

use okf_engine::{
    ConceptTitle, Deletion, Entry, Error, Extent, IfThere, Instant, Listing, Marking, Overlap, Place,
    Reported, Scope, Snapshot, Task, Tier, Unmarked, Value, Written, scope_directory, tier_of_word,
};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    answer::Answer,
    errors::run,
    question::Question,
    rows::{ProblemRow, SourceProblemRow},
    wait::{Call, Cancellation},
};

/// A `KnowledgeAccessScope`.
#[derive(FromPyObject)]
pub(crate) struct ScopeRow {
    #[pyo3(attribute("tenant_id"))]
    tenant: Option<String>,
    #[pyo3(attribute("user_id"))]
    user: Option<String>,
    #[pyo3(attribute("session_id"))]
    session: Option<String>,
}

/// The position of a memory source in the snapshot, and a scope.
type PlaceRow = (u32, ScopeRow);

/// The value of a key of frontmatter: a text, or a mapping of texts.
#[derive(FromPyObject)]
enum ValueRow {
    Text(String),
    Mapping(Vec<(String, String)>),
}

/// Two sources that overlap, by their positions in the snapshot.
#[derive(IntoPyObject)]
struct OverlapRow {
    memory: u32,
    other: u32,
}

/// How many directories of one memory source were marked, and how many could not be.
#[derive(IntoPyObject)]
struct MarkingRow {
    source: u32,
    marked: usize,
    failed: usize,
    first_failure: Option<ProblemRow>,
}

/// A concept in a place, which is the directory of one scope in one memory source.
#[derive(IntoPyObject)]
struct ConceptTitleRow {
    id: String,
    title: Option<String>,
}

/// The concepts in a place.
#[derive(IntoPyObject)]
struct ListingRow {
    concepts: Vec<ConceptTitleRow>,
    unread: Vec<String>,
    problems: Vec<ProblemRow>,
}

/// What was deleted.
#[derive(IntoPyObject)]
struct DeletionRow {
    scopes: u64,
    concepts: u64,
    failure: Option<String>,
}

/// The memories of a catalog: those in the memory sources of one snapshot.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Memory {
    pub(crate) catalog: Arc<okf_engine::Catalog>,
    pub(crate) snapshot: Arc<Snapshot>,
}

impl Memory {
    /// Runs an operation that may have to wait for another writer.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&okf_engine::Memory<'_>, &Task) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        Call::plain(py, &self.snapshot).wait(|task| work(&self.catalog.memory(&self.snapshot)?, task))
    }

    fn place(&self, (source, scope): PlaceRow) -> PyResult<Place> {
        Place::new(&self.snapshot, source, &scope.into_scope()?)
            .ok_or_else(|| PyValueError::new_err(format!("source {source} is not a memory source")))
    }
}

#[pymethods]
impl Memory {
    /// The positions of a memory source and of another source that overlap (Y8).
    fn overlap(&self, py: Python<'_>) -> PyResult<Option<OverlapRow>> {
        let overlap = run(py, || Ok(self.catalog.memory(&self.snapshot)?.overlap()))?;
        Ok(overlap.map(|Overlap { memory, other }| OverlapRow { memory, other }))
    }

    /// Marks every directory of memories that has no mark (Y10); returns one row for each memory source.
    fn mark(&self, py: Python<'_>) -> PyResult<Vec<MarkingRow>> {
        #[allow(clippy::redundant_closure_for_method_calls)]
        // The method has one lifetime; the closure works for any.
        let markings = self.work(py, |memory, task| memory.mark(task))?;
        Ok(markings.into_iter().map(marking_row).collect())
    }

    /// The concepts in the places that match a question. `now` is in microseconds since 1970.
    #[pyo3(signature = (places, question, now, cancellation=None, /))]
    fn read(
        &self,
        py: Python<'_>,
        places: Vec<PlaceRow>,
        question: &Question,
        now: Option<i64>,
        cancellation: Option<&Bound<'_, Cancellation>>,
    ) -> PyResult<Answer> {
        let places = places.into_iter().map(|row| self.place(row)).collect::<PyResult<Vec<Place>>>()?;
        let question = question.of(&self.snapshot)?;
        let now = now.map(Instant::from_micros);
        let call = Call { py, snapshot: &self.snapshot, on_progress: None, cancellation };
        let Reported { value, problems } =
            call.wait(|task| self.catalog.memory(&self.snapshot)?.read(&places, question, now, task))?;
        let problems = SourceProblemRow::all(value.snapshot(), problems);
        Ok(Answer::new(Arc::new(value), problems))
    }

    /// The concepts in a place.
    #[pyo3(signature = (at, /))]
    fn list(&self, py: Python<'_>, at: PlaceRow) -> PyResult<ListingRow> {
        let place = self.place(at)?;
        Ok(listing_row(self.work(py, |memory, task| memory.list(&place, task))?))
    }

    /// The body of one concept in a place, if it exists and can be read.
    #[pyo3(signature = (at, id, /))]
    fn text(&self, py: Python<'_>, at: PlaceRow, id: &str) -> PyResult<Option<String>> {
        let place = self.place(at)?;
        self.work(py, |memory, task| memory.text(&place, id, task))
    }

    /// Creates a concept; with `replace` in place of the one of this name, else appends to that. Returns the reason
    /// if nothing was written.
    #[pyo3(signature = (at, name, frontmatter, section, replace, /))]
    fn write(
        &self,
        py: Python<'_>,
        at: PlaceRow,
        name: String,
        frontmatter: Vec<(String, ValueRow)>,
        section: String,
        replace: bool,
    ) -> PyResult<Option<String>> {
        let frontmatter = frontmatter.into_iter().map(|(key, row)| match row {
            ValueRow::Text(text) => (key, Value::Text(text)),
            ValueRow::Mapping(pairs) => (key, Value::Mapping(pairs)),
        });
        let (place, entry) = (self.place(at)?, Entry { name, frontmatter: frontmatter.collect(), section });
        let if_there = if replace { IfThere::Replace } else { IfThere::Append };
        match self.work(py, |memory, task| memory.write(&place, &entry, if_there, task))? {
            Written::Yes => Ok(None),
            Written::No(failure) => Ok(Some(failure.to_string())),
        }
    }

    /// Deletes a place; with `below`, every scope below it too.
    #[pyo3(signature = (at, below, /))]
    fn delete(&self, py: Python<'_>, at: PlaceRow, below: bool) -> PyResult<DeletionRow> {
        let place = self.place(at)?;
        let extent = if below { Extent::ScopeAndBelow } else { Extent::Scope };
        Ok(deletion_row(&self.work(py, |memory, task| memory.delete(&place, extent, task))?))
    }

    /// Deletes one concept of a place.
    #[pyo3(signature = (at, name, /))]
    fn delete_concept(&self, py: Python<'_>, at: PlaceRow, name: &str) -> PyResult<DeletionRow> {
        let place = self.place(at)?;
        Ok(deletion_row(&self.work(py, |memory, task| memory.delete_concept(&place, name, task))?))
    }
}

/// The directory of a scope's memories of one tier, below its memory source (Y1).
///
/// # Errors
/// `ValueError` if no tier has that name, or the scope cannot have one of its ids.
#[pyfunction]
#[pyo3(signature = (tier, scope, /))]
pub(crate) fn memory_path(tier: &str, scope: ScopeRow) -> PyResult<String> {
    Ok(scope_directory(tier_of(tier)?, &scope.into_scope()?))
}

/// Whether a tier holds memories of a scope (Y2).
///
/// # Errors
/// As [`memory_path`].
#[pyfunction]
#[pyo3(signature = (tier, scope, /))]
pub(crate) fn tier_applies(tier: &str, scope: ScopeRow) -> PyResult<bool> {
    Ok(scope.into_scope()?.uses(tier_of(tier)?))
}

/// The tier that only this scope uses; `None` for the local scope.
///
/// # Errors
/// As [`memory_path`].
#[pyfunction]
#[pyo3(signature = (scope, /))]
pub(crate) fn own_tier(scope: ScopeRow) -> PyResult<Option<&'static str>> {
    Ok(scope.into_scope()?.own_tier().map(Tier::as_str))
}

impl ScopeRow {
    fn into_scope(self) -> PyResult<Scope> {
        let Self { tenant, user, session } = self;
        Scope::new(tenant, user, session).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

fn tier_of(word: &str) -> PyResult<Tier> {
    tier_of_word(word).ok_or_else(|| PyValueError::new_err(format!("no tier is called {word:?}")))
}

fn marking_row(Marking { source, marked, failed, first_failure }: Marking) -> MarkingRow {
    let row = |unmarked: Unmarked| ProblemRow { reason: unmarked.reason(), path: unmarked.path };
    let first_failure = first_failure.map(row);
    MarkingRow { source, marked, failed, first_failure }
}

fn listing_row(Listing { concepts, unread, new_problems }: Listing) -> ListingRow {
    let concepts = concepts.into_iter().map(|ConceptTitle { id, title }| ConceptTitleRow { id, title });
    ListingRow { concepts: concepts.collect(), unread, problems: ProblemRow::all(new_problems) }
}

fn deletion_row(Deletion { scopes, concepts, failures }: &Deletion) -> DeletionRow {
    let failure = (!failures.is_empty()).then(|| failures.to_string());
    DeletionRow { scopes: *scopes, concepts: *concepts, failure }
}
