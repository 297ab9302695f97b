//! File names: which are names of concepts (B1), and which only look like one (B11).

/// Endings that other programs use for markdown files, in lower case.
const MARKDOWN: [&str; 10] =
    ["md", "markdown", "mdown", "mdwn", "mkd", "mkdn", "mkdown", "mdtext", "mdtxt", "mdx"];
/// The ending of a placeholder. iCloud leaves `.note.md.icloud` in place of a `note.md` that is not on this machine.
const PLACEHOLDER: &str = ".icloud";

/// Whether a file with this name is a concept (B1).
#[allow(clippy::case_sensitive_file_extension_comparisons)] // The contract asks for lower case.
pub(crate) fn is_concept(name: &str) -> bool {
    name.ends_with(".md") && name != "index.md" && name != "log.md"
}

/// Whether an entry with this name is ignored, file or directory (B1). Placeholders are not ignored: their dot does
/// not come from the author of the file.
pub(crate) fn is_hidden(name: &[u8]) -> bool {
    name.starts_with(b".") && !name.ends_with(PLACEHOLDER.as_bytes())
}

/// Why a file with this name is no concept although it looks like one, in one sentence (B11). `None` for all other
/// names.
///
/// Hidden files give no reason: they are hidden on purpose, or made by programs in large numbers (`._note.md`,
/// `.#note.md`). Nor do backups (`note.md.bak`, `note.md~`): the file that they are copies of is there too.
pub(crate) fn why_not_read(name: &str) -> Option<String> {
    if let Some(stands_for) = name.strip_suffix(PLACEHOLDER) {
        let stands_for = stands_for.strip_prefix('.').unwrap_or(stands_for);
        return ending(stands_for).map(|_| {
            "it is a placeholder for a file that iCloud has not downloaded to this machine; download the file".to_owned()
        });
    }
    if is_concept(name) {
        return None;
    }
    let visible = name.trim_end_matches(is_hardly_visible);
    if visible.len() < name.len() && ending(visible).is_some() {
        return Some("its name has spaces, dots or invisible characters after .md; remove them".to_owned());
    }
    let (markdown, added) = match visible.rsplit_once('.') {
        Some((rest, text)) if text.eq_ignore_ascii_case("txt") => (rest, &visible[rest.len()..]),
        _ => (visible, ""),
    };
    let ending = ending(markdown)?;
    Some(format!("its name ends in .{ending}{added}, and only .md makes a concept; rename it to be read"))
}

/// The ending of a markdown file's name, as written; `None` for other names, and for hidden and reserved ones.
fn ending(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_reserved = ["index", "log"].iter().any(|reserved| stem.eq_ignore_ascii_case(reserved));
    let is_markdown = MARKDOWN.iter().any(|markdown| ending.eq_ignore_ascii_case(markdown));
    (is_markdown && !is_reserved && !stem.is_empty() && !stem.starts_with('.')).then_some(ending)
}

/// Whether a character at the end of a name is easily overlooked.
fn is_hardly_visible(character: char) -> bool {
    let has_no_width = matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    character == '.' || character.is_whitespace() || character.is_control() || has_no_width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_look_like_a_concept_give_a_reason() {
        for (name, expected) in [
            ("NOTE.MD", "ends in .MD,"),
            ("Note.Md", "ends in .Md,"),
            ("note.mD", "ends in .mD,"),
            ("note.markdown", "ends in .markdown,"),
            ("note.Markdown", "ends in .Markdown,"),
            ("a.b.mdown", "ends in .mdown,"),
            ("note.mkd", "ends in .mkd,"),
            ("note.mkdn", "ends in .mkdn,"),
            ("note.mkdown", "ends in .mkdown,"),
            ("note.mdwn", "ends in .mdwn,"),
            ("note.mdx", "ends in .mdx,"),
            ("note.md.txt", "ends in .md.txt,"),
            ("Note.MD.TXT", "ends in .MD.TXT,"),
            ("note.markdown.txt", "ends in .markdown.txt,"),
            ("数字.MD", "ends in .MD,"),
            ("a b.MD", "ends in .MD,"),
            ("my index.MD", "ends in .MD,"),
            ("indexes.markdown", "ends in .markdown,"),
            ("note.md ", "has spaces, dots"),
            ("note.md.", "has spaces, dots"),
            ("note.md\u{a0}..", "has spaces, dots"),
            ("note.md\u{200b}", "has spaces, dots"),
            ("note.md\n", "has spaces, dots"),
            ("note.MD ", "has spaces, dots"),
            (".note.md.icloud", "iCloud"),
            ("note.md.icloud", "iCloud"),
            (".NOTE.MD.icloud", "iCloud"),
            (".note.markdown.icloud", "iCloud"),
        ] {
            let reason = why_not_read(name).unwrap_or_else(|| panic!("no reason for {name:?}"));
            assert!(reason.contains(expected), "{name:?}: {reason}");
            assert!(!reason.contains(['\n', '\u{200b}', '\u{a0}']), "{reason:?}");
        }
    }

    #[test]
    fn other_names_give_no_reason() {
        for name in [
            "note.md",
            "index.md.md",
            "INDEX.md",
            "index.md",
            "log.md",
            "index.MD",
            "Index.markdown",
            "LOG.MD",
            "log.md.txt",
            "index.md ",
            ".index.md.icloud",
            ".log.markdown.icloud",
            ".note.md",
            ".NOTE.MD",
            "._note.MD",
            ".#note.md",
            "..note.md.icloud",
            ".md",
            ".MD",
            ".md.icloud",
            ".icloud",
            "icloud",
            ".photo.jpg.icloud",
            "note.md.bak",
            "note.md~",
            "note.md.orig",
            "note.md.swp",
            "notes.txt",
            "notes.",
            "notes",
            "md",
            "amd",
            "a.cmd",
            "a.mdb",
            "markdown",
            "markdown.py",
            "...",
            "",
            " ",
        ] {
            assert_eq!(why_not_read(name), None, "{name:?}");
        }
    }

    #[test]
    fn names_with_a_leading_dot_are_hidden_unless_they_are_placeholders() {
        assert!([&b".git"[..], b".note.md", b".", b".icloud.x"].into_iter().all(is_hidden));
        assert!([&b".note.md.icloud"[..], b"note.md", b"\xff.md"].into_iter().all(|name| !is_hidden(name)));
    }
}
