//! How a message quotes a manifest: short, on one line, and without absolute paths (D4).

use std::fmt::Write as _;

use super::json::Node;

/// The most characters of a value that a message quotes.
const MAX_QUOTED_CHARS: usize = 60;

/// How messages name a source: by its index, and by the start of its id if that is valid.
pub(crate) fn source_label(index: usize, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("sources[{index}] (id {})", text(id)),
        None => format!("sources[{index}]"),
    }
}

/// A value as JSON; a list or an object, which may be long, in words.
pub(super) fn node(node: &Node) -> String {
    match node {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Number(written) => number(written),
        Node::Text(value) => text(value),
        Node::List { .. } => "a list".to_owned(),
        Node::Object { .. } => "an object".to_owned(),
    }
}

/// A number as written, cut if it is long.
pub(super) fn number(written: &str) -> String {
    match written.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &written[..end]),
        None => written.to_owned(),
    }
}

/// A text as a JSON string, cut if it is long. Characters that a terminal would obey or hide are escaped.
pub(crate) fn text(value: &str) -> String {
    if may_hold_absolute_path(value) {
        return "text that looks like an absolute path".to_owned();
    }
    let mut quoted = String::from("\"");
    let mut characters = value.chars();
    for character in characters.by_ref().take(MAX_QUOTED_CHARS) {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // All of these are below U+10000, so four digits are enough.
            hidden if is_hidden(hidden) => {
                write!(quoted, "\\u{:04x}", u32::from(hidden)).expect("a String takes any text");
            }
            plain => quoted.push(plain),
        }
    }
    if characters.next().is_some() {
        quoted.push('…');
    }
    quoted.push('"');
    quoted
}

/// Whether a character moves the cursor, breaks the line, changes the text direction or is invisible.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{AD}'
                | '\u{61C}'
                | '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
        )
}

/// Whether a text begins with a drive letter, or holds a `/` or `\` that does not follow a name: `/srv` and
/// `see /srv` may be absolute paths, `a/b` is not.
fn may_hold_absolute_path(value: &str) -> bool {
    if let [letter, b':', ..] = value.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return true;
    }
    let mut follows_name = false;
    value.chars().any(|character| {
        let starts_path = matches!(character, '/' | '\\') && !follows_name;
        follows_name = character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '~');
        starts_path
    })
}
