//! Deleting a directory and everything below it, or one concept, and nothing else (Y6, Y12).

use std::{
    ffi::{CStr, CString},
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, statat, unlinkat},
    io::{Errno, retry_on_intr},
};

use super::place;
use crate::{
    disk::{
        entry::kind_of_listed,
        location::is_mounted_in,
        marks,
        open::{open_directory, sync_directory},
        os_error::plain,
    },
    document::name::is_concept,
};

/// Each level holds a handle while it is emptied.
const MAX_DEPTH: usize = 128;
/// How often a directory is emptied again that somebody fills meanwhile.
pub(super) const ATTEMPTS: usize = 8;

const MOUNTED: &str = "something is mounted inside";

/// Deletes the directory `name` in `parent`, which is `directory`, and adds the concepts that are gone to
/// `concepts`. Links are deleted, not followed, and what is mounted inside is left. The parent is not settled.
///
/// # Errors
/// The rest of a sentence that begins with its name. Some of it may be gone.
pub(super) fn remove(
    parent: BorrowedFd<'_>,
    name: &CStr,
    directory: BorrowedFd<'_>,
    concepts: &mut u64,
) -> Result<(), String> {
    let level = Level { depth: 0, hidden: false };
    let removed = Remover { concepts }.remove_emptied(parent, name, directory, level);
    removed.map_err(|error| format!("cannot be deleted: {}", plain(&error)))
}

/// Has a deletion in a directory written to the disk.
///
/// # Errors
/// The rest of a sentence that begins with the name of what is deleted.
pub(super) fn settle_deletion(parent: BorrowedFd<'_>) -> Result<(), String> {
    sync_directory(parent).map_err(|error| {
        format!("is deleted, but whether it stays so after a crash is not known: {}", plain(&error))
    })
}

/// Deletes the file of the concept that lies at `path`, which has no `.md`, below a directory. Whether there
/// was one.
///
/// # Errors
/// A sentence: it is a link or anything else that is no file, or the system refuses.
pub(super) fn forget(directory: BorrowedFd<'_>, path: &str) -> Result<bool, String> {
    let held = match path.rsplit_once('/') {
        Some((directories, _)) => match place::enter(directory, directories)? {
            Some(handle) if is_mounted_in(directory, handle.as_fd()).unwrap_or(true) => {
                return Err(format!("{directories:?} cannot be entered: {MOUNTED}"));
            }
            Some(handle) => Some(handle),
            None => return Ok(false),
        },
        None => None,
    };
    let parent = held.as_ref().map_or(directory, |handle| handle.as_fd());
    let shown = |reason: String| format!("\"{path}.md\" {reason}");
    let name = format!("{}.md", path.rsplit('/').next().unwrap_or(path));
    let failed = |errno: Errno| Err(shown(format!("cannot be deleted: {}", plain(&errno.into()))));
    match retry_on_intr(|| statat(parent, &*name, AtFlags::SYMLINK_NOFOLLOW)) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => {
                return Err(shown("is a link; no memory is deleted by way of one".to_owned()));
            }
            _ => return Err(shown("is not a regular file".to_owned())),
        },
        // No file can have a name that long.
        Err(Errno::NOENT | Errno::NAMETOOLONG) => return Ok(false),
        Err(errno) => return failed(errno),
    }
    match retry_on_intr(|| unlinkat(parent, &*name, AtFlags::empty())) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(false),
        Err(errno) => return failed(errno),
    }
    settle_deletion(parent).map_err(shown)?;
    Ok(true)
}

/// What is in a directory, but for its mark, as names and kinds; nothing if somebody has deleted it meanwhile.
pub(super) fn entries(directory: BorrowedFd<'_>) -> io::Result<Vec<(CString, FileType)>> {
    // All names first: what a listing gives while it is being deleted differs between file systems.
    let entries = match Dir::read_from(directory).and_then(Iterator::collect) {
        Err(Errno::NOENT) => Vec::new(),
        entries => entries?,
    };
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let Some(kind) = kind_of_listed(directory, &entry)? else { continue };
        if kind == FileType::Directory || !marks::is_mark_name(name.to_bytes()) {
            found.push((name.to_owned(), kind));
        }
    }
    Ok(found)
}

