//! Watch descriptors, and the events that a watch asks for.

use rustix::fs::inotify::WatchFlags;

/// inotify's number for one watch. There is one watch for each inode, however often it is added.
pub(super) type WatchDescriptor = i32;

/// The events of a directory that belongs to a bundle, or lies on the path to one.
pub(super) const DIRECTORY_EVENTS: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);
/// The events that may bring a mark into an ancestor of the catalog root, or move the ancestor. The same directory
/// may be watched for another use too: `MASK_ADD` keeps the events that were asked for before.
pub(super) const ANCESTOR_EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::MASK_ADD);
/// The events of a file that its directory does not report: a change by a name elsewhere, or by a descriptor that was
/// opened with such a name. When the file is deleted, the kernel ends the watch and reports `IGNORED`.
pub(super) const FILE_EVENTS: WatchFlags = WatchFlags::MODIFY.union(WatchFlags::ATTRIB);
