//! One writer at a time in each directory, among all threads and processes (Y5).
//!
//! The lock is `flock` on a handle of the directory itself, through `rustix`. The kernel releases it when the
//! process ends, it needs no lock file, and it holds for the directory by whatever path it is reached. The
//! directory may be deleted while a thread waits for the lock, so the path is opened again after that.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, flock, fstat},
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::{directory::Directory, identity::Identity, marks, open::sync_directory},
    memory::{
        directories::{make_each, open, open_each},
        failure::{Action, Failure, FailureKind, Stop},
    },
    work::task::{Backoff, Task},
};

/// A lock is waited for at most this long. Writers take milliseconds; one that takes longer may never end.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A directory that only this thread writes to, until the value is dropped.
#[derive(Debug)]
pub(super) struct LockedDirectory<'root> {
    root: &'root Directory,
    path: &'root str,
    /// Every directory on the path below the root; the locked one is the last.
    opened: Vec<OwnedFd>,
}

/// Locks the directory at `path` below `root`, waiting for other writers; `None` if it does not exist.
///
/// # Errors
/// It cannot be entered or locked, or the caller no longer waits.
pub(super) fn lock<'root>(
    root: &'root Directory,
    path: &'root str,
    task: &Task,
) -> Result<Option<LockedDirectory<'root>>, Stop> {
    let began = Instant::now();
    let mut backoff = Backoff::default();
    loop {
        task.go_on()?;
        let Some(opened) = open_each(root.handle.as_fd(), path)? else { return Ok(None) };
        if let Some(locked) = LockedDirectory::try_lock(root, path, opened, MAX_WAIT, began)? {
            if locked.is_still_there()? {
                return Ok(Some(locked));
            }
            continue;
        }
        backoff.wait(task)?;
    }
}

/// Locks the directory at `path` below `root` as [`lock`] does; makes it if it does not exist, and marks it as
/// memories.
///
/// # Errors
/// As [`lock`]; or it cannot be made or marked.
pub(super) fn make_and_lock<'root>(
    root: &'root Directory,
    path: &'root str,
    task: &Task,
) -> Result<LockedDirectory<'root>, Stop> {
    make_and_lock_within(MAX_WAIT, root, path, task)
}

fn make_and_lock_within<'root>(
    max_wait: Duration,
    root: &'root Directory,
    path: &'root str,
    task: &Task,
) -> Result<LockedDirectory<'root>, Stop> {
    let began = Instant::now();
    let mut backoff = Backoff::default();
    loop {
        task.go_on()?;
        let Some(opened) = make_each(root.handle.as_fd(), path)? else {
            // Another process deleted a directory on the path after it was opened.
            if began.elapsed() > max_wait {
                return Err(Failure::at(path, FailureKind::DeletedRepeatedly).into());
            }
            backoff.wait(task)?;
            continue;
        };
        if let Some(locked) = LockedDirectory::try_lock(root, path, opened, max_wait, began)? {
            if locked.is_still_there()? {
                locked.mark()?;
                return Ok(locked);
            }
            continue;
        }
        backoff.wait(task)?;
    }
}

impl<'root> LockedDirectory<'root> {
    /// Locks the last of the opened directories; `None` if another writer has the lock.
    ///
    /// # Errors
    /// It cannot be locked, or was waited for too long since `began`.
    fn try_lock(
        root: &'root Directory,
        path: &'root str,
        opened: Vec<OwnedFd>,
        max_wait: Duration,
        began: Instant,
    ) -> Result<Option<Self>, Failure> {
        let directory = opened.last().map_or(root.handle.as_fd(), |handle| handle.as_fd());
        match retry_on_intr(|| flock(directory, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => Ok(Some(Self { root, path, opened })),
            Err(Errno::WOULDBLOCK) if began.elapsed() > max_wait => {
                Err(Failure::at(path, FailureKind::Locked(max_wait.as_secs())))
            }
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(Failure::at(path, FailureKind::failed(Action::Lock, errno))),
        }
    }

    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.opened.last().map_or(self.root.handle.as_fd(), |handle| handle.as_fd())
    }

