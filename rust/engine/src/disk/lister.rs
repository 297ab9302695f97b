//! Lists one directory of a bundle, without following links out of the bundle (B1, B2, B7, B8).

use std::{ffi::CStr, io, os::fd::AsFd, os::fd::BorrowedFd};

use rustix::{
    fs::{AtFlags, Dir, DirEntry, FileType, statat},
    io::Errno,
};

use crate::{
    disk::{
        bundle_file::{MOUNTED, Unopened, open_bundle_file},
        directory::Directory,
        entry::{Links, kind_at, kind_of_listed},
        link_target::{NoTarget, link_target},
        listing::{ListedFile, Listing, ROOT_INDEX},
        marks::{is_exact_mark_name, mark},
        sealed::SealedDirectories,
        stamp::Stamp,
        visitor::Visitor,
    },
    document::{
        name::{is_concept, is_hidden},
        remark::FileRemark,
    },
};

const DIRECTORY_LINK: &str = "a directory that is a link is not entered";
const LINK: &str = "it is a link";
const NOT_REGULAR: &str = "it is not a regular file";
const LINK_TO_MEMORIES: &str = "it is a link to a memory, which is no knowledge";

/// Lists directories of one bundle.
pub(super) struct Lister<'call> {
    pub(super) root: &'call Directory,
    /// The directory below the root that is read; empty for the whole bundle.
    pub(super) part: &'call str,
    pub(super) sealed: &'call SealedDirectories,
    pub(super) visitor: &'call mut dyn Visitor,
}

