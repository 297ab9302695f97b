//! What may be an id.

/// Whether a text is a valid id: one segment of a path (M2).
pub(crate) fn is_segment(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut bytes = text.bytes();
    bytes.next().is_some_and(word) && bytes.all(|byte| word(byte) || byte == b'.' || byte == b'-')
}
