//! Marking the directories of memories that are found without a mark (Y10): what an earlier release wrote, or
//! what was copied without its marks.

use crate::{
    disk::{
        directory::Directory,
        directory_set::DirectorySet,
        entry::kind_of_listed,
        fence::Fence,
        identity::Identity,
        location::is_mounted_in,
        marks::{is_exact_mark_name, is_mark_name, is_marked, mark},
        open::{LOOK_UP, open_directory, sync_directory},
        os_error::plain,
        sealed::SealedDirectories,
    },
    manifest::{
        snapshot::Snapshot,
        source::{Role, Source, Tier},
    },
    text::fold::fold,
    work::task::{Abandoned, Task},
};
use std::{
    ffi::{CStr, CString},
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

use arc_swap::ArcSwap;
use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, open, statat},
    io::{Errno, retry_on_intr},
};

/// Each level holds a handle while what is below it is marked.
const MAX_DEPTH: usize = 128;
/// How many new marks are written to the disk one by one; from there on the whole file system is, once.
const FEW: usize = 64;
/// How many directories of tiers a catalog remembers while it is open, the last ones.
const MOST_TIERS: usize = 1024;
/// How many directories without a mark it remembers, at about 100 bytes each.
const MOST_UNMARKED: usize = 1 << 18;

/// What marking the directories of one memory source came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marking {
    /// The position of the memory source among those given.
    pub source: u32,
    /// How many directories were marked that had no mark.
    pub marked: usize,
    /// How many could not be marked.
    pub failed: usize,
    /// The first of them, as a path below the source's directory, and why. No absolute path is in it.
    pub first_failure: Option<(String, String)>,
}

/// What a catalog knows of directories of memories, as long as it is open, whatever its manifest says then.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The directories in which memory sources that it named kept their scopes. They stay sealed when they are
    /// moved, and when they are named no more.
    tiers: ArcSwap<DirectorySet>,
    /// Directories that should have a mark and have none.
    unmarked: ArcSwap<DirectorySet>,
}

impl Marks {
    /// What readers of the knowledge sources of a snapshot stay out of.
    ///
    /// # Errors
    /// Nobody waits any more.
    pub(crate) fn seal(
        &self,
        fence: &Fence,
        snapshot: &Snapshot,
        task: &Task,
    ) -> Result<SealedDirectories, Abandoned> {
        let mut closed = Vec::new();
        for (path, tier) in snapshot.memories() {
            self.meet(fence, path, *tier, task)?;
            if fence.enter(path).is_err()
                && let Some(mut names) = fence.folded_names(path)
            {
                names.push(fold(&format!("memory-{tier}")));
                closed.push(names);
            }
        }
        let sources = snapshot.memories().to_vec();
        Ok(SealedDirectories::for_knowledge(sources, self.tiers(), self.unmarked(), closed))
    }

    /// Whether readers stay out of what this snapshot and these marks say, and of nothing else.
    pub(crate) fn are_sealed_in(&self, sealed: &SealedDirectories, snapshot: &Snapshot) -> bool {
        sealed.is_up_to_date(snapshot.memories(), &self.tiers.load(), &self.unmarked.load())
    }

    /// The directories of tiers that were met.
    pub(super) fn tiers(&self) -> Arc<DirectorySet> {
        self.tiers.load_full()
    }

    /// Directories without a mark that should have one.
    pub(super) fn unmarked(&self) -> Arc<DirectorySet> {
        self.unmarked.load_full()
    }

