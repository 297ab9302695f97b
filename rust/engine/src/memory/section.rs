//! The text of a concept that gets another section (Y4).

use std::fmt::Write;

use super::Value;
use crate::document::{self, Document, remark::RemarkCode};

/// Words that some reader of YAML takes for something else than text.
const WORDS: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];

/// The bytes of a concept that was `existing`, with the section at their end; or of a new one.
///
/// Every byte that was there stays, but for line ends at the end (Y4). A file of nothing but line ends says
/// nothing, and is taken for none.
///
/// # Errors
/// The rest of a sentence that begins with its name: what is there cannot be read, or the section could not
/// be read back.
pub(super) fn with(
    existing: Option<&[u8]>,
    frontmatter: &[(String, Value)],
    section: &str,
) -> Result<Vec<u8>, String> {
    if section.contains('\0') {
        return Err("would hold a NUL, and not be read any more".to_owned());
    }
    let existing = match existing {
        Some(bytes) => {
            let unread = |reason| format!("cannot be appended to, because it cannot be read: {reason}");
            Some((Document::read(bytes).map_err(unread)?.document, bytes, Encoding::of(bytes)))
        }
        None => None,
    };
    // A section says what it says as the whole body of a concept: that settles how lines end (B3).
    let alone = read_back(format!("---\n---\n\n{section}").as_bytes())?.document;
    let (bytes, expected) = match existing {
        Some((before, bytes, encoding)) if !encoding.says_nothing(bytes) => {
            let body = trimmed(&before.body);
            let between = if body.is_empty() { "" } else { "\n\n" };
            let expected = Document { body: format!("{body}{between}{}", alone.body), ..before };
            let mut bytes = encoding.trimmed(bytes).to_vec();
            encoding.append(&mut bytes, &format!("\n\n{section}"));
            (bytes, Some(expected))
        }
        _ => (format!("---\n{}---\n\n{section}", written(frontmatter)).into_bytes(), None),
    };
    // What cannot be read back must not take the place of what can.
    let after = read_back(&bytes)?;
    match expected {
        Some(expected) if after.document != expected => {
            Err("cannot be appended to: the section would be read as something else than body".to_owned())
        }
        None if after.document.body != alone.body => Err("would not say what was written".to_owned()),
        None => match after.remarks.into_iter().find(|remark| is_loss(remark.code)) {
            Some(remark) => Err(format!("could not be read after it was written: {}", remark.sentence)),
            None => Ok(bytes),
        },
        Some(_) => Ok(bytes),
    }
}

/// Whether a remark says that something of the frontmatter was not read as YAML.
fn is_loss(code: RemarkCode) -> bool {
    matches!(code, RemarkCode::FrontmatterNotRead | RemarkCode::FieldNotRead)
}

fn read_back(bytes: &[u8]) -> Result<document::ParsedFile, String> {
    Document::read(bytes).map_err(|reason| format!("could not be read after it was written: {reason}"))
}

/// Without the line ends at its end.
fn trimmed(text: &str) -> &str {
    text.trim_end_matches(['\n', '\r'])
}

/// How a file spells its characters (B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16(Order),
}

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Big,
    Little,
}

impl Encoding {
    fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0xFE, 0xFF, ..] => Encoding::Utf16(Order::Big),
            [0xFF, 0xFE, ..] => Encoding::Utf16(Order::Little),
            _ => Encoding::Utf8,
        }
    }

    /// Without the line ends at its end.
    fn trimmed(self, bytes: &[u8]) -> &[u8] {
        let mut rest = bytes;
        let ends = ['\n', '\r'].map(|end| {
            let mut unit = Vec::new();
            self.append(&mut unit, end.encode_utf8(&mut [0; 4]));
            unit
        });
        while let Some(shorter) = ends.iter().find_map(|end| rest.strip_suffix(&**end)) {
            rest = shorter;
        }
        rest
    }

    /// Whether there is nothing but marks and line ends.
    fn says_nothing(self, bytes: &[u8]) -> bool {
        let mut mark = Vec::new();
        self.append(&mut mark, "\u{FEFF}");
        let mut rest = self.trimmed(bytes);
        while let Some(shorter) = rest.strip_prefix(&*mark) {
            rest = shorter;
        }
        rest.is_empty()
    }

    fn append(self, bytes: &mut Vec<u8>, text: &str) {
        match self {
            Encoding::Utf8 => bytes.extend_from_slice(text.as_bytes()),
            Encoding::Utf16(Order::Big) => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Encoding::Utf16(Order::Little) => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        }
    }
}

