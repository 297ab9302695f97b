//! The directories that hold a directory, up to the root of the file system.

use std::{
    collections::BTreeMap,
    io,
    ops::ControlFlow,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, fstat, open, openat, statat},
    io::{Errno, retry_on_intr},
};

use crate::disk::{
    directory::Directory,
    events::{Events, Look, incomplete},
    identity::Identity,
    marks::{MARKER, is_marked},
    open::PASSING,
};

/// No path of any system is deeper.
const MAX_DEPTH: usize = 4096;
/// How many directories in a row may look like the one below them, where mounts cannot be told apart, before
/// that is taken for the root of the file system, which holds itself.
const MAX_ALIKE: usize = 64;

/// A directory as one mount shows it. What holds it may be another directory in another mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Spot {
    pub(crate) identity: Identity,
    /// `None` if the system does not tell.
    mount: Option<u64>,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn mount(directory: BorrowedFd<'_>) -> Option<u64> {
    use rustix::fs::{StatxFlags, statx};

    let stat = retry_on_intr(|| statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn mount(_directory: BorrowedFd<'_>) -> Option<u64> {
    // No directory is mounted inside itself there.
    Some(0)
}

impl Spot {
    pub(crate) fn of(directory: BorrowedFd<'_>) -> rustix::io::Result<Self> {
        let stat = retry_on_intr(|| fstat(directory))?;
        Ok(Self { identity: Identity::of_stat(&stat), mount: mount(directory) })
    }

    /// Where the directory at a path is now, links followed.
    pub(crate) fn at_path(path: &Path) -> Option<Self> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{CWD, StatxFlags, makedev, statx};

            let flags = StatxFlags::INO | StatxFlags::MNT_ID;
            if let Ok(stat) = retry_on_intr(|| statx(CWD, path, AtFlags::empty(), flags)) {
                let device = makedev(stat.stx_dev_major, stat.stx_dev_minor);
                let is_told = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
                let identity = Identity { device, inode: stat.stx_ino };
                return Some(Self { identity, mount: is_told.then_some(stat.stx_mnt_id) });
            }
        }
        let handle = retry_on_intr(|| open(path, PASSING, Mode::empty())).ok()?;
        Self::of(handle.as_fd()).ok()
    }

    /// Where an entered directory is.
    pub(crate) fn at(directory: &Directory) -> Self {
        Self { identity: directory.identity, mount: mount(directory.handle.as_fd()) }
    }

    #[cfg(test)]
    pub(crate) const fn made_up(identity: Identity) -> Self {
        Self { identity, mount: Some(1) }
    }

    /// Whether everything that is at an equal spot holds the same, down to what is mounted inside.
    pub(crate) fn is_certain(&self) -> bool {
        self.mount.is_some()
    }
}

/// Whether what was opened in a directory is mounted there: it is another mount's, of whatever file system.
pub(crate) fn is_mounted_in(directory: BorrowedFd<'_>, inner: BorrowedFd<'_>) -> rustix::io::Result<bool> {
    let device = |of: BorrowedFd<'_>| retry_on_intr(|| fstat(of)).map(|stat| Identity::of_stat(&stat).device);
    Ok(match (mount(directory), mount(inner)) {
        (Some(outer), Some(inner)) if outer != inner => true,
        // Where mounts cannot be told apart, another file system must have been mounted.
        _ => device(directory)? != device(inner)?,
    })
}