    /// Remembers the directory of a tier. If that is from before there were marks, those in it too. Nothing is
    /// written. Links are followed: what a source led to is sealed, even if nobody may remember there.
    ///
    /// # Errors
    /// Nobody waits any more.
    pub(super) fn meet(&self, fence: &Fence, path: &str, tier: Tier, task: &Task) -> Result<(), Abandoned> {
        let Ok(directory) = open_tier(fence, path, tier) else { return Ok(()) };
        if self.tiers.load().contains(directory.as_fd()) {
            return Ok(());
        }
        if !is_marked(directory.as_fd()).unwrap_or(false) {
            let mut walk = Walk::new(0, tier, task);
            walk.writes = false;
            walk.mark(directory.as_fd(), ".")?;
            self.remember(&walk);
        }
        // Last: what was not looked through is looked through again.
        self.tiers.rcu(|tiers| {
            let mut tiers = DirectorySet::clone(tiers);
            tiers.add(directory.as_fd(), MOST_TIERS);
            tiers
        });
        Ok(())
    }

    /// Remembers the directories of every tier of a snapshot.
    pub(crate) fn meet_all(&self, fence: &Fence, snapshot: &Snapshot) {
        for (path, tier) in snapshot.memories() {
            // Nobody abandons it.
            let _ = self.meet(fence, path, *tier, &Task::default());
        }
    }

    fn remember(&self, walk: &Walk<'_>) {
        if !walk.unmarked.is_empty() {
            self.unmarked.rcu(|unmarked| {
                let mut unmarked = DirectorySet::clone(unmarked);
                unmarked.extend(&walk.unmarked, MOST_UNMARKED);
                unmarked
            });
        }
    }

    /// Marks every directory in which the memory sources among these keep memories, enabled or not, and follows
    /// no link.
    pub(crate) fn put(
        &self,
        fence: &Fence,
        sources: &[Source],
        task: &Task,
    ) -> Result<Vec<Marking>, Abandoned> {
        let mut markings = Vec::new();
        for (at, source) in (0_u32..).zip(sources).filter(|(_, source)| source.role == Role::Memory) {
            let Some(tier) = source.tier else { continue };
            let mut walk = Walk::new(at, tier, task);
            match fence.enter(&source.path) {
                Ok(Directory { handle, .. }) => {
                    walk.mark(handle.as_fd(), &format!("memory-{tier}"))?;
                    self.remember(&walk);
                }
                // One that is disabled need not be there.
                Err(breach) => {
                    let led_to = open_tier(fence, &source.path, tier);
                    if matches!(led_to, Err(Errno::NOENT | Errno::NOTDIR)) {
                        continue;
                    }
                    walk.marking.failed = 1;
                    walk.marking.first_failure = Some((format!("memory-{tier}"), breach.reason));
                }
            }
            // What has a mark now is not looked through.
            self.meet(fence, &source.path, tier, task)?;
            markings.push(walk.marking);
        }
        Ok(markings)
    }
}

/// Marks a directory and every one below it, by a name in its parent, as far as that can be done: what the host
/// made inside the directory of a scope.
///
/// # Errors
/// Nobody waits any more.
pub(super) fn mark_below(
    parent: BorrowedFd<'_>,
    name: &str,
    marks: &Marks,
    task: &Task,
) -> Result<(), Abandoned> {
    let mut walk = Walk::new(0, Tier::Tenant, task);
    walk.scopes = 0;
    walk.mark(parent, name)?;
    marks.remember(&walk);
    Ok(())
}

/// The directory of a tier, to be looked at only. Links on the way are followed, and none of it need be readable.
fn open_tier(fence: &Fence, path: &str, tier: Tier) -> rustix::io::Result<OwnedFd> {
    let root = match fence.below_root(path) {
        Some(below) => fence.root().join(below),
        None => fence.manifest_directory().join(path),
    };
    let path = root.join(format!("memory-{tier}"));
    retry_on_intr(|| open(&path, LOOK_UP, Mode::empty()))
}

/// The walk over the directories of one tier.
struct Walk<'call> {
    task: &'call Task,
    /// Whether directories without a mark are given one, or only remembered.
    writes: bool,
    /// How many levels below the first directory scopes have theirs. What is mounted further down is passed over:
    /// the host may have mounted anything there.
    scopes: usize,
    marking: Marking,
    unmarked: DirectorySet,
}

