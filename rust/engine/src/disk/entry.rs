//! What kind of entry a name in a directory is.

use std::os::fd::BorrowedFd;

use rustix::{
    fs::{AtFlags, DirEntry, FileType, statat},
    io::{Errno, retry_on_intr},
    path::Arg,
};

/// What opening or looking at a symbolic link does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// It leads to the target.
    Follow,
    /// It is the link itself that is looked at; it cannot be opened.
    NoFollow,
}

/// The kind of the entry at a path below a directory.
///
/// # Errors
/// There is no such entry, or the system does not tell.
pub(crate) fn kind_at(
    directory: BorrowedFd<'_>,
    path: impl Arg + Copy,
    links: Links,
) -> rustix::io::Result<FileType> {
    let flags = match links {
        Links::Follow => AtFlags::empty(),
        Links::NoFollow => AtFlags::SYMLINK_NOFOLLOW,
    };
    retry_on_intr(|| statat(directory, path, flags)).map(|stat| FileType::from_raw_mode(stat.st_mode))
}

/// The kind of an entry that was listed in a directory; `None` if it is gone by now.
///
/// # Errors
/// The file system does not tell the kind while listing, and looking it up failed.
pub(crate) fn kind_of_listed(
    directory: BorrowedFd<'_>,
    entry: &DirEntry,
) -> rustix::io::Result<Option<FileType>> {
    match entry.file_type() {
        FileType::Unknown => match kind_at(directory, entry.file_name(), Links::NoFollow) {
            Err(Errno::NOENT) => Ok(None),
            kind => kind.map(Some),
        },
        kind => Ok(Some(kind)),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        os::{fd::AsFd, unix::fs::symlink},
    };

    use super::*;

    #[test]
    fn a_link_is_followed_only_if_that_is_asked_for() {
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir(temporary.path().join("directory")).unwrap();
        symlink("directory", temporary.path().join("link")).unwrap();
        symlink("nothing", temporary.path().join("dangling")).unwrap();
        let parent = File::open(temporary.path()).unwrap();
        let kind = |name: &str, links| kind_at(parent.as_fd(), name, links);
        assert_eq!(kind("link", Links::Follow), Ok(FileType::Directory));
        assert_eq!(kind("link", Links::NoFollow), Ok(FileType::Symlink));
        assert_eq!(kind("dangling", Links::Follow), Err(Errno::NOENT));
        assert_eq!(kind("dangling", Links::NoFollow), Ok(FileType::Symlink));
    }
}
