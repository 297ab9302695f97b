//! Many questions at once.

use std::sync::{Arc, Mutex, TryLockError};

use okf_engine::{
    Answer as EngineAnswer, Conversation as FileConversation, Error, InMemoryCatalog, Instant, NewProblem,
    Question as EngineQuestion, Snapshot, Task, TextSnapshot,
};
use pyo3::{
    exceptions::{PyIndexError, PyRuntimeError},
    prelude::*,
};

use crate::{
    answer::Answer,
    errors::run,
    question::Question,
    rows::SourceProblemRow,
    table::Table,
    wait::{Call, Cancellation},
};

/// A question of a batch. A plain text stands for the ordinary question with this text.
#[derive(FromPyObject)]
enum TextOrQuestion<'py> {
    Text(String),
    Question(Bound<'py, Question>),
}

/// Batches of questions that are all answered at one time, from one state of the sources.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Conversation {
    snapshot: Arc<Snapshot>,
    asked: AskedCatalog,
}

/// The catalog that answers.
enum AskedCatalog {
    Files(Mutex<FileConversation>),
    Texts { catalog: Arc<InMemoryCatalog>, texts: Arc<TextSnapshot>, now: Instant },
}

impl Conversation {
    pub(crate) fn with_files(snapshot: Arc<Snapshot>, conversation: FileConversation) -> Self {
        Self { snapshot, asked: AskedCatalog::Files(Mutex::new(conversation)) }
    }

    pub(crate) fn with_texts(
        catalog: Arc<InMemoryCatalog>,
        texts: Arc<TextSnapshot>,
        now: Option<Instant>,
    ) -> Self {
        let snapshot = Arc::clone(texts.snapshot());
        let now = now.unwrap_or_else(Instant::now);
        Self { snapshot, asked: AskedCatalog::Texts { catalog, texts, now } }
    }

    fn questions(
        &self,
        questions: Vec<TextOrQuestion<'_>>,
        ordinary: &Question,
    ) -> PyResult<Vec<EngineQuestion>> {
        let ordinary = ordinary.of(&self.snapshot)?;
        let question = |question| match question {
            TextOrQuestion::Text(text) => Ok(EngineQuestion { text, ..ordinary.clone() }),
            TextOrQuestion::Question(question) => Ok(question.get().of(&self.snapshot)?.clone()),
        };
        questions.into_iter().map(question).collect()
    }
}

impl AskedCatalog {
    /// The answers, and the problem files that were not reported before.
    ///
    /// # Errors
    /// `RuntimeError` if another thread is asking in this conversation.
    fn ask(
        &self,
        call: Call<'_, '_>,
        questions: &[EngineQuestion],
        limit: Option<usize>,
    ) -> PyResult<(Vec<EngineAnswer>, Vec<NewProblem>)> {
        match self {
            Self::Files(conversation) => {
                // Never wait for the lock: this thread is attached to the interpreter, and the thread that holds the
                // lock may be waiting to attach. That would be a deadlock.
                let mut guard = match conversation.try_lock() {
                    Ok(guard) => guard,
                    Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                    Err(TryLockError::WouldBlock) => {
                        let message = "another thread is asking in this conversation";
                        return Err(PyRuntimeError::new_err(message));
                    }
                };
                let conversation = &mut *guard;
                let inline = match call.cancellation {
                    None => run(call.py, || conversation.ask_inline(questions, limit))?,
                    Some(_) => None,
                };
                let answers = match inline {
                    Some(answers) => answers,
                    None => call.wait(|task| conversation.ask(questions, limit, task))?,
                };
                Ok((answers, conversation.take_new_problems()))
            }
            Self::Texts { catalog, texts, now } => {
                let ask = |task: &Task| -> Result<_, Error> {
                    catalog.search_batch(texts, questions, *now, limit, task)
                };
                let inline = match call.cancellation {
                    None => run(call.py, || catalog.search_batch_inline(texts, questions, *now, limit))?,
                    Some(_) => None,
                };
                match inline {
                    Some(answers) => Ok((answers, Vec::new())),
                    None => Ok((call.wait(ask)?, Vec::new())),
                }
            }
        }
    }
}

#[pymethods]
impl Conversation {
    /// Answers every question, in order. A plain text is asked like `ordinary`, with its own text.
    #[pyo3(signature = (questions, ordinary, limit, on_progress, cancellation=None, /))]
    fn ask(
        &self,
        py: Python<'_>,
        questions: Vec<TextOrQuestion<'_>>,
        ordinary: &Question,
        limit: Option<usize>,
        on_progress: Option<&Bound<'_, PyAny>>,
        cancellation: Option<&Bound<'_, Cancellation>>,
    ) -> PyResult<BatchAnswer> {
        let questions = self.questions(questions, ordinary)?;
        let call = Call { py, snapshot: &self.snapshot, on_progress, cancellation };
        let (answers, problems) = self.asked.ask(call, &questions, limit)?;
        let answers = answers.into_iter().map(Arc::new).collect();
        Ok(BatchAnswer { answers, problems: SourceProblemRow::all(&self.snapshot, problems) })
    }
}

/// The answers to a batch of questions, in order.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct BatchAnswer {
    answers: Vec<Arc<EngineAnswer>>,
    problems: Vec<SourceProblemRow>,
}

#[pymethods]
impl BatchAnswer {
    fn __len__(&self) -> usize {
        self.answers.len()
    }

    #[pyo3(signature = (index, /))]
    fn answer(&self, index: usize) -> PyResult<Answer> {
        let inner = self.answers.get(index).ok_or_else(|| PyIndexError::new_err("no such answer"))?;
        Ok(Answer::new(Arc::clone(inner), Vec::new()))
    }

    /// The passages of the answers at these positions in the batch, as a table.
    #[pyo3(signature = (places, /))]
    fn table(&self, places: Vec<usize>) -> PyResult<Table> {
        let answers = places.into_iter().map(|place| self.answers.get(place).cloned());
        let answers: Option<Vec<_>> = answers.collect();
        answers.map(Table::of).ok_or_else(|| PyIndexError::new_err("no such answer"))
    }

    /// Problem files that this batch found and that were not reported before (B7).
    #[getter]
    fn problems(&self) -> Vec<SourceProblemRow> {
        self.problems.clone()
    }
}
