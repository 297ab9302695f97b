//! The queue of file system events that every search drains before it begins (F1).
//!
//! On Linux the kernel queues an event before the system call that made the change returns. A search drains the queue
//! without waiting, and so learns of every change that was complete before the search began. The `notify` crate
//! cannot do that: its own thread reads the queue some time later.
//!
//! An event of a directory tells only of changes that are made by a name in that directory. Files are therefore watched
//! one by one too, as long as there are few enough. That tells of a write by a hard link in another directory, or by
//! a descriptor that was opened there.
//!
//! Where events cannot tell of every change, a bundle is compared with the disk before each search instead: on file
//! systems that other machines change too, if the bundle contains links, and when a limit of the system is reached.
//!
//! Each operating system has its own module with the same interface: `linux` has events, `elsewhere` has none.

mod dirty;
mod unwatchable;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{EventQueue, QueueGuard, contains_file_mount, uses_local_clock, why_incomplete};
#[cfg(target_os = "linux")]
pub(crate) use linux::{EventQueue, QueueGuard, contains_file_mount, uses_local_clock, why_incomplete};

pub(crate) use dirty::Dirty;
pub(crate) use unwatchable::Unwatchable;
