//! Marking the directories of memories that are found without a mark (Y10): what an earlier release wrote, or
//! what was copied without its marks.

use std::{
    collections::BTreeSet,
    ffi::{CStr, CString},
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
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
    handle: OwnedFd,
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
        levels.extend(first.map(|(handle, pending)| Level { handle, path: path.len(), pending }));
        while let Some(level) = levels.last_mut() {
            self.task.go_on()?;
            path.truncate(level.path);
            let Some(name) = level.pending.pop() else {
                levels.pop();
                continue;
            };
            path.push(b'/');
            path.extend_from_slice(name.to_bytes());
            let entered = self.enter(level.handle.as_fd(), &name, &path);
            let Some((handle, pending)) = entered.filter(|(_, pending)| !pending.is_empty()) else {
                continue;
            };
            if levels.len() >= MAX_DEPTH {
                let reason = format!("directories are nested deeper than {MAX_DEPTH}");
                self.fail(Some(handle.as_fd()), &path, &io::Error::other(reason));
                continue;
            }
            levels.push(Level { handle, path: path.len(), pending });
        }
        if self.marking.marked > FEW {
            settle_everything(root);
        }
        Ok(())
    }

    /// Marks a directory, and lists the directories in it; `None` if it is gone, is none, or cannot be entered.
    fn enter(&mut self, parent: BorrowedFd<'_>, name: &CStr, path: &[u8]) -> Option<(OwnedFd, Vec<CString>)> {
        let handle = match open_directory(parent, name) {
            Ok(handle) => handle,
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
        let listed = list(&handle);
        let is_marked = listed.as_ref().is_ok_and(|(_, marked)| *marked);
        if !is_marked {
            match put(handle.as_fd()) {
                Ok(true) => {
                    self.marking.marked += 1;
                    if self.marking.marked <= FEW {
                        // Where that cannot be done, the next store that is opened looks again.
                        let _ = settle(handle.as_fd());
                    }
                }
                Ok(false) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
                Err(error) => self.fail(Some(handle.as_fd()), path, &error),
            }
        }
        match listed {
            Ok((directories, _)) => Some((handle, directories)),
            Err(error) => {
                self.fail(Some(handle.as_fd()), path, &error);
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
fn list(directory: &OwnedFd) -> io::Result<(Vec<CString>, bool)> {
    let mut directories = Vec::new();
    let mut is_marked = false;
    for entry in Dir::read_from(directory)? {
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
            FileType::Unknown => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
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
