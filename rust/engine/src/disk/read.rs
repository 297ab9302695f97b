//! The content of one file below a directory, without following links (B7 to B9).

use std::{
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{FileType, Mode, OFlags, Stat},
    io::Errno,
};

use crate::disk::{
    above::is_mounted_in,
    directory::Directory,
    listing::Listed,
    open::{OPEN, exhausted, open_path_by, plain},
    sealed::Sealed,
    stamp::Stamp,
};

/// Among memories: it may be those of another scope.
pub(super) const MOUNTED: &str = "something is mounted there, which is no memory of this scope";

pub(super) enum Unopened {
    NotRegular,
    /// It lies among memories.
    Memories,
    /// It is another mount's.
    Mounted,
    Io(io::Error),
}

impl From<Errno> for Unopened {
    fn from(errno: Errno) -> Self {
        Unopened::Io(errno.into())
    }
}

/// Opens the regular file at `path` below `root`, following no link, unless a directory on the way holds memories.
pub(super) fn open_file(
    root: BorrowedFd<'_>,
    path: &str,
    sealed: &Sealed,
) -> Result<(OwnedFd, Stat), Unopened> {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut barred = sealed.bars(root).map_err(Unopened::Io)?;
    let held = open_path_by(root, directories, &mut |handle| {
        barred = barred || sealed.bars(handle)?;
        Ok(())
    });
    let held = held.map_err(Unopened::Io)?;
    if barred {
        return Err(Unopened::Memories);
    }
    let parent = held.as_ref().map_or(root, |fd| fd.as_fd());
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags = OPEN | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match rustix::io::retry_on_intr(|| rustix::fs::openat(parent, name, flags, Mode::empty())) {
        // What a socket answers.
        Err(Errno::NXIO | Errno::OPNOTSUPP) => return Err(Unopened::NotRegular),
        other => other?,
    };
    // Its directory may have become one of memories meanwhile: the mark was made before the file, then.
    if sealed.bars(parent).map_err(Unopened::Io)? {
        return Err(Unopened::Memories);
    }
    if sealed.is_of_scope() && is_mounted_in(parent, file.as_fd())? {
        return Err(Unopened::Mounted);
    }
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((file, stat)),
        _ => Err(Unopened::NotRegular),
    }
}

/// The content of one file.
#[derive(Debug)]
pub struct Content {
    /// The bytes, or why there are none (B7, B9).
    pub bytes: Result<Vec<u8>, String>,
    /// What the file system said before the first byte was read.
    pub stamp: Stamp,
    /// Whether it still said the same after the last.
    pub settled: bool,
}

/// Reads a listed file; `None` if it is gone, or lies among memories by now.
///
/// # Errors
/// When the process ran out of what it needs to go on.
pub(crate) fn read(
    root: &Directory,
    file: &Listed,
    sealed: &Sealed,
    max_bytes: u64,
) -> io::Result<Option<Content>> {
    let path = file.target.as_deref().unwrap_or(&file.path);
    let refused =
        |reason: String| Ok(Some(Content { bytes: Err(reason), stamp: file.stamp, settled: false }));
    let (handle, stat) = match open_file(root.handle.as_fd(), path, sealed) {
        Ok(opened) => opened,
        Err(Unopened::Memories) => return Ok(None),
        Err(Unopened::NotRegular) => return refused("it is not a regular file".to_owned()),
        Err(Unopened::Mounted) => return refused(MOUNTED.to_owned()),
        Err(Unopened::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(Unopened::Io(error)) => {
            exhausted(&error)?;
            return refused(format!("it cannot be read: {}", plain(&error)));
        }
    };
    let stamp = Stamp::of(&stat);
    if stamp.size > max_bytes {
        let bytes = Err(format!("it has more than {max_bytes} bytes"));
        return Ok(Some(Content { bytes, stamp, settled: true }));
    }
    let file = File::from(handle);
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0) + 1);
    let bytes = match (&file).take(max_bytes + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > max_bytes => Err(format!("it has more than {max_bytes} bytes")),
        Ok(_) => Ok(bytes),
        Err(error) => {
            exhausted(&error)?;
            Err(format!("it cannot be read: {}", plain(&error)))
        }
    };
    let settled = rustix::fs::fstat(&file).is_ok_and(|after| Stamp::of(&after) == stamp);
    Ok(Some(Content { bytes, stamp, settled }))
}
