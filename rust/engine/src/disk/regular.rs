//! Opening and reading a regular file without ever waiting for one that is something else.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::BorrowedFd,
};

use rustix::{
    fs::{FileType, Mode, OFlags, Stat, fstat, openat},
    io::{Errno, retry_on_intr},
    path::Arg,
};

use crate::disk::entry::Links;

/// Without `NONBLOCK`, opening a pipe would wait for a writer. With `NOCTTY`, a terminal does not become that of
/// this process.
const NON_BLOCKING_READ: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Why a file was not opened.
#[derive(Debug)]
pub(crate) enum NotOpened {
    /// It is a directory, pipe, socket or device. The kind is `Unknown` if opening it failed.
    NotRegular(FileType),
    /// The system refused. `LOOP` means a link that was not to be followed.
    Failed(Errno),
}

/// Opens a regular file for reading, at a path below a directory.
///
/// # Errors
/// See [`NotOpened`].
pub(crate) fn open_regular(
    directory: BorrowedFd<'_>,
    path: impl Arg + Copy,
    links: Links,
) -> Result<(File, Stat), NotOpened> {
    let flags = match links {
        Links::Follow => NON_BLOCKING_READ,
        Links::NoFollow => NON_BLOCKING_READ | OFlags::NOFOLLOW,
    };
    let file = match retry_on_intr(|| openat(directory, path, flags, Mode::empty())) {
        // A socket gives one of these.
        Err(Errno::NXIO | Errno::OPNOTSUPP) => return Err(NotOpened::NotRegular(FileType::Unknown)),
        opened => File::from(opened.map_err(NotOpened::Failed)?),
    };
    let stat = fstat(&file).map_err(NotOpened::Failed)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((file, stat)),
        kind => Err(NotOpened::NotRegular(kind)),
    }
}

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum NotRead {
    /// It has more bytes than the caller allows.
    TooLarge,
    /// The system refused.
    Failed(io::Error),
}

/// The bytes of an open file. `expected` is its size as the file system tells it: room for one byte more is made
/// at once, so that a file of that size is read without growing the buffer.
///
/// # Errors
/// It has more than `max_bytes`, or cannot be read.
pub(crate) fn read_at_most(file: &File, expected: u64, max_bytes: u64) -> Result<Vec<u8>, NotRead> {
    let capacity = usize::try_from(expected.min(max_bytes)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(capacity.saturating_add(1));
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(NotRead::Failed)?;
    if bytes.len() as u64 > max_bytes { Err(NotRead::TooLarge) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::{
            fd::AsFd,
            unix::{fs::symlink, net::UnixListener},
        },
    };

    use super::*;

    #[test]
    fn only_a_regular_file_is_opened_and_nothing_is_waited_for() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |name: &str| temporary.path().join(name);
        fs::write(at("file"), "text").unwrap();
        fs::create_dir(at("directory")).unwrap();
        symlink("file", at("link")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        let parent = File::open(temporary.path()).unwrap();
        let open = |name: &str, links| open_regular(parent.as_fd(), name, links);
        assert!(open("file", Links::NoFollow).is_ok() && open("link", Links::Follow).is_ok());
        assert!(matches!(open("link", Links::NoFollow), Err(NotOpened::Failed(Errno::LOOP))));
        assert!(matches!(open("none", Links::NoFollow), Err(NotOpened::Failed(Errno::NOENT))));
        assert!(matches!(
            open("directory", Links::NoFollow),
            Err(NotOpened::NotRegular(FileType::Directory))
        ));
        assert!(matches!(open("socket", Links::NoFollow), Err(NotOpened::NotRegular(_))));
        let pipe = std::process::Command::new("mkfifo").arg(at("pipe")).status();
        if pipe.is_ok_and(|status| status.success()) {
            assert!(matches!(open("pipe", Links::NoFollow), Err(NotOpened::NotRegular(FileType::Fifo))));
        }
    }

    #[test]
    fn a_file_is_read_up_to_the_limit_whatever_size_was_expected() {
        let temporary = tempfile::tempdir().unwrap();
        fs::write(temporary.path().join("file"), "12345").unwrap();
        for expected in [0, 5, 9, u64::MAX] {
            let open = || File::open(temporary.path().join("file")).unwrap();
            assert_eq!(read_at_most(&open(), expected, 5).unwrap(), b"12345");
            assert!(matches!(read_at_most(&open(), expected, 4), Err(NotRead::TooLarge)));
        }
    }
}
