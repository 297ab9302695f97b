//! What one directory of a bundle holds, without following links (B1, B2, B7, B8).

use std::{
    ffi::CStr,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Stat},
    io::Errno,
};

use crate::{
    disk::{
        directory::Directory,
        marks::{is_exact_marker, mark_if_missing},
        open::{exhausted, kind, plain},
        read::{MOUNTED, Unopened, open_file},
        sealed::Sealed,
        stamp::Stamp,
    },
    document::{
        name::{is_concept, is_hidden, why_not_read},
        problem::Problem,
        remark::{FileRemark, Remark, RemarkCode},
    },
};

const DIRECTORY_LINK: &str = "a directory that is a link is not entered";
const LINK: &str = "it is a link";

/// What is said of memories where knowledge is read (Y10).
const MEMORIES: &str = "it holds memories, which are no knowledge";
const LINK_TO_MEMORIES: &str = "it is a link to a memory, which is no knowledge";

/// The file at the root of a bundle that says what it is a bundle of. It is no concept.
pub const ROOT_INDEX: &str = "index.md";

/// A file that should be a concept, or the [`ROOT_INDEX`].
#[derive(Debug, Clone)]
pub struct Listed {
    /// The path below the bundle root, with `/`.
    pub path: String,
    /// What the file system said of its content when it was listed.
    pub stamp: Stamp,
    /// Where the content really is, below the root, if the file is a link.
    pub(super) target: Option<String>,
}

/// What one directory of a bundle holds.
#[derive(Debug, Default)]
pub struct Listing {
    /// Files that should be concepts, and the [`ROOT_INDEX`], sorted by path.
    pub files: Vec<Listed>,
    /// What cannot be one.
    pub problems: Vec<Problem>,
    /// What is to be said of names that are passed over (B11), sorted by path.
    pub remarks: Vec<FileRemark>,
    /// The paths of the directories in it, sorted.
    pub directories: Vec<String>,
}

/// Is shown everything that a walk looks at, before it looks.
pub(crate) trait Witness {
    /// A directory, before it is listed.
    fn directory(&mut self, path: &str, handle: BorrowedFd<'_>);
    /// A file; whether what is said of it is to be taken anew, because it may have changed since.
    fn file(&mut self, path: &str, parent: BorrowedFd<'_>, name: &CStr, stat: &Stat) -> bool;
    /// A link was met.
    fn link(&mut self);
}

impl Listing {
    pub(super) fn refused(path: String, reason: String) -> Self {
        Self { problems: vec![Problem { path, reason }], ..Self::default() }
    }

    /// Stands for a directory of memories.
    fn left_out(path: &str) -> Self {
        Self { remarks: vec![FileRemark::of_memories(path, MEMORIES)], ..Self::default() }
    }

    fn refuse(&mut self, path: String, reason: &str) {
        self.problems.push(Problem { path, reason: reason.to_owned() });
    }

    /// A file that is no concept by its name; a remark if it looks like one.
    fn pass_over(&mut self, name: &str, path: impl FnOnce() -> String) {
        if let Some(sentence) = why_not_read(name) {
            let remark = Remark { line: None, code: RemarkCode::NameNotRead, sentence };
            self.remarks.push(FileRemark { path: path(), remark });
        }
    }

    fn refuse_unreadable(&mut self, path: String, error: &io::Error) -> io::Result<()> {
        exhausted(error)?;
        self.refuse(path, &format!("it cannot be read: {}", plain(error)));
        Ok(())
    }
}

pub(super) struct Lister<'call> {
    pub(super) root: &'call Directory,
    /// What of the root is walked; empty if all of it is.
    pub(super) part: &'call str,
    pub(super) sealed: &'call Sealed,
    pub(super) witness: &'call mut dyn Witness,
}

impl Lister<'_> {
    pub(super) fn list(&mut self, handle: &OwnedFd, path: &str) -> io::Result<Listing> {
        if self.sealed.has(handle.as_fd()) {
            return Ok(Listing::left_out(path));
        }
        self.witness.directory(path, handle.as_fd());
        let mut listing = Listing::default();
        let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        let mut is_marked = false;
        for entry in Dir::read_from(handle.as_fd())? {
            let entry = entry?;
            let raw = entry.file_name();
            is_marked |= is_exact_marker(raw.to_bytes());
            if self.sealed.is_mark(raw.to_bytes()) {
                return Ok(Listing::left_out(path));
            }
            if is_hidden(raw.to_bytes()) {
                continue;
            }
            let kind = kind(handle, raw, entry.file_type());
            // Of what is called like a placeholder, only files are.
            if raw.to_bytes().starts_with(b".") && kind != Some(FileType::RegularFile) {
                continue;
            }
            let Ok(name) = raw.to_str() else {
                let markdown = raw.to_bytes().ends_with(b".md");
                let name = raw.to_string_lossy();
                if kind == Some(FileType::Directory) || (markdown && kind.is_some()) {
                    listing.refuse(join(&name), "its name is not UTF-8");
                } else if kind == Some(FileType::RegularFile) {
                    listing.pass_over(&name, || join(&name));
                }
                continue;
            };
            match kind {
                Some(FileType::Directory) => listing.directories.push(join(name)),
                Some(kind) if path.is_empty() && name == ROOT_INDEX => {
                    self.root_index(&mut listing, handle, raw, kind)?;
                }
                Some(FileType::Symlink) => self.link(&mut listing, handle, raw, join(name))?,
                Some(kind) if is_concept(name) => self.file(&mut listing, handle, raw, join(name), kind)?,
                Some(FileType::RegularFile) => listing.pass_over(name, || join(name)),
                // No file, or gone since the directory was read.
                Some(_) | None => {}
            }
        }
        if self.sealed.is_of_scope() {
            mark_if_missing(handle.as_fd(), is_marked);
        }
        // What was made while the directory was being read may be listed without the mark that was made first.
        // Where nothing may be looked up, there is nothing that could be read.
        match self.sealed.bars(handle.as_fd()) {
            Ok(true) => return Ok(Listing::left_out(path)),
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
            Ok(false) | Err(_) => {}
        }
        listing.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        listing.directories.sort_unstable();
        listing.remarks.sort_unstable();
        Ok(listing)
    }

