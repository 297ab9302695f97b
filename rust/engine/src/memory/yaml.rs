//! Frontmatter as YAML that every reader reads back as it was given (Y4).

use std::fmt::Write;

use crate::memory::entry::Value;

/// Words that some YAML readers do not read as text. A key that is one of them is quoted.
const WORDS: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];

/// The lines of a frontmatter, without the lines that open and close it.
pub(super) fn frontmatter_lines(frontmatter: &[(String, Value)]) -> String {
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

/// Writes the text as a quoted YAML scalar on one line. It is read back as the same text, whatever its characters.
///
/// Characters that YAML does not allow, and those that some readers take for a line end, are escaped.
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
        written.expect("writing to a String does not fail");
    }
    yaml.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_written_on_one_line() {
        let pairs = [("by", "okf-catalog"), ("a key", "\"\n")];
        let pairs = pairs.map(|(key, text)| (key.to_owned(), text.to_owned()));
        let keys = [("generated", pairs.to_vec()), ("empty", Vec::new())];
        let keys = keys.map(|(key, pairs)| (key.to_owned(), Value::Mapping(pairs)));
        assert_eq!(
            frontmatter_lines(&keys),
            "generated: {by: \"okf-catalog\", \"a key\": \"\\\"\\n\"}\nempty: {}\n"
        );
    }

    #[test]
    fn keys_that_are_no_plain_words_are_quoted() {
        let text = |key: &str| (key.to_owned(), Value::Text("t".to_owned()));
        let lines = frontmatter_lines(&["a-b_9", "Null", "1", "a b", ""].map(text));
        assert_eq!(lines, "a-b_9: \"t\"\n\"Null\": \"t\"\n\"1\": \"t\"\n\"a b\": \"t\"\n\"\": \"t\"\n");
    }
}
