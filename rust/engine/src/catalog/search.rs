//! Searching a catalog, and bringing the bundles that a search needs up to date.

use std::sync::Arc;

use crate::{
    ask::{answer::Answer, asked::Asked, question::Question},
    catalog::{
        opened::Catalog,
        options::Freshness,
        prepared::{Preparation, Prepared},
        process::Process,
    },
    document::problem::Reported,
    error::Error,
    manifest::snapshot::Snapshot,
    text::instant::Instant,
    work::task::Task,
};

impl Catalog {
    /// Answers one question from a snapshot of this catalog; without `now`, at the system's time.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn search(
        &self,
        snapshot: &Arc<Snapshot>,
        question: &Question,
        now: Option<Instant>,
        task: &Task,
    ) -> Result<Reported<Answer>, Error> {
        let now = now.unwrap_or_else(Instant::now);
        let mut prepared = Prepared::default();
        self.prepare(&mut prepared, snapshot, &question.visible, task)?;
        self.answer(snapshot, question, now, prepared, task)
    }

    /// Answers as [`search`](Self::search) does, if the question is short and nothing has to be read for it:
    /// that takes less time than starting a thread. `None` otherwise.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn search_unchanged(
        &self,
        snapshot: &Arc<Snapshot>,
        question: &Question,
        now: Option<Instant>,
    ) -> Result<Option<Reported<Answer>>, Error> {
        if !question.is_short() {
            return Ok(None);
        }
        let now = now.unwrap_or_else(Instant::now);
        let process = self.open_process()?;
        let mut prepared = Prepared::default();
        let task = Task::default();
        let preparation = self.preparation(&process, &task);
        let missing = prepared.add_unchanged(snapshot, &question.visible, preparation);
        if missing.is_empty() {
            self.answer(snapshot, question, now, prepared, &task).map(Some)
        } else {
            Ok(None)
        }
    }

    fn answer(
        &self,
        snapshot: &Arc<Snapshot>,
        question: &Question,
        now: Instant,
        prepared: Prepared,
        task: &Task,
    ) -> Result<Reported<Answer>, Error> {
        let asked = Asked::new(question, snapshot, &prepared, now, task)?;
        Ok(Reported { value: asked.answer(self.threads, task)?, problems: prepared.new_problems })
    }

    /// Brings every source of the snapshot up to date, whatever the freshness says, so that later searches
    /// see what was complete before this call.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn refresh(&self, snapshot: &Arc<Snapshot>, task: &Task) -> Result<Reported<()>, Error> {
        let process = self.open_process()?;
        let preparation = Preparation { freshness: Freshness::Exact, ..self.preparation(&process, task) };
        let mut prepared = Prepared::default();
        prepared.add_unchanged(snapshot, snapshot.candidates(), preparation);
        prepared.add(snapshot, snapshot.candidates(), preparation)?;
        Ok(Reported { value: (), problems: prepared.new_problems })
    }

    /// Adds sources that are not prepared yet.
    pub(super) fn prepare(
        &self,
        prepared: &mut Prepared,
        snapshot: &Snapshot,
        sources: &[u32],
        task: &Task,
    ) -> Result<(), Error> {
        let process = self.open_process()?;
        let preparation = self.preparation(&process, task);
        if !prepared.add_unchanged(snapshot, sources, preparation).is_empty() {
            prepared.add(snapshot, sources, preparation)?;
            process.check_in_background(&self.fence);
        }
        Ok(())
    }

    /// Adds sources that are not prepared yet, if nothing has to be read for them; says whether all are prepared now.
    pub(super) fn prepare_unchanged(
        &self,
        prepared: &mut Prepared,
        snapshot: &Snapshot,
        sources: &[u32],
        task: &Task,
    ) -> Result<bool, Error> {
        let process = self.open_process()?;
        let preparation = self.preparation(&process, task);
        Ok(prepared.add_unchanged(snapshot, sources, preparation).is_empty())
    }

    pub(super) fn preparation<'call>(
        &'call self,
        process: &'call Process,
        task: &'call Task,
    ) -> Preparation<'call> {
        Preparation {
            fence: &self.fence,
            bundles: &process.state.bundles,
            events: &process.state.events,
            known_memories: &self.known_memories,
            freshness: self.freshness,
            max_bytes: self.max_file_bytes,
            threads: self.threads,
            task,
        }
    }
}
