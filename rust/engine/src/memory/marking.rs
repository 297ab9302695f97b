//! The walk that marks the directories of memories which have no mark (Y10): an earlier release made them, or they
//! were copied without their marks.

use std::{
    ffi::{CStr, CString},
    io,
    os::fd::BorrowedFd,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, statat},
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::{
        directory_set::DirectorySet,
        entry::kind_of_listed,
        identity::Identity,
        location::is_mounted_in,
        marks::{is_exact_mark_name, is_mark_name, mark},
        open::{open_directory, sync_directory},
    },
    memory::failure::Cause,
    work::task::{Abandoned, Task},
};

/// Directories nested deeper than this many levels are not marked: each level keeps a file descriptor open.
const MAX_DEPTH: usize = 128;
/// Up to this many new marks, each directory is synced by itself. Above it, one call syncs the whole file system:
/// one call for each directory would take minutes.
const MAX_SINGLE_SYNCS: usize = 64;
/// At most this many directories without a mark are remembered, at about 100 bytes each.
pub(super) const MAX_UNMARKED: usize = 1 << 18;

/// What a walk did.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// How many directories got a mark.
    pub(super) marked: usize,
    /// How many could not be marked.
    pub(super) failed: usize,
    /// The first that could not be marked.
    pub(super) first_failure: Option<Unmarked>,
    /// The directories that have no mark after the walk.
    pub(super) unmarked: DirectorySet,
}

/// A directory that could not be marked as memories.
#[derive(Debug)]
pub struct Unmarked {
    /// The path below the directory of the memory source.
    pub path: String,
    /// Why.
    pub(super) cause: Cause,
}

impl Unmarked {
    /// Why, as a part of a sentence, without absolute paths.
    #[must_use]
    pub fn reason(&self) -> String {
        self.cause.to_string()
    }
}

/// What the walk does with a directory that has no mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Gives it a mark.
    Mark,
    /// Writes nothing, and only lists it in [`Outcome::unmarked`].
    Note,
}

/// Walks over the directory `name` in `parent`, and every directory below it. No link is followed.
///
/// `scope_levels` is how many levels below the first directory the directories of scopes lie. A directory that is
/// mounted further down is passed over: the host may have mounted anything there.
///
/// # Errors
/// The caller no longer waits.
pub(super) fn walk(
    parent: BorrowedFd<'_>,
    name: &str,
    scope_levels: usize,
    missing: Missing,
    task: &Task,
) -> Result<Outcome, Abandoned> {
    let mut walk = Walk { missing, outcome: Outcome::default() };
    walk.run(parent, name, scope_levels, task)?;
    if walk.outcome.marked > MAX_SINGLE_SYNCS {
        sync_file_system(parent);
    }
    Ok(walk.outcome)
}

struct Walk {
    missing: Missing,
    outcome: Outcome,
}

/// A directory whose subdirectories are being walked over.
struct Level {
    directory: Dir,
    /// How many bytes of the path lead to it.
    path_len: usize,
    pending: Vec<CString>,
}

impl Walk {
    fn run(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &str,
        scope_levels: usize,
        task: &Task,
    ) -> Result<(), Abandoned> {
        let mut path = name.as_bytes().to_vec();
        let mut levels: Vec<Level> = Vec::new();
        let first = self.enter(parent, &CString::new(name).unwrap_or_default(), &path, false);
        levels.extend(first.map(|(directory, pending)| Level { directory, path_len: path.len(), pending }));
        loop {
            let depth = levels.len();
            let Some(level) = levels.last_mut() else { return Ok(()) };
            task.go_on()?;
            path.truncate(level.path_len);
            let Some(name) = level.pending.pop() else {
                levels.pop();
                continue;
            };
            path.push(b'/');
            path.extend_from_slice(name.to_bytes());
            let in_scope = depth > scope_levels;
            let entered =
                level.directory.fd().ok().and_then(|parent| self.enter(parent, &name, &path, in_scope));
            let Some((directory, pending)) = entered.filter(|(_, pending)| !pending.is_empty()) else {
                continue;
            };
            if levels.len() >= MAX_DEPTH {
                self.fail(directory.fd().ok(), &path, Cause::TooDeep(MAX_DEPTH));
                continue;
            }
            levels.push(Level { directory, path_len: path.len(), pending });
        }
    }

