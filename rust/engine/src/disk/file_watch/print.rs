//! What a file looks like, so that any two looks can be compared.

use std::{
    fs::{File, Metadata},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};

use crate::disk::identity::Identity;

/// A larger manifest is refused whatever is in it.
const MOST_BYTES: u64 = 64 << 20;

/// What a file looked like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Print {
    /// Its content. Times and identity do not count: content may come back under other ones, and other
    /// content under the same ones.
    Content(u64),
    /// A file too large to be read at every look.
    Large { identity: Identity, size: u64, modified: (i64, i64), changed: (i64, i64) },
    /// Something that is not a file.
    Other,
    /// It cannot be read.
    Unreadable(ErrorKind),
}

#[cfg(test)]
impl Print {
    pub(super) fn content(content: u64) -> Self {
        Self::Content(content)
    }
}

/// What looks at one file.
#[derive(Debug)]
pub(super) struct Eye {
    file: PathBuf,
    /// The same for all looks, or they could not be compared; random, so that nobody can write two
    /// contents that look the same.
    hashes: RandomState,
}

impl Eye {
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, hashes: RandomState::new() }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Looks at the file, wherever links lead; `None` if the process lacks what it takes to look.
    pub(super) fn look(&self) -> Option<Print> {
        match self.try_look() {
            Ok(print) => Some(print),
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => None,
                _ => Some(Print::Unreadable(error.kind())),
            },
        }
    }

    fn try_look(&self) -> io::Result<Print> {
        // Without NONBLOCK, opening a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = rustix::io::retry_on_intr(|| rustix::fs::open(&self.file, flags, Mode::empty()))?;
        let file = File::from(opened);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(Print::Other);
        }
        if metadata.len() > MOST_BYTES {
            return Ok(large(&metadata));
        }
        let mut hashed = Hashed(self.hashes.build_hasher());
        let read = io::copy(&mut (&file).take(MOST_BYTES + 1), &mut hashed)?;
        Ok(if read > MOST_BYTES { large(&file.metadata()?) } else { Print::Content(hashed.0.finish()) })
    }
}

fn large(metadata: &Metadata) -> Print {
    Print::Large {
        identity: Identity::of(metadata),
        size: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    }
}

/// Hashes what is written to it.
struct Hashed<H>(H);

impl<H: Hasher> Write for Hashed<H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn equal_content_looks_equal_and_other_content_of_equal_size_and_time_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.json");
        let eye = Eye::new(path.clone());
        fs::write(&path, "one").unwrap();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let one = eye.look();
        fs::write(&path, "two").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let two = eye.look();
        assert_ne!(one, two);
        fs::remove_file(&path).unwrap();
        assert_eq!(eye.look(), Some(Print::Unreadable(ErrorKind::NotFound)));
        fs::write(&path, "one").unwrap();
        assert_eq!(eye.look(), one);
    }

    #[test]
    fn what_is_not_a_file_is_seen_without_waiting_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.json");
        let eye = Eye::new(path.clone());
        fs::create_dir(&path).unwrap();
        assert_eq!(eye.look(), Some(Print::Other));
        fs::remove_dir(&path).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(&path).status();
        if pipe.is_ok_and(|status| status.success()) {
            assert_eq!(eye.look(), Some(Print::Other));
        }
    }

    #[test]
    fn a_huge_file_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.json");
        let eye = Eye::new(path.clone());
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let huge = eye.look();
        assert!(matches!(huge, Some(Print::Large { size, .. }) if size == 1 << 40));
        assert_eq!(eye.look(), huge);
        File::options().write(true).open(&path).unwrap().set_len(1 << 41).unwrap();
        assert_ne!(eye.look(), huge);
    }
}
