//! The text of a concept that gets another section (Y4).

use std::fmt::Write;

use crate::document::Document;

/// Words that some reader of YAML takes for something else than text.
const WORDS: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];

/// The text of a concept that was `existing`, with the section at its end; or of a new one.
///
/// A file of nothing but line ends says nothing, and is taken for none.
///
/// # Errors
/// The rest of a sentence that begins with its name: the section could not be read back.
pub(super) fn with(
    existing: Option<&[u8]>,
    frontmatter: &[(String, String)],
    section: &str,
) -> Result<String, String> {
    let existing = match existing {
        Some(bytes) => {
            let unread = |reason| format!("cannot be appended to, because it cannot be read: {reason}");
            Some((Document::parse(bytes).map_err(unread)?, String::from_utf8_lossy(bytes)))
        }
        None => None,
    };
    // Lines end at `\r\n` too (B3).
    let read = section.replace("\r\n", "\n");
    let (text, body) = match &existing {
        Some((before, text)) if !trimmed(text.trim_start_matches('\u{FEFF}')).is_empty() => {
            let body = trimmed(&before.body);
            let between = if body.is_empty() { "" } else { "\n\n" };
            (format!("{}\n\n{section}", trimmed(text)), format!("{body}{between}{read}"))
        }
        _ => (format!("---\n{}---\n\n{section}", written(frontmatter)), read),
    };
    // What cannot be read back must not take the place of what can.
    let after = Document::parse(text.as_bytes())
        .map_err(|reason| format!("could not be read after it was written: {reason}"))?;
    if after.body != body {
        return Err("would not say what was written".to_owned());
    }
    Ok(text)
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
        for bytes in [&b"---\na: b\n"[..], b"\xFF", b"---\na: [\n---\n"] {
            let reason = with(Some(bytes), &front("t"), "new").unwrap_err();
            assert!(reason.starts_with("cannot be appended to, because it cannot be read: "), "{reason}");
        }
        let reason = with(None, &front(&"x".repeat(1 << 20)), "new").unwrap_err();
        assert!(reason.starts_with("could not be read after it was written: "), "{reason}");
    }

    proptest! {
        #[test]
        fn frontmatter_is_read_back(title in any::<String>()) {
            let text = with(None, &front(&title), "").unwrap();
            prop_assert_eq!(Document::parse(text.as_bytes()).unwrap().title, Some(title));
        }

        #[test]
        fn any_key_stands_beside_the_others(key in "[a:\\-?#'\"\\[ \n~<é\0]{1,128}", value in any::<String>()) {
            let pairs = [vec![(key, value)], front("t")].concat();
            let text = with(None, &pairs, "").unwrap();
            prop_assert_eq!(Document::parse(text.as_bytes()).unwrap().title, Some("t".to_owned()));
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
                body.push_str(&section.replace("\r\n", "\n"));
                let known = Document::parse(text.as_deref().unwrap().as_bytes()).unwrap();
                prop_assert_eq!(&known.body, &body);
            }
            let document = Document::parse(text.unwrap().as_bytes()).unwrap();
            prop_assert_eq!(document.body, body);
            prop_assert_eq!(document.title, Some("t".to_owned()));
        }
    }
}
