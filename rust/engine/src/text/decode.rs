//! The text of a file: decodes its bytes, and unifies its line ends (B3).

use std::borrow::Cow;

/// The character U+FEFF, which may stand in front of a text and is no part of it.
pub(crate) const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// A decoded file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DecodedText<'bytes> {
    /// The text without leading byte-order marks. Its lines end at `\n`.
    pub(crate) text: Cow<'bytes, str>,
    /// The bytes that are not valid, if there are any.
    pub(crate) invalid: Option<InvalidBytes>,
}

/// Bytes that are not valid. Each of them is read as U+FFFD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InvalidBytes {
    /// The line of the first one, from 1.
    pub(crate) line: u32,
    /// How many there are. In UTF-16, the number of code units, which have two bytes each.
    pub(crate) count: usize,
}

/// Decodes bytes as UTF-8, or as UTF-16 if they begin with a byte-order mark of UTF-16.
///
/// # Errors
/// The file holds a NUL character, so it is binary (B7).
pub(crate) fn decode(bytes: &[u8]) -> Result<DecodedText<'_>, String> {
    let Replaced { text, first, count } = match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    };
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Err("it is binary: it holds a NUL".to_owned());
    }
    let invalid = (count > 0).then(|| InvalidBytes { line: line_at(&text, first), count });
    let text = match text {
        Cow::Borrowed(text) => unix_lines(text.trim_start_matches(BYTE_ORDER_MARK)),
        Cow::Owned(text) => Cow::Owned(unix_lines(text.trim_start_matches(BYTE_ORDER_MARK)).into_owned()),
    };
    Ok(DecodedText { text, invalid })
}

/// A text in which U+FFFD replaces what is not valid.
struct Replaced<'bytes> {
    text: Cow<'bytes, str>,
    /// The position in `text` of the first replacement, in bytes; 0 if there is none.
    first: usize,
    /// The number of replacements.
    count: usize,
}

fn utf8(bytes: &[u8]) -> Replaced<'_> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Replaced { text: Cow::Borrowed(text), first: 0, count: 0 };
    }
    let mut text = String::with_capacity(bytes.len());
    let (mut first, mut count) = (None, 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            first.get_or_insert(text.len());
            count += 1;
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Replaced { text: Cow::Owned(text), first: first.unwrap_or(0), count }
}