    /// The directory that holds it.
    pub(super) fn parent(&self) -> BorrowedFd<'_> {
        let parent = self.opened.len().checked_sub(2).and_then(|at| self.opened.get(at));
        parent.map_or(self.root.handle.as_fd(), |handle| handle.as_fd())
    }

    /// Its name in the parent.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Calls `fsync` for every directory above it, the root first.
    pub(super) fn sync_ancestors(&self) -> io::Result<()> {
        sync_directory(self.root.handle.as_fd())?;
        let (_, above) = self.opened.split_last().unzip();
        above.into_iter().flatten().try_for_each(|handle| sync_directory(handle.as_fd()))
    }

    /// Marks the directory, before anything is written in it.
    fn mark(&self) -> Result<(), Failure> {
        marks::mark_and_sync(self.handle())
            .map_err(|error| Failure::at(self.path, FailureKind::failed(Action::Mark, error)))
    }

    /// Whether the path still leads to the locked directory: it may have been deleted or moved while its lock was
    /// waited for.
    fn is_still_there(&self) -> Result<bool, Failure> {
        let now = open(self.root.handle.as_fd(), self.path)?;
        let stats = now.and_then(|now| Some((fstat(&now).ok()?, fstat(self.handle()).ok()?)));
        Ok(stats.is_some_and(|(now, locked)| Identity::of_stat(&now) == Identity::of_stat(&locked)))
    }
}

impl Drop for LockedDirectory<'_> {
    fn drop(&mut self) {
        // Closing the handle is not enough: a process that was forked meanwhile has it too.
        let _ = flock(self.handle(), FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, thread};

    use super::*;
    use crate::disk::fence::Fence;

    fn enter(root: &Path) -> Directory {
        Fence::new(root, root).unwrap().enter(".").unwrap()
    }

    #[test]
    fn one_writer_has_the_lock_at_a_time() {
        let temporary = tempfile::tempdir().unwrap();
        let root = enter(temporary.path());
        let task = Task::default();
        assert!(lock(&root, "a/b", &task).unwrap().is_none());
        let first = make_and_lock(&root, "a/b", &task).unwrap();
        let opened = open_each(root.handle.as_fd(), "a/b").unwrap().unwrap();
        let second = LockedDirectory::try_lock(&root, "a/b", opened, MAX_WAIT, Instant::now());
        assert!(second.unwrap().is_none());
        make_and_lock(&root, "a/c", &task).expect("another directory has its own lock");
        drop(first);
        assert!(lock(&root, "a/b", &task).unwrap().is_some());
    }

    #[test]
    fn a_writer_stops_waiting_when_its_caller_does() {
        let temporary = tempfile::tempdir().unwrap();
        let root = enter(temporary.path());
        let task = Task::default();
        let _locked = make_and_lock(&root, "a", &task).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| make_and_lock(&root, "a", &task).map(drop));
            thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            task.abandon();
            assert!(matches!(waiting.join().unwrap(), Err(Stop::Abandoned)));
        });
    }

    #[test]
    fn a_writer_does_not_wait_for_ever() {
        let temporary = tempfile::tempdir().unwrap();
        let root = enter(temporary.path());
        let task = Task::default();
        let locked = make_and_lock(&root, "a", &task).unwrap();
        let refused = make_and_lock_within(Duration::from_millis(20), &root, "a", &task).map(drop);
        assert!(matches!(refused, Err(Stop::Failed(Failure { kind: FailureKind::Locked(_), .. }))));
        drop(locked);
        assert!(lock(&root, "a", &task).unwrap().is_some());
    }

    #[test]
    fn a_lock_on_a_directory_that_was_deleted_or_replaced_is_noticed() {
        let temporary = tempfile::tempdir().unwrap();
        let root = enter(temporary.path());
        let locked = make_and_lock(&root, "a/b", &Task::default()).unwrap();
        assert!(locked.is_still_there().unwrap());
        let path = temporary.path().join("a/b");
        // Moved, so that the new directory does not get its inode number.
        fs::rename(&path, temporary.path().join("moved")).unwrap();
        assert!(!locked.is_still_there().unwrap());
        fs::create_dir(&path).unwrap();
        assert!(!locked.is_still_there().unwrap());
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("../moved", &path).unwrap();
        assert!(matches!(locked.is_still_there().unwrap_err().kind, FailureKind::Link));
    }
}
