//! A set of directories that are recognised wherever they are moved to.

use std::{collections::BTreeMap, os::fd::BorrowedFd};

use rustix::{fs::fstat, io::retry_on_intr};

use crate::disk::identity::Identity;

/// When a directory was created, in seconds and nanoseconds since the epoch.
type BirthTime = (i64, u32);

/// A bounded set of directories, by identity and time of creation. After a directory is deleted, its inode number
/// may be given to a new one. The new one is not in the set if the file system tells when it was created.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct DirectorySet {
    members: BTreeMap<Identity, Member>,
    /// The same members in the order in which they were added.
    by_order: BTreeMap<u64, Identity>,
    added: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    birth_time: Option<BirthTime>,
    /// Each member that is added gets the next number.
    order: u64,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn birth_time(directory: BorrowedFd<'_>) -> Option<BirthTime> {
    use rustix::fs::{AtFlags, StatxFlags, statx};

    let stat = retry_on_intr(|| statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME)).ok()?;
    let has_birth_time = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    has_birth_time.then_some((stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn birth_time(_directory: BorrowedFd<'_>) -> Option<BirthTime> {
    None
}

impl DirectorySet {
    /// Whether a directory is in the set. One that cannot be examined is not.
    pub(crate) fn contains(&self, directory: BorrowedFd<'_>) -> bool {
        !self.members.is_empty()
            && retry_on_intr(|| fstat(directory))
                .is_ok_and(|stat| self.contains_identity(Identity::of_stat(&stat), directory))
    }

    /// As [`contains`](Self::contains), for a directory whose identity is known already. If one of the two times of
    /// creation is not known, the identity alone decides.
    pub(crate) fn contains_identity(&self, identity: Identity, directory: BorrowedFd<'_>) -> bool {
        self.members.get(&identity).is_some_and(|member| {
            member.birth_time.zip(birth_time(directory)).is_none_or(|(then, now)| then == now)
        })
    }

    /// Adds a directory. If the set then has more than `max_len` members, the one that was added first is removed.
    pub(crate) fn add(&mut self, directory: BorrowedFd<'_>, max_len: usize) {
        if let Ok(stat) = retry_on_intr(|| fstat(directory)) {
            self.insert(Identity::of_stat(&stat), birth_time(directory), max_len);
        }
    }

    /// Adds a directory that could not be opened.
    pub(crate) fn add_unopened(&mut self, identity: Identity, max_len: usize) {
        self.insert(identity, None, max_len);
    }

    /// Adds the members of another set.
    pub(crate) fn extend(&mut self, other: &Self, max_len: usize) {
        other
            .members
            .iter()
            .for_each(|(identity, member)| self.insert(*identity, member.birth_time, max_len));
    }

    fn insert(&mut self, identity: Identity, birth_time: Option<BirthTime>, max_len: usize) {
        if self.members.get(&identity).is_some_and(|member| member.birth_time == birth_time) {
            return;
        }
        self.added += 1;
        if let Some(before) = self.members.insert(identity, Member { birth_time, order: self.added }) {
            self.by_order.remove(&before.order);
        }
        self.by_order.insert(self.added, identity);
        if self.members.len() > max_len
            && let Some((_, oldest)) = self.by_order.pop_first()
        {
            self.members.remove(&oldest);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::fd::AsFd};

    use super::*;

    #[test]
    fn a_full_set_drops_the_oldest_member_and_has_no_member_twice() {
        let temporary = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            let path = temporary.path().join(name);
            fs::create_dir_all(&path).unwrap();
            fs::File::open(path).unwrap()
        };
        let (a, b, c) = (open("a"), open("b"), open("c"));
        let mut set = DirectorySet::default();
        for directory in [&a, &b, &a, &c] {
            set.add(directory.as_fd(), 2);
        }
        assert_eq!(set.len(), 2);
        assert!(!set.contains(a.as_fd()) && set.contains(b.as_fd()) && set.contains(c.as_fd()));
    }

    #[test]
    fn adding_beyond_the_limit_takes_linear_time() {
        let mut set = DirectorySet::default();
        for inode in 0..300_000 {
            set.add_unopened(Identity { device: 1, inode }, 100_000);
        }
        assert_eq!(set.len(), 100_000);
        assert_eq!(set.members.keys().next().map(|first| first.inode), Some(200_000));
        assert_eq!(set.by_order.len(), set.len());
    }

    #[test]
    fn a_new_directory_with_the_inode_of_a_deleted_one_is_not_in_the_set() {
        let temporary = tempfile::tempdir().unwrap();
        let handle = fs::File::open(temporary.path()).unwrap();
        let mut set = DirectorySet::default();
        set.add(handle.as_fd(), 1);
        let Some(member) = set.members.values_mut().next().filter(|member| member.birth_time.is_some())
        else {
            return; // The file system does not tell times of creation.
        };
        member.birth_time = Some((1, 1));
        assert!(!set.contains(handle.as_fd()));
        set.members.values_mut().for_each(|member| member.birth_time = None);
        assert!(set.contains(handle.as_fd()), "without a time of creation, the identity decides");
    }
}
