//! Deleting a directory and everything below it, and nothing else (Y6).

use std::{
    ffi::{CStr, CString},
    io,
    os::fd::{AsFd, BorrowedFd},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, fstat, statat, unlinkat},
    io::{Errno, retry_on_intr},
};

use super::{lock::settle, marker::is_marker};
use crate::tree::{identity, open_directory, plain};

/// Each level holds a handle while it is emptied.
const MAX_DEPTH: usize = 128;
/// How often a directory is emptied again that somebody fills meanwhile.
const ATTEMPTS: usize = 8;

/// Deletes the directory `name` in `parent`, which is `directory`. Links are deleted, not followed, and what is
/// mounted inside is left.
///
/// # Errors
/// The rest of a sentence that begins with its name. Some of it may be gone.
pub(super) fn remove(parent: BorrowedFd<'_>, name: &str, directory: BorrowedFd<'_>) -> Result<(), String> {
    let removed = fstat(directory).map_err(io::Error::from).and_then(|stat| {
        let name = CString::new(name)?;
        remove_emptied(parent, &name, directory, identity(&stat).device, 0)
    });
    removed.map_err(|error| format!("cannot be deleted: {}", plain(&error)))?;
    settle(parent).map_err(|error| {
        format!("is deleted, but whether it stays so after a crash is not known: {}", plain(&error))
    })
}

fn remove_emptied(
    parent: BorrowedFd<'_>,
    name: &CStr,
    directory: BorrowedFd<'_>,
    device: u64,
    depth: usize,
) -> io::Result<()> {
    for attempt in 1.. {
        empty(directory, device, depth)?;
        match retry_on_intr(|| unlinkat(parent, name, AtFlags::REMOVEDIR)) {
            Ok(()) | Err(Errno::NOENT) => break,
            Err(Errno::NOTEMPTY | Errno::EXIST) if attempt < ATTEMPTS => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

fn empty(directory: BorrowedFd<'_>, device: u64, depth: usize) -> io::Result<()> {
    if depth > MAX_DEPTH {
        return Err(io::Error::other(format!("directories are nested deeper than {MAX_DEPTH}")));
    }
    // All names first: what a listing gives while it is being deleted differs between file systems.
    let mut entries = Dir::read_from(directory)?.collect::<rustix::io::Result<Vec<_>>>()?;
    // The mark goes last, and not before the disk knows that the rest is gone: as long as there is a memory,
    // the directory is marked.
    entries.sort_by_key(|entry| is_marker(entry.file_name().to_bytes()));
    let mut is_emptied = true;
    for entry in entries {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if !is_marker(name.to_bytes()) {
            is_emptied = false;
        } else if !is_emptied {
            settle(directory)?;
        }
        let mut kind = entry.file_type();
        if kind == FileType::Unknown {
            kind = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno.into()),
            };
        }
        if kind == FileType::Directory {
            let inner = match open_directory(directory, name) {
                Ok(inner) => inner,
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno.into()),
            };
            if identity(&fstat(&inner)?).device != device {
                return Err(io::Error::other("another file system is mounted inside"));
            }
            remove_emptied(directory, name, inner.as_fd(), device, depth + 1)?;
        } else {
            match retry_on_intr(|| unlinkat(directory, name, AtFlags::empty())) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(())
}
