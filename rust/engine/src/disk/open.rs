//! Opening directories and files without following links, and what the system answers.

use std::{
    ffi::CStr,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags},
    io::Errno,
};

/// The kind of a directory entry; `None` if it is gone.
pub(super) fn kind(parent: &OwnedFd, name: &CStr, listed: FileType) -> Option<FileType> {
    if listed != FileType::Unknown {
        return Some(listed);
    }
    // Some file systems do not tell while listing.
    rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .ok()
        .map(|stat| FileType::from_raw_mode(stat.st_mode))
}

/// Out of descriptors or memory, nothing that was found says anything about the bundle.
pub(super) fn exhausted(error: &io::Error) -> io::Result<()> {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => Err(errno.into()),
        _ => Ok(()),
    }
}

/// The error in words, without the number that `io::Error` appends.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

pub(crate) const OPEN: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);

/// Opens a directory for listing, unless it is a link.
pub(crate) fn open_directory(
    parent: BorrowedFd<'_>,
    name: impl rustix::path::Arg + Copy,
) -> rustix::io::Result<OwnedFd> {
    rustix::io::retry_on_intr(|| {
        rustix::fs::openat(parent, name, OPEN | OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    })
}

/// Opens the directory at `path` below `root`, following no link.
pub(super) fn open_path(root: BorrowedFd<'_>, path: &str) -> io::Result<OwnedFd> {
    let passing = &mut |_: BorrowedFd<'_>| Ok(());
    open_path_by(root, path, passing)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Opens as [`open_path`] does, and shows every directory on the way, the last one too, before anything in it
/// is looked up. `None` is the root itself, which is not shown.
pub(super) fn open_path_by(
    root: BorrowedFd<'_>,
    path: &str,
    passing: &mut dyn FnMut(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<Option<OwnedFd>> {
    let mut held: Option<OwnedFd> = None;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let handle = open_directory(held.as_ref().map_or(root, |fd| fd.as_fd()), part)?;
        passing(handle.as_fd())?;
        held = Some(handle);
    }
    Ok(held)
}

/// How a directory is opened that is only passed through: that needs no right to list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) const PASSING: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) const PASSING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Has a directory's entries written to the disk.
pub(crate) fn sync_directory(directory: BorrowedFd<'_>) -> io::Result<()> {
    let file = std::fs::File::from(directory.try_clone_to_owned()?);
    match file.sync_all() {
        // Some file systems do not know this of directories: then there is nothing that could be done.
        Err(error) if matches!(errno(&error), Some(Errno::INVAL | Errno::NOTSUP)) => Ok(()),
        other => other,
    }
}

fn errno(error: &io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw_os_error)
}
