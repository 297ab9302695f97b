//! What the name of a file says (B1), and which names only look like a concept's (B11).

/// Endings that markdown files have elsewhere, in lower case.
const MARKDOWN: [&str; 10] =
    ["md", "markdown", "mdown", "mdwn", "mkd", "mkdn", "mkdown", "mdtext", "mdtxt", "mdx"];
/// What iCloud calls a file that is not on this machine: `.note.md.icloud` stands for `note.md`.
const PLACEHOLDER: &str = ".icloud";

/// Whether a file of this name is a concept (B1).
#[allow(clippy::case_sensitive_file_extension_comparisons)] // The contract asks for lower case.
pub(crate) fn is_concept(name: &str) -> bool {
    name.ends_with(".md") && name != "index.md" && name != "log.md"
}

/// Whether an entry of this name is passed over whatever it is (B1). The dot of a placeholder is not its
/// author's: it has to be looked at.
pub(crate) fn is_hidden(name: &[u8]) -> bool {
    name.starts_with(b".") && !name.ends_with(PLACEHOLDER.as_bytes())
}

/// Why a file of this name is no concept although it looks like one, in one sentence (B11).
///
/// Hidden files are hidden on purpose, or by programs that make many of them (`._note.md`, `.#note.md`), and
/// nothing is said of them. Backups (`note.md.bak`, `note.md~`) stand beside what they are copies of.
pub(crate) fn why_not_read(name: &str) -> Option<String> {
    if let Some(stands_for) = name.strip_suffix(PLACEHOLDER) {
        let stands_for = stands_for.strip_prefix('.').unwrap_or(stands_for);
        return ending(stands_for).map(|_| {
            "it stands for a file that iCloud has not loaded to this machine; have it downloaded".to_owned()
        });
    }
    if is_concept(name) {
        return None;
    }
    let seen = name.trim_end_matches(is_unseen);
    if seen.len() < name.len() && ending(seen).is_some() {
        return Some(
            "after .md its name goes on with spaces, dots or what is not seen; remove them".to_owned(),
        );
    }
    let (shown, added) = match seen.rsplit_once('.') {
        Some((rest, text)) if text.eq_ignore_ascii_case("txt") => (rest, &seen[rest.len()..]),
        _ => (seen, ""),
    };
    let ending = ending(shown)?;
    Some(format!("its name ends in .{ending}{added}, and only .md makes a concept; rename it to be read"))
}

/// The ending of a markdown file's name, as it is written; `None` for other names, hidden and reserved ones.
fn ending(name: &str) -> Option<&str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_reserved = ["index", "log"].iter().any(|reserved| stem.eq_ignore_ascii_case(reserved));
    let is_markdown = MARKDOWN.iter().any(|markdown| ending.eq_ignore_ascii_case(markdown));
    (is_markdown && !is_reserved && !stem.is_empty() && !stem.starts_with('.')).then_some(ending)
}

/// What somebody hardly sees at the end of a name.
fn is_unseen(character: char) -> bool {
    let has_no_width = matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    character == '.' || character.is_whitespace() || character.is_control() || has_no_width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_only_look_like_a_concept_are_told() {
        for (name, says) in [
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
            ("note.md ", "goes on with"),
            ("note.md.", "goes on with"),
            ("note.md\u{a0}..", "goes on with"),
            ("note.md\u{200b}", "goes on with"),
            ("note.md\n", "goes on with"),
            ("note.MD ", "goes on with"),
            (".note.md.icloud", "iCloud"),
            ("note.md.icloud", "iCloud"),
            (".NOTE.MD.icloud", "iCloud"),
            (".note.markdown.icloud", "iCloud"),
        ] {
            let said = why_not_read(name).unwrap_or_else(|| panic!("nothing is said of {name:?}"));
            assert!(said.contains(says), "{name:?}: {said}");
            assert!(!said.contains(['\n', '\u{200b}', '\u{a0}']), "{said:?}");
        }
    }

    #[test]
    fn nothing_is_said_of_other_names() {
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
    fn only_placeholders_are_looked_at_behind_a_dot() {
        assert!([&b".git"[..], b".note.md", b".", b".icloud.x"].into_iter().all(is_hidden));
        assert!([&b".note.md.icloud"[..], b"note.md", b"\xff.md"].into_iter().all(|name| !is_hidden(name)));
    }
}
