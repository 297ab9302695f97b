//! One file, read whole and replaced whole (Y5).
//!
//! Written on directory handles, with `rustix`: what `tempfile` and `cap-tempfile` make has another name each
//! time, so that what a killed writer leaves would stay. Here there is one name, which is nobody else's while
//! the directory is locked, and the next writer removes what it finds there.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::BorrowedFd,
};

use rustix::{
    fs::{AtFlags, Gid, Mode, Stat, Uid, fchmod, fchown, fstat, renameat, unlinkat},
    io::{Errno, retry_on_intr},
};

use crate::disk::{
    entry::Links,
    open::{create_file, sync_directory},
    os_error::plain,
    regular::{NotOpened, NotRead, open_regular, read_at_most},
};

/// Starts with a dot, so that no walk sees it.
const TEMPORARY: &str = ".okf-catalog.tmp";
/// As for directories.
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A file as it is.
pub(super) struct Existing {
    pub(super) bytes: Vec<u8>,
    pub(super) stat: Stat,
}

/// The file `name` in a directory; `None` if there is none.
///
/// # Errors
/// It is a link or anything else that is no file, too large, or cannot be read: the rest of a sentence that
/// begins with its name.
pub(super) fn read(
    directory: BorrowedFd<'_>,
    name: &str,
    max_bytes: u64,
) -> Result<Option<Existing>, String> {
    let unread = |error: io::Error| format!("cannot be read: {}", plain(&error));
    let (file, stat) = match open_regular(directory, name, Links::NoFollow) {
        Ok(opened) => opened,
        Err(NotOpened::Failed(Errno::NOENT)) => return Ok(None),
        Err(NotOpened::Failed(Errno::LOOP)) => {
            return Err("is a link; no memory is written by way of one".to_owned());
        }
        Err(NotOpened::Failed(errno)) => return Err(unread(errno.into())),
        Err(NotOpened::NotRegular(_)) => return Err("is not a regular file".to_owned()),
    };
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    match read_at_most(&file, size, max_bytes) {
        Ok(bytes) => Ok(Some(Existing { bytes, stat })),
        Err(NotRead::TooLarge) => Err(format!("has more than {max_bytes} bytes, and is not read")),
        Err(NotRead::Failed(error)) => Err(unread(error)),
    }
}

/// Puts a file with these bytes in the place of `name`, or where there is none; the directory is locked. Its
/// mode stays, and its owner where that is allowed.
///
/// # Errors
/// The rest of a sentence that begins with its name. What was there is there still, unless it says otherwise.
pub(super) fn replace(
    directory: BorrowedFd<'_>,
    name: &str,
    bytes: &[u8],
    like: Option<Stat>,
) -> Result<(), String> {
    let written = write(directory, bytes, like)
        .and_then(|()| Ok(retry_on_intr(|| renameat(directory, TEMPORARY, directory, name))?));
    if let Err(error) = written {
        let _ = unlinkat(directory, TEMPORARY, AtFlags::empty());
        return Err(format!("cannot be written: {}", plain(&error)));
    }
    sync_directory(directory).map_err(|error| {
        format!("is written, but whether it would survive a crash is not known: {}", plain(&error))
    })
}

/// Removes what a killed writer left, if anything.
pub(super) fn clear_temporary(directory: BorrowedFd<'_>) -> io::Result<()> {
    match retry_on_intr(|| unlinkat(directory, TEMPORARY, AtFlags::empty())) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Writes the temporary file, and has it on the disk.
fn write(directory: BorrowedFd<'_>, bytes: &[u8], like: Option<Stat>) -> io::Result<()> {
    clear_temporary(directory)?;
    let handle = create_file(directory, TEMPORARY, PRIVATE_FILE)?;
    if let Some(like) = like {
        let made = fstat(&handle)?;
        if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid) {
            // Only a privileged account may; another one goes on as whoever it is.
            let _ = fchown(&handle, Some(Uid::from_raw(like.st_uid)), Some(Gid::from_raw(like.st_gid)));
        }
        fchmod(&handle, Mode::from_raw_mode(like.st_mode))?;
    }
    let mut file = File::from(handle);
    file.write_all(bytes)?;
    file.sync_all()
}
