//! The directory of a scope, entered or made part by part, never by way of a link (Y6).

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, mkdirat, statat},
    io::{Errno, retry_on_intr},
};

use crate::disk::{marks, open::open_directory, os_error::plain};

/// Memories are somebody's own: only the account that writes them reads them, unless it is told otherwise.
pub(super) const PRIVATE_DIRECTORY: Mode = Mode::RWXU;

/// The directory at `path` below `root`; `None` if nothing is there.
///
/// # Errors
/// A part of the way is a link, no directory, or cannot be told; in words, without absolute paths.
pub(super) fn enter(root: BorrowedFd<'_>, path: &str) -> Result<Option<OwnedFd>, String> {
    walk(root, path, false).map(|way| way?.pop())
}

/// Every directory on the way to `path` below `root`, the one at `path` last; `None` if one is missing.
///
/// With `make`, each that is missing is made, and each but the last is marked before anything else is in it: the
/// last one is marked by who has locked it. `None` then means that one was deleted meanwhile.
///
/// # Errors
/// As [`enter`]; or a directory cannot be made or marked.
pub(super) fn walk(root: BorrowedFd<'_>, path: &str, make: bool) -> Result<Option<Vec<OwnedFd>>, String> {
    let mut way: Vec<OwnedFd> = Vec::new();
    let mut end = 0;
    let mut is_new = false;
    for part in path.split('/') {
        end += part.len();
        let shown = &path[..end];
        end += 1;
        if matches!(part, "" | "." | "..") {
            return Err(format!("{path:?} is no path of a scope"));
        }
        let above = way.last();
        if make && let Some(above) = above {
            match mark(above.as_fd(), is_new) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => {
                    let above = path[..end - part.len() - 1].trim_end_matches('/');
                    return Err(format!("{above:?} cannot be marked as memories: {}", plain(&error)));
                }
            }
        }
        let parent = above.map_or(root, |handle| handle.as_fd());
        let mut opened = open_directory(parent, part);
        is_new = false;
        if make && opened.as_ref().is_err_and(|errno| *errno == Errno::NOENT) {
            match retry_on_intr(|| mkdirat(parent, part, PRIVATE_DIRECTORY)) {
                Ok(()) => {
                    is_new = true;
                    opened = open_directory(parent, part);
                }
                // Somebody else was quicker.
                Err(Errno::EXIST) => opened = open_directory(parent, part),
                Err(Errno::NOENT) if above.is_some() => return Ok(None),
                Err(errno) => return Err(format!("{shown:?} cannot be made: {}", plain(&errno.into()))),
            }
        }
        match opened {
            Ok(handle) => way.push(handle),
            // No directory can have a name that long.
            Err(Errno::NOENT | Errno::NAMETOOLONG) if !make => return Ok(None),
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(format!("{shown:?} {}", refusal(parent, part, errno))),
        }
    }
    Ok(Some(way))
}

/// Marks a directory on the way. One that was there before, and may not be written to, is left as it is: what
/// lies below it has marks of its own.
fn mark(directory: BorrowedFd<'_>, is_new: bool) -> io::Result<()> {
    match marks::mark_and_sync(directory) {
        Err(error) if !is_new && marks::is_forbidden(&error) => Ok(()),
        other => other,
    }
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
