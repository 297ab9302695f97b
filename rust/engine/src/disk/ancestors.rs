//! The ancestors of a directory: its parent, the parent of that, and so on up to the root of the file system.

use std::{
    collections::BTreeMap,
    io,
    ops::ControlFlow,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{Mode, openat},
    io::{Errno, retry_on_intr},
};

use crate::disk::{identity::Identity, location::Location, open::LOOK_UP};

/// At most this many ancestors are visited; no system has deeper paths. Beyond it, visiting fails.
const MAX_DEPTH: usize = 4096;
/// Where the system tells no mount ids, the root of the file system, whose parent is itself, looks like a directory
/// that is mounted inside itself. After this many equal directories in a row it is taken for the root.
const MAX_EQUAL_IN_A_ROW: usize = 64;

/// Calls `visit` with a directory and then with each of its ancestors, until `visit` breaks.
///
/// # Errors
/// The parent of a directory cannot be opened, or `visit` fails.
pub(crate) fn visit_ancestors(
    directory: OwnedFd,
    mut visit: impl FnMut(Location, BorrowedFd<'_>) -> rustix::io::Result<ControlFlow<()>>,
) -> rustix::io::Result<()> {
    let mut handle = directory;
    let mut child: Option<Location> = None;
    let mut equal_in_a_row = 0;
    for _ in 0..MAX_DEPTH {
        let location = Location::of(handle.as_fd())?;
        if child == Some(location) {
            equal_in_a_row += 1;
            if location.has_mount_id() || equal_in_a_row == MAX_EQUAL_IN_A_ROW {
                return Ok(());
            }
        } else {
            equal_in_a_row = 0;
        }
        if visit(location, handle.as_fd())?.is_break() {
            return Ok(());
        }
        child = Some(location);
        handle = retry_on_intr(|| openat(handle.as_fd(), "..", LOOK_UP, Mode::empty()))?;
    }
    Err(Errno::LOOP)
}

/// Remembers, for the duration of one call, whether a directory or one of its ancestors meets a condition. Sibling
/// directories then share the answer of their parent. Use one cache for one condition only.
#[derive(Debug, Default)]
pub(crate) struct AncestorCache(BTreeMap<Location, bool>);

impl AncestorCache {
    /// Whether a directory, or any of its ancestors, meets the condition.
    ///
    /// # Errors
    /// An ancestor cannot be opened, or the condition fails.
    pub(crate) fn any(
        &mut self,
        directory: BorrowedFd<'_>,
        condition: impl Fn(Identity, BorrowedFd<'_>) -> rustix::io::Result<bool>,
    ) -> io::Result<bool> {
        let mut visited = Vec::new();
        let mut result = false;
        visit_ancestors(directory.try_clone_to_owned()?, |location, handle| {
            // Without a mount id, equal locations may have different ancestors.
            let known = self.0.get(&location).filter(|_| location.has_mount_id());
            result = known.map_or_else(|| condition(location.identity, handle), |known| Ok(*known))?;
            visited.push(location);
            let is_decided = result || known.is_some();
            Ok(if is_decided { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        self.0.extend(visited.into_iter().map(|location| (location, result)));
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::disk::marks::{MARK_NAME, is_marked};

    #[test]
    fn the_last_ancestor_is_the_root_of_the_file_system() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("a/b");
        fs::create_dir_all(&path).unwrap();
        let mut visited = Vec::new();
        visit_ancestors(fs::File::open(&path).unwrap().into(), |location, _| {
            visited.push(location.identity);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        let expected: Vec<Identity> = path
            .canonicalize()
            .unwrap()
            .ancestors()
            .map(|path| Identity::of(&fs::metadata(path).unwrap()))
            .collect();
        assert_eq!(visited, expected);
    }

    #[test]
    fn sibling_directories_share_the_answer_of_their_parent() {
        let temporary = tempfile::tempdir().unwrap();
        for path in ["in/a/b", "in/c", "out/d"] {
            fs::create_dir_all(temporary.path().join(path)).unwrap();
        }
        fs::write(temporary.path().join("in").join(MARK_NAME), "").unwrap();
        let mut cache = AncestorCache::default();
        let mut lies_in = |path: &str| {
            let handle = fs::File::open(temporary.path().join(path)).unwrap();
            let asked = std::cell::Cell::new(0);
            let condition = |_, directory: BorrowedFd<'_>| {
                asked.set(asked.get() + 1);
                is_marked(directory)
            };
            (cache.any(handle.as_fd(), condition).unwrap(), asked.get())
        };
        assert_eq!(lies_in("in/a/b"), (true, 3));
        assert_eq!(lies_in("in/c"), (true, 1));
        assert!(!lies_in("out/d").0);
        assert!(!lies_in("out").0);
    }
}