/// Decodes UTF-16 without its byte-order mark. A surrogate without its pair is not valid, and neither is half a
/// code unit at the end.
fn utf16(bytes: &[u8], code_unit: fn([u8; 2]) -> u16) -> Replaced<'_> {
    let (units, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let (mut first, mut count) = (None, 0);
    let characters = char::decode_utf16(units.iter().copied().map(code_unit)).map(Result::ok);
    let half_unit = (!rest.is_empty()).then_some(None);
    for character in characters.chain(half_unit) {
        if character.is_none() {
            first.get_or_insert(text.len());
            count += 1;
        }
        text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Replaced { text: Cow::Owned(text), first: first.unwrap_or(0), count }
}

/// The number of the line that holds a byte position, from 1. Every kind of line end counts.
fn line_at(text: &str, position: usize) -> u32 {
    let line_ends = unix_lines(&text[..position]).bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(line_ends + 1).unwrap_or(u32::MAX)
}

/// The text with every line end (`\n`, `\r\n` or `\r`) as `\n`.
pub(crate) fn unix_lines(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let Some(first) = memchr::memchr(b'\r', bytes) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut copied = first;
    for at in memchr::memchr_iter(b'\r', &bytes[first..]).map(|at| first + at) {
        out.push_str(&text[copied..at]);
        if bytes.get(at + 1) != Some(&b'\n') {
            out.push('\n');
        }
        copied = at + 1;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, Option<(u32, usize)>) {
        let DecodedText { text, invalid } = decode(bytes).unwrap();
        (text.into_owned(), invalid.map(|invalid| (invalid.line, invalid.count)))
    }

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn only_leading_byte_order_marks_are_dropped() {
        for (bytes, text) in [
            ("a", "a"),
            ("\u{FEFF}a", "a"),
            ("\u{FEFF}\u{FEFF}\u{FEFF}a", "a"),
            ("\u{FEFF}a\u{FEFF}\n\u{FEFF}", "a\u{FEFF}\n\u{FEFF}"),
            ("\u{FEFF}", ""),
            ("", ""),
        ] {
            assert_eq!(read(bytes.as_bytes()), (text.to_owned(), None), "{bytes:?}");
        }
    }

    #[test]
    fn every_line_end_is_read_as_a_newline() {
        for (bytes, text) in [
            ("a\nb\r\nc\rd", "a\nb\nc\nd"),
            ("\r", "\n"),
            ("\r\r\n\n\r", "\n\n\n\n"),
            ("a\r", "a\n"),
            ("\r\n\r\n", "\n\n"),
            ("é\r\u{85}\u{2028}", "é\n\u{85}\u{2028}"),
        ] {
            assert_eq!(read(bytes.as_bytes()), (text.to_owned(), None), "{bytes:?}");
        }
    }

    #[test]
    fn each_invalid_byte_is_read_as_one_replacement_character() {
        for (name, bytes, text, invalid) in [
            ("alone", &b"a\xFFb"[..], "a\u{FFFD}b", (1, 1)),
            ("cut short", b"\xE2\x82", "\u{FFFD}\u{FFFD}", (1, 2)),
            ("cut short, text follows", b"\n\xE2\x82a", "\n\u{FFFD}\u{FFFD}a", (2, 2)),
            ("four bytes, cut short", b"\xF0\x9F\x98", "\u{FFFD}\u{FFFD}\u{FFFD}", (1, 3)),
            ("a surrogate", b"\xED\xA0\x80", "\u{FFFD}\u{FFFD}\u{FFFD}", (1, 3)),
            ("overlong", b"\xC0\x80", "\u{FFFD}\u{FFFD}", (1, 2)),
            ("in several lines", b"a\r\n\rb\x80\n\x80", "a\n\nb\u{FFFD}\n\u{FFFD}", (3, 2)),
            ("after a byte-order mark", b"\xEF\xBB\xBF\xFF\xFE", "\u{FFFD}\u{FFFD}", (1, 2)),
            ("half a byte-order mark", b"\xEF\xBBa", "\u{FFFD}\u{FFFD}a", (1, 2)),
        ] {
            assert_eq!(read(bytes), (text.to_owned(), Some(invalid)), "{name}");
        }
    }

    #[test]
    fn utf16_is_decoded_if_its_byte_order_mark_comes_first() {
        let text = "\u{FEFF}a é 数 🛒\r\nb\rc";
        for bytes in [utf16(text, u16::to_le_bytes), utf16(text, u16::to_be_bytes)] {
            assert_eq!(read(&bytes), ("a é 数 🛒\nb\nc".to_owned(), None));
            let odd = [&bytes[..], b"x"].concat();
            assert_eq!(read(&odd), ("a é 数 🛒\nb\nc\u{FFFD}".to_owned(), Some((3, 1))));
        }
        for (name, bytes, text, invalid) in [
            ("first surrogate alone", &b"\xFF\xFEa\0\x3D\xD8b\0"[..], "a\u{FFFD}b", (1, 1)),
            ("second surrogate alone", b"\xFE\xFF\0\n\xDE\0", "\n\u{FFFD}", (2, 1)),
            ("two first surrogates", b"\xFE\xFF\xD8\x3D\xD8\x3D\xDE\0", "\u{FFFD}\u{1F600}", (1, 1)),
        ] {
            assert_eq!(read(bytes), (text.to_owned(), Some(invalid)), "{name}");
        }
        assert_eq!(read(b"\xFF\xFE"), (String::new(), None));
    }

    #[test]
    fn a_file_with_a_nul_character_is_binary() {
        let binary = Err("it is binary: it holds a NUL".to_owned());
        for bytes in [
            &b"\0"[..],
            b"a\0b",
            b"\xEF\xBB\xBFa\0",
            b"\xFF\xFEa\0\0\0",
            b"\xFE\xFF\0\0",
            b"\xFF\xFE\0\0a\0\0\0",
            b"a\0b\0",
            b"\xFF\0",
        ] {
            assert_eq!(decode(bytes), binary, "{bytes:?}");
        }
        assert_eq!(read(b"\xFF\xFE\0a").0, "\u{6100}", "a zero byte that is half of a code unit is no NUL");
    }
}
