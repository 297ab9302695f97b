//! Questions that are all put at one time to one state of the files, batch after batch.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    ask::{answer::Answer, batch, question::Question},
    catalog::{opened::Catalog, prepared::Prepared},
    document::problem::NewProblem,
    error::Error,
    manifest::snapshot::Snapshot,
    text::instant::Instant,
    work::task::Task,
};

/// More questions are answered on several threads.
pub(super) const MAX_INLINE_QUESTIONS: usize = 4;

/// One instant and one state of the files for any number of batches.
#[derive(Debug)]
pub struct Conversation {
    catalog: Arc<Catalog>,
    snapshot: Arc<Snapshot>,
    now: Instant,
    prepared: Prepared,
}

impl Conversation {
    /// Begins a conversation; without `now`, at the system's time.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn begin(
        catalog: &Arc<Catalog>,
        snapshot: Arc<Snapshot>,
        now: Option<Instant>,
    ) -> Result<Self, Error> {
        if catalog.is_closed() {
            return Err(Error::Closed);
        }
        let now = now.unwrap_or_else(Instant::now);
        Ok(Self { catalog: Arc::clone(catalog), snapshot, now, prepared: Prepared::default() })
    }

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
        self.catalog.prepare(&mut self.prepared, &self.snapshot, &visible(questions), task)?;
        let Self { catalog, snapshot, now, prepared } = self;
        Ok(batch::answer(snapshot, &*prepared, questions, *now, limit, catalog.threads, task)?)
    }

    /// Answers as [`ask`](Self::ask) does, if there are few and short questions and nothing has to be read for them: that
    /// takes less time than starting a thread. `None` otherwise.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn ask_inline(
        &mut self,
        questions: &[Question],
        limit: Option<usize>,
    ) -> Result<Option<Vec<Answer>>, Error> {
        if questions.len() > MAX_INLINE_QUESTIONS || !questions.iter().all(Question::is_short) {
            return Ok(None);
        }
        let task = Task::default();
        let Self { catalog, snapshot, now, prepared } = self;
        if !catalog.prepare_unchanged(prepared, snapshot, &visible(questions), &task)? {
            return Ok(None);
        }
        Ok(Some(batch::answer(snapshot, &*prepared, questions, *now, limit, 1, &task)?))
    }

    /// The problem files that were found since this was last called, and that were not reported before.
    pub fn take_new_problems(&mut self) -> Vec<NewProblem> {
        std::mem::take(&mut self.prepared.new_problems)
    }
}

/// The sources that any of the questions is put to.
fn visible(questions: &[Question]) -> Vec<u32> {
    let sources: BTreeSet<u32> = questions.iter().flat_map(|q| q.visible.iter().copied()).collect();
    sources.into_iter().collect()
}
