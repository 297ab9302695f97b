//! Makes sure that no ancestor of the catalog root is marked as memories (Y10), cheaply before every search.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, open, statat},
    io::{Errno, retry_on_intr},
};

use crate::disk::{
    ancestors::visit_ancestors,
    events::{EventQueue, QueueGuard, why_incomplete},
    identity::Identity,
    location::Location,
    marks::{MARK_NAME, is_marked},
    open::LOOK_UP,
};

/// The ancestors of the catalog root, none of which had a mark when they were checked.
///
/// Where the event queue tells of changes in an ancestor, asking the queue is enough. The other ancestors are
/// checked again each time, at one system call each: those on a file system that other machines change too, and
/// those with so many events that reading them costs more.
#[derive(Debug, Clone)]
pub(crate) struct RootAncestors {
    catalog_root: Location,
    /// The queue's [`ancestors_version`](QueueGuard::ancestors_version) when watching began.
    version: u64,
    /// The paths of the marks that the ancestors without events would have.
    polled_marks: Vec<PathBuf>,
    /// The root of the file system, as a path that starts at the catalog root, and its identity then.
    file_system_root: (PathBuf, Identity),
}

impl RootAncestors {
    /// Checks and watches the ancestors of `root`; `None` if one is marked or cannot be looked at.
    pub(crate) fn check(root: &Path, events: &EventQueue) -> Option<Self> {
        let version = events.drain()?.ancestors_version();
        let handle = retry_on_intr(|| open(root, LOOK_UP, Mode::empty())).ok()?;
        let mut polled_marks = Vec::new();
        let mut catalog_root = None;
        let mut path = root.to_owned();
        let mut highest = None;
        // Above a directory that is not watched, the ancestors may be others by the next search.
        let mut is_watched = true;
        let visited = visit_ancestors(handle, |location, handle| {
            // Watched before it is checked: the queue tells of a mark that is made after the check.
            is_watched = is_watched
                && location.has_mount_id()
                && why_incomplete(handle).is_none()
                && events.lock().is_some_and(|mut queue: QueueGuard<'_>| queue.watch_ancestor(handle));
            if catalog_root.is_some() {
                path.push("..");
                if !is_watched {
                    polled_marks.push(path.join(MARK_NAME));
                }
                if is_marked(handle)? {
                    return Err(Errno::EXIST);
                }
            }
            catalog_root.get_or_insert(location);
            highest = Some(location.identity);
            Ok(ControlFlow::Continue(()))
        });
        visited.ok()?;
        Some(Self { catalog_root: catalog_root?, version, polled_marks, file_system_root: (path, highest?) })
    }

    /// Whether the ancestors without events are the same directories as before, and still have no mark.
    pub(crate) fn are_unmarked_where_polled(&self) -> bool {
        let stat = |path: &Path, flags| statat(rustix::fs::CWD, path, flags);
        let is_missing =
            |mark: &PathBuf| stat(mark, AtFlags::SYMLINK_NOFOLLOW).is_err_and(|errno| errno == Errno::NOENT);
        let (path, identity) = &self.file_system_root;
        self.polled_marks.is_empty()
            || (self.polled_marks.iter().all(is_missing)
                && stat(path, AtFlags::empty()).is_ok_and(|stat| Identity::of_stat(&stat) == *identity))
    }

    /// Whether the queue, whose version is `version` now, told of no change in the other ancestors, and the catalog
    /// root is where it was.
    pub(crate) fn are_unchanged(&self, catalog_root: Location, version: u64) -> bool {
        self.catalog_root == catalog_root && self.version == version
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_mark_above_the_catalog_root_is_noticed_and_so_is_another_location() {
        let temporary = tempfile::tempdir().unwrap();
        let catalog = temporary.path().join("a/b/root");
        fs::create_dir_all(&catalog).unwrap();
        let events = EventQueue::new();
        let holds = |ancestors: &RootAncestors| {
            let version = events.drain().unwrap().ancestors_version();
            ancestors.are_unmarked_where_polled()
                && ancestors.are_unchanged(Location::at_path(&catalog).unwrap(), version)
        };
        let Some(ancestors) = RootAncestors::check(&catalog, &events) else {
            assert!(events.why_unavailable().is_some());
            return;
        };
        assert!(holds(&ancestors));
        // Another file makes no difference.
        fs::write(temporary.path().join("a/file"), "").unwrap();
        assert!(holds(&ancestors));
        let mark = temporary.path().join("a").join(MARK_NAME);
        fs::write(&mark, "").unwrap();
        assert!(!holds(&ancestors) && RootAncestors::check(&catalog, &events).is_none());
        fs::remove_file(&mark).unwrap();
        // A mark in the catalog root itself is noticed when its bundles are compared.
        fs::write(catalog.join(MARK_NAME), "").unwrap();
        let ancestors = RootAncestors::check(&catalog, &events).unwrap();
        assert!(holds(&ancestors));
        // One level deeper than before, there is an ancestor that was not checked.
        fs::create_dir(temporary.path().join("deeper")).unwrap();
        fs::rename(temporary.path().join("a"), temporary.path().join("deeper/a")).unwrap();
        std::os::unix::fs::symlink("deeper/a", temporary.path().join("a")).unwrap();
        assert!(!holds(&ancestors));
        let ancestors = RootAncestors::check(&catalog, &events).unwrap();
        assert!(holds(&ancestors));
        // A hard link to another file is a mark too.
        fs::write(temporary.path().join("other"), "").unwrap();
        fs::hard_link(temporary.path().join("other"), temporary.path().join("deeper").join(MARK_NAME))
            .unwrap();
        assert!(!holds(&ancestors) && RootAncestors::check(&catalog, &events).is_none());
    }

    #[test]
    fn a_directory_with_many_events_is_polled_and_a_mark_in_it_is_noticed() {
        let temporary = tempfile::tempdir().unwrap();
        let catalog = temporary.path().join("busy/root");
        fs::create_dir_all(&catalog).unwrap();
        let events = EventQueue::new();
        let Some(ancestors) = RootAncestors::check(&catalog, &events) else { return };
        let root = Location::at_path(&catalog).unwrap();
        let holds = |ancestors: &RootAncestors| {
            ancestors.are_unmarked_where_polled()
                && ancestors.are_unchanged(root, events.drain().unwrap().ancestors_version())
        };
        for at in 0..5000 {
            fs::write(temporary.path().join("busy").join(at.to_string()), "").unwrap();
        }
        assert!(!holds(&ancestors) || !ancestors.polled_marks.is_empty());
        let ancestors = RootAncestors::check(&catalog, &events).unwrap();
        let busy = temporary.path().join("busy").canonicalize().unwrap();
        let is_in_busy = |mark: &PathBuf| mark.parent().unwrap().canonicalize().unwrap() == busy;
        assert!(ancestors.polled_marks.iter().any(is_in_busy));
        assert!(holds(&ancestors));
        fs::write(busy.join("one more"), "").unwrap();
        assert!(holds(&ancestors));
        fs::write(busy.join(MARK_NAME), "").unwrap();
        assert!(!holds(&ancestors));
    }
}
