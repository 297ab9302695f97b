//! The text of a concept that gets another section (Y4).

use std::fmt::Write;

use crate::{
    document::Document,
    remark::{Remark, RemarkCode},
    text::{MARK, unix_lines},
};

/// Words that some reader of YAML takes for something else than text.
const WORDS: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];

/// The text of a concept that was `existing`, with the section at its end; or of a new one.
///
/// Every byte that was there stays, but for line ends at the end. A file of nothing but line ends says nothing,
/// and is taken for none.
///
/// # Errors
/// The rest of a sentence that begins with its name: the section could not be read back, or what was there
/// could not be kept.
pub(super) fn with(
    existing: Option<&[u8]>,
    frontmatter: &[(String, String)],
    section: &str,
) -> Result<String, String> {
    let existing = match existing {
        Some(bytes) => Some(
            known(bytes)
                .map_err(|reason| format!("cannot be appended to, because it cannot be read: {reason}"))?,
        ),
        None => None,
    };
    // All lines end at `\n` when they are read (B3).
    let read = unix_lines(section);
    let (text, expected) = match existing {
        Some((before, text)) if !trimmed(text.trim_start_matches(MARK)).is_empty() => {
            let body = trimmed(&before.body);
            let between = if body.is_empty() { "" } else { "\n\n" };
            let body = format!("{body}{between}{read}");
            (format!("{}\n\n{section}", trimmed(text)), Ok(Document { body, ..before }))
        }
        _ => (format!("---\n{}---\n\n{section}", written(frontmatter)), Err(read)),
    };
    // What cannot be read back must not take the place of what can.
    let after = Document::read(text.as_bytes())
        .map_err(|reason| format!("could not be read after it was written: {reason}"))?;
    let lost =
        |remark: &Remark| matches!(remark.code, RemarkCode::FrontmatterNotRead | RemarkCode::FieldNotRead);
    let is_as_expected = match expected {
        Ok(document) => after.document == document,
        Err(body) => match after.remarks.into_iter().find(lost) {
            Some(Remark { sentence, .. }) => {
                return Err(format!("could not be read after it was written: {sentence}"));
            }
            None => after.document.body == body,
        },
    };
    if is_as_expected { Ok(text) } else { Err("would not say what was written".to_owned()) }
}

/// What a file says, and its text, if nothing of it was lost that writing it again would change.
fn known(bytes: &[u8]) -> Result<(Document, &str), String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 at byte {}", error.valid_up_to()))?;
    let read = Document::read(bytes)?;
    let lost = read.remarks.into_iter().find(|remark| remark.code == RemarkCode::FrontmatterNotRead);
    match lost {
        Some(remark) => Err(remark.sentence),
        None => Ok((read.document, text)),
    }
}

/// Without the line ends at its end.
fn trimmed(text: &str) -> &str {
    text.trim_end_matches(['\n', '\r'])
}

fn written(frontmatter: &[(String, String)]) -> String {
    let mut yaml = String::new();
    for (key, value) in frontmatter {
        write_key(&mut yaml, key);
        yaml.push_str(": ");
        write_scalar(&mut yaml, value);
        yaml.push('\n');
    }
    yaml
}

fn write_key(yaml: &mut String, key: &str) {
    let is_word = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        && !WORDS.contains(&key.to_ascii_lowercase().as_str());
    if is_word { yaml.push_str(key) } else { write_scalar(yaml, key) }
}

