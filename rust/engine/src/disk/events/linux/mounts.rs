//! What kind of file system a bundle is on, and what is mounted in it.

use std::{
    ffi::OsString,
    fs,
    os::{fd::BorrowedFd, unix::ffi::OsStringExt},
    path::{Path, PathBuf},
};

use rustix::io::Errno;

/// File systems that only this kernel changes, by their magic numbers.
const LOCAL: [u64; 17] = [
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683E, // btrfs
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
    0xF2F5_2010, // F2FS
    0xCA45_1A4E, // bcachefs
    0x2FC1_2FC1, // ZFS
    0x3153_464A, // JFS
    0x5265_4973, // ReiserFS
    0x3434,      // NILFS
    0x4D44,      // FAT
    0x2011_BAB0, // exFAT
    0x7366_746E, // NTFS
    0x9660,      // ISO 9660
    0x7371_7368, // SquashFS
    0xE0F5_E1E2, // EROFS
];
/// What overlays are known by. What is changed in one is changed in a layer of this machine.
const OVERLAY: u64 = 0x794C_7630;

/// The magic number of the file system that holds `handle`.
fn kind(handle: BorrowedFd<'_>) -> Result<u64, Errno> {
    // The field's type differs between systems.
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss)]
    rustix::fs::fstatfs(handle).map(|stat| stat.f_type as u64 & 0xFFFF_FFFF)
}

/// Why events of the file system that holds `handle` do not tell of every change, if they do not.
pub(crate) fn incomplete(handle: BorrowedFd<'_>) -> Option<String> {
    match kind(handle) {
        Ok(kind) => (!LOCAL.contains(&kind)).then(|| "others may change its file system".to_owned()),
        Err(error) => Some(format!("its file system cannot be told: {error}")),
    }
}

/// Whether the times that the file system stamps on changes are those of the clock of this machine.
pub(crate) fn has_our_clock(handle: BorrowedFd<'_>) -> bool {
    kind(handle).is_ok_and(|kind| kind == OVERLAY || LOCAL.contains(&kind))
}

/// Whether a single file is mounted anywhere below a directory: no directory tells of its changes. Where
/// that cannot be told, it is.
pub(crate) fn holds_mounted_file(directory: &Path) -> bool {
    let (Ok(mounts), Ok(directory)) = (fs::read("/proc/self/mountinfo"), directory.canonicalize()) else {
        return true;
    };
    mounts.split(|byte| *byte == b'\n').any(|line| {
        let Some(point) = line.split(|byte| *byte == b' ').nth(4) else { return false };
        let point = PathBuf::from(OsString::from_vec(unescaped(point)));
        point != directory && point.starts_with(&directory) && !point.is_dir()
    })
}

/// A name as the kernel writes it, with white space and backslashes as octal numbers.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\');
        let code = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        plain.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    plain
}
