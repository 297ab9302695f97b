//! The mark of a directory of memories: an empty file in it, by which every reader of knowledge knows to stay
//! out, whatever any manifest says (Y10).
//!
//! The mark is in a directory before anything else is, and is the last to go: whoever finds a memory in a
//! directory that has no mark finds one that the store did not put there.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
};

use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags, openat, statat, unlinkat},
    io::{Errno, retry_on_intr},
};

use crate::disk::open::{OPEN, sync_directory};

/// The name of the mark. It starts with a dot, so that releases that do not know it pass it over.
pub(crate) const MARKER: &str = ".okf-memory";
/// As for everything else that is made among memories.
const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Whether an entry of this name marks its directory, whatever it is. Some file systems give a name back in
/// another case than it was made in.
pub(crate) fn is_marker(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(MARKER.as_bytes())
}

/// Whether it is the very name, which is looked up where a directory is not listed.
pub(crate) fn is_exact_marker(name: &[u8]) -> bool {
    name == MARKER.as_bytes()
}

/// Whether a directory is marked.
///
/// # Errors
/// That cannot be told.
pub(crate) fn is_marked(directory: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    match retry_on_intr(|| statat(directory, MARKER, AtFlags::SYMLINK_NOFOLLOW)) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Marks a directory that has no mark; whether it had none.
///
/// # Errors
/// It cannot be marked. [`NotFound`](io::ErrorKind::NotFound) means that the directory is gone.
pub(crate) fn put(directory: BorrowedFd<'_>) -> io::Result<bool> {
    // Looked at first: trying to create a file has other writers wait, and fails where only reading is allowed.
    if is_marked(directory)? {
        return Ok(false);
    }
    let flags = OPEN | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    match retry_on_intr(|| openat(directory, MARKER, flags, MODE)) {
        Ok(_) => Ok(true),
        // Somebody else was quicker.
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Marks a directory of memories in which `listed` is whether its mark was seen, as far as that can be done.
pub(crate) fn mark_if_missing(directory: BorrowedFd<'_>, listed: bool) {
    if !listed {
        // Whoever may only read goes on: the store that is opened next says what has no mark.
        let _ = put(directory);
    }
}

/// Removes the mark, in whatever case its name is; whether there was one.
pub(crate) fn remove(directory: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    let mut was_marked = false;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if is_marker(entry.file_name().to_bytes()) {
            match retry_on_intr(|| unlinkat(directory, entry.file_name(), AtFlags::empty())) {
                Ok(()) | Err(Errno::NOENT) => was_marked = true,
                Err(errno) => return Err(errno),
            }
        }
    }
    Ok(was_marked)
}

/// Marks a directory as [`put`] does, and has the mark on the disk.
pub(crate) fn put_for_good(directory: BorrowedFd<'_>) -> io::Result<()> {
    if put(directory)? { sync_directory(directory.as_fd()) } else { Ok(()) }
}

/// Whether marking failed because this account may not, or nobody may.
pub(crate) fn is_forbidden(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn any_entry_of_the_name_is_a_mark() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |name: &str| temporary.path().join(name);
        for name in ["none", "file", "directory", "link", "nowhere"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("file").join(MARKER), "").unwrap();
        fs::create_dir(at("directory").join(MARKER)).unwrap();
        symlink("..", at("link").join(MARKER)).unwrap();
        symlink("missing", at("nowhere").join(MARKER)).unwrap();
        let open = |name: &str| fs::File::open(at(name)).unwrap();
        assert!(!is_marked(open("none").as_fd()).unwrap());
        for name in ["file", "directory", "link", "nowhere"] {
            assert!(is_marked(open(name).as_fd()).unwrap(), "{name}");
            assert!(!put(open(name).as_fd()).unwrap(), "{name}");
        }
        assert!(put(open("none").as_fd()).unwrap());
        assert!(!put(open("none").as_fd()).unwrap());
        assert_eq!(fs::read(at("none").join(MARKER)).unwrap(), b"");
    }

    #[test]
    fn case_makes_no_difference() {
        assert!(is_marker(b".okf-memory") && is_marker(b".OKF-Memory"));
        assert!(!is_marker(b".okf-memory.md") && !is_marker(b"okf-memory") && !is_marker(b".okf-memor"));
    }

    #[test]
    fn a_directory_that_is_gone_is_not_marked() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("gone");
        fs::create_dir(&path).unwrap();
        let handle = fs::File::open(&path).unwrap();
        fs::remove_dir(&path).unwrap();
        assert_eq!(put(handle.as_fd()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
