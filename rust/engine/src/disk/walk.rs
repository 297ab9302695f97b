//! The files of a bundle directory, and how to open one without leaving it (B1, B2, B8, B9).
//!
//! Everything is opened below a directory handle, component by component and without following links:
//! whatever is swapped in between listing and reading, no content from outside the root is served.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    rc::Rc,
};

use crate::disk::{
    above::is_mounted_in,
    directory::Directory,
    listing::{Lister, Listing, Witness},
    open::{exhausted, open_directory, open_path, plain},
    read::MOUNTED,
    sealed::Sealed,
};

/// Directories nested deeper than this are a problem: each level holds a handle while it is walked.
const MAX_DEPTH: usize = 128;

/// Lists the directory at `part` below `root` and every directory below it, each under its path; that of the
/// root is empty. Where memories are is not read. Whether the root lies among memories is for the caller to tell.
///
/// # Errors
/// When the first directory cannot be listed, or the process ran out of what it needs to go on.
pub(crate) fn walk(
    root: &Directory,
    part: &str,
    sealed: &Sealed,
    witness: &mut dyn Witness,
) -> io::Result<Vec<(String, Listing)>> {
    let mut listings = Vec::new();
    let mut pending = Vec::new();
    let handle = Rc::new(open_part(root, part)?);
    let listing = Lister { root, part, sealed, witness: &mut *witness }.list(&handle, part)?;
    push_children(&mut pending, &handle, &listing, 0);
    listings.push((part.to_owned(), listing));
    // Children are opened when their turn comes, below a parent that is still held: no more handles are
    // open than the tree is deep.
    while let Some(Pending { parent, path, depth }) = pending.pop() {
        if depth > MAX_DEPTH {
            let reason = format!("directories are nested deeper than {MAX_DEPTH}");
            listings.push((path.clone(), Listing::refused(path, reason)));
            continue;
        }
        let name = path.rsplit('/').next().unwrap_or(&path);
        let listed = open_directory(parent.as_fd(), name).map_err(io::Error::from).and_then(|handle| {
            if sealed.is_of_scope() && is_mounted_in(parent.as_fd(), handle.as_fd())? {
                return Ok(Listing::refused(path.clone(), MOUNTED.to_owned()));
            }
            let handle = Rc::new(handle);
            let listing = Lister { root, part, sealed, witness: &mut *witness }.list(&handle, &path)?;
            push_children(&mut pending, &handle, &listing, depth);
            Ok(listing)
        });
        if let Some(listing) = unlisted(&path, listed)? {
            listings.push((path, listing));
        }
    }
    Ok(listings)
}

/// Lists the directory at `path` below `root`, of which `part` is walked; `None` if it is gone.
///
/// # Errors
/// When the process ran out of what it needs to go on.
pub(crate) fn list_one(
    root: &Directory,
    part: &str,
    path: &str,
    sealed: &Sealed,
    witness: &mut dyn Witness,
) -> io::Result<Option<Listing>> {
    let opened = open_part(root, path);
    unlisted(path, opened.and_then(|handle| Lister { root, part, sealed, witness }.list(&handle, path)))
}

fn open_part(root: &Directory, part: &str) -> io::Result<OwnedFd> {
    if part.is_empty() { root.handle.try_clone() } else { open_path(root.handle.as_fd(), part) }
}

/// What stands for a directory that may not have been listed.
fn unlisted(path: &str, listed: io::Result<Listing>) -> io::Result<Option<Listing>> {
    match listed {
        Ok(listing) => Ok(Some(listing)),
        // It vanished, or became something else, since its parent was read.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => {
            exhausted(&error)?;
            let reason = format!("the directory cannot be listed: {}", plain(&error));
            Ok(Some(Listing::refused(path.to_owned(), reason)))
        }
    }
}

struct Pending {
    parent: Rc<OwnedFd>,
    path: String,
    depth: usize,
}

fn push_children(pending: &mut Vec<Pending>, parent: &Rc<OwnedFd>, listing: &Listing, depth: usize) {
    pending.extend(listing.directories.iter().map(|path| Pending {
        parent: Rc::clone(parent),
        path: path.clone(),
        depth: depth + 1,
    }));
}
