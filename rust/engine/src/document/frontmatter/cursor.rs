//! A position in a YAML text, and a copy of the text that is made only where it is to differ.

use std::borrow::Cow;

pub(super) struct Cursor<'yaml> {
    text: &'yaml str,
    /// Reading stops here, in bytes. It may lie inside a character.
    end: usize,
    /// The byte position.
    at: usize,
    /// The new text of everything before `copied`; empty as long as nothing was replaced.
    rewritten: String,
    copied: usize,
}

impl<'yaml> Cursor<'yaml> {
    /// At the start of a text of which at most `limit` bytes are read.
    pub(super) fn new(text: &'yaml str, limit: usize) -> Self {
        Self { text, end: text.len().min(limit), at: 0, rewritten: String::new(), copied: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Whether the position is where reading stops.
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// Whether the whole text was read.
    pub(super) fn is_at_text_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Moves to a position that was passed before.
    pub(super) fn back_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Moves to where reading stops.
    pub(super) fn skip_to_end(&mut self) {
        self.at = self.end;
    }

    /// Moves by some bytes, at most to where reading stops.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.end);
    }

    /// The byte at the position; `None` where reading stops.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes()[..self.end].get(self.at).copied()
    }

    /// The byte after the position, also where reading stops.
    pub(super) fn peek_next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    /// The bytes from the position to where reading stops.
    pub(super) fn rest(&self) -> &'yaml [u8] {
        &self.text.as_bytes()[self.at..self.end]
    }

    /// The text from the position to its end.
    pub(super) fn rest_of_text(&self) -> &'yaml str {
        &self.text[self.at..]
    }

    /// The text from a position up to here; empty if reading stopped inside a character.
    pub(super) fn text_from(&self, start: usize) -> &'yaml str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Whether there is white space or nothing at a position.
    pub(super) fn is_blank_at(&self, at: usize) -> bool {
        self.text.as_bytes().get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
    }

    pub(super) fn is_blank_before(&self) -> bool {
        self.is_blank_at(self.at - 1)
    }

    pub(super) fn is_blank_after(&self) -> bool {
        self.is_blank_at(self.at + 1)
    }

    /// Whether the line has ended, or reading stops here.
    pub(super) fn is_at_line_end(&self) -> bool {
        matches!(self.peek(), None | Some(b'\n'))
    }

    /// Moves over spaces and counts them.
    pub(super) fn skip_spaces(&mut self) -> usize {
        let start = self.at;
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
        self.at - start
    }

    pub(super) fn skip_spaces_and_tabs(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Moves to the end of the line.
    pub(super) fn skip_to_line_end(&mut self) {
        self.at += memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
    }

    /// Moves to the start of the next line.
    pub(super) fn skip_line(&mut self) {
        self.at += memchr::memchr(b'\n', self.rest()).map_or(self.rest().len(), |end| end + 1);
    }

    /// Moves over some bytes, which are another text in the copy. No bytes mean that the text is inserted.
    pub(super) fn replace(&mut self, bytes: usize, text: &str) {
        self.rewritten.push_str(&self.text[self.copied..self.at]);
        self.rewritten.push_str(text);
        self.at += bytes;
        self.copied = self.at;
    }

    /// The copy; the text itself if nothing was replaced.
    pub(super) fn into_rewritten(mut self) -> Cow<'yaml, str> {
        if self.rewritten.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.rewritten.push_str(&self.text[self.copied..]);
        Cow::Owned(self.rewritten)
    }
}
