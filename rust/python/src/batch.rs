//! Many questions at once.

use std::sync::{Arc, Mutex, TryLockError};

use okf_engine::{Question, catalog::conversation};
use pyo3::{
    exceptions::{PyIndexError, PyRuntimeError},
    prelude::*,
};

use crate::{
    answer::Answer,
    convert::{self, ProblemRow, QuestionRow, TextOrRow},
    patience::{Cancellation, run_as_long_as, task_of},
    table::Table,
};

/// Questions that are all put at one time to one state of the files, batch after batch.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Conversation {
    pub(crate) snapshot: Arc<okf_engine::manifest::snapshot::Snapshot>,
    pub(crate) inner: Mutex<conversation::Conversation>,
}

#[pymethods]
impl Conversation {
    /// Answers every question, in order; a text is asked as `ordinary` is, but for its text.
    #[pyo3(signature = (questions, ordinary, limit, on_progress, cancellation=None, /))]
    fn ask(
        &self,
        py: Python<'_>,
        questions: Vec<TextOrRow<'_>>,
        ordinary: QuestionRow<'_>,
        limit: Option<usize>,
        on_progress: Option<&Bound<'_, PyAny>>,
        cancellation: Option<&Bound<'_, Cancellation>>,
    ) -> PyResult<BatchAnswer> {
        let ordinary = convert::question(ordinary, &self.snapshot)?;
        let questions = questions
            .into_iter()
            .map(|question| match question {
                TextOrRow::Text(text) => Ok(Question { text, ..ordinary.clone() }),
                TextOrRow::Row(row) => convert::question(row, &self.snapshot),
            })
            .collect::<PyResult<Vec<_>>>()?;
        // Waiting here while attached could wait for a thread that waits to attach.
        let mut guard = match self.inner.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err("another thread is asking in this conversation"));
            }
        };
        let conversation = &mut *guard;
        let task = task_of(cancellation);
        let answers = run_as_long_as(py, &task, &self.snapshot, on_progress, |task| {
            conversation.ask(&questions, limit, task)
        })?;
        let answers = answers.into_iter().map(Arc::new).collect();
        Ok(BatchAnswer {
            answers,
            problems: convert::problem_rows(&self.snapshot, guard.take_new_problems()),
        })
    }
}

/// What a batch of questions got, in order.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct BatchAnswer {
    answers: Vec<Arc<okf_engine::ask::answer::Answer>>,
    problems: Vec<ProblemRow>,
}

#[pymethods]
impl BatchAnswer {
    fn __len__(&self) -> usize {
        self.answers.len()
    }

    #[pyo3(signature = (index, /))]
    fn answer(&self, index: usize) -> PyResult<Answer> {
        let inner = self.answers.get(index).ok_or_else(|| PyIndexError::new_err("no such answer"))?;
        Ok(Answer { inner: Arc::clone(inner), problems: Vec::new() })
    }

    /// The passages of the answers at these places, as rows of columns.
    #[pyo3(signature = (places, /))]
    fn table(&self, places: Vec<usize>) -> PyResult<Table> {
        let answers = places.into_iter().map(|place| self.answers.get(place).cloned());
        let answers: Option<Vec<_>> = answers.collect();
        answers.map(Table::of).ok_or_else(|| PyIndexError::new_err("no such answer"))
    }

    #[getter]
    fn problems(&self) -> Vec<ProblemRow> {
        self.problems.clone()
    }
}
