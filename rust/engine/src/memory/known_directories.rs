//! The directories of memories that a catalog has seen: no knowledge source reads them, marked or not (Y10).

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use arc_swap::ArcSwap;
use rustix::{
    fs::{Mode, open},
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::{
        directory::Directory,
        directory_set::DirectorySet,
        fence::{Breach, Fence},
        marks::is_marked,
        open::LOOK_UP,
        sealed::SealedDirectories,
    },
    manifest::{
        snapshot::Snapshot,
        source::{Role, Source, Tier},
    },
    memory::{
        failure::Cause,
        marking::{MAX_UNMARKED, Missing, Outcome, Unmarked, walk},
        path::tier_directory,
        scope::id_count,
    },
    text::fold::fold,
    work::task::{Abandoned, Task},
};

/// At most this many directories of tiers are remembered per catalog, the last ones.
const MAX_TIERS: usize = 1024;

/// What marking the directories of one memory source did.
#[derive(Debug)]
pub struct Marking {
    /// The position of the memory source among those given.
    pub source: u32,
    /// How many directories got a mark.
    pub marked: usize,
    /// How many could not be marked.
    pub failed: usize,
    /// The first that could not be marked.
    pub first_failure: Option<Unmarked>,
}

/// The directories of memories that a catalog has seen since it was opened, whatever its manifest says now.
#[derive(Debug, Default)]
pub(crate) struct KnownDirectories {
    /// The directories of tiers, of all memory sources that the manifest named. They stay sealed when they are
    /// moved, and when no source names them any more.
    tiers: ArcSwap<DirectorySet>,
    /// Directories that should have a mark and have none.
    unmarked: ArcSwap<DirectorySet>,
}

impl KnownDirectories {
    /// The directories that readers of the knowledge sources of a snapshot may not enter.
    ///
    /// # Errors
    /// The caller no longer waits.
    pub(crate) fn sealed(
        &self,
        fence: &Fence,
        snapshot: &Snapshot,
        task: &Task,
    ) -> Result<SealedDirectories, Abandoned> {
        let mut closed = Vec::new();
        for (path, tier) in snapshot.memories() {
            self.note_tier(fence, path, *tier, task)?;
            if fence.enter(path).is_err()
                && let Some(mut names) = fence.folded_names(path)
            {
                names.push(fold(&tier_directory(*tier)));
                closed.push(names);
            }
        }
        let sources = snapshot.memories().to_vec();
        Ok(SealedDirectories::for_knowledge(
            sources,
            self.tiers.load_full(),
            self.unmarked.load_full(),
            closed,
        ))
    }

    /// Whether [`sealed`](Self::sealed) would give equal directories.
    pub(crate) fn are_all_in(&self, sealed: &SealedDirectories, snapshot: &Snapshot) -> bool {
        sealed.is_up_to_date(snapshot.memories(), &self.tiers.load(), &self.unmarked.load())
    }

    /// Remembers the directories of the tiers of a snapshot. Nothing is written.
    pub(crate) fn note_tiers(&self, fence: &Fence, snapshot: &Snapshot) {
        for (path, tier) in snapshot.memories() {
            // This task is never abandoned.
            let _ = self.note_tier(fence, path, *tier, &Task::default());
        }
    }

    /// Marks every directory in which the memory sources among these keep memories, enabled or not. No link is
    /// followed.
    ///
    /// # Errors
    /// The caller no longer waits.
    pub(crate) fn mark(
        &self,
        fence: &Fence,
        sources: &[Source],
        task: &Task,
    ) -> Result<Vec<Marking>, Abandoned> {
        let mut markings = Vec::new();
        for (at, source) in (0_u32..).zip(sources).filter(|(_, source)| source.role == Role::Memory) {
            let Some(tier) = source.tier else { continue };
            let done = match fence.enter(&source.path) {
                Ok(Directory { handle, .. }) => {
                    let name = tier_directory(tier);
                    walk(handle.as_fd(), &name, id_count(tier), Missing::Mark, task)?
                }
                Err(breach) => match not_entered(fence, source, tier, breach) {
                    Some(failed) => failed,
                    None => continue,
                },
            };
            self.add_unmarked(&done.unmarked);
            // Last: a directory that has a mark by now need not be walked over again.
            self.note_tier(fence, &source.path, tier, task)?;
            let Outcome { marked, failed, first_failure, .. } = done;
            markings.push(Marking { source: at, marked, failed, first_failure });
        }
        Ok(markings)
    }

