//! Which directory in which mount.

use std::{
    os::fd::{AsFd, BorrowedFd},
    path::Path,
};

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::fs::AtFlags;
use rustix::{
    fs::{Mode, fstat, open},
    io::retry_on_intr,
};

use crate::disk::{directory::Directory, identity::Identity, open::LOOK_UP};

/// A directory as one mount shows it. The same directory may be shown by several mounts (bind mounts), with other
/// parents and with other file systems mounted inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Location {
    pub(crate) identity: Identity,
    /// `None` if the system does not tell.
    mount_id: Option<u64>,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn mount_id(directory: BorrowedFd<'_>) -> Option<u64> {
    use rustix::fs::{StatxFlags, statx};

    let stat = retry_on_intr(|| statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn mount_id(_directory: BorrowedFd<'_>) -> Option<u64> {
    // These systems have no bind mounts: device and inode say which mount it is.
    Some(0)
}

impl Location {
    pub(crate) fn of(directory: BorrowedFd<'_>) -> rustix::io::Result<Self> {
        let stat = retry_on_intr(|| fstat(directory))?;
        Ok(Self { identity: Identity::of_stat(&stat), mount_id: mount_id(directory) })
    }

    /// The location of the directory that a path leads to now, links followed. It takes one system call on Linux.
    pub(crate) fn at_path(path: &Path) -> Option<Self> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{CWD, StatxFlags, makedev, statx};

            let flags = StatxFlags::INO | StatxFlags::MNT_ID;
            if let Ok(stat) = retry_on_intr(|| statx(CWD, path, AtFlags::empty(), flags)) {
                let device = makedev(stat.stx_dev_major, stat.stx_dev_minor);
                let has_mount_id = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
                let identity = Identity { device, inode: stat.stx_ino };
                return Some(Self { identity, mount_id: has_mount_id.then_some(stat.stx_mnt_id) });
            }
        }
        let handle = retry_on_intr(|| open(path, LOOK_UP, Mode::empty())).ok()?;
        Self::of(handle.as_fd()).ok()
    }

    pub(crate) fn of_directory(directory: &Directory) -> Self {
        Self { identity: directory.identity, mount_id: mount_id(directory.handle.as_fd()) }
    }

    #[cfg(test)]
    pub(crate) const fn for_test(identity: Identity) -> Self {
        Self { identity, mount_id: Some(1) }
    }

    /// Whether the mount is known. Only then do equal locations have equal contents, down to what is mounted inside.
    pub(crate) fn has_mount_id(&self) -> bool {
        self.mount_id.is_some()
    }
}

/// Whether a file or directory that was opened in a directory is in another mount than the directory.
pub(crate) fn is_mounted_in(directory: BorrowedFd<'_>, inner: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    let device = |of: BorrowedFd<'_>| retry_on_intr(|| fstat(of)).map(|stat| Identity::of_stat(&stat).device);
    Ok(match (mount_id(directory), mount_id(inner)) {
        (Some(outer), Some(inner)) if outer != inner => true,
        // Where the system tells no mount ids, only another file system is noticed.
        _ => device(directory)? != device(inner)?,
    })
}
