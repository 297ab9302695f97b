//! Why memories were not read, written or deleted: the kinds, and the only place that puts them into words.
//!
//! The words are read by callers who may not know where the host keeps memories: they hold no absolute path and no
//! id of a source (S5, Y9).

use std::{fmt, io};

use rustix::io::Errno;

use crate::{
    disk::{fence::Breach, os_error::plain},
    work::task::Abandoned,
};

/// At most this many failures of one deletion are kept; the others are only counted.
const MAX_KEPT_FAILURES: usize = 10;

/// What was not done, and why: a sentence without absolute paths.
#[derive(Debug)]
pub struct Failure {
    /// The file or directory, as a path below the memory source; `None` for the memory source itself.
    pub(super) path: Option<String>,
    /// Why.
    pub(super) kind: FailureKind,
}

/// Why a file or directory of memories was not read, written or deleted.
#[derive(Debug)]
pub(super) enum FailureKind {
    /// The memory source cannot be used.
    Source(SourceFault),
    /// The path has an empty part, or a part that is `.` or `..`.
    NotAPath,
    /// No file that readers see can have the name.
    NotAFileName,
    /// It is a link (Y6).
    Link,
    /// It is not a directory.
    NotADirectory,
    /// It is not a regular file.
    NotAFile,
    /// An action failed.
    Failed(Action, Cause),
    /// The action succeeded, but `fsync` did not: a crash may undo it.
    NotSynced(Action, io::Error),
    /// Another process held the lock for this many seconds.
    Locked(u64),
    /// The directory was deleted each time it was made.
    DeletedRepeatedly,
    /// The directory was written to each time it was emptied.
    FilledRepeatedly,
    /// The file has more than this many bytes, so it is not read.
    TooLarge(u64),
    /// With the section, the file would have more than this many bytes, so it would not be read any more.
    WouldBeTooLarge(u64),
    /// The file cannot get the section.
    Section(SectionFault),
    /// The directory holds memories of other scopes too.
    Shared,
}

/// Why a memory source cannot be used.
#[derive(Debug)]
pub(super) enum SourceFault {
    /// Its directory cannot be entered (C1).
    NotEntered(Breach),
    /// Its directory lies in a directory of memories (Y8).
    AmongMemories,
    /// The directories above it cannot be examined.
    NotExamined(io::Error),
}

/// Why a file cannot get a section (Y4).
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SectionFault {
    /// The section holds a NUL: a file that holds one is not read (B7).
    Nul,
    /// The text that is there cannot be read, for this reason.
    ExistingNotRead(String),
    /// The section would be read as frontmatter.
    NotBody,
    /// The concept would be read as another text than was written.
    ReadDifferently,
    /// The concept could not be read after it was written, for this reason.
    NotReadBack(String),
}

/// What was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// To make a directory.
    Make,
    /// To mark a directory as memories.
    Mark,
    /// To enter a directory.
    Enter,
    /// To lock a directory.
    Lock,
    /// To list a directory.
    List,
    /// To read a file.
    Read,
    /// To write a file.
    Write,
    /// To delete a file or a directory.
    Delete,
}

/// Why an action failed.
#[derive(Debug)]
pub(super) enum Cause {
    /// The operating system refused.
    Io(io::Error),
    /// Another file system or directory is mounted inside: it does not belong to the scope.
    MountedInside,
    /// Directories are nested deeper than this many levels.
    TooDeep(usize),
    /// The directory of the memory source cannot be entered (C1).
    NotEntered(Breach),
}

/// Why an operation ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// It cannot be done.
    Failed(Failure),
    /// The caller no longer waits.
    Abandoned,
}

impl Failure {
    /// A failure at a path below the memory source.
    pub(super) fn at(path: impl Into<String>, kind: FailureKind) -> Self {
        Self { path: Some(path.into()), kind }
    }

    /// The same failure, if its path starts in this directory.
    pub(super) fn below(self, directory: &str) -> Self {
        Self { path: self.path.map(|path| format!("{directory}/{path}")), ..self }
    }

    /// A failure of the memory source itself.
    pub(super) fn of_source(fault: SourceFault) -> Self {
        Self { path: None, kind: FailureKind::Source(fault) }
    }
}

impl FailureKind {
    /// An action failed.
    pub(super) fn failed(action: Action, cause: impl Into<Cause>) -> Self {
        Self::Failed(action, cause.into())
    }
}

impl From<SectionFault> for FailureKind {
    fn from(fault: SectionFault) -> Self {
        FailureKind::Section(fault)
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        Cause::Io(error)
    }
}

impl From<Errno> for Cause {
    fn from(errno: Errno) -> Self {
        Cause::Io(errno.into())
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failed(failure)
    }
}