/// A directory whose directories are being marked.
struct Level {
    directory: Dir,
    /// The length of its path.
    path: usize,
    pending: Vec<CString>,
}

impl<'call> Walk<'call> {
    fn new(source: u32, tier: Tier, task: &'call Task) -> Self {
        let scopes = match tier {
            Tier::Tenant => 1,
            Tier::User => 2,
            Tier::Session => 3,
        };
        let marking = Marking { source, marked: 0, failed: 0, first_failure: None };
        Self { task, writes: true, scopes, marking, unmarked: DirectorySet::default() }
    }

    fn mark(&mut self, root: BorrowedFd<'_>, name: &str) -> Result<(), Abandoned> {
        let mut path = name.as_bytes().to_vec();
        let mut levels: Vec<Level> = Vec::new();
        let first = self.enter(root, &CString::new(path.clone()).unwrap_or_default(), &path, false);
        levels.extend(first.map(|(directory, pending)| Level { directory, path: path.len(), pending }));
        loop {
            let depth = levels.len();
            let Some(level) = levels.last_mut() else { break };
            self.task.go_on()?;
            path.truncate(level.path);
            let Some(name) = level.pending.pop() else {
                levels.pop();
                continue;
            };
            path.push(b'/');
            path.extend_from_slice(name.to_bytes());
            let in_scope = depth > self.scopes;
            let entered =
                level.directory.fd().ok().and_then(|parent| self.enter(parent, &name, &path, in_scope));
            let Some((directory, pending)) = entered.filter(|(_, pending)| !pending.is_empty()) else {
                continue;
            };
            if levels.len() >= MAX_DEPTH {
                let reason = format!("directories are nested deeper than {MAX_DEPTH}");
                self.fail(directory.fd().ok(), &path, &io::Error::other(reason));
                continue;
            }
            levels.push(Level { directory, path: path.len(), pending });
        }
        if self.marking.marked > FEW {
            settle_everything(root);
        }
        Ok(())
    }

    /// Marks a directory, and lists the directories in it; `None` if it is gone, is none, cannot be entered, or is
    /// mounted inside the directory of a scope.
    fn enter(
        &mut self,
        parent: BorrowedFd<'_>,
        name: &CStr,
        path: &[u8],
        in_scope: bool,
    ) -> Option<(Dir, Vec<CString>)> {
        let mut directory = match open_directory(parent, name).and_then(Dir::new) {
            Ok(directory) => directory,
            // Gone, no directory, or a link.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return None,
            Err(errno) => {
                self.fail(None, path, &errno.into());
                if let Ok(stat) = retry_on_intr(|| statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)) {
                    self.unmarked.add_unopened(Identity::of_stat(&stat), MOST_UNMARKED);
                }
                return None;
            }
        };
        if in_scope && is_mounted_in(parent, directory.fd().ok()?).unwrap_or(true) {
            return None;
        }
        let listed = list(&mut directory);
        let handle = directory.fd().ok()?;
        let is_marked = listed.as_ref().is_ok_and(|(_, marked)| *marked);
        if !is_marked && !self.writes {
            self.unmarked.add(handle, MOST_UNMARKED);
        } else if !is_marked {
            match mark(handle) {
                Ok(true) => {
                    self.marking.marked += 1;
                    if self.marking.marked <= FEW {
                        // Where that cannot be done, the next store that is opened looks again.
                        let _ = sync_directory(handle);
                    }
                }
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
                Err(error) => self.fail(Some(handle), path, &error),
            }
        }
        match listed {
            Ok((directories, _)) => Some((directory, directories)),
            Err(error) => {
                self.fail(Some(handle), path, &error);
                None
            }
        }
    }

    fn fail(&mut self, directory: Option<BorrowedFd<'_>>, path: &[u8], error: &io::Error) {
        self.marking.failed += 1;
        let path = String::from_utf8_lossy(path).into_owned();
        self.marking.first_failure.get_or_insert_with(|| (path, plain(error)));
        if let Some(directory) = directory {
            self.unmarked.add(directory, MOST_UNMARKED);
        }
    }
}

