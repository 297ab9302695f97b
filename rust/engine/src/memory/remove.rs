//! Deletes a directory tree of memories, or one file, and nothing else (Y6, Y12).

use std::{
    ffi::{CStr, CString},
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, statat, unlinkat},
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::{
        above::is_mounted_in,
        marks,
        open::{OPEN, open_directory, sync_directory},
    },
    document::name::is_concept,
    memory::failure::Cause,
};

/// Directories nested deeper than this many levels are not deleted: each level keeps a file descriptor open.
const MAX_DEPTH: usize = 128;
/// A directory in which others write is emptied at most this many times.
pub(super) const MAX_ATTEMPTS: usize = 8;

/// Deletes the directory `name` in `parent`, which is open as `directory`, with everything in it, and adds the
/// concepts that are deleted to `concepts`. Links are deleted, and not followed. Directories that are mounted inside
/// stay. The parent is not synced.
///
/// # Errors
/// Something cannot be deleted. What was deleted before that stays deleted.
pub(super) fn remove_tree(
    parent: BorrowedFd<'_>,
    name: &CStr,
    directory: BorrowedFd<'_>,
    concepts: &mut u64,
) -> Result<(), Cause> {
    TreeRemover { concepts }.remove(parent, name, directory, Position { depth: 0, hidden: false })
}

/// The names and kinds of the entries of a directory, without its mark; none if another process deleted the
/// directory.
pub(super) fn entries(directory: BorrowedFd<'_>) -> io::Result<Vec<(CString, FileType)>> {
    // All names are read first: what a listing gives while entries are deleted differs between file systems.
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
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            kind = match retry_on_intr(|| statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno.into()),
            };
        }
        if kind == FileType::Directory || !marks::is_marker(name.to_bytes()) {
            found.push((name.to_owned(), kind));
        }
    }
    Ok(found)
}

/// Deletes an entry that is not a directory. It is no error if it does not exist.
pub(super) fn remove_file(directory: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    match retry_on_intr(|| unlinkat(directory, name, AtFlags::empty())) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// What became of a directory that was emptied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Removal {
    /// It is deleted.
    Done,
    /// Another process has made something in it.
    NotEmpty,
}

/// Removes the directory `name` in `parent`, which is open as `directory` and holds only its mark (Y10). The mark is
/// removed last, after everything else is synced; if the directory stays, it keeps its mark. It is no error if
/// another process deletes the directory meanwhile.
pub(super) fn remove_directory(
    parent: BorrowedFd<'_>,
    name: &CStr,
    directory: BorrowedFd<'_>,
) -> io::Result<Removal> {
    match remove_with_mark(parent, name, directory) {
        // Nothing can be looked up or made in a deleted directory.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Removal::Done),
        other => other,
    }
}

fn remove_with_mark(parent: BorrowedFd<'_>, name: &CStr, directory: BorrowedFd<'_>) -> io::Result<Removal> {
    if marks::is_marked(directory)? {
        sync_directory(directory)?;
    }
    let marked = marks::remove(directory)?;
    match retry_on_intr(|| unlinkat(parent, name, AtFlags::REMOVEDIR)) {
        Ok(()) | Err(Errno::NOENT) => return Ok(Removal::Done),
        Err(Errno::NOTEMPTY | Errno::EXIST) if marked => marks::put_for_good(directory)?,
        Err(Errno::NOTEMPTY | Errno::EXIST) => {}
        Err(errno) => {
            if marked {
                marks::put_for_good(directory)?;
            }
            return Err(errno.into());
        }
    }
    Ok(Removal::NotEmpty)
}

/// Opens a directory inside another one, to empty it; `None` if it does not exist.
///
/// # Errors
/// It is mounted there, so it does not belong to the scope; or it cannot be opened.
pub(super) fn open_inner(parent: BorrowedFd<'_>, name: &CStr) -> Result<Option<OwnedFd>, Cause> {
    match open_unmounted(parent, name) {
        // Asked again, for systems that do not tell it when a directory is opened.
        Ok(inner) if is_mounted_in(parent, inner.as_fd())? => Err(Cause::MountedInside),
        Ok(inner) => Ok(Some(inner)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::XDEV) => Err(Cause::MountedInside),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens a directory for listing, unless it is a link, or the system tells that it is mounted there.
fn open_unmounted(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    // The device number does not tell this: a directory of the same file system may be mounted there.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let flags = OPEN | OFlags::RDONLY | OFlags::DIRECTORY;
        match retry_on_intr(|| openat2(parent, name, flags, Mode::empty(), ResolveFlags::NO_XDEV)) {
            // An old kernel or a sandbox does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            other => return other,
        }
    }
    open_directory(parent, name)
}

/// Where a directory lies in the tree that is deleted.
#[derive(Clone, Copy)]
struct Position {
    /// How many levels below the top.
    depth: usize,
    /// Whether readers pass it over, so that its files are no concepts.
    hidden: bool,
}

struct TreeRemover<'call> {
    concepts: &'call mut u64,
}

impl TreeRemover<'_> {
    fn remove(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &CStr,
        directory: BorrowedFd<'_>,
        position: Position,
    ) -> Result<(), Cause> {
        for _ in 0..MAX_ATTEMPTS {
            self.empty(directory, position)?;
            match remove_directory(parent, name, directory)? {
                Removal::Done => return Ok(()),
                Removal::NotEmpty => {}
            }
        }
        Err(Errno::NOTEMPTY.into())
    }

    fn empty(&mut self, directory: BorrowedFd<'_>, position: Position) -> Result<(), Cause> {
        if position.depth > MAX_DEPTH {
            return Err(Cause::TooDeep(MAX_DEPTH));
        }
        for (name, kind) in entries(directory)? {
            let hidden = position.hidden || name.to_bytes().starts_with(b".");
            if kind == FileType::Directory {
                let Some(inner) = open_inner(directory, &name)? else { continue };
                let position = Position { depth: position.depth + 1, hidden };
                self.remove(directory, &name, inner.as_fd(), position)?;
            } else {
                remove_file(directory, &name)?;
                let is_concept = kind == FileType::RegularFile && name.to_str().is_ok_and(is_concept);
                *self.concepts += u64::from(is_concept && !hidden);
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
    fn a_directory_that_another_process_deleted_counts_as_deleted() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("gone");
        fs::create_dir(&path).unwrap();
        let (parent, directory) = (fs::File::open(temporary.path()).unwrap(), fs::File::open(&path).unwrap());
        fs::remove_dir(&path).unwrap();
        assert!(entries(directory.as_fd()).unwrap().is_empty());
        let removal = remove_directory(parent.as_fd(), c"gone", directory.as_fd()).unwrap();
        assert_eq!(removal, Removal::Done);
        remove_tree(parent.as_fd(), c"gone", directory.as_fd(), &mut 0).unwrap();
    }

    #[test]
    fn a_tree_is_deleted_with_its_marks_and_its_concepts_are_counted() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("scope");
        fs::create_dir_all(path.join("inner/.hidden")).unwrap();
        for file in ["a.md", "inner/b.md", "inner/.hidden/c.md", "inner/text", "index.md", marks::MARKER] {
            fs::write(path.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink("..", path.join("linked.md")).unwrap();
        let (parent, directory) = (fs::File::open(temporary.path()).unwrap(), fs::File::open(&path).unwrap());
        let mut concepts = 0;
        remove_tree(parent.as_fd(), c"scope", directory.as_fd(), &mut concepts).unwrap();
        assert_eq!(concepts, 2);
        assert!(!path.exists() && temporary.path().exists());
    }
}