    fn file(
        &mut self,
        listing: &mut Listing,
        parent: &OwnedFd,
        name: &CStr,
        path: String,
        kind: FileType,
    ) -> io::Result<()> {
        if kind != FileType::RegularFile {
            listing.refuse(path, "it is not a regular file");
            return Ok(());
        }
        let mut stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
        if stat.is_ok_and(|stat| self.witness.file(&path, parent.as_fd(), name, &stat)) {
            stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
        }
        match stat {
            Ok(stat) => {
                listing.files.push(Listed { path, stamp: Stamp::of(&stat), target: None });
                Ok(())
            }
            Err(Errno::NOENT) => Ok(()),
            Err(error) => listing.refuse_unreadable(path, &error.into()),
        }
    }

    /// That it cannot be read is no problem: no answer comes from it.
    fn root_index(
        &mut self,
        listing: &mut Listing,
        parent: &OwnedFd,
        name: &CStr,
        kind: FileType,
    ) -> io::Result<()> {
        let mut index = Listing::default();
        if kind == FileType::Symlink {
            self.link(&mut index, parent, name, ROOT_INDEX.to_owned())?;
        } else {
            self.file(&mut index, parent, name, ROOT_INDEX.to_owned(), kind)?;
        }
        listing.files.append(&mut index.files);
        listing
            .problems
            .extend(index.problems.into_iter().filter(|problem| problem.reason == DIRECTORY_LINK));
        Ok(())
    }

    /// A link is followed to a file inside the root, and nowhere else. What is only a part of a root holds what
    /// is its own: there, none is followed.
    fn link(&mut self, listing: &mut Listing, parent: &OwnedFd, name: &CStr, path: String) -> io::Result<()> {
        self.witness.link();
        let leads_to = rustix::fs::statat(parent, name, AtFlags::empty())
            .map(|stat| FileType::from_raw_mode(stat.st_mode));
        if leads_to == Ok(FileType::Directory) {
            listing.refuse(path, DIRECTORY_LINK);
            return Ok(());
        }
        let name = path.rsplit('/').next().unwrap_or(&path);
        if path != ROOT_INDEX && !is_concept(name) {
            if leads_to == Ok(FileType::RegularFile) {
                listing.pass_over(name, || path.clone());
            }
            return Ok(());
        }
        if !self.part.is_empty() {
            listing.refuse(path, LINK);
            return Ok(());
        }
        let real = self.root.path.canonicalize().and_then(|root| {
            let real = self.root.path.join(&path).canonicalize()?;
            Ok(real.strip_prefix(root).ok().map(std::path::Path::to_path_buf))
        });
        let target = match real {
            Ok(Some(target)) => target,
            Ok(None) => {
                listing.refuse(path, "it is a link that leads out of the bundle");
                return Ok(());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                listing.refuse(path, "it is a link to nothing");
                return Ok(());
            }
            Err(error) => return listing.refuse_unreadable(path, &error),
        };
        let Some(target) = target.to_str() else {
            listing.refuse(path, "it is a link to a name that is not UTF-8");
            return Ok(());
        };
        match open_file(self.root.handle.as_fd(), target, self.sealed) {
            Err(Unopened::Memories) => {
                listing.remarks.push(FileRemark::of_memories(&path, LINK_TO_MEMORIES));
                Ok(())
            }
            Ok((_, stat)) => {
                let target = Some(target.to_owned());
                listing.files.push(Listed { path, stamp: Stamp::of(&stat), target });
                Ok(())
            }
            Err(Unopened::NotRegular) => {
                listing.refuse(path, "it is not a regular file");
                Ok(())
            }
            Err(Unopened::Mounted) => {
                listing.refuse(path, MOUNTED);
                Ok(())
            }
            Err(Unopened::Io(error)) => listing.refuse_unreadable(path, &error),
        }
    }
}
