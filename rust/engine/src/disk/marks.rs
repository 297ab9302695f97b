//! The mark of a directory of memories: an empty file `.okf-memory` in it. Whatever any manifest says, no reader of
//! knowledge reads a marked directory (Y10).
//!
//! The mark is created before anything else in a directory, and deleted last. If a directory without a mark has
//! memories in it, the store did not put them there.

use std::{io, os::fd::BorrowedFd};

use rustix::{
    fs::{AtFlags, Dir, Mode, statat, unlinkat},
    io::{Errno, retry_on_intr},
};

use crate::disk::{
    open::{create_file, sync_directory},
    os_error::errno,
};

/// The name of the mark. It starts with a dot, so that releases that do not know it ignore it.
pub(crate) const MARK_NAME: &str = ".okf-memory";
/// Only the owner may read and write the mark, as all other files among memories.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Whether an entry of this name marks its directory, whatever kind of entry it is. Case makes no difference: some
/// file systems list a name in another case than it was created with.
pub(crate) fn is_mark_name(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(MARK_NAME.as_bytes())
}

/// Whether it is the mark's name in the case in which [`is_marked`] looks it up.
pub(crate) fn is_exact_mark_name(name: &[u8]) -> bool {
    name == MARK_NAME.as_bytes()
}

/// Whether a directory is marked.
///
/// # Errors
/// The system does not tell.
pub(crate) fn is_marked(directory: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    match retry_on_intr(|| statat(directory, MARK_NAME, AtFlags::SYMLINK_NOFOLLOW)) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Marks a directory; `false` if it was marked already.
///
/// # Errors
/// It cannot be marked. [`NotFound`](io::ErrorKind::NotFound) means that the directory is gone.
pub(crate) fn mark(directory: BorrowedFd<'_>) -> io::Result<bool> {
    // Looked up first: trying to create a file makes other writers wait, and fails on a read-only file system.
    if is_marked(directory)? {
        return Ok(false);
    }
    match create_file(directory, MARK_NAME, MODE) {
        Ok(_) => Ok(true),
        // Another process created it meanwhile.
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Marks a directory as [`mark`] does, and waits until the mark is on the disk (fsync).
pub(crate) fn mark_and_sync(directory: BorrowedFd<'_>) -> io::Result<()> {
    if mark(directory)? { sync_directory(directory) } else { Ok(()) }
}

/// Removes the mark, in whatever case its name is. Whether there was one.
pub(crate) fn unmark(directory: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    let mut was_marked = false;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if is_mark_name(entry.file_name().to_bytes()) {
            match retry_on_intr(|| unlinkat(directory, entry.file_name(), AtFlags::empty())) {
                Ok(()) | Err(Errno::NOENT) => was_marked = true,
                Err(errno) => return Err(errno),
            }
        }
    }
    Ok(was_marked)
}

/// Whether marking failed because this account may not write there, or because the file system is read-only.
pub(crate) fn is_forbidden(error: &io::Error) -> bool {
    matches!(errno(error), Some(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::{fd::AsFd, unix::fs::symlink},
    };

    use super::*;

    #[test]
    fn any_kind_of_entry_with_the_name_is_a_mark() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |name: &str| temporary.path().join(name);
        for name in ["none", "file", "directory", "link", "nowhere"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("file").join(MARK_NAME), "").unwrap();
        fs::create_dir(at("directory").join(MARK_NAME)).unwrap();
        symlink("..", at("link").join(MARK_NAME)).unwrap();
        symlink("missing", at("nowhere").join(MARK_NAME)).unwrap();
        let open = |name: &str| fs::File::open(at(name)).unwrap();
        assert!(!is_marked(open("none").as_fd()).unwrap());
        for name in ["file", "directory", "link", "nowhere"] {
            assert!(is_marked(open(name).as_fd()).unwrap(), "{name}");
            assert!(!mark(open(name).as_fd()).unwrap(), "{name}");
        }
        assert!(mark(open("none").as_fd()).unwrap());
        assert!(!mark(open("none").as_fd()).unwrap());
        assert_eq!(fs::read(at("none").join(MARK_NAME)).unwrap(), b"");
    }

    #[test]
    fn case_makes_no_difference_in_the_name_of_a_mark() {
        assert!(is_mark_name(b".okf-memory") && is_mark_name(b".OKF-Memory"));
        assert!(
            !is_mark_name(b".okf-memory.md") && !is_mark_name(b"okf-memory") && !is_mark_name(b".okf-memor")
        );
    }

    #[test]
    fn marking_a_deleted_directory_fails() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("gone");
        fs::create_dir(&path).unwrap();
        let handle = fs::File::open(&path).unwrap();
        fs::remove_dir(&path).unwrap();
        assert_eq!(mark(handle.as_fd()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