/// The directories in a directory, and whether it has a mark.
fn list(directory: &mut Dir) -> io::Result<(Vec<CString>, bool)> {
    let mut directories = Vec::new();
    let mut is_marked = false;
    while let Some(entry) = directory.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if is_mark_name(name.to_bytes()) {
            // Readers look up the exact name: in another case it is a mark only to those who list.
            is_marked |= is_exact_mark_name(name.to_bytes());
            continue;
        }
        if matches!(kind_of_listed(directory.fd()?, &entry), Ok(Some(FileType::Directory))) {
            directories.push(name.to_owned());
        }
    }
    Ok((directories, is_marked))
}

/// Has everything on a file system written to the disk, as one call for each of many directories would take
/// minutes. Where that fails, the next store that is opened looks again.
fn settle_everything(directory: BorrowedFd<'_>) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::fs::syncfs(directory);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = directory;
        rustix::fs::sync();
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use super::*;
    use crate::{manifest::source::Tier, memory::marks::MARK_NAME};

    fn diary(path: &str, enabled: bool) -> Source {
        let (role, tier) = (Role::Memory, Some(Tier::User));
        Source { id: "diary".to_owned(), path: path.to_owned(), priority: 0, enabled, role, tier }
    }

    fn mark(root: &Path, source: Source) -> Vec<Marking> {
        let fence = Fence::new(root, root).unwrap();
        Marks::default().put(&fence, &[source], &Task::default()).unwrap()
    }

    #[test]
    fn every_directory_of_a_tier_is_marked_once() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("m/memory-user/acme/ann/deeper")).unwrap();
        fs::create_dir_all(root.join("m/memory-session/acme")).unwrap();
        fs::create_dir_all(root.join("elsewhere")).unwrap();
        symlink("../../../elsewhere", root.join("m/memory-user/acme/linked")).unwrap();
        let [first] = mark(root, diary("m", false)).try_into().unwrap();
        assert_eq!(first, Marking { source: 0, marked: 4, failed: 0, first_failure: None });
        let [again] = mark(root, diary("m", true)).try_into().unwrap();
        assert_eq!(again.marked, 0);
        for path in ["m/memory-user", "m/memory-user/acme", "m/memory-user/acme/ann/deeper"] {
            assert!(root.join(path).join(MARK_NAME).is_file(), "{path}");
        }
        for path in ["m", "m/memory-session", "elsewhere"] {
            assert!(!root.join(path).join(MARK_NAME).exists(), "{path}");
        }
        assert!(mark(root, diary("missing", false)).is_empty());
    }

    #[test]
    fn no_more_handles_are_open_than_the_tree_may_be_deep() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        let deep = |depth: usize| root.join("m/memory-user").join("d/".repeat(depth));
        fs::create_dir_all(deep(MAX_DEPTH + 5)).unwrap();
        let marks = Marks::default();
        let fence = Fence::new(root, root).unwrap();
        let [made] = marks.put(&fence, &[diary("m", true)], &Task::default()).unwrap().try_into().unwrap();
        assert!(deep(MAX_DEPTH).join(MARK_NAME).is_file());
        assert!(!deep(MAX_DEPTH + 1).join(MARK_NAME).is_file());
        assert!(made.failed == 1 && made.first_failure.unwrap().1.contains("nested deeper"));
        assert_eq!(marks.unmarked().len(), 1, "what lies below is kept sealed");
    }

    #[test]
    fn nobody_is_waited_for_who_does_not_want_it() {
        let temporary = tempfile::tempdir().unwrap();
        fs::create_dir_all(temporary.path().join("m/memory-user/acme")).unwrap();
        let fence = Fence::new(temporary.path(), temporary.path()).unwrap();
        let task = Task::default();
        task.abandon();
        assert!(Marks::default().put(&fence, &[diary("m", true)], &task).is_err());
    }
}