impl From<Abandoned> for Stop {
    fn from(Abandoned: Abandoned) -> Self {
        Stop::Abandoned
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{path:?} {}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

/// A verb phrase: the subject is in front of it.
impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(fault) => write!(f, "the tier's memory source cannot be used: {fault}"),
            Self::NotAPath => f.write_str("is not the path of a scope or of a concept in one"),
            Self::NotAFileName => f.write_str("is not the name of a concept's file"),
            Self::Link => f.write_str("is a link; no memory is read, written or deleted through one"),
            Self::NotADirectory => f.write_str("is not a directory"),
            Self::NotAFile => f.write_str("is not a regular file"),
            Self::Failed(action, cause) => write!(f, "cannot be {action}: {cause}"),
            Self::NotSynced(action, error) => {
                write!(f, "is {action}, but it is not known whether that survives a crash: {}", plain(error))
            }
            Self::Locked(seconds) => write!(f, "was locked by another process for {seconds} seconds"),
            Self::DeletedRepeatedly => f.write_str("is deleted again and again by another process"),
            Self::FilledRepeatedly => {
                f.write_str("is written to again and again; what was written last is still there")
            }
            Self::TooLarge(max_bytes) => write!(f, "has more than {max_bytes} bytes, and is not read"),
            Self::WouldBeTooLarge(max_bytes) => {
                write!(f, "would have more than {max_bytes} bytes, and not be read any more")
            }
            Self::Section(fault) => write!(f, "{fault}"),
            Self::Shared => f.write_str("is shared with other scopes"),
        }
    }
}

impl fmt::Display for SourceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEntered(breach) => f.write_str(&breach.reason),
            Self::AmongMemories => f.write_str("its directory lies among other memories"),
            Self::NotExamined(error) => {
                write!(f, "the directories above its directory cannot be examined: {}", plain(error))
            }
        }
    }
}

/// A verb phrase: the subject is in front of it.
impl fmt::Display for SectionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nul => f.write_str("would hold a NUL, and not be read any more"),
            Self::ExistingNotRead(reason) => {
                write!(f, "cannot be appended to, because it cannot be read: {reason}")
            }
            Self::NotBody => {
                f.write_str("cannot be appended to: the section would be read as something else than body")
            }
            Self::ReadDifferently => f.write_str("would be read as another text than was written"),
            Self::NotReadBack(reason) => write!(f, "could not be read after it was written: {reason}"),
        }
    }
}

/// The past participle.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Make => "made",
            Action::Mark => "marked as memories",
            Action::Enter => "entered",
            Action::Lock => "locked",
            Action::List => "listed",
            Action::Read => "read",
            Action::Write => "written",
            Action::Delete => "deleted",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Io(error) => f.write_str(&plain(error)),
            Cause::MountedInside => f.write_str("something is mounted inside"),
            Cause::TooDeep(levels) => write!(f, "directories are nested deeper than {levels}"),
            Cause::NotEntered(breach) => f.write_str(&breach.reason),
        }
    }
}

/// The failures of one deletion, which goes on after each of them.
#[derive(Debug, Default)]
pub struct Failures {
    /// The first [`MAX_KEPT_FAILURES`].
    kept: Vec<Failure>,
    count: usize,
}

impl Failures {
    pub(super) fn push(&mut self, failure: Failure) {
        self.count += 1;
        if self.kept.len() < MAX_KEPT_FAILURES {
            self.kept.push(failure);
        }
    }

    /// How many failures there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// One text: the failures that are kept, and how many more there are.
impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, failure) in self.kept.iter().enumerate() {
            write!(f, "{}{failure}", if at == 0 { "" } else { "; " })?;
        }
        match self.count - self.kept.len() {
            0 => Ok(()),
            more => write!(f, "; and {more} more could not be deleted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(action: Action) -> FailureKind {
        FailureKind::failed(action, Errno::ACCESS)
    }

    #[test]
    fn a_failure_names_its_path_and_the_reason_of_the_system_without_a_number() {
        for (failure, words) in [
            (Failure::at("a/b", denied(Action::List)), r#""a/b" cannot be listed: permission denied"#),
            (
                Failure::at("a", FailureKind::failed(Action::Delete, Cause::MountedInside)),
                r#""a" cannot be deleted: something is mounted inside"#,
            ),
            (
                Failure::of_source(SourceFault::AmongMemories),
                "the tier's memory source cannot be used: its directory lies among other memories",
            ),
        ] {
            assert_eq!(failure.to_string(), words);
        }
    }

    #[test]
    fn of_many_failures_the_first_are_named_and_the_others_counted() {
        let mut failures = Failures::default();
        assert!(failures.is_empty());
        for at in 0..MAX_KEPT_FAILURES {
            failures.push(Failure::at(at.to_string(), FailureKind::NotAFile));
        }
        let words = failures.to_string();
        assert!(words.starts_with(r#""0" is not a regular file; "1" is"#) && !words.contains("more"));
        failures.push(Failure::at("one more", FailureKind::NotAFile));
        assert_eq!(failures.to_string(), format!("{words}; and 1 more could not be deleted"));
    }
}
