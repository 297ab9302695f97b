//! Escapes such as `\ud83d\ude00`: one character written as two halves of a UTF-16 pair (B5).

/// Reads the escaped half of a pair at the start of a text, and the second half if it follows. Returns the
/// character that they stand for and the length of what was read, in bytes. A half without the other one stands
/// for U+FFFD. `None` if the text does not start with an escaped half.
pub(super) fn read_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let (first, len) = half(bytes)?;
    let pair = half(&bytes[len..]).and_then(|(second, more)| Some((join(first, second)?, len + more)));
    Some(pair.unwrap_or((char::REPLACEMENT_CHARACTER, len)))
}

/// The escaped half of a pair at the start of a text, and its length in bytes.
fn half(bytes: &[u8]) -> Option<(u32, usize)> {
    let digits = match bytes {
        [b'\\', b'u', ..] => 4,
        [b'\\', b'U', ..] => 8,
        _ => return None,
    };
    let written = bytes.get(2..2 + digits).filter(|written| written.iter().all(u8::is_ascii_hexdigit))?;
    let code = u32::from_str_radix(std::str::from_utf8(written).ok()?, 16).ok()?;
    (0xD800..0xE000).contains(&code).then_some((code, 2 + digits))
}

/// The character of a first and a second half; `None` if they are not in this order.
fn join(first: u32, second: u32) -> Option<char> {
    let is_pair = (0xD800..0xDC00).contains(&first) && (0xDC00..0xE000).contains(&second);
    is_pair.then(|| char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_halves_are_one_character_and_a_lone_half_is_a_replacement_character() {
        for (text, expected) in [
            ("\\ud83d\\ude00", Some(('😀', 12))),
            ("\\uD83D\\U0000DE00 x", Some(('😀', 16))),
            ("\\ud83d", Some(('\u{FFFD}', 6))),
            ("\\ud83d\\ud83d", Some(('\u{FFFD}', 6))),
            ("\\ude00\\ud83d", Some(('\u{FFFD}', 6))),
            ("\\ud83d\\u0041", Some(('\u{FFFD}', 6))),
            ("\\u0041", None),
            ("\\U0010ffff", None),
            ("\\ud83", None),
            ("\\ud8+d", None),
            ("\\n", None),
            ("ud83d", None),
            ("", None),
        ] {
            assert_eq!(read_escape(text.as_bytes()), expected, "{text}");
        }
    }
}
