//! What a reader may have lost although a file is served (B11).

/// The kind of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RemarkCode {
    /// Bytes that are not valid text read as U+FFFD (B3).
    InvalidText,
    /// What looks like frontmatter was read as body (B4).
    FrontmatterNotRead,
    /// An entry of the frontmatter was lost, or taken as it stands (B5).
    FieldNotRead,
    /// A field has a shape that is ignored (B5, B6, L5).
    FieldIgnored,
    /// A key stands twice; the last one counts (B5).
    DuplicateKey,
    /// The one field that the format requires is missing.
    MissingType,
    /// `status` is none of the three words (L1).
    UnknownStatus,
    /// A date or time cannot be read (L2, L5).
    UnreadableDate,
    /// The name looks like a concept's and is not one (B1).
    NameNotRead,
    /// A directory of memories was left out (Y10).
    MemoriesLeftOut,
}

impl RemarkCode {
    /// Every code, in the order of the contract.
    pub const ALL: [RemarkCode; 10] = [
        RemarkCode::InvalidText,
        RemarkCode::FrontmatterNotRead,
        RemarkCode::FieldNotRead,
        RemarkCode::FieldIgnored,
        RemarkCode::DuplicateKey,
        RemarkCode::MissingType,
        RemarkCode::UnknownStatus,
        RemarkCode::UnreadableDate,
        RemarkCode::NameNotRead,
        RemarkCode::MemoriesLeftOut,
    ];

    /// The code as it is shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            RemarkCode::InvalidText => "INVALID_TEXT",
            RemarkCode::FrontmatterNotRead => "FRONTMATTER_NOT_READ",
            RemarkCode::FieldNotRead => "FIELD_NOT_READ",
            RemarkCode::FieldIgnored => "FIELD_IGNORED",
            RemarkCode::DuplicateKey => "DUPLICATE_KEY",
            RemarkCode::MissingType => "MISSING_TYPE",
            RemarkCode::UnknownStatus => "UNKNOWN_STATUS",
            RemarkCode::UnreadableDate => "UNREADABLE_DATE",
            RemarkCode::NameNotRead => "NAME_NOT_READ",
            RemarkCode::MemoriesLeftOut => "MEMORIES_LEFT_OUT",
        }
    }
}

/// A remark on a text, wherever that is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// The line of the file it is about, from 1, where there is one.
    pub line: Option<u32>,
    /// The kind.
    pub code: RemarkCode,
    /// One sentence, without absolute paths.
    pub sentence: String,
}

/// A remark on a file or directory of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRemark {
    /// The path below the bundle root.
    pub path: String,
    /// What is to be said of it.
    pub remark: Remark,
}

impl FileRemark {
    /// A directory or link at which memories are left out. The bundle root itself is `.`.
    pub(crate) fn of_memories(path: &str, sentence: &str) -> Self {
        let path = if path.is_empty() { "." } else { path }.to_owned();
        let sentence = sentence.to_owned();
        Self { path, remark: Remark { line: None, code: RemarkCode::MemoriesLeftOut, sentence } }
    }
}
