//! A fingerprint of the manifest, to tell whether its content changed between two looks.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, ErrorKind, Read, Write},
    path::Path,
};

use rustix::fs::{CWD, fstat};

use crate::disk::{
    entry::Links,
    os_error::is_exhausted,
    regular::{NotOpened, open_regular},
    stamp::Stamp,
};

/// The content of a larger file is not hashed. A manifest of that size is refused anyway.
const MAX_BYTES: u64 = 64 << 20;

/// What a file looked like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fingerprint {
    /// A hash of the content. Times and identity do not count: the same content may come back with other ones, and
    /// other content with the same ones.
    Content(u64),
    /// The file is too large to be read at every look.
    Large(Stamp),
    /// It is not a regular file.
    NotRegular,
    Unreadable(ErrorKind),
}

/// Takes fingerprints that can be compared with each other.
#[derive(Debug, Default)]
pub(super) struct Fingerprinter {
    /// Random, so that nobody can construct two contents with the same hash.
    hashes: RandomState,
}

impl Fingerprinter {
    /// Opens the file once, wherever links lead, and takes its fingerprint. `None` if the process is out of descriptors
    /// or memory.
    pub(super) fn take(&self, file: &Path) -> Option<Fingerprint> {
        match self.try_take(file) {
            Ok(fingerprint) => Some(fingerprint),
            Err(error) if is_exhausted(&error) => None,
            Err(error) => Some(Fingerprint::Unreadable(error.kind())),
        }
    }

    fn try_take(&self, file: &Path) -> io::Result<Fingerprint> {
        let (file, stat) = match open_regular(CWD, file, Links::Follow) {
            Ok(opened) => opened,
            Err(NotOpened::NotRegular(_)) => return Ok(Fingerprint::NotRegular),
            Err(NotOpened::Failed(errno)) => return Err(errno.into()),
        };
        let stamp = Stamp::of(&stat);
        if stamp.size() > MAX_BYTES {
            return Ok(Fingerprint::Large(stamp));
        }
        let mut hashed = Hashed(self.hashes.build_hasher());
        let read = io::copy(&mut (&file).take(MAX_BYTES + 1), &mut hashed)?;
        if read > MAX_BYTES {
            return Ok(Fingerprint::Large(Stamp::of(&fstat(&file)?)));
        }
        Ok(Fingerprint::Content(hashed.0.finish()))
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
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn only_the_content_decides_whether_fingerprints_are_equal() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.json");
        let fingerprinter = Fingerprinter::default();
        fs::write(&path, "one").unwrap();
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        let one = fingerprinter.take(&path);
        fs::write(&path, "two").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let two = fingerprinter.take(&path);
        assert_ne!(one, two);
        fs::remove_file(&path).unwrap();
        assert_eq!(fingerprinter.take(&path), Some(Fingerprint::Unreadable(ErrorKind::NotFound)));
        fs::write(&path, "one").unwrap();
        assert_eq!(fingerprinter.take(&path), one);
    }

    #[test]
    fn a_pipe_or_directory_is_noticed_without_waiting() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.json");
        let fingerprinter = Fingerprinter::default();
        fs::create_dir(&path).unwrap();
        assert_eq!(fingerprinter.take(&path), Some(Fingerprint::NotRegular));
        fs::remove_dir(&path).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(&path).status();
        if pipe.is_ok_and(|status| status.success()) {
            assert_eq!(fingerprinter.take(&path), Some(Fingerprint::NotRegular));
        }
    }

    #[test]
    fn a_huge_file_is_not_read_and_its_stamp_decides() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.json");
        let fingerprinter = Fingerprinter::default();
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let huge = fingerprinter.take(&path);
        assert!(matches!(huge, Some(Fingerprint::Large(stamp)) if stamp.size() == 1 << 40));
        assert_eq!(fingerprinter.take(&path), huge);
        File::options().write(true).open(&path).unwrap().set_len(1 << 41).unwrap();
        assert_ne!(fingerprinter.take(&path), huge);
    }
}
