//! Systems other than Linux: none of them queues an event before the change that caused it is complete.

use std::{convert::Infallible, ffi::CStr, marker::PhantomData, os::fd::BorrowedFd, path::Path};

use rustix::fs::Stat;

use crate::disk::{
    events::{dirty::Dirty, unwatchable::Unwatchable},
    identity::Identity,
};

const REASON: &str = "this system does not tell of changes in time";

/// No events.
#[derive(Debug)]
pub(crate) struct EventQueue;

/// Never exists.
pub(crate) struct QueueGuard<'queue>(Infallible, PhantomData<&'queue EventQueue>);

#[allow(clippy::unused_self)] // The same interface as on Linux.
impl EventQueue {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn disabled() -> Self {
        Self
    }

    pub(crate) fn why_unavailable(&self) -> Option<&str> {
        Some(REASON)
    }

    pub(crate) fn drain(&self) -> Option<QueueGuard<'_>> {
        None
    }

    pub(crate) fn lock(&self) -> Option<QueueGuard<'_>> {
        None
    }

    pub(crate) fn close(&self) {}
}

impl QueueGuard<'_> {
    pub(crate) fn is_clean(&self, _bundle: u64) -> bool {
        match self.0 {}
    }

    pub(crate) fn path_version(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn watch_path_directory(&mut self, _handle: BorrowedFd<'_>) -> bool {
        match self.0 {}
    }

    pub(crate) fn unwatch_paths(&mut self) {
        match self.0 {}
    }

    pub(crate) fn ancestors_version(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn watch_ancestor(&mut self, _handle: BorrowedFd<'_>) -> bool {
        match self.0 {}
    }

    pub(crate) fn begin_comparison(&mut self, _bundle: u64) -> Dirty {
        match self.0 {}
    }

    pub(crate) fn end_comparison(&mut self, _bundle: u64, _succeeded: bool) {
        match self.0 {}
    }

    pub(crate) fn mark_dirty(&mut self, _bundle: u64) {
        match self.0 {}
    }

    pub(crate) fn begin_walk(&mut self, _bundle: u64) {
        match self.0 {}
    }

    pub(crate) fn end_walk(&mut self, _bundle: u64) {
        match self.0 {}
    }

    pub(crate) fn watch_directory(
        &mut self,
        _bundle: u64,
        _path: &str,
        _handle: BorrowedFd<'_>,
    ) -> Result<(), Unwatchable> {
        match self.0 {}
    }

    pub(crate) fn check_file_limit(&self, _bundle: u64, _files: usize) -> Result<(), Unwatchable> {
        match self.0 {}
    }

    pub(crate) fn watch_file(
        &mut self,
        _bundle: u64,
        _directory: &str,
        _parent: BorrowedFd<'_>,
        _name: &CStr,
        _stat: &Stat,
    ) -> Result<bool, Unwatchable> {
        match self.0 {}
    }

    pub(crate) fn unwatch_file(&mut self, _bundle: u64, _directory: &str, _file: Identity) {
        match self.0 {}
    }

    pub(crate) fn unwatch_files(&mut self, _bundle: u64) {
        match self.0 {}
    }

    pub(crate) fn unwatch_bundle(&mut self, _bundle: u64) {
        match self.0 {}
    }
}

/// Why events of a file system do not tell of every change.
pub(crate) fn why_incomplete(_handle: BorrowedFd<'_>) -> Option<String> {
    Some(REASON.to_owned())
}

/// Whether the times of files on a file system come from the clock of this machine. This system does not tell.
pub(crate) fn uses_local_clock(_handle: BorrowedFd<'_>) -> bool {
    false
}

/// Whether a single file is mounted below a directory. Without events it makes no difference.
pub(crate) fn contains_file_mount(_directory: &Path) -> bool {
    false
}