/// The text as a YAML scalar of one line, which is read back as the same text whatever is in it.
///
/// Characters that YAML does not allow, and those that break a line for some readers, are escapes.
fn write_scalar(yaml: &mut String, text: &str) {
    yaml.push('"');
    for c in text.chars() {
        let code = u32::from(c);
        let written = match c {
            '"' | '\\' => write!(yaml, "\\{c}"),
            '\n' => write!(yaml, "\\n"),
            '\t' => write!(yaml, "\\t"),
            c if c.is_control() => write!(yaml, "\\x{code:02x}"),
            '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => write!(yaml, "\\u{code:04x}"),
            c => write!(yaml, "{c}"),
        };
        written.expect("a String takes whatever is written to it");
    }
    yaml.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn front(title: &str) -> Vec<(String, String)> {
        vec![("type".to_owned(), "Memory".to_owned()), ("title".to_owned(), title.to_owned())]
    }

    #[test]
    fn a_section_stands_after_a_blank_line() {
        for (name, existing, expected) in [
            ("none", None, "---\ntype: \"Memory\"\ntitle: \"t\"\n---\n\nnew"),
            ("nothing", Some(""), "---\ntype: \"Memory\"\ntitle: \"t\"\n---\n\nnew"),
            ("line ends", Some("\u{FEFF}\r\n\n"), "---\ntype: \"Memory\"\ntitle: \"t\"\n---\n\nnew"),
            ("a body", Some("---\na: b\n---\n\nold"), "---\na: b\n---\n\nold\n\nnew"),
            ("a body that ends", Some("---\na: b\n---\nold\n\n\r\n"), "---\na: b\n---\nold\n\nnew"),
            ("no body", Some("---\na: b\n---"), "---\na: b\n---\n\nnew"),
            ("no frontmatter", Some("old\n"), "old\n\nnew"),
            ("spaces", Some("old \n \n"), "old \n \n\nnew"),
        ] {
            assert_eq!(
                with(existing.map(str::as_bytes), &front("t"), "new").as_deref(),
                Ok(expected),
                "{name}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_appended_to() {
        for bytes in
            [&b"---\na: b\n"[..], b"a\xFF", b"\xFF\xFEa\0", b"a\0", b"---\na: [\n---\n", b"+++\na = 1\n+++\n"]
        {
            let reason = with(Some(bytes), &front("t"), "new").unwrap_err();
            assert!(reason.starts_with("cannot be appended to, because it cannot be read: "), "{reason}");
        }
    }

    #[test]
    fn what_would_not_be_read_back_is_not_written() {
        let unread = "could not be read after it was written: ";
        for (title, section) in [("x".repeat(1 << 20), "new"), ("t".to_owned(), "a\0b")] {
            let reason = with(None, &front(&title), section).unwrap_err();
            assert!(reason.starts_with(unread), "{reason}");
        }
    }

    #[test]
    fn a_file_with_a_slip_keeps_every_byte() {
        for existing in [
            "---\ntype: Memory\ntitle: ADR-1: Use X\n---\nold",
            "---\ntype: Memory\ntags: [\n\"a\"\n]\nx: {\n---\n\nold",
            "\u{FEFF}\u{FEFF}\n---\r\ntitle: @x\r\n---\r\n\r\nold\r\n  more",
            "---\rtitle: x\r---\rold",
            "---\ntitle: x\nstray\n---\nold \u{FFFD}",
            "a\n---\n",
        ] {
            let text = with(Some(existing.as_bytes()), &front("t"), "new\r\n").unwrap();
            assert_eq!(text, format!("{}\n\nnew\r\n", trimmed(existing)), "{existing:?}");
        }
    }

    proptest! {
        #[test]
        fn frontmatter_is_read_back(title in any::<String>()) {
            let text = with(None, &front(&title), "").unwrap();
            prop_assert_eq!(Document::read(text.as_bytes()).unwrap().document.title, Some(title));
        }

        #[test]
        fn any_key_stands_beside_the_others(key in "[a:\\-?#'\"\\[ \n~<é\0]{1,128}", value in any::<String>()) {
            let pairs = [vec![(key, value)], front("t")].concat();
            let text = with(None, &pairs, "").unwrap();
            prop_assert_eq!(Document::read(text.as_bytes()).unwrap().document.title, Some("t".to_owned()));
        }

        #[test]
        fn sections_follow_each_other(sections in prop::collection::vec("[\\-a\r\n ]{0,6}", 1..5)) {
            let mut text: Option<String> = None;
            let mut body = String::new();
            for section in &sections {
                text = Some(with(text.as_deref().map(str::as_bytes), &front("t"), section).unwrap());
                body = trimmed(&body).to_owned();
                if !body.is_empty() {
                    body.push_str("\n\n");
                }
                body.push_str(&unix_lines(section));
                let known = Document::read(text.as_deref().unwrap().as_bytes()).unwrap();
                prop_assert_eq!(&known.document.body, &body);
            }
            let document = Document::read(text.unwrap().as_bytes()).unwrap().document;
            prop_assert_eq!(document.body, body);
            prop_assert_eq!(document.title, Some("t".to_owned()));
        }
    }
}
