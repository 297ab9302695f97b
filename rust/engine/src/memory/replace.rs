//! One file, read whole and replaced whole (Y5).
//!
//! This uses directory handles and `rustix`, not `tempfile` or `cap-tempfile`: those give each temporary file
//! another name, so that the file of a writer that crashed would stay. Here there is one name. Only the writer that
//! has locked the directory uses it, and each writer first removes the file that it finds there.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::BorrowedFd,
};

use rustix::{
    fs::{AtFlags, Gid, Mode, Stat, Uid, fchmod, fchown, fstat, renameat, unlinkat},
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::{
        entry::Links,
        open::{create_file, sync_directory},
        regular::{NotOpened, NotRead, open_regular, read_at_most},
    },
    memory::failure::{Action, FailureKind},
};

/// The name of the temporary file. It starts with a dot, so that readers pass it over.
const TEMPORARY: &str = ".okf-catalog.tmp";
/// Only the account that writes memories may read them, unless the host changes that.
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A file that is there.
pub(super) struct Existing {
    /// What it holds, if that was read.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) stat: Stat,
}

/// Reads the file `name` in a directory; `None` if it does not exist.
///
/// # Errors
/// It is a link, is not a regular file, is too large, or cannot be read.
pub(super) fn read(
    directory: BorrowedFd<'_>,
    name: &str,
    max_bytes: u64,
) -> Result<Option<Existing>, FailureKind> {
    let Some((file, stat)) = open(directory, name)? else { return Ok(None) };
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    match read_at_most(&file, size, max_bytes) {
        Ok(bytes) => Ok(Some(Existing { bytes: Some(bytes), stat })),
        Err(NotRead::TooLarge) => Err(FailureKind::TooLarge(max_bytes)),
        Err(NotRead::Failed(error)) => Err(FailureKind::failed(Action::Read, error)),
    }
}

/// Looks whether the file `name` is in a directory, without reading what it holds; `None` if it is not.
///
/// # Errors
/// It is a link, is not a regular file, or cannot be opened.
pub(super) fn look_at(directory: BorrowedFd<'_>, name: &str) -> Result<Option<Existing>, FailureKind> {
    Ok(open(directory, name)?.map(|(_, stat)| Existing { bytes: None, stat }))
}

/// Opens the file `name` in a directory for reading; `None` if it does not exist.
fn open(directory: BorrowedFd<'_>, name: &str) -> Result<Option<(File, Stat)>, FailureKind> {
    match open_regular(directory, name, Links::NoFollow) {
        Ok(opened) => Ok(Some(opened)),
        Err(NotOpened::Failed(Errno::NOENT)) => Ok(None),
        Err(NotOpened::Failed(Errno::LOOP)) => Err(FailureKind::Link),
        Err(NotOpened::Failed(errno)) => Err(FailureKind::failed(Action::Read, errno)),
        Err(NotOpened::NotRegular(_)) => Err(FailureKind::NotAFile),
    }
}

/// Puts a file with these bytes in the place of `name`, or makes it; the directory is locked. The file gets the
/// mode of the one `like` it, and its owner where the system allows that.
///
/// # Errors
/// It cannot be written, and the old file is still there; or it is written, and cannot be synced.
pub(super) fn replace(
    directory: BorrowedFd<'_>,
    name: &str,
    bytes: &[u8],
    like: Option<Stat>,
) -> Result<(), FailureKind> {
    let written = write_temporary(directory, bytes, like)
        .and_then(|()| Ok(retry_on_intr(|| renameat(directory, TEMPORARY, directory, name))?));
    if let Err(error) = written {
        let _ = unlinkat(directory, TEMPORARY, AtFlags::empty());
        return Err(FailureKind::failed(Action::Write, error));
    }
    sync_directory(directory).map_err(|error| FailureKind::NotSynced(Action::Write, error))
}

/// Removes the temporary file of a writer that crashed, if there is one.
pub(super) fn clear_temporary(directory: BorrowedFd<'_>) -> io::Result<()> {
    match retry_on_intr(|| unlinkat(directory, TEMPORARY, AtFlags::empty())) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Writes the temporary file, and calls `fsync` for it.
fn write_temporary(directory: BorrowedFd<'_>, bytes: &[u8], like: Option<Stat>) -> io::Result<()> {
    clear_temporary(directory)?;
    let handle = create_file(directory, TEMPORARY, PRIVATE_FILE)?;
    if let Some(like) = like {
        let made = fstat(&handle)?;
        if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid) {
            // Only a privileged account may do this. For another one, the file has a new owner.
            let _ = fchown(&handle, Some(Uid::from_raw(like.st_uid)), Some(Gid::from_raw(like.st_gid)));
        }
        fchmod(&handle, Mode::from_raw_mode(like.st_mode))?;
    }
    let mut file = File::from(handle);
    file.write_all(bytes)?;
    file.sync_all()
}