    /// Marks the directory `name` in `parent`, which is that of a scope, and every directory below it: the host may
    /// have made some there.
    ///
    /// # Errors
    /// The caller no longer waits.
    pub(super) fn mark_scope(
        &self,
        parent: BorrowedFd<'_>,
        name: &str,
        task: &Task,
    ) -> Result<(), Abandoned> {
        let done = walk(parent, name, 0, Missing::Mark, task)?;
        self.add_unmarked(&done.unmarked);
        Ok(())
    }

    /// Remembers the directory of a tier, and those below it if it has no mark: it may be older than marks are.
    /// Nothing is written. Links on the path of the source are followed: the directory they lead to is sealed,
    /// although no memory is read or written through a link.
    ///
    /// # Errors
    /// The caller no longer waits.
    fn note_tier(&self, fence: &Fence, path: &str, tier: Tier, task: &Task) -> Result<(), Abandoned> {
        let Ok(directory) = open_tier(fence, path, tier) else { return Ok(()) };
        if self.tiers.load().contains(directory.as_fd()) {
            return Ok(());
        }
        if !is_marked(directory.as_fd()).unwrap_or(false) {
            let done = walk(directory.as_fd(), ".", id_count(tier), Missing::Note, task)?;
            self.add_unmarked(&done.unmarked);
        }
        // Last: if the walk was abandoned, the next call does it again.
        self.tiers.rcu(|tiers| {
            let mut tiers = DirectorySet::clone(tiers);
            tiers.add(directory.as_fd(), MAX_TIERS);
            tiers
        });
        Ok(())
    }

    fn add_unmarked(&self, new: &DirectorySet) {
        if !new.is_empty() {
            self.unmarked.rcu(|unmarked| {
                let mut unmarked = DirectorySet::clone(unmarked);
                unmarked.extend(new, MAX_UNMARKED);
                unmarked
            });
        }
    }
}

/// What is reported of a memory source that cannot be entered; `None` if it has no directory of its tier, as a
/// disabled one may.
fn not_entered(fence: &Fence, source: &Source, tier: Tier, breach: Breach) -> Option<Outcome> {
    if matches!(open_tier(fence, &source.path, tier), Err(Errno::NOENT | Errno::NOTDIR)) {
        return None;
    }
    let first_failure = Some(Unmarked { path: tier_directory(tier), cause: Cause::NotEntered(breach) });
    Some(Outcome { failed: 1, first_failure, ..Outcome::default() })
}

/// Opens the directory of a tier without the right to list it. Links on the path are followed.
fn open_tier(fence: &Fence, path: &str, tier: Tier) -> rustix::io::Result<OwnedFd> {
    let source = match fence.below_root(path) {
        Some(below) => fence.root().join(below),
        None => fence.manifest_directory().join(path),
    };
    let path = source.join(tier_directory(tier));
    retry_on_intr(|| open(&path, LOOK_UP, Mode::empty()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::disk::marks::MARK_NAME;

    fn diary(path: &str, enabled: bool) -> Source {
        let (role, tier) = (Role::Memory, Some(Tier::User));
        Source { id: "diary".to_owned(), path: path.to_owned(), priority: 0, enabled, role, tier }
    }

    #[test]
    fn the_tier_of_a_memory_source_is_marked_whether_it_is_enabled_or_not() {
        for enabled in [true, false] {
            let temporary = tempfile::tempdir().unwrap();
            let root = temporary.path();
            fs::create_dir_all(root.join("m/memory-user/acme")).unwrap();
            let fence = Fence::new(root, root).unwrap();
            let known = KnownDirectories::default();
            let sources = [diary("missing", enabled), diary("m", enabled)];
            let [marking] = known.mark(&fence, &sources, &Task::default()).unwrap().try_into().unwrap();
            assert_eq!((marking.source, marking.marked, marking.failed), (1, 2, 0));
            assert!(root.join("m/memory-user/acme").join(MARK_NAME).is_file());
            assert!(!root.join("m").join(MARK_NAME).exists());
        }
    }

    #[test]
    fn a_memory_source_that_cannot_be_entered_is_reported_by_its_tier() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("real/memory-user")).unwrap();
        std::os::unix::fs::symlink("real", root.join("m")).unwrap();
        let fence = Fence::new(root, root).unwrap();
        let marking = KnownDirectories::default().mark(&fence, &[diary("m", true)], &Task::default());
        let [Marking { failed: 1, first_failure: Some(failure), .. }] = &*marking.unwrap() else {
            panic!("one source, which cannot be marked");
        };
        assert_eq!(failure.path, "memory-user");
        assert!(matches!(failure.cause, Cause::NotEntered(_)));
    }
}
