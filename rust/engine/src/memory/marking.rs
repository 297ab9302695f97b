//! Marking the directories of memories that are found without a mark (Y10): what an earlier release wrote, or
//! what was copied without its marks.

use std::{
    collections::BTreeSet,
    ffi::{CStr, CString},
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use rustix::{
    fs::{AtFlags, Dir, FileType, fstat, statat},
    io::{Errno, retry_on_intr},
};

use super::{
    lock::settle,
    marker::{is_marker, put},
};
use crate::{
    containment::{Fence, Identity},
    source::{Role, Source},
    task::{Abandoned, Task},
    tree::{identity, open_directory, plain},
};

/// Each level holds a handle while what is below it is marked.
const MAX_DEPTH: usize = 128;
/// How many new marks are written to the disk one by one; from there on the whole file system is, once.
const FEW: usize = 64;

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

/// What a catalog knows of marks.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// Whether a store was opened. A catalog of which nobody wants memories makes no file.
    wanted: AtomicBool,
    /// Directories that should have a mark and could not be given one. They stay sealed as long as the catalog
    /// is open, whatever its manifest says then.
    unmarked: ArcSwap<BTreeSet<Identity>>,
}

impl Marks {
    /// Whether a store was opened.
    pub(crate) fn are_wanted(&self) -> bool {
        self.wanted.load(Ordering::SeqCst)
    }

    /// Directories without a mark that should have one.
    pub(super) fn unmarked(&self) -> Arc<BTreeSet<Identity>> {
        self.unmarked.load_full()
    }

    /// Marks every directory in which the memory sources among these keep memories, enabled or not, and follows
    /// no link. From now on a reload does so too.
    pub(crate) fn put(
        &self,
        fence: &Fence,
        sources: &[Source],
        task: &Task,
    ) -> Result<Vec<Marking>, Abandoned> {
        self.wanted.store(true, Ordering::SeqCst);
        let mut markings = Vec::new();
        for (at, source) in (0_u32..).zip(sources).filter(|(_, source)| source.role == Role::Memory) {
            let Some(tier) = source.tier else { continue };
            // One that is disabled need not be there.
            let Ok(directory) = fence.enter(&source.path) else { continue };
            let mut walk = Walk::new(at, task);
            walk.mark(directory.handle.as_fd(), format!("memory-{tier}"))?;
            if !walk.unmarked.is_empty() {
                self.unmarked
                    .rcu(|unmarked| unmarked.union(&walk.unmarked).copied().collect::<BTreeSet<_>>());
            }
            markings.push(walk.marking);
        }
        Ok(markings)
    }
}

/// The walk over the directories of one tier.
struct Walk<'call> {
    task: &'call Task,
    marking: Marking,
    unmarked: BTreeSet<Identity>,
}

/// A directory whose directories are being marked.
struct Level {
    directory: Dir,
    /// The length of its path.
    path: usize,
    pending: Vec<CString>,
}

impl<'call> Walk<'call> {
    fn new(source: u32, task: &'call Task) -> Self {
        let marking = Marking { source, marked: 0, failed: 0, first_failure: None };
        Self { task, marking, unmarked: BTreeSet::new() }
    }

    fn mark(&mut self, root: BorrowedFd<'_>, name: String) -> Result<(), Abandoned> {
        let mut path = name.into_bytes();
        let mut levels: Vec<Level> = Vec::new();
        let first = self.enter(root, &CString::new(path.clone()).unwrap_or_default(), &path);
        levels.extend(first.map(|(directory, pending)| Level { directory, path: path.len(), pending }));
        while let Some(level) = levels.last_mut() {
            self.task.go_on()?;
            path.truncate(level.path);
            let Some(name) = level.pending.pop() else {
                levels.pop();
                continue;
            };
            path.push(b'/');
            path.extend_from_slice(name.to_bytes());
            let entered = level.directory.fd().ok().and_then(|parent| self.enter(parent, &name, &path));
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

    /// Marks a directory, and lists the directories in it; `None` if it is gone, is none, or cannot be entered.
    fn enter(&mut self, parent: BorrowedFd<'_>, name: &CStr, path: &[u8]) -> Option<(Dir, Vec<CString>)> {
        let mut directory = match open_directory(parent, name).and_then(Dir::new) {
            Ok(directory) => directory,
            // Gone, no directory, or a link.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return None,
            Err(errno) => {
                self.fail(None, path, &errno.into());
                if let Ok(stat) = retry_on_intr(|| statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)) {
                    self.unmarked.insert(identity(&stat));
                }
                return None;
            }
        };
        let listed = list(&mut directory);
        let handle = directory.fd().ok()?;
        let is_marked = listed.as_ref().is_ok_and(|(_, marked)| *marked);
        if !is_marked {
            match put(handle) {
                Ok(true) => {
                    self.marking.marked += 1;
                    if self.marking.marked <= FEW {
                        // Where that cannot be done, the next store that is opened looks again.
                        let _ = settle(handle);
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
        self.unmarked.extend(directory.and_then(|handle| fstat(handle).ok()).map(|stat| identity(&stat)));
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
        if is_marker(name.to_bytes()) {
            is_marked = true;
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell while listing.
            FileType::Unknown => statat(directory.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            kind => kind,
        };
        if kind == FileType::Directory {
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
    use crate::{memory::marker::MARKER, source::Tier};

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
            assert!(root.join(path).join(MARKER).is_file(), "{path}");
        }
        for path in ["m", "m/memory-session", "elsewhere"] {
            assert!(!root.join(path).join(MARKER).exists(), "{path}");
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
        assert!(deep(MAX_DEPTH).join(MARKER).is_file());
        assert!(!deep(MAX_DEPTH + 1).join(MARKER).is_file());
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
