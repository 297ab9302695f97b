//! The lines of a frontmatter that is read entry by entry.

/// What a line is, if it stands outside of quotes and brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind<'line> {
    /// The first line of an entry: `key:` at column 0. The value begins after the byte position `value_at`.
    Key { key: &'line str, value_at: usize },
    /// A part of the entry above: an indented line, a list item, a closing bracket.
    Continuation,
    /// Neither an entry nor a part of one.
    Stray,
    /// A blank line or a comment.
    Blank,
}

impl LineKind<'_> {
    pub(super) fn of(line: &str) -> LineKind<'_> {
        let bytes = line.as_bytes();
        let is_blank = |at: usize| bytes.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
        match bytes.first() {
            _ if matches!(line.trim_ascii_start().as_bytes().first(), None | Some(b'#')) => LineKind::Blank,
            Some(b' ' | b'\t' | b']' | b'}' | b',') => LineKind::Continuation,
            Some(b'-' | b':') if is_blank(1) => LineKind::Continuation,
            Some(b'[' | b'{') => LineKind::Stray,
            Some(b'?') if is_blank(1) => LineKind::Stray,
            Some(quote @ (b'"' | b'\'')) => after_quoted_key(line, *quote),
            _ => {
                // The first colon that ends a key or `#` that starts a comment.
                let sign = memchr::memchr2_iter(b':', b'#', bytes)
                    .find(|at| if bytes[*at] == b':' { is_blank(at + 1) } else { is_blank(at - 1) });
                match sign {
                    Some(at) if bytes[at] == b':' => {
                        LineKind::Key { key: line[..at].trim_ascii_end(), value_at: at + 1 }
                    }
                    _ => LineKind::Stray,
                }
            }
        }
    }
}

/// The kind of a line that begins with a quote.
fn after_quoted_key(line: &str, quote: u8) -> LineKind<'_> {
    let bytes = line.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 1,
            byte if *byte == quote => {
                // Two single quotes are one in the text.
                if quote == b'"' || bytes.get(at + 1) != Some(&quote) {
                    break;
                }
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    let Some(rest) = line.get(at + 1..) else { return LineKind::Stray };
    let colon = line.len() - rest.trim_ascii_start().len();
    let is_key = bytes.get(colon) == Some(&b':')
        && bytes.get(colon + 1).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    if is_key { LineKind::Key { key: &line[1..at], value_at: colon + 1 } } else { LineKind::Stray }
}

/// Whether a line begins an entry.
pub(super) fn is_key(line: &str) -> bool {
    matches!(LineKind::of(line), LineKind::Key { .. })
}

/// The first line of a text, without its line end.
pub(super) fn first_line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(line, _)| line)
}

/// The bytes of the first line of a text, with its line end.
pub(super) fn first_line_len(text: &str) -> usize {
    memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |end| end + 1)
}

/// The bytes of the first line and of the lines after it up to the first one that `is_end`.
pub(super) fn len_to(text: &str, is_end: fn(&str) -> bool) -> usize {
    let mut len = first_line_len(text);
    while len < text.len() && !is_end(first_line(&text[len..])) {
        len += first_line_len(&text[len..]);
    }
    len
}

/// The number of line ends in a text.
pub(super) fn count_line_ends(text: &str) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_at_column_0_begins_an_entry() {
        for (line, key) in [
            ("a: b", "a"),
            ("a:", "a"),
            ("a b : c", "a b"),
            ("a:\tb", "a"),
            ("\"a\": b", "a"),
            ("'it''s': b", "it''s"),
            ("\"a\\\": b\" : c", "a\\\": b"),
            ("http://a: b", "http://a"),
            ("é: b", "é"),
            ("a#b: c", "a#b"),
            ("-a: b", "-a"),
            ("@a: b", "@a"),
            ("*a : b", "*a"),
            ("<<: *b", "<<"),
        ] {
            assert!(
                matches!(LineKind::of(line), LineKind::Key { key: found, .. } if found == key),
                "{line:?}"
            );
        }
    }

    #[test]
    fn other_lines_begin_no_entry() {
        for line in
            ["a", "a:b", "\"a: b\"", "'a: b", "# a: b", "a # b: c", " a: b", "- a: b", "[a]: b", "? a: b", ""]
        {
            assert!(!is_key(line), "{line:?}");
        }
    }
}
