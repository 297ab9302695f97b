//! Writes a section of a concept, or a concept in place of another (Y4, Y5, Y13).

use crate::{
    error::Error,
    memory::{
        entry::{Entry, IfThere},
        failure::{Action, Failure, FailureKind, Stop},
        lock::make_and_lock,
        path::concept_file,
        place::Place,
        replace, section,
        store::Memory,
    },
    work::task::Task,
};

/// Whether a section was written, as data: the state of the disk stops no caller (Y9).
#[derive(Debug)]
pub enum Written {
    /// It is on the disk, and readers saw all of it or nothing (Y5).
    Yes,
    /// It is not, for this reason.
    No(Failure),
}

impl Memory<'_> {
    /// Creates a concept in a place; appends to the one that is there, or replaces it (Y4, Y13).
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was, while another writer was waited for; nothing is written then.
    pub fn write(
        &self,
        place: &Place,
        entry: &Entry,
        if_there: IfThere,
        task: &Task,
    ) -> Result<Written, Error> {
        match self.try_write(place, entry, if_there, task) {
            Ok(()) => Ok(Written::Yes),
            Err(Stop::Failed(failure)) => Ok(Written::No(failure)),
            Err(Stop::Abandoned) => Err(Error::Abandoned),
        }
    }

    fn try_write(&self, place: &Place, entry: &Entry, if_there: IfThere, task: &Task) -> Result<(), Stop> {
        let file = concept_file(&entry.name).map_err(|kind| Failure::at(&*entry.name, kind))?;
        let at_file = |kind| Failure::at(format!("{}/{file}", place.path), kind);
        let root = self.enter(place)?;
        let locked = make_and_lock(&root, &place.path, task)?;
        self.known.mark_scope(locked.parent(), locked.name(), task)?;
        let existing = match if_there {
            IfThere::Append => replace::read(locked.handle(), &file, self.max_bytes),
            IfThere::Replace => replace::look_at(locked.handle(), &file),
        };
        let existing = existing.map_err(at_file)?;
        let bytes = existing.as_ref().and_then(|existing| existing.bytes.as_deref());
        let text = self.with_section(bytes, entry).map_err(at_file)?;
        if existing.is_none() {
            // The directories may have been made by a writer that crashed before `fsync`.
            locked
                .sync_ancestors()
                .map_err(|error| Failure::at(&*place.path, FailureKind::NotSynced(Action::Make, error)))?;
        }
        replace::replace(locked.handle(), &file, &text, existing.map(|existing| existing.stat))
            .map_err(at_file)?;
        Ok(())
    }

    /// The bytes of a concept after the section was appended to it, or of a new one.
    fn with_section(&self, existing: Option<&[u8]>, entry: &Entry) -> Result<Vec<u8>, FailureKind> {
        let text = section::append(existing, &entry.frontmatter, &entry.section)?;
        if text.len() as u64 > self.max_bytes {
            return Err(FailureKind::WouldBeTooLarge(self.max_bytes));
        }
        Ok(text)
    }
}
