//! The files of a bundle directory, and how to open one without leaving it (B1, B2, B8, B9).
//!
//! Everything is opened below a directory handle, component by component and without following links:
//! whatever is swapped in between listing and reading, no content from outside the root is served.

use std::{
    ffi::CStr,
    fs::File,
    io::{self, Read},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    rc::Rc,
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use crate::{
    containment::{Directory, Identity},
    memory::{Sealed, is_exact_marker, is_mounted_in, mark_if_missing},
    name::{is_concept, is_hidden, why_not_read},
    remark::{FileRemark, Remark, RemarkCode},
};

/// Directories nested deeper than this are a problem: each level holds a handle while it is walked.
const MAX_DEPTH: usize = 128;

const DIRECTORY_LINK: &str = "a directory that is a link is not entered";
const LINK: &str = "it is a link";
/// Among memories: it may be those of another scope.
const MOUNTED: &str = "something is mounted there, which is no memory of this scope";

/// A file that cannot be a concept, and why (B7).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The path below the bundle root.
    pub path: String,
    /// One sentence, without absolute paths.
    pub reason: String,
}

/// What the file system says of a file. Two reads between which it stayed the same saw the same content,
/// unless the file changed too soon after the first to get another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    identity: Identity,
    size: u64,
    /// Nanoseconds since the epoch.
    modified: i128,
    changed: i128,
}

impl Stamp {
    // The types of these fields differ between systems.
    #[allow(clippy::useless_conversion, clippy::unnecessary_cast, clippy::cast_lossless)]
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos = |seconds: i128, nanos: i128| seconds * 1_000_000_000 + nanos;
        Self {
            identity: identity(stat),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: nanos(stat.st_mtime as i128, stat.st_mtime_nsec as i128),
            changed: nanos(stat.st_ctime as i128, stat.st_ctime_nsec as i128),
        }
    }

    /// Which file it is.
    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// When the file last changed in any way; no program can set this time.
    #[must_use]
    pub fn changed(&self) -> i128 {
        self.changed
    }
}

#[allow(clippy::useless_conversion, clippy::unnecessary_cast, clippy::cast_sign_loss)]
pub(crate) fn identity(stat: &Stat) -> Identity {
    Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
}

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
    target: Option<String>,
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

/// What is said of memories where knowledge is read (Y10).
const MEMORIES: &str = "it holds memories, which are no knowledge";
const LINK_TO_MEMORIES: &str = "it is a link to a memory, which is no knowledge";

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

impl Listing {
    fn refused(path: String, reason: String) -> Self {
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

struct Lister<'call> {
    root: &'call Directory,
    /// What of the root is walked; empty if all of it is.
    part: &'call str,
    sealed: &'call Sealed,
    witness: &'call mut dyn Witness,
}

impl Lister<'_> {
    fn list(&mut self, handle: &OwnedFd, path: &str) -> io::Result<Listing> {
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

/// The kind of a directory entry; `None` if it is gone.
fn kind(parent: &OwnedFd, name: &CStr, listed: FileType) -> Option<FileType> {
    if listed != FileType::Unknown {
        return Some(listed);
    }
    // Some file systems do not tell while listing.
    rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)
        .ok()
        .map(|stat| FileType::from_raw_mode(stat.st_mode))
}

/// Out of descriptors or memory, nothing that was found says anything about the bundle.
fn exhausted(error: &io::Error) -> io::Result<()> {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => Err(errno.into()),
        _ => Ok(()),
    }
}

/// The error in words, without the number that `io::Error` appends.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

pub(crate) const OPEN: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);

