//! What one file says (B3, B4).

use std::borrow::Cow;

use crate::frontmatter::Fields;
use crate::instant::Instant;
use crate::remark::Remark;

/// How finished a concept is (L1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Status {
    /// Still being written.
    Draft,
    /// Also what a concept is that says nothing, or something unknown.
    #[default]
    Stable,
    /// Kept for those who still use it.
    Deprecated,
}

impl Status {
    /// The word that stands in the frontmatter.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Draft => "draft",
            Status::Stable => "stable",
            Status::Deprecated => "deprecated",
        }
    }

    fn from_word(word: &str) -> Self {
        match word {
            "draft" => Status::Draft,
            "deprecated" => Status::Deprecated,
            _ => Status::Stable,
        }
    }
}

/// Who confirmed a concept, from nobody up (L5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Trust {
    /// Nobody.
    #[default]
    Unverified,
    /// Somebody, but no person by name.
    MachineConfirmed,
    /// At least one person.
    HumanReviewed,
}

impl Trust {
    /// The name of the tier.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Trust::Unverified => "unverified",
            Trust::MachineConfirmed => "machine_confirmed",
            Trust::HumanReviewed => "human_reviewed",
        }
    }
}

/// What one file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `tags`, in order (B6).
    pub tags: Vec<String>,
    /// `type`.
    pub concept_type: Option<String>,
    /// `status` (L1).
    pub status: Status,
    /// `stale_after` as written.
    pub stale_after: Option<String>,
    /// The instant `stale_after` names, if it names one (L2).
    pub stale_at: Option<Instant>,
    /// What `verified` amounts to (L5).
    pub trust: Trust,
    /// The text after the frontmatter. Its lines end at `\n`.
    pub body: String,
}

/// A document, and what its author may want to know of how it was read (B11).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Read {
    /// What the file says.
    pub document: Document,
    /// In the order of the lines they are about.
    pub remarks: Vec<Remark>,
}

impl Document {
    /// Reads a file's bytes as [`parse`](Self::parse) does, with the remarks on them.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn read(bytes: &[u8]) -> Result<Read, String> {
        Ok(Read { document: Self::parse(bytes)?, remarks: Vec::new() })
    }

    /// Reads a file's bytes (B3 to B6).
    ///
    /// # Errors
    ///
    /// Why the file is a problem (B7), in one short line: it is not UTF-8, or its frontmatter does
    /// not end, is not YAML, is not a mapping, or is built to be expensive.
    ///
    /// ```
    /// use okf_engine::Document;
    ///
    /// let document = Document::parse(b"---\ntitle: Orders\n---\nOne row per order.\n")?;
    /// assert_eq!(document.title.as_deref(), Some("Orders"));
    /// assert_eq!(document.body, "One row per order.\n");
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))?;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let Some((yaml, body)) = split(text)? else {
            return Ok(Document { body: unix_lines(text).into_owned(), ..Document::default() });
        };
        let fields = Fields::parse(&unix_lines(yaml))?;
        Ok(Document {
            title: fields.title,
            description: fields.description,
            tags: fields.tags,
            concept_type: fields.concept_type,
            status: fields.status.as_deref().map(Status::from_word).unwrap_or_default(),
            stale_at: fields.stale_after.as_deref().and_then(Instant::parse),
            stale_after: fields.stale_after,
            trust: fields.trust,
            body: unix_lines(body).into_owned(),
        })
    }
}

/// Frontmatter and body, if there is frontmatter (B4).
fn split(text: &str) -> Result<Option<(&str, &str)>, String> {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok(None);
    };
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            let body = &text[end + line.len()..];
            let body = body.strip_prefix('\n').or_else(|| body.strip_prefix("\r\n")).unwrap_or(body);
            return Ok(Some((&text[first.len()..end], body)));
        }
        end += line.len();
    }
    Err("the frontmatter has no closing `---` line".to_owned())
}

fn is_fence(line: &str) -> bool {
    line.trim() == "---"
}

