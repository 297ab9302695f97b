//! Deleting what several scopes remember, those that lie below one (Y12).

use std::{
    ffi::CString,
    os::fd::{AsFd, BorrowedFd},
};

use rustix::fs::FileType;

use super::lock::Refusal;
use super::lock::acquire;
use super::place;
use super::remove::ATTEMPTS;
use super::remove::Removed;
use super::remove::entries;
use super::remove::open_inner;
use super::remove::remove;
use super::remove::remove_directory;
use super::remove::remove_file;
use super::remove::settle_deletion;
use crate::{
    disk::{directory::Directory, os_error::plain},
    work::task::{Abandoned, Task},
};

/// How many reasons are told; of the others, how many there are.
const MOST_REASONS: usize = 10;

/// What is gone, and why something is not.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// How many directories of scopes.
    pub(super) scopes: u64,
    /// How many concepts in them.
    pub(super) concepts: u64,
    reasons: Vec<String>,
    failures: usize,
}

impl Gone {
    pub(super) fn fail(&mut self, reason: String) {
        self.failures += 1;
        if self.reasons.len() < MOST_REASONS {
            self.reasons.push(reason);
        }
    }

    /// Why something is there still, in one text.
    pub(super) fn failure(mut self) -> Option<String> {
        let more = self.failures - self.reasons.len();
        if more > 0 {
            self.reasons.push(format!("and {more} more could not be deleted"));
        }
        (!self.reasons.is_empty()).then(|| self.reasons.join("; "))
    }
}

/// Deletes the directory at `path` below `root`, in which scopes have theirs so many levels down; with none,
/// it is that of a scope. A scope that is written to is waited for; what cannot be deleted does not keep the
/// others.
///
/// # Errors
/// Nobody waits any more. What was deleted before stays so.
pub(super) fn clear(
    root: &Directory,
    path: &str,
    levels: usize,
    gone: &mut Gone,
    task: &Task,
) -> Result<(), Abandoned> {
    Clearing { root, task, gone }.clear(path, levels, true)
}

struct Clearing<'call> {
    root: &'call Directory,
    task: &'call Task,
    gone: &'call mut Gone,
}

impl Clearing<'_> {
    /// Whether the parent is settled: there is no need to if it is to be deleted too.
    fn clear(&mut self, path: &str, levels: usize, settled: bool) -> Result<(), Abandoned> {
        self.task.go_on()?;
        if levels == 0 {
            return self.clear_scope(path, settled);
        }
        for _ in 0..ATTEMPTS {
            let way = match place::walk(self.root.handle.as_fd(), path, false) {
                Ok(Some(way)) => way,
                Ok(None) => return Ok(()),
                Err(reason) => {
                    self.gone.fail(reason);
                    return Ok(());
                }
            };
            let Some((directory, above)) = way.split_last() else { return Ok(()) };
            let parent = above.last().map_or(self.root.handle.as_fd(), |handle| handle.as_fd());
            let failures = self.gone.failures;
            self.empty(directory.as_fd(), path, levels)?;
            if self.gone.failures > failures {
                // Why it stays is told already.
                self.sync_directory(directory.as_fd(), path);
                return Ok(());
            }
            let name = CString::new(path.rsplit('/').next().unwrap_or(path)).unwrap_or_default();
            match remove_directory(parent, &name, directory.as_fd()) {
                Ok(Removed::Yes) => {
                    if settled {
                        self.sync_directory(parent, path);
                    }
                    return Ok(());
                }
                // A scope was written to since it was deleted, or a new one was.
                Ok(Removed::Filled) => {}
                Err(error) => {
                    self.gone.fail(format!("{path:?} cannot be deleted: {}", plain(&error)));
                    self.sync_directory(directory.as_fd(), path);
                    return Ok(());
                }
            }
        }
        self.gone
            .fail(format!("{path:?} is written to again and again; what was written last is still there"));
        Ok(())
    }

    /// Deletes the directory of a scope, which nobody else writes to meanwhile.
    fn clear_scope(&mut self, path: &str, settled: bool) -> Result<(), Abandoned> {
        match acquire(self.root, path, false, self.task) {
            Ok(None) => {}
            Ok(Some(held)) => {
                let name = CString::new(held.name()).map_err(|_| "has a NUL in its name".to_owned());
                let removed = name
                    .and_then(|name| remove(held.parent(), &name, held.directory(), &mut self.gone.concepts));
                match removed {
                    Ok(()) => {
                        self.gone.scopes += 1;
                        if settled {
                            self.sync_directory(held.parent(), path);
                        }
                    }
                    Err(reason) => self.gone.fail(format!("{path:?} {reason}")),
                }
            }
            Err(Refusal::Because(reason)) => self.gone.fail(reason),
            Err(Refusal::Abandoned) => return Err(Abandoned),
        }
        Ok(())
    }

    /// Deletes what is in a directory that has the directories of scopes so many levels below it.
    fn empty(&mut self, directory: BorrowedFd<'_>, path: &str, levels: usize) -> Result<(), Abandoned> {
        let entries = match entries(directory) {
            Ok(entries) => entries,
            Err(error) => {
                self.gone.fail(format!("{path:?} cannot be listed: {}", plain(&error)));
                return Ok(());
            }
        };
        for (name, kind) in entries {
            let inner = if kind == FileType::Directory {
                match open_inner(directory, &name) {
                    Ok(Some(inner)) => Ok(inner),
                    Ok(None) => continue,
                    Err(error) => Err(error),
                }
            } else {
                match remove_file(directory, &name) {
                    Ok(()) => continue,
                    Err(error) => Err(error),
                }
            };
            let below = format!("{path}/{}", name.to_string_lossy());
            match (inner, name.to_str()) {
                (Ok(_), Ok(_)) => self.clear(&below, levels - 1, false)?,
                // No scope has such a name, and nobody writes there.
                (Ok(inner), Err(_)) => {
                    let removed = remove(directory, &name, inner.as_fd(), &mut self.gone.concepts);
                    removed.unwrap_or_else(|reason| self.gone.fail(format!("{below:?} {reason}")));
                }
                (Err(error), _) => self.gone.fail(format!("{below:?} cannot be deleted: {}", plain(&error))),
            }
        }
        Ok(())
    }

    fn sync_directory(&mut self, directory: BorrowedFd<'_>, path: &str) {
        if let Err(reason) = settle_deletion(directory) {
            self.gone.fail(format!("{path:?} {reason}"));
        }
    }
}