impl Lister<'_> {
    /// Lists the directory at `path` below the root, which `handle` is open at.
    ///
    /// # Errors
    /// It cannot be listed, or the process is out of descriptors or memory.
    pub(super) fn list(&mut self, handle: BorrowedFd<'_>, path: &str) -> io::Result<Listing> {
        if self.sealed.contains(handle) {
            return Ok(Listing::sealed(path));
        }
        self.visitor.directory(path, handle);
        let mut listing = Listing::default();
        let mut is_marked = false;
        for entry in Dir::read_from(handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            is_marked |= is_exact_mark_name(name);
            if self.sealed.is_seal(name) {
                return Ok(Listing::sealed(path));
            }
            if !is_hidden(name) {
                self.add(&mut listing, handle, path, &entry)?;
            }
        }
        if self.sealed.is_in_scope() && !is_marked {
            // A process that may only read continues. When a store is opened, it reports what it cannot mark.
            let _ = mark(handle);
        }
        // A file that was created while the directory was listed may be listed without the mark, which was created
        // before it. Where no name may be looked up (permission denied), no file can be read either.
        match self.sealed.is_sealed(handle) {
            Ok(true) => return Ok(Listing::sealed(path)),
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
            Ok(false) | Err(_) => {}
        }
        listing.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        listing.directories.sort_unstable();
        listing.remarks.sort_unstable();
        Ok(listing)
    }

    fn add(
        &mut self,
        listing: &mut Listing,
        parent: BorrowedFd<'_>,
        directory: &str,
        entry: &DirEntry,
    ) -> io::Result<()> {
        let raw = entry.file_name();
        // An entry that cannot be looked at is treated as one that is gone.
        let Ok(Some(kind)) = kind_of_listed(parent, entry) else { return Ok(()) };
        // `is_hidden` lets some names with a dot through, of files only.
        if raw.to_bytes().starts_with(b".") && kind != FileType::RegularFile {
            return Ok(());
        }
        let join = |name: &str| {
            if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
        };
        let Ok(name) = raw.to_str() else {
            let name = raw.to_string_lossy();
            if kind == FileType::Directory || raw.to_bytes().ends_with(b".md") {
                listing.refuse(join(&name), "its name is not UTF-8");
            } else if kind == FileType::RegularFile {
                listing.ignore(&name, || join(&name));
            }
            return Ok(());
        };
        match kind {
            FileType::Directory => listing.directories.push(join(name)),
            kind if directory.is_empty() && name == ROOT_INDEX => {
                self.add_root_index(listing, parent, raw, kind)?;
            }
            FileType::Symlink => self.add_link(listing, parent, raw, join(name))?,
            kind if is_concept(name) => self.add_file(listing, parent, raw, join(name), kind)?,
            FileType::RegularFile => listing.ignore(name, || join(name)),
            _ => {}
        }
        Ok(())
    }

    fn add_file(
        &mut self,
        listing: &mut Listing,
        parent: BorrowedFd<'_>,
        name: &CStr,
        path: String,
        kind: FileType,
    ) -> io::Result<()> {
        if kind != FileType::RegularFile {
            listing.refuse(path, NOT_REGULAR);
            return Ok(());
        }
        let mut stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
        if stat.is_ok_and(|stat| self.visitor.file(&path, parent, name, &stat)) {
            stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
        }
        match stat {
            Ok(stat) => {
                listing.files.push(ListedFile { path, stamp: Stamp::of(&stat), target: None });
                Ok(())
            }
            Err(Errno::NOENT) => Ok(()),
            Err(error) => listing.refuse_unreadable(path, &error.into()),
        }
    }

    /// A root index that cannot be read is no problem, because no answer comes from it; a link to a directory is one,
    /// whatever it is called.
    fn add_root_index(
        &mut self,
        listing: &mut Listing,
        parent: BorrowedFd<'_>,
        name: &CStr,
        kind: FileType,
    ) -> io::Result<()> {
        let is_link = kind == FileType::Symlink;
        if is_link && kind_at(parent, name, Links::Follow) == Ok(FileType::Directory) {
            self.visitor.link();
            listing.refuse(ROOT_INDEX.to_owned(), DIRECTORY_LINK);
            return Ok(());
        }
        let mut index = Listing::default();
        if is_link {
            self.add_link(&mut index, parent, name, ROOT_INDEX.to_owned())?;
        } else {
            self.add_file(&mut index, parent, name, ROOT_INDEX.to_owned(), kind)?;
        }
        listing.files.append(&mut index.files);
        Ok(())
    }

    /// A link to a file inside the root is followed, any other is not. If only a part of the root is read, no link is
    /// followed: it could lead to the memories of another scope.
    fn add_link(
        &mut self,
        listing: &mut Listing,
        parent: BorrowedFd<'_>,
        name: &CStr,
        path: String,
    ) -> io::Result<()> {
        self.visitor.link();
        let target_kind = kind_at(parent, name, Links::Follow);
        if target_kind == Ok(FileType::Directory) {
            listing.refuse(path, DIRECTORY_LINK);
            return Ok(());
        }
        let name = path.rsplit('/').next().unwrap_or(&path);
        if path != ROOT_INDEX && !is_concept(name) {
            if target_kind == Ok(FileType::RegularFile) {
                listing.ignore(name, || path.clone());
            }
            return Ok(());
        }
        if !self.part.is_empty() {
            listing.refuse(path, LINK);
            return Ok(());
        }
        match link_target(self.root, &path) {
            Ok(target) => self.add_linked_file(listing, path, target),
            Err(NoTarget::Refused(reason)) => {
                listing.refuse(path, reason);
                Ok(())
            }
            Err(NoTarget::Io(error)) => listing.refuse_unreadable(path, &error),
        }
    }

    fn add_linked_file(&self, listing: &mut Listing, path: String, target: String) -> io::Result<()> {
        match open_bundle_file(self.root.handle.as_fd(), &target, self.sealed) {
            Ok((_, stat)) => {
                listing.files.push(ListedFile { path, stamp: Stamp::of(&stat), target: Some(target) });
            }
            Err(Unopened::Sealed) => {
                listing.remarks.push(FileRemark::of_memories(&path, LINK_TO_MEMORIES));
            }
            Err(Unopened::NotRegular) => listing.refuse(path, NOT_REGULAR),
            Err(Unopened::Mounted) => listing.refuse(path, MOUNTED),
            Err(Unopened::Io(error)) => return listing.refuse_unreadable(path, &error),
        }
        Ok(())
    }
}