/// Opens a directory for listing, unless it is a link.
pub(crate) fn open_directory(
    parent: BorrowedFd<'_>,
    name: impl rustix::path::Arg + Copy,
) -> rustix::io::Result<OwnedFd> {
    rustix::io::retry_on_intr(|| {
        rustix::fs::openat(parent, name, OPEN | OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
    })
}

/// Opens the directory at `path` below `root`, following no link.
fn open_path(root: BorrowedFd<'_>, path: &str) -> io::Result<OwnedFd> {
    let passing = &mut |_: BorrowedFd<'_>| Ok(());
    open_path_by(root, path, passing)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Opens as [`open_path`] does, and shows every directory on the way, the last one too, before anything in it
/// is looked up. `None` is the root itself, which is not shown.
fn open_path_by(
    root: BorrowedFd<'_>,
    path: &str,
    passing: &mut dyn FnMut(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<Option<OwnedFd>> {
    let mut held: Option<OwnedFd> = None;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let handle = open_directory(held.as_ref().map_or(root, |fd| fd.as_fd()), part)?;
        passing(handle.as_fd())?;
        held = Some(handle);
    }
    Ok(held)
}

enum Unopened {
    NotRegular,
    /// It lies among memories.
    Memories,
    /// It is another mount's.
    Mounted,
    Io(io::Error),
}

impl From<Errno> for Unopened {
    fn from(errno: Errno) -> Self {
        Unopened::Io(errno.into())
    }
}

/// Opens the regular file at `path` below `root`, following no link, unless a directory on the way holds memories.
fn open_file(root: BorrowedFd<'_>, path: &str, sealed: &Sealed) -> Result<(OwnedFd, Stat), Unopened> {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut barred = sealed.bars(root).map_err(Unopened::Io)?;
    let held = open_path_by(root, directories, &mut |handle| {
        barred = barred || sealed.bars(handle)?;
        Ok(())
    });
    let held = held.map_err(Unopened::Io)?;
    if barred {
        return Err(Unopened::Memories);
    }
    let parent = held.as_ref().map_or(root, |fd| fd.as_fd());
    // Without NONBLOCK, opening a pipe would wait for a writer.
    let flags = OPEN | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match rustix::io::retry_on_intr(|| rustix::fs::openat(parent, name, flags, Mode::empty())) {
        // What a socket answers.
        Err(Errno::NXIO | Errno::OPNOTSUPP) => return Err(Unopened::NotRegular),
        other => other?,
    };
    // Its directory may have become one of memories meanwhile: the mark was made before the file, then.
    if sealed.bars(parent).map_err(Unopened::Io)? {
        return Err(Unopened::Memories);
    }
    if sealed.is_of_scope() && is_mounted_in(parent, file.as_fd())? {
        return Err(Unopened::Mounted);
    }
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((file, stat)),
        _ => Err(Unopened::NotRegular),
    }
}

/// The content of one file.
#[derive(Debug)]
pub struct Content {
    /// The bytes, or why there are none (B7, B9).
    pub bytes: Result<Vec<u8>, String>,
    /// What the file system said before the first byte was read.
    pub stamp: Stamp,
    /// Whether it still said the same after the last.
    pub settled: bool,
}

/// Reads a listed file; `None` if it is gone, or lies among memories by now.
///
/// # Errors
/// When the process ran out of what it needs to go on.
pub(crate) fn read(
    root: &Directory,
    file: &Listed,
    sealed: &Sealed,
    max_bytes: u64,
) -> io::Result<Option<Content>> {
    let path = file.target.as_deref().unwrap_or(&file.path);
    let refused =
        |reason: String| Ok(Some(Content { bytes: Err(reason), stamp: file.stamp, settled: false }));
    let (handle, stat) = match open_file(root.handle.as_fd(), path, sealed) {
        Ok(opened) => opened,
        Err(Unopened::Memories) => return Ok(None),
        Err(Unopened::NotRegular) => return refused("it is not a regular file".to_owned()),
        Err(Unopened::Mounted) => return refused(MOUNTED.to_owned()),
        Err(Unopened::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(Unopened::Io(error)) => {
            exhausted(&error)?;
            return refused(format!("it cannot be read: {}", plain(&error)));
        }
    };
    let stamp = Stamp::of(&stat);
    if stamp.size > max_bytes {
        let bytes = Err(format!("it has more than {max_bytes} bytes"));
        return Ok(Some(Content { bytes, stamp, settled: true }));
    }
    let file = File::from(handle);
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or(0) + 1);
    let bytes = match (&file).take(max_bytes + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > max_bytes => Err(format!("it has more than {max_bytes} bytes")),
        Ok(_) => Ok(bytes),
        Err(error) => {
            exhausted(&error)?;
            Err(format!("it cannot be read: {}", plain(&error)))
        }
    };
    let settled = rustix::fs::fstat(&file).is_ok_and(|after| Stamp::of(&after) == stamp);
    Ok(Some(Content { bytes, stamp, settled }))
}
