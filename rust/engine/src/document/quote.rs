//! How a remark quotes a text of the file.

/// The most characters of a text that a remark quotes.
const MAX_QUOTED_CHARS: usize = 60;

/// The beginning of a text, without control characters: a remark is one line, and a terminal that shows it must
/// not take part of it for a command.
pub(super) fn quote(text: &str) -> String {
    let mut quoted: String = text.chars().take(MAX_QUOTED_CHARS).filter(|c| !c.is_control()).collect();
    if text.chars().nth(MAX_QUOTED_CHARS).is_some() {
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_hold_no_control_characters() {
        assert_eq!(quote("a\n\u{1b}[2Jb"), "a[2Jb");
        assert_eq!(quote(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(quote(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
    }
}