/// Deletes what is no directory. That it is gone already is as good.
pub(super) fn remove_file(directory: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    match retry_on_intr(|| unlinkat(directory, name, AtFlags::empty())) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Removes the directory `name` in `parent`, which is `directory` and has nothing in it but its mark (Y10). The
/// mark goes last, and not before the disk knows that the rest is gone; if the directory stays, the mark does.
/// That somebody else deletes it meanwhile is as good.
pub(super) fn remove_directory(
    parent: BorrowedFd<'_>,
    name: &CStr,
    directory: BorrowedFd<'_>,
) -> io::Result<Removed> {
    match remove_with_mark(parent, name, directory) {
        // Nothing can be looked up or made in a directory that is deleted.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Removed::Yes),
        other => other,
    }
}

fn remove_with_mark(parent: BorrowedFd<'_>, name: &CStr, directory: BorrowedFd<'_>) -> io::Result<Removed> {
    if marks::is_marked(directory)? {
        sync_directory(directory)?;
    }
    let marked = marks::unmark(directory)?;
    match retry_on_intr(|| unlinkat(parent, name, AtFlags::REMOVEDIR)) {
        Ok(()) | Err(Errno::NOENT) => return Ok(Removed::Yes),
        Err(Errno::NOTEMPTY | Errno::EXIST) if marked => marks::mark_and_sync(directory)?,
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        Err(errno) => {
            if marked {
                marks::mark_and_sync(directory)?;
            }
            return Err(errno.into());
        }
    }
    Ok(Removed::Filled)
}

/// What became of a directory that was empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removed {
    Yes,
    /// Somebody put something in it meanwhile.
    Filled,
}

/// Opens a directory inside another to empty it; `None` if it is gone.
///
/// # Errors
/// Something is mounted there: that is somebody else's, and stays.
pub(super) fn open_inner(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<Option<OwnedFd>> {
    match open_unmounted(parent, name) {
        // Also where the system does not tell when it is opened. The device does not tell: it may be a directory of the same file system.
        Ok(inner) if is_mounted_in(parent, inner.as_fd())? => Err(io::Error::other(MOUNTED)),
        Ok(inner) => Ok(Some(inner)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::XDEV) => Err(io::Error::other(MOUNTED)),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens a directory for listing, unless it is a link, or the system tells that something is mounted there.
fn open_unmounted(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    // A directory of the same file system may be mounted there: its device does not tell.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use crate::disk::open::LIST;
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

        let flags = LIST | OFlags::NOFOLLOW;
        match retry_on_intr(|| openat2(parent, name, flags, Mode::empty(), ResolveFlags::NO_XDEV)) {
            // An old kernel, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            other => return other,
        }
    }
    open_directory(parent, name)
}

/// How deep below what is deleted, and whether in a directory that no walk enters.
#[derive(Clone, Copy)]
struct Level {
    depth: usize,
    hidden: bool,
}

struct Remover<'call> {
    concepts: &'call mut u64,
}

impl Remover<'_> {
    fn remove_emptied(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &CStr,
        directory: BorrowedFd<'_>,
        level: Level,
    ) -> io::Result<()> {
        for attempt in 1.. {
            self.empty(directory, level)?;
            match remove_directory(parent, name, directory)? {
                Removed::Yes => break,
                Removed::Filled if attempt < ATTEMPTS => {}
                Removed::Filled => return Err(Errno::NOTEMPTY.into()),
            }
        }
        Ok(())
    }

    fn empty(&mut self, directory: BorrowedFd<'_>, level: Level) -> io::Result<()> {
        if level.depth > MAX_DEPTH {
            return Err(io::Error::other(format!("directories are nested deeper than {MAX_DEPTH}")));
        }
        for (name, kind) in entries(directory)? {
            let hidden = level.hidden || name.to_bytes().starts_with(b".");
            if kind == FileType::Directory {
                let Some(inner) = open_inner(directory, &name)? else { continue };
                let level = Level { depth: level.depth + 1, hidden };
                self.remove_emptied(directory, &name, inner.as_fd(), level)?;
            } else {
                remove_file(directory, &name)?;
                let concept = kind == FileType::RegularFile && name.to_str().is_ok_and(is_concept);
                *self.concepts += u64::from(concept && !hidden);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::fd::AsFd};

    use super::*;

    #[test]
    fn a_directory_that_somebody_else_deleted_is_deleted() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("gone");
        fs::create_dir(&path).unwrap();
        let (parent, directory) = (fs::File::open(temporary.path()).unwrap(), fs::File::open(&path).unwrap());
        fs::remove_dir(&path).unwrap();
        assert!(entries(directory.as_fd()).unwrap().is_empty());
        assert_eq!(remove_directory(parent.as_fd(), c"gone", directory.as_fd()).unwrap(), Removed::Yes);
        assert_eq!(remove(parent.as_fd(), c"gone", directory.as_fd(), &mut 0), Ok(()));
    }
}
