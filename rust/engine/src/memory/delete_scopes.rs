//! Deletes a scope with every scope below it (Y12).

use std::{
    ffi::CString,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::fs::FileType;

use crate::{
    disk::{directory::Directory, open::sync_directory},
    memory::{
        directories::open_each,
        failure::{Action, Cause, Failure, FailureKind, Failures, Stop},
        lock::lock,
        path::ScopeTree,
        remove::{MAX_ATTEMPTS, Removal, entries, open_inner, remove_directory, remove_file, remove_tree},
    },
    work::task::{Abandoned, Task},
};

/// What was deleted, and what could not be.
#[derive(Debug, Default)]
pub struct Deletion {
    /// How many directories of scopes are deleted.
    pub scopes: u64,
    /// How many concepts are deleted.
    pub concepts: u64,
    /// What could not be deleted, or not be synced.
    pub failures: Failures,
}

/// Deletes a directory of a memory source and the scopes in it. Each scope is deleted alone, after the writer that
/// has locked it. A scope that cannot be deleted does not keep the others.
///
/// # Errors
/// The caller no longer waits. What was deleted before that stays deleted.
pub(super) fn delete_scopes(
    root: &Directory,
    tree: &ScopeTree,
    deletion: &mut Deletion,
    task: &Task,
) -> Result<(), Abandoned> {
    Deleter { root, task, deletion }.delete(&tree.path, tree.levels, Parent::Stays)
}

struct Deleter<'call> {
    root: &'call Directory,
    task: &'call Task,
    deletion: &'call mut Deletion,
}

/// What happens to the parent of a directory that is deleted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    /// It stays, so it is synced.
    Stays,
    /// It is deleted next, so it is not synced.
    IsDeleted,
}

impl Deleter<'_> {
    /// Deletes a directory in which the directories of scopes lie so many levels down; with 0 it is itself that of a
    /// scope.
    fn delete(&mut self, path: &str, levels: usize, parent: Parent) -> Result<(), Abandoned> {
        self.task.go_on()?;
        if levels == 0 {
            return match self.delete_scope(path, parent) {
                Ok(()) => Ok(()),
                Err(Stop::Failed(failure)) => {
                    self.deletion.failures.push(failure);
                    Ok(())
                }
                Err(Stop::Abandoned) => Err(Abandoned),
            };
        }
        for _ in 0..MAX_ATTEMPTS {
            let opened = match open_each(self.root.handle.as_fd(), path) {
                Ok(Some(opened)) => opened,
                Ok(None) => return Ok(()),
                Err(failure) => {
                    self.deletion.failures.push(failure);
                    return Ok(());
                }
            };
            if self.try_delete(path, levels, &opened, parent)? == Removal::Done {
                return Ok(());
            }
        }
        self.fail(path, FailureKind::FilledRepeatedly);
        Ok(())
    }

    /// Deletes the scopes in a directory, and the directory if no failure keeps something in it. `opened` is every
    /// directory on the path. [`Removal::NotEmpty`] means that a scope was written to since it was deleted.
    fn try_delete(
        &mut self,
        path: &str,
        levels: usize,
        opened: &[OwnedFd],
        parent: Parent,
    ) -> Result<Removal, Abandoned> {
        let Some((directory, above)) = opened.split_last() else { return Ok(Removal::Done) };
        let directory = directory.as_fd();
        let parent_directory = above.last().map_or(self.root.handle.as_fd(), |handle| handle.as_fd());
        let failures = self.deletion.failures.len();
        self.empty(directory, path, levels)?;
        if self.deletion.failures.len() > failures {
            // The failures say already why the directory stays.
            self.sync(directory, path);
            return Ok(Removal::Done);
        }
        let name = CString::new(path.rsplit('/').next().unwrap_or(path)).unwrap_or_default();
        match remove_directory(parent_directory, &name, directory) {
            Ok(Removal::Done) if parent == Parent::Stays => self.sync(parent_directory, path),
            Ok(Removal::Done) => {}
            Ok(Removal::NotEmpty) => return Ok(Removal::NotEmpty),
            Err(error) => {
                self.fail(path, FailureKind::failed(Action::Delete, error));
                self.sync(directory, path);
            }
        }
        Ok(Removal::Done)
    }

    /// Deletes the directory of a scope while no other writer uses it.
    fn delete_scope(&mut self, path: &str, parent: Parent) -> Result<(), Stop> {
        let Some(locked) = lock(self.root, path, self.task)? else { return Ok(()) };
        // A path of the file system holds no NUL.
        let name = CString::new(locked.name()).map_err(|_| Failure::at(path, FailureKind::NotAPath))?;
        remove_tree(locked.parent(), &name, locked.handle(), &mut self.deletion.concepts)
            .map_err(|cause| Failure::at(path, FailureKind::failed(Action::Delete, cause)))?;
        self.deletion.scopes += 1;
        if parent == Parent::Stays {
            self.sync(locked.parent(), path);
        }
        Ok(())
    }

    /// Deletes everything in a directory in which the directories of scopes lie so many levels down.
    fn empty(&mut self, directory: BorrowedFd<'_>, path: &str, levels: usize) -> Result<(), Abandoned> {
        let entries = match entries(directory) {
            Ok(entries) => entries,
            Err(error) => {
                self.fail(path, FailureKind::failed(Action::List, error));
                return Ok(());
            }
        };
        for (name, kind) in entries {
            let inner = if kind == FileType::Directory {
                open_inner(directory, &name)
            } else {
                remove_file(directory, &name).map(|()| None).map_err(Cause::from)
            };
            let below = || format!("{path}/{}", name.to_string_lossy());
            match (inner, name.to_str()) {
                (Ok(None), _) => {}
                (Ok(Some(_)), Ok(_)) => self.delete(&below(), levels - 1, Parent::IsDeleted)?,
                // No scope has such a name, so no writer uses it.
                (Ok(Some(inner)), Err(_)) => {
                    let concepts = &mut self.deletion.concepts;
                    if let Err(cause) = remove_tree(directory, &name, inner.as_fd(), concepts) {
                        self.fail(below(), FailureKind::failed(Action::Delete, cause));
                    }
                }
                (Err(cause), _) => self.fail(below(), FailureKind::failed(Action::Delete, cause)),
            }
        }
        Ok(())
    }

    fn fail(&mut self, path: impl Into<String>, kind: FailureKind) {
        self.deletion.failures.push(Failure::at(path, kind));
    }

    /// Syncs a directory after a deletion in it.
    fn sync(&mut self, directory: BorrowedFd<'_>, path: &str) {
        if let Err(error) = sync_directory(directory) {
            self.fail(path, FailureKind::NotSynced(Action::Delete, error));
        }
    }
}
