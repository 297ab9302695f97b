//! Opening directories below a directory, and creating files, without following links.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{Mode, OFlags, openat},
    io::{Errno, retry_on_intr},
    path::Arg,
};

use crate::disk::os_error::errno;

/// Opens a directory for listing.
pub(crate) const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a directory only to look names up in it. That needs no permission to list it.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) const LOOK_UP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) const LOOK_UP: OFlags = LIST;

/// Opens a directory for listing, unless it is a link.
pub(crate) fn open_directory(parent: BorrowedFd<'_>, name: impl Arg + Copy) -> rustix::io::Result<OwnedFd> {
    retry_on_intr(|| openat(parent, name, LIST | OFlags::NOFOLLOW, Mode::empty()))
}

/// Opens the directory at `path` below `root`, following no link.
pub(super) fn open_below(root: BorrowedFd<'_>, path: &str) -> io::Result<OwnedFd> {
    let visit = &mut |_: BorrowedFd<'_>| Ok(());
    open_below_visiting(root, path, visit)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Opens as [`open_below`] does. `visit` is called with each directory of the path, the last one included, before a
/// name is looked up in it. `None` stands for the root itself, which is not visited.
pub(super) fn open_below_visiting(
    root: BorrowedFd<'_>,
    path: &str,
    visit: &mut dyn FnMut(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<Option<OwnedFd>> {
    let mut opened: Option<OwnedFd> = None;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let handle = open_directory(opened.as_ref().map_or(root, |fd| fd.as_fd()), part)?;
        visit(handle.as_fd())?;
        opened = Some(handle);
    }
    Ok(opened)
}

/// Creates a file for writing.
///
/// # Errors
/// `EXIST` if the name is taken, by a link too; or the system refuses.
pub(crate) fn create_file(
    directory: BorrowedFd<'_>,
    name: impl Arg + Copy,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    retry_on_intr(|| openat(directory, name, flags, mode))
}

/// Waits until the entries of a directory are on the disk (fsync).
pub(crate) fn sync_directory(directory: BorrowedFd<'_>) -> io::Result<()> {
    let file = std::fs::File::from(directory.try_clone_to_owned()?);
    match file.sync_all() {
        // Some file systems cannot sync a directory. Nothing more can be done there.
        Err(error) if matches!(errno(&error), Some(Errno::INVAL | Errno::NOTSUP)) => Ok(()),
        other => other,
    }
}
