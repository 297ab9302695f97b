//! One writer at a time for each directory, among all threads and processes (Y5).
//!
//! The lock is `flock` on a handle of the directory itself, by way of `rustix`: nothing is left behind by who
//! dies with it, no file has to be named for it, and it is the directory that is locked, however it is
//! reached. It may have been deleted while somebody waited for it, so the way there is gone once more.

use crate::{
    disk::{directory::Directory, identity::Identity, marks, open::sync_directory, os_error::plain},
    work::task::{Abandoned, Patience, Task},
};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock, fstat},
    io::{Errno, retry_on_intr},
};

use super::place;

/// How long anybody waits at most. Writers are done in milliseconds; whoever holds it for longer may never
/// let go.
const LIMIT: Duration = Duration::from_secs(60);

/// Why something was not done.
#[derive(Debug)]
pub(super) enum Refusal {
    /// In words, without absolute paths.
    Because(String),
    /// Nobody waits any more.
    Abandoned,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Refusal::Because(reason)
    }
}

impl From<Abandoned> for Refusal {
    fn from(Abandoned: Abandoned) -> Self {
        Refusal::Abandoned
    }
}

/// A directory that nobody else writes to.
#[derive(Debug)]
pub(super) struct Held<'root> {
    root: &'root Directory,
    path: &'root str,
    /// Every directory on the way there, the locked one last.
    way: Vec<OwnedFd>,
}

/// Waits until the directory at `path` below `root` is nobody else's; `None` if it is not there and is not to
/// be made.
///
/// # Errors
/// It cannot be entered, made or locked, or nobody waits any more.
pub(super) fn acquire<'root>(
    root: &'root Directory,
    path: &'root str,
    make: bool,
    task: &Task,
) -> Result<Option<Held<'root>>, Refusal> {
    acquire_within(LIMIT, root, path, make, task)
}

fn acquire_within<'root>(
    limit: Duration,
    root: &'root Directory,
    path: &'root str,
    make: bool,
    task: &Task,
) -> Result<Option<Held<'root>>, Refusal> {
    let began = Instant::now();
    let mut patience = Patience::default();
    loop {
        task.go_on()?;
        let Some(way) = place::walk(root.handle.as_fd(), path, make)? else {
            if !make {
                return Ok(None);
            }
            // A directory on the way was deleted while it was passed.
            if began.elapsed() > limit {
                return Err(format!("{path:?} is being deleted all the time").into());
            }
            patience.wait(task)?;
            continue;
        };
        let held = Held { root, path, way };
        if held.lock().map_err(|error| format!("{path:?} cannot be locked: {}", plain(&error)))? {
            if held.is_still_there()? {
                if make {
                    held.mark()?;
                }
                return Ok(Some(held));
            }
            // It was deleted while it was waited for.
            continue;
        }
        drop(held);
        if began.elapsed() > limit {
            let seconds = limit.as_secs();
            return Err(format!("{path:?} was locked by another process for {seconds} seconds").into());
        }
        patience.wait(task)?;
    }
}

impl Held<'_> {
    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.way.last().map_or(self.root.handle.as_fd(), |handle| handle.as_fd())
    }

    /// The directory that holds it.
    pub(super) fn parent(&self) -> BorrowedFd<'_> {
        let above = self.way.len().checked_sub(2).and_then(|at| self.way.get(at));
        above.map_or(self.root.handle.as_fd(), |handle| handle.as_fd())
    }

    /// Its name in there.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Has every directory on the way there written to the disk.
    pub(super) fn settle_way(&self) -> io::Result<()> {
        sync_directory(self.root.handle.as_fd())?;
        let (_, above) = self.way.split_last().unzip();
        above.into_iter().flatten().try_for_each(|handle| sync_directory(handle.as_fd()))
    }

    /// Marks the directory before anything is put into it.
    fn mark(&self) -> Result<(), String> {
        marks::mark_and_sync(self.directory())
            .map_err(|error| format!("{:?} cannot be marked as memories: {}", self.path, plain(&error)))
    }

    /// Whether the lock is to be had; it is taken then.
    fn lock(&self) -> io::Result<bool> {
        match retry_on_intr(|| flock(self.directory(), FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether the way still leads to what is locked.
    fn is_still_there(&self) -> Result<bool, String> {
        let now = place::enter(self.root.handle.as_fd(), self.path)?;
        let same = now.and_then(|now| Some((fstat(&now).ok()?, fstat(self.directory()).ok()?)));
        Ok(same.is_some_and(|(now, held)| Identity::of_stat(&now) == Identity::of_stat(&held)))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // Closing the handle is not enough: a process that was forked meanwhile has it too.
        let _ = flock(self.directory(), FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use super::*;
    use crate::disk::fence::Fence;

    fn enter(root: &std::path::Path) -> Directory {
        Fence::new(root, root).unwrap().enter(".").unwrap()
    }

    #[test]
    fn one_holds_it_at_a_time() {
        let temporary = tempfile::tempdir().unwrap();
        let root = enter(temporary.path());
        let task = Task::default();
        assert!(acquire(&root, "a/b", false, &task).unwrap().is_none());
        let first = acquire(&root, "a/b", true, &task).unwrap().unwrap();
        assert!(
            !Held {
                root: &root,
                path: "a/b",
                way: place::walk(root.handle.as_fd(), "a/b", true).unwrap().unwrap()
            }
            .lock()
            .unwrap()
        );
        assert!(acquire(&root, "a/c", true, &task).unwrap().is_some(), "another directory is another's");
        drop(first);
        assert!(acquire(&root, "a/b", false, &task).unwrap().is_some());
    }

    #[test]
    fn nobody_waits_longer_than_somebody_wants_it() {
        let temporary = tempfile::tempdir().unwrap();
        let root = enter(temporary.path());
        let task = Task::default();
        let _held = acquire(&root, "a", true, &task).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| acquire(&root, "a", true, &task).map(|_| ()));
            thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            task.abandon();
            assert!(matches!(waiting.join().unwrap(), Err(Refusal::Abandoned)));
        });
    }

    #[test]
    fn nobody_waits_for_ever() {
        let temporary = tempfile::tempdir().unwrap();
        let root = enter(temporary.path());
        let task = Task::default();
        let held = acquire(&root, "a", true, &task).unwrap();
        let refused = acquire_within(Duration::from_millis(20), &root, "a", true, &task);
        assert!(matches!(refused, Err(Refusal::Because(reason)) if reason.contains("was locked")));
        drop(held);
        assert!(acquire(&root, "a", false, &task).unwrap().is_some());
    }

    #[test]
    fn what_was_deleted_or_replaced_meanwhile_is_not_it() {
        let temporary = tempfile::tempdir().unwrap();
        let root = enter(temporary.path());
        let held = acquire(&root, "a/b", true, &Task::default()).unwrap().unwrap();
        assert!(held.is_still_there().unwrap());
        let path = temporary.path().join("a/b");
        // Moved, so that its number is not given to the other.
        fs::rename(&path, temporary.path().join("moved")).unwrap();
        assert!(!held.is_still_there().unwrap());
        fs::create_dir(&path).unwrap();
        assert!(!held.is_still_there().unwrap());
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("../moved", &path).unwrap();
        assert!(held.is_still_there().unwrap_err().contains("is a link"));
    }
}