/// The text with every `\r\n` as `\n`. A `\r` elsewhere is no line end, and stays.
fn unix_lines(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), b"\r\n") {
        if copied == 0 {
            out.reserve_exact(text.len());
        }
        out.push_str(&text[copied..at]);
        copied = at + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Document {
        Document::parse(text.as_bytes()).unwrap_or_else(|reason| panic!("{reason}: {text:?}"))
    }

    /// Title and body.
    fn read(text: &str) -> (Option<String>, String) {
        let document = parse(text);
        (document.title, document.body)
    }

    #[test]
    fn frontmatter_is_told_from_body() {
        for (name, text, title, body) in [
            ("nothing", "", None, ""),
            ("no frontmatter", "text\n", None, "text\n"),
            ("leading newline without frontmatter", "\ntext", None, "\ntext"),
            ("frontmatter and body", "---\ntitle: t\n---\nbody\n", Some("t"), "body\n"),
            ("one leading newline is dropped", "---\ntitle: t\n---\n\nbody", Some("t"), "body"),
            ("only one", "---\ntitle: t\n---\n\n\nbody", Some("t"), "\nbody"),
            ("a line of white space is kept", "---\ntitle: t\n---\n \nbody", Some("t"), " \nbody"),
            ("end of file after the fence", "---\ntitle: t\n---", Some("t"), ""),
            ("empty frontmatter", "---\n---\nbody", None, "body"),
            ("only fences", "---\n---", None, ""),
            ("blank frontmatter", "---\n\n  \n---\nbody", None, "body"),
            ("comments only", "---\n# title: t\n---\nbody", None, "body"),
            ("null", "---\n~\n---\nbody", None, "body"),
            ("fences are trimmed", " ---\t\ntitle: t\n\u{3000}---\u{85} \nbody", Some("t"), "body"),
            ("four dashes are no fence", "----\ntitle: t\n---\n", None, "----\ntitle: t\n---\n"),
            ("text before the fence", "\n---\ntitle: t\n---\n", None, "\n---\ntitle: t\n---\n"),
            ("text after the dashes", "--- x\ntitle: t\n---\n", None, "--- x\ntitle: t\n---\n"),
            ("a rule in the body", "---\ntitle: t\n---\na\n---\nb", Some("t"), "a\n---\nb"),
            ("a fence ends a block scalar", "---\ntitle: |\n  t\n---\nb", Some("t\n"), "b"),
            ("a fence ends a block scalar, indented", "---\ntitle: |\n  t\n  ---\nb", Some("t\n"), "b"),
        ] {
            assert_eq!(read(text), (title.map(str::to_owned), body.to_owned()), "{name}");
        }
    }

    #[test]
    fn one_byte_order_mark_is_dropped() {
        assert_eq!(read("\u{FEFF}---\ntitle: t\n---\nbody"), (Some("t".to_owned()), "body".to_owned()));
        assert_eq!(read("\u{FEFF}body").1, "body");
        assert_eq!(read("\u{FEFF}\u{FEFF}body").1, "\u{FEFF}body");
        assert_eq!(read("\u{FEFF}\u{FEFF}---\n").1, "\u{FEFF}---\n", "the second one is text");
        assert_eq!(read("---\n---\n\u{FEFF}body").1, "\u{FEFF}body");
    }

    #[test]
    fn lines_end_at_newlines_and_carriage_return_newlines() {
        assert_eq!(
            read("---\r\ntitle: |\r\n  a\r\n  b\r\n---\r\n\r\nx\r\n\r\ny"),
            (Some("a\nb\n".to_owned()), "x\n\ny".to_owned())
        );
        assert_eq!(read("a\rb\r\r\nc\r").1, "a\rb\r\nc\r");
        assert_eq!(read("\r\n\r\n").1, "\n\n");
        assert_eq!(read("---\n---\n\rx").1, "\rx");
        assert_eq!(read("---\r---\r").1, "---\r---\r", "a lone carriage return ends no line");
    }

    #[test]
    fn unreadable_files_say_why_in_one_short_line() {
        for (name, bytes, reason) in [
            ("not UTF-8", &b"ab\xFFcd"[..], "not UTF-8 at byte 2"),
            ("surrogate", b"\xED\xA0\x80", "not UTF-8 at byte 0"),
            ("cut short", b"a\xE2\x82", "not UTF-8 at byte 1"),
            ("UTF-16", b"\xFF\xFEa\0", "not UTF-8 at byte 0"),
            ("not UTF-8 in the body", b"---\n---\n\x80", "not UTF-8 at byte 8"),
            ("unterminated", b"---\ntitle: t\n", "the frontmatter has no closing `---` line"),
            ("unterminated, no line", b"---", "the frontmatter has no closing `---` line"),
            ("dots do not end it", b"---\na: b\n...\n", "the frontmatter has no closing `---` line"),
            ("list", b"---\n- a\n---\n", "the frontmatter is not a mapping"),
            (
                "broken YAML",
                b"---\na: b\nc: [\n---\n",
                "broken YAML in line 4: while parsing a node, did not find expected node content",
            ),
        ] {
            assert_eq!(Document::parse(bytes), Err(reason.to_owned()), "{name}");
        }
    }

    #[test]
    fn status_is_one_of_three_words() {
        for (written, status) in [
            ("draft", Status::Draft),
            ("stable", Status::Stable),
            ("deprecated", Status::Deprecated),
            ("'deprecated'", Status::Deprecated),
            ("Draft", Status::Stable),
            ("\"draft \"", Status::Stable),
            ("retired", Status::Stable),
            ("", Status::Stable),
            ("[draft]", Status::Stable),
        ] {
            let text = format!("---\nstatus: {written}\n---\n");
            assert_eq!(parse(&text).status, status, "{written:?}");
        }
        assert_eq!(parse("").status, Status::Stable);
        for status in [Status::Draft, Status::Stable, Status::Deprecated] {
            assert_eq!(Status::from_word(status.as_str()), status);
        }
    }

    #[test]
    fn stale_after_is_kept_as_written_and_understood_if_it_can_be() {
        for (written, text, instant) in [
            ("2026-07-01", "2026-07-01", Some("2026-07-01T00:00:00Z")),
            ("2026-07-01 12:00:00", "2026-07-01 12:00:00", Some("2026-07-01T12:00:00Z")),
            ("'2026-07-01T12:00:00+02:00'", "2026-07-01T12:00:00+02:00", Some("2026-07-01T10:00:00Z")),
            ("12:30:00", "12:30:00", None),
            ("2026-13-01", "2026-13-01", None),
            ("next summer", "next summer", None),
        ] {
            let document = parse(&format!("---\nstale_after: {written}\n---\n"));
            assert_eq!(document.stale_after.as_deref(), Some(text));
            assert_eq!(document.stale_at, instant.and_then(Instant::parse), "{written}");
            assert_eq!(document.stale_at.is_some(), instant.is_some(), "{written}");
        }
        assert_eq!(parse("---\nstale_after: [2026-07-01]\n---\n").stale_after, None);
    }

    #[test]
    fn trust_tiers_are_ordered_and_named() {
        assert!(Trust::Unverified < Trust::MachineConfirmed);
        assert!(Trust::MachineConfirmed < Trust::HumanReviewed);
        let names = [Trust::Unverified, Trust::MachineConfirmed, Trust::HumanReviewed];
        assert_eq!(names.map(Trust::as_str), ["unverified", "machine_confirmed", "human_reviewed"]);
    }

    #[test]
    fn real_bundles_have_no_problems() {
        let bundles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/bundles");
        if !bundles.is_dir() {
            return;
        }
        let files = markdown_below(bundles);
        assert!(files.len() > 50, "{} files", files.len());
        for path in files {
            let document = Document::parse(&fs::read(&path).unwrap());
            let document = document.unwrap_or_else(|reason| panic!("{}: {reason}", path.display()));
            let reserved = path.ends_with("index.md") || path.ends_with("log.md");
            assert!(reserved || document.concept_type.is_some(), "{}", path.display());
        }
    }

    fn markdown_below(root: PathBuf) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut directories = vec![root];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    files.push(path);
                }
            }
        }
        files
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Document::parse(&bytes);
            let _ = Document::parse(&[b"---\n", &bytes[..], b"\n---\n"].concat());
        }

        #[test]
        fn body_text_survives(body in "[a\\-\r\n \u{FEFF}\u{85}é]{0,30}") {
            let expected = body.replace("\r\n", "\n");
            let expected = expected.strip_prefix('\n').unwrap_or(&expected);
            let document = parse(&format!("---\ntitle: t\n---\n{body}"));
            prop_assert_eq!(document.body, expected);
        }

        #[test]
        fn text_without_frontmatter_survives(text in "x[a\\-\r\n \u{FEFF}\u{85}é]{0,30}") {
            prop_assert_eq!(parse(&text).body, text.replace("\r\n", "\n"));
        }

        #[test]
        fn quoted_titles_survive(title in any::<String>()) {
            // A JSON string is a YAML one.
            let quoted = serde_json::to_string(&title).unwrap();
            let document = parse(&format!("---\ntitle: {quoted}\n---\n"));
            prop_assert_eq!(document.title, Some(title));
        }
    }
}
