//! Lists the directories of a bundle without leaving it (B1, B2, B8, B9).
//!
//! Everything is opened below a directory handle, name by name and without following links. If a link replaces a
//! directory between listing and reading, no content from outside the root is served.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    rc::Rc,
};

use crate::disk::{
    bundle_file::MOUNTED,
    directory::Directory,
    lister::Lister,
    listing::Listing,
    location::is_mounted_in,
    open::{open_below, open_directory},
    os_error::{fail_if_exhausted, plain},
    sealed::SealedDirectories,
    visitor::Visitor,
};

/// Directories nested deeper than this are a problem: the walk holds one file descriptor for each level.
const MAX_DEPTH: usize = 128;

/// Lists the directory at `part` below `root` and every directory below it, each with its path; the path of the root
/// is empty. Sealed directories are not listed. The caller must have checked that no ancestor of `root` is sealed.
///
/// # Errors
/// The first directory cannot be listed, or the process is out of descriptors or memory.
pub(crate) fn walk(
    root: &Directory,
    part: &str,
    sealed: &SealedDirectories,
    visitor: &mut dyn Visitor,
) -> io::Result<Vec<(String, Listing)>> {
    let mut listings = Vec::new();
    let mut pending = Vec::new();
    let mut lister = Lister { root, part, sealed, visitor };
    let handle = Rc::new(open_part(root, part)?);
    let listing = lister.list(handle.as_fd(), part)?;
    push_children(&mut pending, &handle, &listing, 0);
    listings.push((part.to_owned(), listing));
    // A directory is opened when its turn comes, and its ancestors are still open then. So no more descriptors are
    // open at a time than the tree has levels.
    while let Some(Pending { parent, path, depth }) = pending.pop() {
        if depth > MAX_DEPTH {
            let reason = format!("directories are nested deeper than {MAX_DEPTH}");
            listings.push((path.clone(), Listing::refused(path, reason)));
            continue;
        }
        let name = path.rsplit('/').next().unwrap_or(&path);
        let listing = open_directory(parent.as_fd(), name).map_err(io::Error::from).and_then(|handle| {
            if sealed.is_in_scope() && is_mounted_in(parent.as_fd(), handle.as_fd())? {
                return Ok(Listing::refused(path.clone(), MOUNTED.to_owned()));
            }
            let handle = Rc::new(handle);
            let listing = lister.list(handle.as_fd(), &path)?;
            push_children(&mut pending, &handle, &listing, depth);
            Ok(listing)
        });
        if let Some(listing) = listing_or_problem(&path, listing)? {
            listings.push((path, listing));
        }
    }
    Ok(listings)
}

/// Lists the directory at `path` below `root`, where `part` is what is read of the root; `None` if it is gone.
///
/// # Errors
/// The process is out of descriptors or memory.
pub(crate) fn list_one(
    root: &Directory,
    part: &str,
    path: &str,
    sealed: &SealedDirectories,
    visitor: &mut dyn Visitor,
) -> io::Result<Option<Listing>> {
    let mut lister = Lister { root, part, sealed, visitor };
    listing_or_problem(path, open_part(root, path).and_then(|handle| lister.list(handle.as_fd(), path)))
}

fn open_part(root: &Directory, part: &str) -> io::Result<OwnedFd> {
    if part.is_empty() { root.handle.try_clone() } else { open_below(root.handle.as_fd(), part) }
}

/// Turns an error into a listing with a problem; `None` if the directory is gone or is no directory any more.
fn listing_or_problem(path: &str, listing: io::Result<Listing>) -> io::Result<Option<Listing>> {
    match listing {
        Ok(listing) => Ok(Some(listing)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => {
            fail_if_exhausted(&error)?;
            let reason = format!("the directory cannot be listed: {}", plain(&error));
            Ok(Some(Listing::refused(path.to_owned(), reason)))
        }
    }
}

/// A directory that is still to be listed.
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
