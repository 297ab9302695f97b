//! One file, read whole and replaced whole (Y5).
//!
//! This uses directory handles and `rustix`, not `tempfile` or `cap-tempfile`: those give each temporary file
//! another name, so that the file of a writer that crashed would stay. Here there is one name. Only the writer that
//! has locked the directory uses it, and each writer first removes the file that it finds there.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::BorrowedFd,
};

use rustix::{
    fs::{
        AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, openat, renameat, unlinkat,
    },
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::open::{OPEN, sync_directory},
    memory::failure::{Action, FailureKind},
};

/// The name of the temporary file. It starts with a dot, so that readers pass it over.
const TEMPORARY: &str = ".okf-catalog.tmp";
/// Only the account that writes memories may read them, unless the host changes that.
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A file as it was read.
pub(super) struct Existing {
    pub(super) bytes: Vec<u8>,
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
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags = OPEN | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let handle = match retry_on_intr(|| openat(directory, name, flags, Mode::empty())) {
        Ok(handle) => handle,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(FailureKind::Link),
        // The error for a socket.
        Err(Errno::NXIO | Errno::OPNOTSUPP) => return Err(FailureKind::NotAFile),
        Err(errno) => return Err(FailureKind::failed(Action::Read, errno)),
    };
    let stat = fstat(&handle).map_err(|errno| FailureKind::failed(Action::Read, errno))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(FailureKind::NotAFile);
    }
    let mut bytes = Vec::new();
    File::from(handle)
        .take(max_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| FailureKind::failed(Action::Read, error))?;
    if bytes.len() as u64 > max_bytes {
        return Err(FailureKind::TooLarge(max_bytes));
    }
    Ok(Some(Existing { bytes, stat }))
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
    let flags = OPEN | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let handle = retry_on_intr(|| openat(directory, TEMPORARY, flags, PRIVATE_FILE))?;
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