    /// Marks or notes a directory, and lists its subdirectories. `None` if it is deleted, is not a directory, cannot
    /// be entered, or is mounted inside the directory of a scope.
    fn enter(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &CStr,
        path: &[u8],
        in_scope: bool,
    ) -> Option<(Dir, Vec<CString>)> {
        let mut directory = match open_directory(parent, name).and_then(Dir::new) {
            Ok(directory) => directory,
            // It is deleted, is not a directory, or is a link.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return None,
            Err(errno) => {
                self.fail(None, path, errno.into());
                if let Ok(stat) = retry_on_intr(|| statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)) {
                    self.outcome.unmarked.add_unopened(Identity::of_stat(&stat), MAX_UNMARKED);
                }
                return None;
            }
        };
        if in_scope && is_mounted_in(parent, directory.fd().ok()?).unwrap_or(true) {
            return None;
        }
        let listed = list(&mut directory);
        let handle = directory.fd().ok()?;
        if !listed.as_ref().is_ok_and(|(_, is_marked)| *is_marked) {
            self.mark(handle, path)?;
        }
        match listed {
            Ok((directories, _)) => Some((directory, directories)),
            Err(error) => {
                self.fail(Some(handle), path, error.into());
                None
            }
        }
    }

    /// Marks or notes a directory whose mark was not listed; `None` if it is deleted.
    fn mark(&mut self, directory: BorrowedFd<'_>, path: &[u8]) -> Option<()> {
        if self.missing == Missing::Note {
            self.outcome.unmarked.add(directory, MAX_UNMARKED);
            return Some(());
        }
        match mark(directory) {
            Ok(true) => {
                self.outcome.marked += 1;
                if self.outcome.marked <= MAX_SINGLE_SYNCS {
                    // If this fails, the next store that is opened looks for a missing mark again.
                    let _ = sync_directory(directory);
                }
            }
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => self.fail(Some(directory), path, error.into()),
        }
        Some(())
    }

    fn fail(&mut self, directory: Option<BorrowedFd<'_>>, path: &[u8], cause: Cause) {
        self.outcome.failed += 1;
        self.outcome.first_failure.get_or_insert_with(|| {
            let path = String::from_utf8_lossy(path).into_owned();
            Unmarked { path, cause }
        });
        if let Some(directory) = directory {
            self.outcome.unmarked.add(directory, MAX_UNMARKED);
        }
    }
}

/// The subdirectories of a directory, and whether it has a mark.
fn list(directory: &mut Dir) -> io::Result<(Vec<CString>, bool)> {
    let mut directories = Vec::new();
    let mut is_marked = false;
    while let Some(entry) = directory.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if is_mark_name(name.to_bytes()) {
            // Readers that do not list the directory look up the exact name only.
            is_marked |= is_exact_mark_name(name.to_bytes());
            continue;
        }
        if matches!(kind_of_listed(directory.fd()?, &entry), Ok(Some(FileType::Directory))) {
            directories.push(name.to_owned());
        }
    }
    Ok((directories, is_marked))
}

/// Writes everything on a file system to the disk. If this fails, the next store that is opened looks for missing
/// marks again.
fn sync_file_system(directory: BorrowedFd<'_>) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::fs::syncfs(directory);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = directory;
        rustix::fs::sync();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::{fd::AsFd, unix::fs::symlink},
        path::Path,
    };

    use super::*;
    use crate::disk::marks::MARK_NAME;

    fn mark(root: &Path) -> Outcome {
        let handle = fs::File::open(root).unwrap();
        walk(handle.as_fd(), "memory-user", 2, Missing::Mark, &Task::default()).unwrap()
    }

    #[test]
    fn every_directory_gets_one_mark_and_links_are_not_followed() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("memory-user/acme/ann/deeper")).unwrap();
        fs::create_dir_all(root.join("memory-session/acme")).unwrap();
        fs::create_dir_all(root.join("elsewhere")).unwrap();
        symlink("../../elsewhere", root.join("memory-user/acme/linked")).unwrap();
        let first = mark(root);
        assert_eq!((first.marked, first.failed, first.first_failure.is_none()), (4, 0, true));
        assert_eq!(mark(root).marked, 0);
        for path in ["memory-user", "memory-user/acme", "memory-user/acme/ann/deeper"] {
            assert!(root.join(path).join(MARK_NAME).is_file(), "{path}");
        }
        for path in [".", "memory-session", "elsewhere"] {
            assert!(!root.join(path).join(MARK_NAME).exists(), "{path}");
        }
    }

    #[test]
    fn directories_without_a_mark_can_be_noted_without_writing() {
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir_all(temporary.path().join("memory-user/acme")).unwrap();
        let handle = fs::File::open(temporary.path()).unwrap();
        let noted = walk(handle.as_fd(), "memory-user", 2, Missing::Note, &Task::default()).unwrap();
        assert_eq!((noted.marked, noted.unmarked.len()), (0, 2));
        assert!(!temporary.path().join("memory-user").join(MARK_NAME).exists());
    }

    #[test]
    fn a_tree_that_is_too_deep_is_marked_down_to_the_limit() {
        let temporary = tempfile::tempdir().unwrap();
        let deep = |depth: usize| temporary.path().join("memory-user").join("d/".repeat(depth));
        fs::create_dir_all(deep(MAX_DEPTH + 5)).unwrap();
        let done = mark(temporary.path());
        assert!(deep(MAX_DEPTH).join(MARK_NAME).is_file());
        assert!(!deep(MAX_DEPTH + 1).join(MARK_NAME).is_file());
        assert_eq!(done.failed, 1);
        assert!(matches!(done.first_failure.unwrap().cause, Cause::TooDeep(MAX_DEPTH)));
        assert_eq!(done.unmarked.len(), 1, "the directory at the limit stays closed to readers of knowledge");
    }

    #[test]
    fn a_walk_ends_when_its_caller_no_longer_waits() {
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir_all(temporary.path().join("memory-user/acme")).unwrap();
        let handle = fs::File::open(temporary.path()).unwrap();
        let task = Task::default();
        task.abandon();
        assert!(walk(handle.as_fd(), "memory-user", 2, Missing::Mark, &task).is_err());
    }
}
