//! Deletes a scope's memories, or one concept of them (Y6, Y12).

use crate::{
    disk::above::Spot,
    error::Error,
    memory::{
        delete_concept::delete_concept,
        delete_scopes::{Deletion, delete_scopes},
        failure::{Failure, FailureKind, Stop},
        lock::lock,
        path::{ScopeTree, scope_tree},
        place::Place,
        replace::clear_temporary,
        store::Memory,
    },
    work::task::Task,
};

/// Which scopes a deletion covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// One scope.
    Scope,
    /// The scope and every scope below it: a user's sessions, a tenant's users and their sessions.
    ScopeAndBelow,
}

impl Memory<'_> {
    /// Deletes everything in a place, and its directory (Y6); with [`Extent::ScopeAndBelow`], every scope below it
    /// too, each as if alone (Y12). A tier that other scopes share is refused then.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was; scopes that were deleted before stay deleted.
    pub fn delete(&self, place: &Place, extent: Extent, task: &Task) -> Result<Deletion, Error> {
        let tree = match extent {
            Extent::Scope => Some(ScopeTree { path: place.path.clone(), levels: 0 }),
            Extent::ScopeAndBelow => scope_tree(place.tier, &place.scope),
        };
        let mut deletion = Deletion::default();
        match tree.ok_or_else(|| Failure::at(&*place.path, FailureKind::Shared)) {
            Ok(tree) => match self.enter(place) {
                Ok(root) => {
                    let deleted = delete_scopes(&root, &tree, &mut deletion, task);
                    self.cache.remove(Spot::at(&root), &tree.path);
                    deleted?;
                }
                Err(failure) => deletion.failures.push(failure),
            },
            Err(failure) => deletion.failures.push(failure),
        }
        Ok(deletion)
    }

    /// Deletes one concept of a place, if it exists (Y12). `name` is its path below the place, without `.md`.
    ///
    /// # Errors
    /// [`Error::Abandoned`] if the task was, while a writer was waited for; nothing is deleted then.
    pub fn delete_concept(&self, place: &Place, name: &str, task: &Task) -> Result<Deletion, Error> {
        let mut deletion = Deletion::default();
        match self.try_delete_concept(place, name, task) {
            Ok(existed) => deletion.concepts = u64::from(existed),
            Err(Stop::Failed(failure)) => deletion.failures.push(failure),
            Err(Stop::Abandoned) => return Err(Error::Abandoned),
        }
        Ok(deletion)
    }

    fn try_delete_concept(&self, place: &Place, name: &str, task: &Task) -> Result<bool, Stop> {
        let root = self.enter(place)?;
        let Some(locked) = lock(&root, &place.path, task)? else { return Ok(false) };
        // The temporary file of a writer that crashed may hold what is to be deleted. If it cannot be removed, the
        // concept cannot be either.
        let _ = clear_temporary(locked.handle());
        let deleted = delete_concept(locked.handle(), name);
        self.cache.remove(Spot::at(&root), &place.path);
        Ok(deleted.map_err(|failure| failure.below(&place.path))?)
    }
}
