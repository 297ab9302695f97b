//! A mark that appears above a bundle is seen, with or without an event (Y10).

use std::fs;

use super::*;
use crate::disk::root_ancestors::RootAncestors;

/// A knowledge source `a/kb` that was read and is watched.
fn watched(root: &Path, test: impl FnOnce(&Fence, Preparation<'_>, &Snapshot)) {
    fs::create_dir_all(root.join("a/kb")).unwrap();
    fs::write(root.join("a/kb/own.md"), "word").unwrap();
    let fence = Fence::new(root, root).unwrap();
    let source = Source {
        id: "kb".to_owned(),
        path: "a/kb".to_owned(),
        priority: 0,
        enabled: true,
        role: Role::Knowledge,
        tier: None,
    };
    let snapshot = Snapshot::new(1, vec![source], root.to_owned());
    let (bundles, events, known) = (Bundles::default(), EventQueue::new(), KnownDirectories::default());
    let task = Task::default();
    let preparation = Preparation {
        fence: &fence,
        bundles: &bundles,
        events: &events,
        known_memories: &known,
        freshness: Freshness::Exact,
        max_bytes: 1 << 20,
        threads: 1,
        task: &task,
    };
    let mut prepared = Prepared::default();
    prepared.add(&snapshot, &[0], preparation).unwrap();
    assert!(prepared.get(0).is_ok());
    test(&fence, preparation, &snapshot);
}

fn is_unchanged(preparation: Preparation<'_>, snapshot: &Snapshot) -> bool {
    Prepared::default().add_unchanged(snapshot, &[0], preparation).is_empty()
}

#[test]
fn a_mark_above_the_catalog_root_is_seen_without_events() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("root");
    watched(&root, |fence, preparation, snapshot| {
        if preparation.events.why_unavailable().is_some() {
            return;
        }
        assert!(is_unchanged(preparation, snapshot));
        fs::write(temporary.path().join(".okf-memory"), "").unwrap();
        assert!(!is_unchanged(preparation, snapshot));
        assert!(RootAncestors::check(fence.root(), preparation.events).is_none());
        let mut prepared = Prepared::default();
        prepared.add(snapshot, &[0], preparation).unwrap();
        assert!(prepared.get(0).unwrap_err().exclusion == Some(Exclusion::AmongMemories));
        assert!(preparation.bundles.known().is_empty(), "nothing of it is kept");
    });
}

#[test]
fn the_background_check_sees_a_mark_of_which_nothing_told() {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().join("root");
    watched(&root, |fence, preparation, _| {
        let Preparation { bundles, events, .. } = preparation;
        let is_clean = || {
            let known = bundles.known();
            let bundle = known.values().next().map(|known| known.bundle.key()).unwrap();
            events.drain().is_none_or(|queue| queue.is_clean(bundle))
        };
        bundles.check(fence, events);
        assert!(is_clean());
        // No directory of the bundle has changed.
        fs::write(root.join("a/.okf-memory"), "").unwrap();
        assert!(is_clean());
        bundles.check(fence, events);
        assert!(events.why_unavailable().is_some() || !is_clean());
    });
}
