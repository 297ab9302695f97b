//! Directories that are known to hold memories and may have no mark, as the file system knows them (Y10).

use std::{collections::BTreeMap, os::fd::BorrowedFd};

use rustix::{fs::fstat, io::retry_on_intr};

use crate::disk::identity::Identity;

/// When a directory was made, in seconds and nanoseconds.
type Birth = (i64, u32);

/// A set of directories. The number of one that was deleted may be given to another, which was made at another
/// time: that is not in the set, where the file system tells when.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Seals {
    known: BTreeMap<Identity, Seal>,
    /// The same ones in the order in which they were noted.
    by_order: BTreeMap<u64, Identity>,
    noted: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Seal {
    birth: Option<Birth>,
    /// Counts up with each that is noted.
    order: u64,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn birth(directory: BorrowedFd<'_>) -> Option<Birth> {
    use rustix::fs::{AtFlags, StatxFlags, statx};

    let stat = retry_on_intr(|| statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME)).ok()?;
    let is_told = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    is_told.then_some((stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn birth(_directory: BorrowedFd<'_>) -> Option<Birth> {
    None
}

impl Seals {
    /// Whether a directory is one of them.
    pub(crate) fn has(&self, directory: BorrowedFd<'_>) -> bool {
        !self.known.is_empty()
            && retry_on_intr(|| fstat(directory))
                .is_ok_and(|stat| self.is(Identity::of_stat(&stat), directory))
    }

    /// Whether a directory is one of them, if its identity is known.
    pub(crate) fn is(&self, identity: Identity, directory: BorrowedFd<'_>) -> bool {
        self.known
            .get(&identity)
            .is_some_and(|seal| seal.birth.zip(birth(directory)).is_none_or(|(then, now)| then == now))
    }

    /// Adds a directory; what was added first goes when there are more than `most`.
    pub(crate) fn add(&mut self, directory: BorrowedFd<'_>, most: usize) {
        if let Ok(stat) = retry_on_intr(|| fstat(directory)) {
            self.insert(Identity::of_stat(&stat), birth(directory), most);
        }
    }

    /// Adds a directory that could not be opened.
    pub(crate) fn add_unopened(&mut self, identity: Identity, most: usize) {
        self.insert(identity, None, most);
    }

    /// Adds those of another set.
    pub(crate) fn extend(&mut self, other: &Self, most: usize) {
        other.known.iter().for_each(|(identity, seal)| self.insert(*identity, seal.birth, most));
    }

    fn insert(&mut self, identity: Identity, birth: Option<Birth>, most: usize) {
        if self.known.get(&identity).is_some_and(|seal| seal.birth == birth) {
            return;
        }
        self.noted += 1;
        if let Some(before) = self.known.insert(identity, Seal { birth, order: self.noted }) {
            self.by_order.remove(&before.order);
        }
        self.by_order.insert(self.noted, identity);
        if self.known.len() > most
            && let Some((_, oldest)) = self.by_order.pop_first()
        {
            self.known.remove(&oldest);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::fd::AsFd};

    use super::*;

    #[test]
    fn what_was_added_first_goes_and_nothing_is_kept_twice() {
        let temporary = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            let path = temporary.path().join(name);
            fs::create_dir_all(&path).unwrap();
            fs::File::open(path).unwrap()
        };
        let (a, b, c) = (open("a"), open("b"), open("c"));
        let mut seals = Seals::default();
        for directory in [&a, &b, &a, &c] {
            seals.add(directory.as_fd(), 2);
        }
        assert_eq!(seals.len(), 2);
        assert!(!seals.has(a.as_fd()) && seals.has(b.as_fd()) && seals.has(c.as_fd()));
    }

    #[test]
    fn what_is_noted_beyond_the_bound_takes_linear_time() {
        let mut seals = Seals::default();
        for inode in 0..300_000 {
            seals.add_unopened(Identity { device: 1, inode }, 100_000);
        }
        assert_eq!(seals.len(), 100_000);
        assert_eq!(seals.known.keys().next().map(|first| first.inode), Some(200_000));
        assert_eq!(seals.by_order.len(), seals.len());
    }

    #[test]
    fn another_directory_with_the_number_of_one_that_is_gone_is_not_it() {
        let temporary = tempfile::tempdir().unwrap();
        let handle = fs::File::open(temporary.path()).unwrap();
        let mut seals = Seals::default();
        seals.add(handle.as_fd(), 1);
        let Some(seal) = seals.known.values_mut().next().filter(|seal| seal.birth.is_some()) else {
            return; // The file system does not tell.
        };
        seal.birth = Some((1, 1));
        assert!(!seals.has(handle.as_fd()));
        seals.known.values_mut().for_each(|seal| seal.birth = None);
        assert!(seals.has(handle.as_fd()), "where it is not told, it may be");
    }
}