fn written(frontmatter: &[(String, Value)]) -> String {
    let mut yaml = String::new();
    for (key, value) in frontmatter {
        match value {
            Value::Text(text) => write_pair(&mut yaml, key, text),
            Value::Mapping(pairs) => {
                write_key(&mut yaml, key);
                yaml.push_str(": {");
                for (at, (key, text)) in pairs.iter().enumerate() {
                    yaml.push_str(if at == 0 { "" } else { ", " });
                    write_pair(&mut yaml, key, text);
                }
                yaml.push('}');
            }
        }
        yaml.push('\n');
    }
    yaml
}

fn write_pair(yaml: &mut String, key: &str, text: &str) {
    write_key(yaml, key);
    yaml.push_str(": ");
    write_scalar(yaml, text);
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

    fn text(key: &str, value: &str) -> (String, Value) {
        (key.to_owned(), Value::Text(value.to_owned()))
    }

    fn front(title: &str) -> Vec<(String, Value)> {
        vec![text("type", "Memory"), text("title", title)]
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
            ("a mark", Some("\u{FEFF}old\n"), "\u{FEFF}old\n\nnew"),
            ("odd line ends", Some("a\r\nb\rc\n\r"), "a\r\nb\rc\n\nnew"),
        ] {
            let bytes = with(existing.map(str::as_bytes), &front("t"), "new");
            assert_eq!(bytes.as_deref(), Ok(expected.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_mapping_stands_on_one_line() {
        let pairs = [("by", "okf-catalog"), ("a key", "\"\n")];
        let pairs = pairs.map(|(key, text)| (key.to_owned(), text.to_owned()));
        let keys = [("generated", pairs.to_vec()), ("empty", Vec::new())];
        let keys = keys.map(|(key, pairs)| (key.to_owned(), Value::Mapping(pairs)));
        assert_eq!(written(&keys), "generated: {by: \"okf-catalog\", \"a key\": \"\\\"\\n\"}\nempty: {}\n");
        let bytes = with(None, &[&keys[..], &front("t")].concat(), "new").unwrap();
        assert_eq!(Document::read(&bytes).unwrap().document.title.as_deref(), Some("t"));
    }

    #[test]
    fn whatever_is_there_stays_as_it_is() {
        for existing in [
            &b"---\na: b\n"[..],
            b"---\ntitle: t\n",
            b"---\ntitle: t\nno closing line\n\n",
            b"caf\xE9\n",
            b"---\ntitle: caf\xE9\n---\nold\xFF\n",
            b"---\na: [\n---\nold",
            b"---\ntitle: a: b\ndescription: c\n---\nold\n",
            b"---\nLetterhead\n---\nold",
            b"+++\ntitle = 't'\n+++\nold",
            b"\n\n---\ntitle: t\n---\nold",
            b"\xEF\xBB\xBF\xEF\xBB\xBF---\ntitle: t\n---\nold",
            b"---\rtitle: t\r---\rold\r",
            b"\xFF\xFEa\0\n\0",
            b"\xFE\xFF\0a\0\n",
            b"\xFF\xFEa\0b",
            b"old\0\n",
        ] {
            for section in ["new", "---\ntitle: not this\n---\nnew", "a\r\nb"] {
                let Ok(bytes) = with(Some(existing), &front("t"), section) else { continue };
                let kept = Encoding::of(existing).trimmed(existing);
                assert!(bytes.starts_with(kept), "{existing:?}");
                let (before, after) =
                    (Document::read(existing).unwrap().document, Document::read(&bytes).unwrap().document);
                assert!(after.body.starts_with(trimmed(&before.body)), "{existing:?}");
                assert!(after.body.ends_with(&section.replace('\r', "")), "{existing:?}");
                assert_eq!(
                    Document { body: String::new(), ..after },
                    Document { body: String::new(), ..before }
                );
            }
        }
    }

    #[test]
    fn an_encoding_keeps_its_units() {
        for (bytes, encoding, kept) in [
            (&b"\xFF\xFEa\0\r\0\n\0"[..], Encoding::Utf16(Order::Little), &b"\xFF\xFEa\0"[..]),
            (b"\xFE\xFF\0a\0\r\0\n", Encoding::Utf16(Order::Big), b"\xFE\xFF\0a"),
            // The unit U+0A0A is no line end.
            (b"\xFE\xFF\x0A\x0A", Encoding::Utf16(Order::Big), b"\xFE\xFF\x0A\x0A"),
            (b"a\r\n", Encoding::Utf8, b"a"),
        ] {
            assert_eq!(Encoding::of(bytes), encoding);
            assert_eq!(encoding.trimmed(bytes), kept);
            let mut longer = kept.to_vec();
            encoding.append(&mut longer, "\n");
            assert_eq!(encoding.trimmed(&longer), kept);
        }
        for nothing in [&b""[..], b"\n", b"\xEF\xBB\xBF\xEF\xBB\xBF\r", b"\xFF\xFE\n\0", b"\xFE\xFF\xFE\xFF"]
        {
            assert!(Encoding::of(nothing).says_nothing(nothing), "{nothing:?}");
        }
    }

    #[test]
    fn what_would_not_be_read_is_not_written() {
        let reason = with(None, &front(&"x".repeat(1 << 20)), "new").unwrap_err();
        assert!(reason.starts_with("could not be read after it was written: "), "{reason}");
        let reason = with(None, &front("t"), "a\0b").unwrap_err();
        assert_eq!(reason, "would hold a NUL, and not be read any more");
    }

    proptest! {
        #[test]
        fn frontmatter_is_read_back(title in any::<String>()) {
            let text = with(None, &front(&title), "").unwrap();
            prop_assert_eq!(Document::read(&text).unwrap().document.title, Some(title));
        }

        #[test]
        fn any_key_stands_beside_the_others(key in "[a:\\-?#'\"\\[{}, \n~<é\0]{1,128}", value in any::<String>()) {
            let mapping = Value::Mapping(vec![(key.clone(), value.clone()), ("b".to_owned(), value.clone())]);
            let pairs = [vec![text(&key, &value), (format!("{key}!"), mapping)], front("t")].concat();
            let text = with(None, &pairs, "").unwrap();
            prop_assert_eq!(Document::read(&text).unwrap().document.title, Some("t".to_owned()));
        }

        #[test]
        fn sections_follow_each_other(sections in prop::collection::vec("([\\-a\n ]|\r\n){0,6}", 1..5)) {
            let mut known: Option<Vec<u8>> = None;
            let mut body = String::new();
            for section in &sections {
                known = Some(with(known.as_deref(), &front("t"), section).unwrap());
                body = trimmed(&body).to_owned();
                if !body.is_empty() {
                    body.push_str("\n\n");
                }
                body.push_str(&section.replace("\r\n", "\n"));
                prop_assert_eq!(&Document::read(known.as_deref().unwrap()).unwrap().document.body, &body);
            }
            let document = Document::read(&known.unwrap()).unwrap().document;
            prop_assert_eq!(document.body, body);
            prop_assert_eq!(document.title, Some("t".to_owned()));
        }
    }
}
