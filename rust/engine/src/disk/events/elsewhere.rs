//! No other system queues events before the change that caused them returns.

use std::{convert::Infallible, ffi::CStr, marker::PhantomData, os::fd::BorrowedFd, path::Path};

use rustix::fs::Stat;

use super::Dirt;
use super::Unwatchable;
use crate::disk::identity::Identity;

const REASON: &str = "this system does not tell of changes in time";

/// No events.
#[derive(Debug)]
pub(crate) struct Events;

/// There is never one.
pub(crate) struct Look<'events>(Infallible, PhantomData<&'events Events>);

impl Events {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn none() -> Self {
        Self
    }

    #[allow(clippy::unused_self)] // As where there are events.
    pub(crate) fn missing(&self) -> Option<&str> {
        Some(REASON)
    }

    #[allow(clippy::unused_self)] // As where there are events.
    pub(crate) fn queue(&self) -> Option<Look<'_>> {
        None
    }

    #[allow(clippy::unused_self)] // As where there are events.
    pub(crate) fn look(&self) -> Option<Look<'_>> {
        None
    }
}

impl Events {
    #[allow(clippy::unused_self)] // As where there are events.
    pub(crate) fn close(&self) {}
}

impl Look<'_> {
    pub(crate) fn is_clean(&self, _bundle: u64) -> bool {
        match self.0 {}
    }

    pub(crate) fn way(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn watch_way(&mut self, _handle: BorrowedFd<'_>) -> bool {
        match self.0 {}
    }

    pub(crate) fn roof(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn watch_above(&mut self, _handle: BorrowedFd<'_>) -> bool {
        match self.0 {}
    }

    pub(crate) fn forget_ways(&mut self) {
        match self.0 {}
    }

    pub(crate) fn begin(&mut self, _bundle: u64) -> Dirt {
        match self.0 {}
    }

    pub(crate) fn end(&mut self, _bundle: u64, _done: bool) {
        match self.0 {}
    }

    pub(crate) fn doubt(&mut self, _bundle: u64) {
        match self.0 {}
    }

    pub(crate) fn begin_walk(&mut self, _bundle: u64) {
        match self.0 {}
    }

    pub(crate) fn end_walk(&mut self, _bundle: u64) {
        match self.0 {}
    }

    pub(crate) fn watch(
        &mut self,
        _bundle: u64,
        _path: &str,
        _handle: BorrowedFd<'_>,
    ) -> Result<(), Unwatchable> {
        match self.0 {}
    }

    pub(crate) fn has_room(&self, _bundle: u64, _files: usize) -> Result<(), Unwatchable> {
        match self.0 {}
    }

    pub(crate) fn watch_file(
        &mut self,
        _bundle: u64,
        _path: &str,
        _parent: BorrowedFd<'_>,
        _name: &CStr,
        _stat: &Stat,
    ) -> Result<bool, Unwatchable> {
        match self.0 {}
    }

    pub(crate) fn forget_file(&mut self, _bundle: u64, _path: &str, _file: Identity) {
        match self.0 {}
    }

    pub(crate) fn forget_files(&mut self, _bundle: u64) {
        match self.0 {}
    }

    pub(crate) fn release(&mut self, _bundle: u64) {
        match self.0 {}
    }
}

/// Why events of a file system do not tell of every change.
pub(crate) fn incomplete(_handle: BorrowedFd<'_>) -> Option<String> {
    Some(REASON.to_owned())
}

/// Whether a file system stamps changes with the clock of this machine; that cannot be told here.
pub(crate) fn has_our_clock(_handle: BorrowedFd<'_>) -> bool {
    false
}

/// Whether a single file is mounted below a directory; it makes no difference here.
pub(crate) fn holds_mounted_file(_directory: &Path) -> bool {
    false
}