/// Shows a directory and every one that holds it, up to the root of the file system or until it is enough.
///
/// # Errors
/// What holds a directory cannot be told, or what `show` says.
pub(crate) fn climb(
    directory: OwnedFd,
    mut show: impl FnMut(Spot, BorrowedFd<'_>) -> rustix::io::Result<ControlFlow<()>>,
) -> rustix::io::Result<()> {
    let mut handle = directory;
    let mut below: Option<Spot> = None;
    let mut alike = 0;
    for _ in 0..MAX_DEPTH {
        let spot = Spot::of(handle.as_fd())?;
        if below == Some(spot) {
            // The root of the file system holds itself; a directory that is mounted inside itself looks so.
            alike += 1;
            if spot.mount.is_some() || alike == MAX_ALIKE {
                return Ok(());
            }
        } else {
            alike = 0;
        }
        if show(spot, handle.as_fd())?.is_break() {
            return Ok(());
        }
        below = Some(spot);
        handle = retry_on_intr(|| openat(handle.as_fd(), "..", PASSING, Mode::empty()))?;
    }
    Err(Errno::LOOP)
}

/// What was found out of directories within one call: whether they are memories, or lie among them.
#[derive(Debug, Default)]
pub(crate) struct Found(BTreeMap<Spot, bool>);

impl Found {
    /// Whether a directory, or any that holds it, is `barred`.
    ///
    /// # Errors
    /// That cannot be told.
    pub(crate) fn encloses(
        &mut self,
        directory: BorrowedFd<'_>,
        barred: impl Fn(Identity, BorrowedFd<'_>) -> rustix::io::Result<bool>,
    ) -> io::Result<bool> {
        let mut met = Vec::new();
        let mut verdict = false;
        climb(directory.try_clone_to_owned()?, |spot, handle| {
            // Where mounts cannot be told apart, one directory may lie in several places.
            let known = self.0.get(&spot).filter(|_| spot.mount.is_some());
            verdict = known.map_or_else(|| barred(spot.identity, handle), |known| Ok(*known))?;
            met.push(spot);
            let enough = verdict || known.is_some();
            Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        self.0.extend(met.into_iter().map(|spot| (spot, verdict)));
        Ok(verdict)
    }
}

/// The directories above the catalog root, none of which had a mark. The kernel tells when one may get one, or may
/// lie elsewhere; where it does not, because others may change them or make files there all the time, they are
/// looked at, at one system call each.
#[derive(Debug, Clone)]
pub(crate) struct Roof {
    /// The catalog root.
    root: Spot,
    /// What events said when it began to be watched.
    number: u64,
    /// Where marks would be of which events do not tell.
    marks: Vec<PathBuf>,
    /// The root of the file system, as it is reached from the catalog root.
    top: PathBuf,
    identity: Identity,
}

impl Roof {
    /// The directories above `root`; `None` if one is marked, or they cannot be told.
    pub(crate) fn above(root: &Path, events: &Events) -> Option<Self> {
        let number = events.look()?.roof();
        let handle = retry_on_intr(|| open(root, PASSING, Mode::empty())).ok()?;
        let mut marks = Vec::new();
        let mut at_root = None;
        let mut top = (root.to_owned(), None);
        // Where one is not watched, those above may be others by the next look.
        let mut watched = true;
        let climbed = climb(handle, |spot, handle| {
            // Watched first: a mark that is made after the look at the directory is told of.
            watched = watched
                && spot.is_certain()
                && incomplete(handle).is_none()
                && events.queue().is_some_and(|mut queue: Look<'_>| queue.watch_above(handle));
            if at_root.is_some() {
                top.0.push("..");
                if !watched {
                    marks.push(top.0.join(MARKER));
                }
                if is_marked(handle)? {
                    return Err(Errno::EXIST);
                }
            }
            at_root.get_or_insert(spot);
            top.1 = Some(spot.identity);
            Ok(ControlFlow::Continue(()))
        });
        let root = at_root?;
        climbed.ok().and(top.1).map(|identity| Self { root, number, marks, top: top.0, identity })
    }

    /// Whether those of which events do not tell are the same as they were, and have no mark.
    pub(crate) fn is_clear(&self) -> bool {
        let stat = |path: &Path, flags| statat(rustix::fs::CWD, path, flags);
        let is_missing =
            |mark: &PathBuf| stat(mark, AtFlags::SYMLINK_NOFOLLOW).is_err_and(|errno| errno == Errno::NOENT);
        self.marks.is_empty()
            || (self.marks.iter().all(is_missing)
                && stat(&self.top, AtFlags::empty())
                    .is_ok_and(|stat| Identity::of_stat(&stat) == self.identity))
    }

    /// Whether events, which say `number`, told nothing of the others, and the catalog root is where it was.
    pub(crate) fn is_quiet(&self, root: Spot, number: u64) -> bool {
        self.root == root && self.number == number
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_way_up_ends_at_the_root_of_the_file_system() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("a/b");
        fs::create_dir_all(&path).unwrap();
        let mut met = Vec::new();
        climb(fs::File::open(&path).unwrap().into(), |spot, _| {
            met.push(spot.identity);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        let expected: Vec<Identity> = path
            .canonicalize()
            .unwrap()
            .ancestors()
            .map(|path| Identity::of(&fs::metadata(path).unwrap()))
            .collect();
        assert_eq!(met, expected);
    }

    #[test]
    fn what_was_found_out_of_one_directory_holds_for_its_siblings() {
        let temporary = tempfile::tempdir().unwrap();
        for path in ["in/a/b", "in/c", "out/d"] {
            fs::create_dir_all(temporary.path().join(path)).unwrap();
        }
        fs::write(temporary.path().join("in").join(MARKER), "").unwrap();
        let mut found = Found::default();
        let mut lies_in = |path: &str| {
            let handle = fs::File::open(temporary.path().join(path)).unwrap();
            let asked = std::cell::Cell::new(0);
            let barred = |_, directory: BorrowedFd<'_>| {
                asked.set(asked.get() + 1);
                is_marked(directory)
            };
            (found.encloses(handle.as_fd(), barred).unwrap(), asked.get())
        };
        assert_eq!(lies_in("in/a/b"), (true, 3));
        assert_eq!(lies_in("in/c"), (true, 1));
        assert!(!lies_in("out/d").0);
        assert!(!lies_in("out").0);
    }

    #[test]
    fn a_mark_above_a_catalog_root_is_seen_and_so_is_another_place() {
        let temporary = tempfile::tempdir().unwrap();
        let catalog = temporary.path().join("a/b/root");
        fs::create_dir_all(&catalog).unwrap();
        let events = Events::new();
        let is_whole = |roof: &Roof| {
            let number = events.look().unwrap().roof();
            roof.is_clear() && roof.is_quiet(Spot::at_path(&catalog).unwrap(), number)
        };
        let Some(roof) = Roof::above(&catalog, &events) else {
            assert!(events.missing().is_some());
            return;
        };
        assert!(is_whole(&roof));
        // What is no mark says nothing.
        fs::write(temporary.path().join("a/file"), "").unwrap();
        assert!(is_whole(&roof));
        let mark = temporary.path().join("a").join(MARKER);
        fs::write(&mark, "").unwrap();
        assert!(!is_whole(&roof) && Roof::above(&catalog, &events).is_none());
        fs::remove_file(&mark).unwrap();
        // A mark in the root itself is for whoever watches it.
        fs::write(catalog.join(MARKER), "").unwrap();
        let roof = Roof::above(&catalog, &events).unwrap();
        assert!(is_whole(&roof));
        // One level deeper than before, what is above is not all known.
        fs::create_dir(temporary.path().join("deeper")).unwrap();
        fs::rename(temporary.path().join("a"), temporary.path().join("deeper/a")).unwrap();
        std::os::unix::fs::symlink("deeper/a", temporary.path().join("a")).unwrap();
        assert!(!is_whole(&roof));
        let roof = Roof::above(&catalog, &events).unwrap();
        assert!(is_whole(&roof));
        // By whatever name it comes there, and by a link to the file of another.
        fs::write(temporary.path().join("other"), "").unwrap();
        fs::hard_link(temporary.path().join("other"), temporary.path().join("deeper").join(MARKER)).unwrap();
        assert!(!is_whole(&roof) && Roof::above(&catalog, &events).is_none());
    }

    #[test]
    fn where_much_happens_is_looked_at_and_a_mark_is_seen_all_the_same() {
        let temporary = tempfile::tempdir().unwrap();
        let catalog = temporary.path().join("busy/root");
        fs::create_dir_all(&catalog).unwrap();
        let events = Events::new();
        let Some(roof) = Roof::above(&catalog, &events) else { return };
        let at_root = Spot::at_path(&catalog).unwrap();
        let is_whole = |roof: &Roof| roof.is_clear() && roof.is_quiet(at_root, events.look().unwrap().roof());
        for at in 0..5000 {
            fs::write(temporary.path().join("busy").join(at.to_string()), "").unwrap();
        }
        assert!(!is_whole(&roof) || !roof.marks.is_empty());
        let roof = Roof::above(&catalog, &events).unwrap();
        let at = temporary.path().join("busy").canonicalize().unwrap();
        let is_looked_at = |mark: &PathBuf| mark.parent().unwrap().canonicalize().unwrap() == at;
        assert!(roof.marks.iter().any(is_looked_at));
        assert!(is_whole(&roof));
        fs::write(at.join("one more"), "").unwrap();
        assert!(is_whole(&roof));
        fs::write(at.join(MARKER), "").unwrap();
        assert!(!is_whole(&roof));
    }
}
