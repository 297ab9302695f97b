//! What is told of everything that a walk comes by.

use std::{ffi::CStr, os::fd::BorrowedFd};

use rustix::fs::Stat;

/// Is called for each directory and file of a walk before the walk looks at it. A visitor that watches them here
/// misses no change that is made after the look.
pub(crate) trait Visitor {
    /// A directory is about to be listed.
    fn directory(&mut self, path: &str, handle: BorrowedFd<'_>);
    /// A file was found. If this returns true, `stat` may be out of date: the file is looked at again.
    fn file(&mut self, path: &str, parent: BorrowedFd<'_>, name: &CStr, stat: &Stat) -> bool;
    /// A link was found.
    fn link(&mut self);
}
