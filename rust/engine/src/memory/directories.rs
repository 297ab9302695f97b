//! The directory of a scope, entered or made part by part, never through a link (Y6).

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, mkdirat, statat},
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::{marks, open::open_directory},
    memory::failure::{Action, Failure, FailureKind},
};

/// Only the account that writes memories may read them, unless the host changes that.
const PRIVATE_DIRECTORY: Mode = Mode::RWXU;

/// Opens the directory at `path` below `root`; `None` if it does not exist.
///
/// # Errors
/// A directory on the path is a link, is not a directory, or cannot be entered.
pub(super) fn open(root: BorrowedFd<'_>, path: &str) -> Result<Option<OwnedFd>, Failure> {
    Ok(open_each(root, path)?.and_then(|mut opened| opened.pop()))
}

/// Opens every directory on the path, the one at `path` last; `None` if one does not exist.
///
/// # Errors
/// As [`open`].
pub(super) fn open_each(root: BorrowedFd<'_>, path: &str) -> Result<Option<Vec<OwnedFd>>, Failure> {
    let mut opened: Vec<OwnedFd> = Vec::new();
    for (part, end) in parts(path)? {
        let parent = opened.last().map_or(root, |handle| handle.as_fd());
        match open_directory(parent, part) {
            Ok(handle) => opened.push(handle),
            // No directory can have a name that long.
            Err(Errno::NOENT | Errno::NAMETOOLONG) => return Ok(None),
            Err(errno) => return Err(Failure::at(&path[..end], why_not_opened(parent, part, errno))),
        }
    }
    Ok(Some(opened))
}

/// Opens every directory on the path as [`open_each`] does, and makes those that do not exist. `None` means that
/// another process deleted one meanwhile.
///
/// Each directory but the last is marked before anything is made in it. The caller marks the last one when it has
/// locked it.
///
/// # Errors
/// As [`open`]; or a directory cannot be made or marked.
pub(super) fn make_each(root: BorrowedFd<'_>, path: &str) -> Result<Option<Vec<OwnedFd>>, Failure> {
    let mut opened: Vec<OwnedFd> = Vec::new();
    let mut is_new = false;
    let mut parent_end = 0;
    for (part, end) in parts(path)? {
        if let Some(parent) = opened.last() {
            match mark(parent.as_fd(), is_new) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => {
                    return Err(Failure::at(&path[..parent_end], FailureKind::failed(Action::Mark, error)));
                }
            }
        }
        let parent = opened.last().map_or(root, |handle| handle.as_fd());
        let mut directory = open_directory(parent, part);
        is_new = false;
        if directory.as_ref().is_err_and(|errno| *errno == Errno::NOENT) {
            match retry_on_intr(|| mkdirat(parent, part, PRIVATE_DIRECTORY)) {
                Ok(()) => is_new = true,
                // Another process was faster.
                Err(Errno::EXIST) => {}
                Err(Errno::NOENT) if !opened.is_empty() => return Ok(None),
                Err(errno) => {
                    return Err(Failure::at(&path[..end], FailureKind::failed(Action::Make, errno)));
                }
            }
            directory = open_directory(parent, part);
        }
        match directory {
            Ok(handle) => opened.push(handle),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(Failure::at(&path[..end], why_not_opened(parent, part, errno))),
        }
        parent_end = end;
    }
    Ok(Some(opened))
}

/// The parts of a path, each with the byte at which it ends.
fn parts(path: &str) -> Result<impl Iterator<Item = (&str, usize)>, Failure> {
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(Failure::at(path, FailureKind::NotAPath));
    }
    let mut end = 0;
    Ok(path.split('/').map(move |part| {
        let start = if end == 0 { 0 } else { end + 1 };
        end = start + part.len();
        (part, end)
    }))
}

/// Marks a directory. One that existed before and may not be written to is left unmarked: the directories below it
/// have marks of their own.
fn mark(directory: BorrowedFd<'_>, is_new: bool) -> io::Result<()> {
    match marks::put_for_good(directory) {
        Err(error) if !is_new && marks::is_forbidden(&error) => Ok(()),
        other => other,
    }
}

/// Why an entry could not be opened as a directory.
fn why_not_opened(parent: BorrowedFd<'_>, name: &str, errno: Errno) -> FailureKind {
    let stat = retry_on_intr(|| statat(parent, name, AtFlags::SYMLINK_NOFOLLOW));
    match stat.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::Symlink) => FailureKind::Link,
        Ok(FileType::Directory) | Err(_) => FailureKind::failed(Action::Enter, errno),
        Ok(_) => FailureKind::NotADirectory,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_path_is_split_at_its_slashes_and_goes_only_down() {
        let ends: Vec<(&str, usize)> = parts("a/bc/d").unwrap().collect();
        assert_eq!(ends, [("a", 1), ("bc", 4), ("d", 6)]);
        for path in ["", "a//b", "/a", "a/", ".", "a/../b"] {
            assert!(
                matches!(parts(path).map(drop), Err(Failure { kind: FailureKind::NotAPath, .. })),
                "{path:?}"
            );
        }
    }

    #[test]
    fn directories_are_opened_without_links_and_made_with_marks() {
        let temporary = tempfile::tempdir().unwrap();
        let root = fs::File::open(temporary.path()).unwrap();
        assert!(open(root.as_fd(), "a/b").unwrap().is_none());
        assert_eq!(make_each(root.as_fd(), "a/b").unwrap().unwrap().len(), 2);
        assert!(open(root.as_fd(), "a/b").unwrap().is_some());
        assert!(temporary.path().join("a").join(marks::MARKER).is_file());
        assert!(!temporary.path().join("a/b").join(marks::MARKER).exists(), "the caller marks it");
        symlink("b", temporary.path().join("a/linked")).unwrap();
        fs::write(temporary.path().join("a/file"), "").unwrap();
        for (path, words) in [
            ("a/linked/c", r#""a/linked" is a link; no memory is read, written or deleted through one"#),
            ("a/file", r#""a/file" is not a directory"#),
        ] {
            assert_eq!(open(root.as_fd(), path).unwrap_err().to_string(), words);
            assert_eq!(make_each(root.as_fd(), path).unwrap_err().to_string(), words);
        }
    }
}
