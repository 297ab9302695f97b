//! How a message quotes what a manifest says: short, on one line, without absolute paths (D4).

use std::fmt::Write as _;

use super::json::Node;

/// Characters shown of one value.
const LIMIT: usize = 60;

/// A value in its JSON form, or, where that has no bounds, in words.
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

/// A number as written.
pub(super) fn number(written: &str) -> String {
    match written.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &written[..end]),
        None => written.to_owned(),
    }
}

/// A JSON string that is safe to print anywhere.
pub(crate) fn text(value: &str) -> String {
    if may_hold_absolute_path(value) {
        return "text that looks like an absolute path".to_owned();
    }
    let mut shown = String::from("\"");
    let mut characters = value.chars();
    for character in characters.by_ref().take(LIMIT) {
        match character {
            '"' | '\\' => shown.extend(['\\', character]),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            // All of these lie below U+10000, so that four digits are enough.
            hidden if is_hidden(hidden) => {
                write!(shown, "\\u{:04x}", u32::from(hidden)).expect("a String takes any text");
            }
            plain => shown.push(plain),
        }
    }
    if characters.next().is_some() {
        shown.push('…');
    }
    shown.push('"');
    shown
}

/// Characters that move the cursor, break the line, turn the direction, or cannot be seen.
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

/// Whether a separator starts something in the text, instead of joining two names, or a drive letter
/// opens it.
fn may_hold_absolute_path(value: &str) -> bool {
    if let [letter, b':', ..] = value.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return true;
    }
    let mut joins = false;
    value.chars().any(|character| {
        let starts = matches!(character, '/' | '\\') && !joins;
        joins = character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '~');
        starts
    })
}
