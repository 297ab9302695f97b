//! What can be wrong with a catalog's manifest and paths (M1, C1).

use std::fmt::Write as _;

use crate::named_enum::named_enum;

named_enum! {
    /// The kind of a fault in a catalog manifest, in the order in which the checks run.
    pub enum CatalogDiagnosticCode {
        /// Not JSON, not UTF-8, unreadable, a repeated key, or the root or a source is not an object.
        ParseError = "PARSE_ERROR",
        /// The root object has an unknown key.
        UnknownRootProperty = "UNKNOWN_ROOT_PROPERTY",
        /// `version` is not the integer 1.
        WrongVersion = "WRONG_VERSION",
        /// `sources` is missing, not a list, or empty.
        EmptySources = "EMPTY_SOURCES",
        /// A source has an unknown key.
        UnknownSourceProperty = "UNKNOWN_SOURCE_PROPERTY",
        /// An id is missing or is not one segment (M2).
        InvalidSourceId = "INVALID_SOURCE_ID",
        /// Two sources share an id.
        DuplicateSourceId = "DUPLICATE_SOURCE_ID",
        /// A path is missing, not a string, or empty.
        EmptyPath = "EMPTY_PATH",
        /// `priority` is not a 32-bit signed integer.
        MalformedPriority = "MALFORMED_PRIORITY",
        /// `enabled` is not a boolean.
        MalformedEnabled = "MALFORMED_ENABLED",
        /// `role` is neither `knowledge` nor `memory`.
        IllegalRole = "ILLEGAL_ROLE",
        /// `tier` does not fit the role.
        IllegalTier = "ILLEGAL_TIER",
        /// Two memory sources share a tier.
        DuplicateMemoryTier = "DUPLICATE_MEMORY_TIER",
        /// A key, or a text in a value, contains U+0000.
        EmbeddedNul = "EMBEDDED_NUL",
        /// A path contains U+0000, which no file system accepts.
        InvalidPath = "INVALID_PATH",
        /// A path is absolute; it must be relative to the manifest's directory.
        AbsolutePath = "ABSOLUTE_PATH",
        /// A path leads out of the catalog root.
        OutsideRoot = "OUTSIDE_ROOT",
        /// There is nothing at the path, or it is not a directory.
        TargetNotFound = "TARGET_NOT_FOUND",
        /// A link, or an entry whose kind is unknown, is at the target or between the root and the target.
        ReparsePointInPath = "REPARSE_POINT_IN_PATH",
    }
}

/// The most faults of one manifest that are kept. A file with a million faults must not fill memory or a log.
pub(crate) const MAX_FAULTS: usize = 1000;

/// One fault: what kind, where, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CatalogDiagnostic {
    /// The kind of the fault.
    pub code: CatalogDiagnosticCode,
    /// One sentence that names the source (index and id) and says what would be right. It never
    /// carries an absolute path (D4).
    pub message: String,
}

/// Faults in the order in which they were found: the first [`MAX_FAULTS`], and the number of all.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    first: Vec<CatalogDiagnostic>,
    count: usize,
}

impl Faults {
    /// Adds a fault. The message is made only if it is kept.
    pub(crate) fn push(&mut self, code: CatalogDiagnosticCode, message: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < MAX_FAULTS {
            self.first.push(CatalogDiagnostic { code, message: message() });
        }
    }

    /// The value if there is no fault, or the faults. If some are left out, the last message says how many.
    pub(crate) fn into_result<T>(mut self, value: T) -> Result<T, Vec<CatalogDiagnostic>> {
        let left_out = self.count - self.first.len();
        match self.first.last_mut() {
            None => return Ok(value),
            Some(last) if left_out > 0 => {
                let noun = if left_out == 1 { "fault is" } else { "faults are" };
                write!(last.message, " ({left_out} more {noun} not listed, {} in all)", self.count)
                    .expect("a String takes any text");
            }
            Some(_) => {}
        }
        Err(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(count: usize) -> Result<(), Vec<CatalogDiagnostic>> {
        let mut faults = Faults::default();
        for number in 1..=count {
            faults.push(CatalogDiagnosticCode::EmptyPath, || format!("fault {number}"));
        }
        faults.into_result(())
    }

    #[test]
    fn the_first_faults_are_kept_and_the_last_message_says_how_many_are_left_out() {
        assert_eq!(faults(0), Ok(()));
        let rows = [
            (1, "fault 1"),
            (MAX_FAULTS, "fault 1000"),
            (MAX_FAULTS + 1, "fault 1000 (1 more fault is not listed, 1001 in all)"),
            (1_000_000, "fault 1000 (999000 more faults are not listed, 1000000 in all)"),
        ];
        for (count, last) in rows {
            let kept = faults(count).unwrap_err();
            assert_eq!(kept.len(), count.min(MAX_FAULTS));
            assert_eq!(kept.last().unwrap().message, last);
        }
    }
}
