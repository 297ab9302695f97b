//! Reads the events that are queued, and notes what they say.

use std::{ffi::CStr, fs::File, mem::MaybeUninit, os::fd::AsFd, sync::Arc};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::inotify::{Event, ReadFlags, Reader},
    io::Errno,
};

use super::watch_list::{WatchList, WatchUse};
use crate::{
    disk::{events::dirty::Dirty, marks::is_mark_name},
    document::name::is_hidden,
};

/// The watched directory or file itself was moved or deleted, or the watch ended.
const GONE: ReadFlags =
    ReadFlags::DELETE_SELF.union(ReadFlags::MOVE_SELF).union(ReadFlags::UNMOUNT).union(ReadFlags::IGNORED);
/// Bytes of events that one system call reads.
const BUFFER_BYTES: usize = 16 << 10;

/// Notes every event that is queued, without waiting for more. It takes one system call if there is none.
/// `mount_table` is `/proc/self/mountinfo`, where polling tells that something was mounted or unmounted.
pub(super) fn drain(watches: &mut WatchList, mount_table: Option<&File>) {
    let mut polled = vec![PollFd::new(&watches.inotify, PollFlags::IN)];
    if let Some(mount_table) = mount_table {
        polled.push(PollFd::from_borrowed_fd(mount_table.as_fd(), PollFlags::PRI));
    }
    let result = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    let has_events = result.is_err() || !polled[0].revents().is_empty();
    let has_mount_changes = polled.get(1).is_some_and(|file| !file.revents().is_empty());
    drop(polled);
    if has_mount_changes {
        watches.mark_all_dirty();
    }
    watches.ancestors.count_drain();
    if has_events {
        read_events(watches);
        unwatch_noisy_ancestors(watches);
    }
}

fn unwatch_noisy_ancestors(watches: &mut WatchList) {
    let uses = &watches.uses;
    let is_needed = |descriptor| uses.get(&descriptor).is_some_and(WatchUse::is_needed);
    for descriptor in watches.ancestors.give_up_noisy(is_needed) {
        watches.remove(descriptor);
    }
}

fn read_events(watches: &mut WatchList) {
    let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
    let inotify = Arc::clone(&watches.inotify);
    let mut reader = Reader::new(&*inotify, &mut buffer);
    loop {
        match reader.next() {
            Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => break,
            Ok(event) => note(watches, &event),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return,
            Err(_) => break,
        }
    }
    // Events are lost. Those that are still queued tell of nothing that is not marked dirty now.
    watches.recover_from_overflow();
}

fn note(watches: &mut WatchList, event: &Event<'_>) {
    let flags = event.events();
    let is_gone = flags.intersects(GONE);
    let is_marked = event.file_name().is_some_and(|name| is_mark_name(name.to_bytes()));
    watches.ancestors.note_event(event.wd(), is_gone || is_marked);
    note_for_bundles(watches, event, is_gone);
    if flags.contains(ReadFlags::IGNORED) {
        watches.forget(event.wd());
    }
}

fn note_for_bundles(watches: &mut WatchList, event: &Event<'_>, is_gone: bool) {
    let flags = event.events();
    let Some(watch) = watches.uses.get(&event.wd()) else { return };
    // If only the content of an entry changed, every path leads to the same place as before.
    if watch.is_on_path && !flags.difference(ReadFlags::MODIFY | ReadFlags::ISDIR).is_empty() {
        watches.path_version += 1;
    }
    let name = event.file_name().map(CStr::to_bytes).filter(|_| !is_gone);
    // A mark that is created or deleted decides over everything below its directory (Y10).
    let is_mark = name.is_some_and(is_mark_name);
    // Other hidden names are ignored (B1).
    if !is_mark && name.is_some_and(is_hidden) {
        return;
    }
    // When a file is gone, its directory tells that too.
    let is_everything = watch.file.is_none() && (is_mark || is_gone || flags.contains(ReadFlags::ISDIR));
    for known in &watch.bundles {
        let Some(state) = watches.bundles.get_mut(&known.bundle) else { continue };
        if is_everything {
            state.dirty = Dirty::Everything;
        } else {
            state.dirty.add(&known.directory);
        }
    }
}
