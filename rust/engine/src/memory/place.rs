//! The directory of a scope, entered or made part by part, never by way of a link (Y6).

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::{
    fs::{AtFlags, FileType, Mode, mkdirat, statat},
    io::{Errno, retry_on_intr},
};

use crate::tree::{open_directory, plain};

/// Memories are somebody's own: only the account that writes them reads them, unless it is told otherwise.
pub(super) const PRIVATE_DIRECTORY: Mode = Mode::RWXU;

/// The directory at `path` below `root`; `None` if nothing is there.
///
/// # Errors
/// A part of the way is a link, no directory, or cannot be told; in words, without absolute paths.
pub(super) fn enter(root: BorrowedFd<'_>, path: &str) -> Result<Option<OwnedFd>, String> {
    walk(root, path, false).map(|way| way?.pop())
}

/// Every directory on the way to `path` below `root`, the one at `path` last, each made if it is missing.
///
/// # Errors
/// As [`enter`]; or a directory cannot be made.
pub(super) fn make(root: BorrowedFd<'_>, path: &str) -> Result<Vec<OwnedFd>, String> {
    walk(root, path, true).map(Option::unwrap_or_default)
}

/// Every directory on the way to `path` below `root`; `None` if one is missing.
pub(super) fn walk(root: BorrowedFd<'_>, path: &str, make: bool) -> Result<Option<Vec<OwnedFd>>, String> {
    let mut way: Vec<OwnedFd> = Vec::new();
    let mut end = 0;
    for part in path.split('/') {
        end += part.len();
        let shown = &path[..end];
        end += 1;
        if matches!(part, "" | "." | "..") {
            return Err(format!("{path:?} is no path of a scope"));
        }
        let parent = way.last().map_or(root, |handle| handle.as_fd());
        let mut opened = open_directory(parent, part);
        if make && opened.as_ref().is_err_and(|errno| *errno == Errno::NOENT) {
            match retry_on_intr(|| mkdirat(parent, part, PRIVATE_DIRECTORY)) {
                // Somebody else was quicker.
                Ok(()) | Err(Errno::EXIST) => opened = open_directory(parent, part),
                Err(errno) => return Err(format!("{shown:?} cannot be made: {}", plain(&errno.into()))),
            }
        }
        match opened {
            Ok(handle) => way.push(handle),
            // No directory can have a name that long.
            Err(Errno::NOENT | Errno::NAMETOOLONG) if !make => return Ok(None),
            Err(errno) => return Err(format!("{shown:?} {}", refusal(parent, part, errno))),
        }
    }
    Ok(Some(way))
}

/// Why an entry could not be opened as a directory.
fn refusal(parent: BorrowedFd<'_>, name: &str, errno: Errno) -> String {
    let stat = retry_on_intr(|| statat(parent, name, AtFlags::SYMLINK_NOFOLLOW));
    match stat.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::Symlink) => "is a link; no memory is read or written by way of one".to_owned(),
        Ok(FileType::Directory) | Err(_) => format!("cannot be entered: {}", plain(&errno.into())),
        Ok(_) => "is not a directory".to_owned(),
    }
}
