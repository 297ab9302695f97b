//! The text of a concept that gets another section (Y4).

use crate::{
    document::{self, Document, remark::RemarkCode},
    memory::{encoding::Encoding, entry::Value, failure::SectionFault, yaml::frontmatter_lines},
};

/// The bytes of a concept that were `existing`, with the section at their end; or of a new concept.
///
/// Every byte that was there stays, but for line ends at the end (Y4). A file of only line ends counts as missing.
///
/// # Errors
/// The existing text cannot be read, or the section could not be read back.
pub(super) fn append(
    existing: Option<&[u8]>,
    frontmatter: &[(String, Value)],
    section: &str,
) -> Result<Vec<u8>, SectionFault> {
    if section.contains('\0') {
        return Err(SectionFault::Nul);
    }
    let existing = match existing {
        Some(bytes) => {
            let before = Document::read(bytes).map_err(SectionFault::ExistingNotRead)?.document;
            Some((before, bytes, Encoding::of(bytes)))
        }
        None => None,
    };
    // The section is read as the whole body of a concept, to know how its line ends are read (B3).
    let alone = read_back(format!("---\n---\n\n{section}").as_bytes())?.document;
    let (bytes, expected) = match existing {
        Some((before, bytes, encoding)) if !encoding.is_blank(bytes) => {
            let body = without_trailing_line_ends(&before.body);
            let between = if body.is_empty() { "" } else { "\n\n" };
            let expected = Document { body: format!("{body}{between}{}", alone.body), ..before };
            let mut bytes = encoding.without_trailing_line_ends(bytes).to_vec();
            encoding.append(&mut bytes, &format!("\n\n{section}"));
            (bytes, Some(expected))
        }
        _ => (format!("---\n{}---\n\n{section}", frontmatter_lines(frontmatter)).into_bytes(), None),
    };
    // A text that cannot be read back must not replace one that can.
    let after = read_back(&bytes)?;
    // Where the file ended with its frontmatter, the blank line below it moves the body.
    let expected =
        expected.map(|expected| Document { lines_above_body: after.document.lines_above_body, ..expected });
    match expected {
        Some(expected) if after.document != expected => Err(SectionFault::NotBody),
        None if after.document.body != alone.body => Err(SectionFault::ReadDifferently),
        None => match after.remarks.into_iter().find(|remark| is_loss(remark.code)) {
            Some(remark) => Err(SectionFault::NotReadBack(remark.sentence)),
            None => Ok(bytes),
        },
        Some(_) => Ok(bytes),
    }
}

/// Whether a remark says that a part of the frontmatter was not read as YAML.
fn is_loss(code: RemarkCode) -> bool {
    matches!(code, RemarkCode::FrontmatterNotRead | RemarkCode::FieldNotRead)
}

fn read_back(bytes: &[u8]) -> Result<document::ParsedFile, SectionFault> {
    Document::read(bytes).map_err(SectionFault::NotReadBack)
}

fn without_trailing_line_ends(text: &str) -> &str {
    text.trim_end_matches(['\n', '\r'])
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
    fn a_section_is_appended_after_a_blank_line() {
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
            let bytes = append(existing.map(str::as_bytes), &front("t"), "new");
            assert_eq!(bytes.as_deref(), Ok(expected.as_bytes()), "{name}");
        }
    }

    #[test]
    fn every_byte_that_was_there_stays() {
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
                let Ok(bytes) = append(Some(existing), &front("t"), section) else { continue };
                let kept = Encoding::of(existing).without_trailing_line_ends(existing);
                assert!(bytes.starts_with(kept), "{existing:?}");
                let (before, after) =
                    (Document::read(existing).unwrap().document, Document::read(&bytes).unwrap().document);
                assert!(after.body.starts_with(without_trailing_line_ends(&before.body)), "{existing:?}");
                assert!(after.body.ends_with(&section.replace('\r', "")), "{existing:?}");
                assert_eq!(
                    Document { body: String::new(), ..after },
                    Document { body: String::new(), ..before }
                );
            }
        }
    }

    #[test]
    fn a_text_that_could_not_be_read_is_not_written() {
        let fault = append(None, &front(&"x".repeat(1 << 20)), "new").unwrap_err();
        assert!(matches!(fault, SectionFault::NotReadBack(_)), "{fault}");
        assert_eq!(append(None, &front("t"), "a\0b"), Err(SectionFault::Nul));
        let fault = append(Some(b"old\0\n"), &front("t"), "new").unwrap_err();
        assert!(matches!(fault, SectionFault::ExistingNotRead(_)), "{fault}");
    }

    proptest! {
        #[test]
        fn a_title_is_read_back_as_it_was_given(title in any::<String>()) {
            let text = append(None, &front(&title), "").unwrap();
            prop_assert_eq!(Document::read(&text).unwrap().document.title, Some(title));
        }

        #[test]
        fn no_key_changes_how_another_is_read(key in "[a:\\-?#'\"\\[{}, \n~<é\0]{1,128}", value in any::<String>()) {
            let mapping = Value::Mapping(vec![(key.clone(), value.clone()), ("b".to_owned(), value.clone())]);
            let pairs = [vec![text(&key, &value), (format!("{key}!"), mapping)], front("t")].concat();
            let text = append(None, &pairs, "").unwrap();
            prop_assert_eq!(Document::read(&text).unwrap().document.title, Some("t".to_owned()));
        }

        #[test]
        fn sections_are_read_in_the_order_in_which_they_were_appended(sections in prop::collection::vec("([\\-a\n ]|\r\n){0,6}", 1..5)) {
            let mut known: Option<Vec<u8>> = None;
            let mut body = String::new();
            for section in &sections {
                known = Some(append(known.as_deref(), &front("t"), section).unwrap());
                body = without_trailing_line_ends(&body).to_owned();
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
