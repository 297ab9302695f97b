//! The content of one file of a bundle (B7 to B9).

use std::{io, os::fd::AsFd};

use crate::disk::{
    bundle_file::{MOUNTED, Unopened, open_bundle_file},
    directory::Directory,
    listing::ListedFile,
    os_error::{fail_if_exhausted, plain},
    regular::{NotRead, read_at_most},
    sealed::SealedDirectories,
    stamp::Stamp,
};

/// The content of one file.
#[derive(Debug)]
pub(crate) struct Content {
    /// The bytes, or why there are none (B7, B9).
    pub(crate) bytes: Result<Vec<u8>, String>,
    /// The stamp before the first byte was read.
    pub(crate) stamp: Stamp,
    /// Whether the stamp was still the same after the last byte was read.
    pub(crate) is_stable: bool,
}

/// Reads a listed file; `None` if it is gone, or is in a directory that is sealed by now.
///
/// # Errors
/// The process is out of descriptors or memory.
pub(crate) fn read(
    root: &Directory,
    file: &ListedFile,
    sealed: &SealedDirectories,
    max_bytes: u64,
) -> io::Result<Option<Content>> {
    let path = file.target.as_deref().unwrap_or(&file.path);
    let refused =
        |reason: String| Ok(Some(Content { bytes: Err(reason), stamp: file.stamp, is_stable: false }));
    let unreadable = |error: &io::Error| format!("it cannot be read: {}", plain(error));
    let (file, stat) = match open_bundle_file(root.handle.as_fd(), path, sealed) {
        Ok(opened) => opened,
        Err(Unopened::Sealed) => return Ok(None),
        Err(Unopened::NotRegular) => return refused("it is not a regular file".to_owned()),
        Err(Unopened::Mounted) => return refused(MOUNTED.to_owned()),
        Err(Unopened::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(Unopened::Io(error)) => {
            fail_if_exhausted(&error)?;
            return refused(unreadable(&error));
        }
    };
    let too_large = || format!("it has more than {max_bytes} bytes");
    let stamp = Stamp::of(&stat);
    if stamp.size() > max_bytes {
        return Ok(Some(Content { bytes: Err(too_large()), stamp, is_stable: true }));
    }
    let bytes = match read_at_most(&file, stamp.size(), max_bytes) {
        Ok(bytes) => Ok(bytes),
        Err(NotRead::TooLarge) => Err(too_large()),
        Err(NotRead::Failed(error)) => {
            fail_if_exhausted(&error)?;
            Err(unreadable(&error))
        }
    };
    let is_stable = rustix::fs::fstat(&file).is_ok_and(|after| Stamp::of(&after) == stamp);
    Ok(Some(Content { bytes, stamp, is_stable }))
}
