//! What is remembered.

use std::sync::Arc;

use okf_engine::{
    Contents, Deletion, Entry, Error, Instant, Marking, Overlap, Place, Reported, Snapshot, Task, Value,
};
use pyo3::prelude::*;

use crate::{
    answer::Answer,
    errors::run,
    question::Question,
    rows::SourceProblemRow,
    wait::{Call, Cancellation},
};

/// `(position of the memory source, directory below it)`
type PlaceRow = (u32, String);
/// `(concepts as (id, title), what could not be listed, problems as (path, reason))`
type ContentsRow = (Vec<(String, Option<String>)>, Vec<String>, Vec<(String, String)>);
/// `(directories of scopes, concepts, failure)`
type DeletionRow = (u64, u64, Option<String>);

/// What a key of a frontmatter says: a text, or texts by their keys.
#[derive(FromPyObject)]
enum ValueRow {
    Text(String),
    Mapping(Vec<(String, String)>),
}

/// `(position of the memory source, directories marked, directories that could not be, the first as (path, reason))`
type MarkingRow = (u32, usize, usize, Option<(String, String)>);

/// The memories of a catalog, as one snapshot of it says.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Memory {
    pub(crate) catalog: Arc<okf_engine::Catalog>,
    pub(crate) snapshot: Arc<Snapshot>,
}

impl Memory {
    /// Works on memories, which may mean to wait for another writer.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&okf_engine::Memory<'_>, &Task) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        Call::plain(py, &self.snapshot).wait(|task| work(&self.catalog.memory(&self.snapshot)?, task))
    }
}

#[pymethods]
impl Memory {
    /// The positions of a memory source and of another that do not lie apart (Y8).
    fn overlap(&self, py: Python<'_>) -> PyResult<Option<(u32, u32)>> {
        let overlap = run(py, || Ok(self.catalog.memory(&self.snapshot)?.overlap()))?;
        Ok(overlap.map(|Overlap { memory, other }| (memory, other)))
    }

    /// Marks every directory of memories that has no mark (Y10), and what that came to for each memory source.
    fn mark(&self, py: Python<'_>) -> PyResult<Vec<MarkingRow>> {
        #[allow(clippy::redundant_closure_for_method_calls)] // The method itself is of one lifetime only.
        let markings = self.work(py, |memory, task| memory.mark(task))?;
        let row = |Marking { source, marked, failed, first_failure }| (source, marked, failed, first_failure);
        Ok(markings.into_iter().map(row).collect())
    }

    /// What the places remember of a question. `now` is in microseconds since 1970.
    #[pyo3(signature = (places, question, now, cancellation=None, /))]
    fn read(
        &self,
        py: Python<'_>,
        places: Vec<PlaceRow>,
        question: &Question,
        now: Option<i64>,
        cancellation: Option<&Bound<'_, Cancellation>>,
    ) -> PyResult<Answer> {
        let places: Vec<Place> = places.into_iter().map(place).collect();
        let question = question.of(&self.snapshot)?;
        let now = now.map(Instant::from_micros);
        let call = Call { py, snapshot: &self.snapshot, on_progress: None, cancellation };
        let Reported { value, problems } =
            call.wait(|task| self.catalog.memory(&self.snapshot)?.read(&places, question, now, task))?;
        let problems = SourceProblemRow::all(value.snapshot(), problems);
        Ok(Answer::new(Arc::new(value), problems))
    }

    /// What lies in a place.
    #[pyo3(signature = (at, /))]
    fn list(&self, py: Python<'_>, at: PlaceRow) -> PyResult<ContentsRow> {
        let at = place(at);
        let Contents { concepts, unread, new_problems } =
            self.work(py, |memory, task| memory.list(&at, task))?;
        let concepts = concepts.into_iter().map(|concept| (concept.id, concept.title));
        let problems = new_problems.into_iter().map(|problem| (problem.path, problem.reason));
        Ok((concepts.collect(), unread, problems.collect()))
    }

    /// The body of one concept in a place, if it is there.
    #[pyo3(signature = (at, id, /))]
    fn text(&self, py: Python<'_>, at: PlaceRow, id: &str) -> PyResult<Option<String>> {
        let at = place(at);
        self.work(py, |memory, task| memory.text(&at, id, task))
    }

    /// Creates a concept or appends to it; why that was not done, if it was not.
    #[pyo3(signature = (at, name, frontmatter, section, /))]
    fn write(
        &self,
        py: Python<'_>,
        at: PlaceRow,
        name: String,
        frontmatter: Vec<(String, ValueRow)>,
        section: String,
    ) -> PyResult<Option<String>> {
        let frontmatter = frontmatter.into_iter().map(|(key, row)| match row {
            ValueRow::Text(text) => (key, Value::Text(text)),
            ValueRow::Mapping(pairs) => (key, Value::Mapping(pairs)),
        });
        let (at, entry) = (place(at), Entry { name, frontmatter: frontmatter.collect(), section });
        Ok(self.work(py, |memory, task| memory.write(&at, &entry, task))?.err())
    }

    /// Deletes a place, or the places so many levels below: what is gone, and why something is not.
    #[pyo3(signature = (at, levels, /))]
    fn delete(&self, py: Python<'_>, at: PlaceRow, levels: usize) -> PyResult<DeletionRow> {
        let at = place(at);
        Ok(deletion(self.work(py, |memory, task| memory.delete(&at, levels, task))?))
    }

    /// Deletes one concept of a place: what is gone, and why it is not.
    #[pyo3(signature = (at, name, /))]
    fn forget(&self, py: Python<'_>, at: PlaceRow, name: &str) -> PyResult<DeletionRow> {
        let at = place(at);
        Ok(deletion(self.work(py, |memory, task| memory.forget(&at, name, task))?))
    }
}

fn place((source, path): PlaceRow) -> Place {
    Place { source, path }
}

fn deletion(Deletion { scopes, concepts, failure }: Deletion) -> DeletionRow {
    (scopes, concepts, failure)
}
