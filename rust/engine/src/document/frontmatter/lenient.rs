//! YAML that common readers accept although the standard is stricter (B5).
//!
//! [`Scanner`] reads a text once and knows at each position whether it is in a quoted scalar, in a flow collection
//! (`[...]`, `{...}`), in a plain scalar or in a block scalar. That is enough to rewrite the text for a strict
//! parser. The scanner may be wrong about text that is not valid YAML. The strict parser still refuses such a text,
//! because the scanner changes only white space that has no meaning, and escapes.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::line::first_line;
use super::surrogate;

/// Rewrites a text, line for line, so that a strict parser reads what common readers read:
///
/// - Lines of a quoted scalar or of a flow collection are indented as deep as their key requires.
/// - A tab after `key:`, `-` or `?` becomes a space.
/// - A space is inserted before a comment that follows a quote or a bracket.
/// - Escaped halves of a UTF-16 pair become the escape of the character, or of U+FFFD.
///
/// The new text is at most three times as long.
pub(super) fn to_strict(yaml: &str) -> Cow<'_, str> {
    let mut scanner = Scanner::new(yaml, usize::MAX);
    scanner.scan(|_| false);
    scanner.cursor.into_rewritten()
}

/// One entry of a frontmatter, as far as the scanner sees it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScannedEntry<'yaml> {
    /// The length in bytes; `None` if the entry does not end within the limit.
    pub(super) len: Option<usize>,
    /// How many bytes were read.
    pub(super) scanned: usize,
    /// The names of anchors, in order.
    pub(super) anchors: Vec<&'yaml str>,
    /// The names of aliases, in order.
    pub(super) aliases: Vec<&'yaml str>,
}

/// Scans the entry at the start of a text. It ends before the next line that `is_end` and that is neither in a
/// quoted scalar nor in a flow collection. At most `limit` bytes are read.
pub(super) fn scan_entry(yaml: &str, limit: usize, is_end: fn(&str) -> bool) -> ScannedEntry<'_> {
    let mut scanner = Scanner::new(yaml, limit);
    let is_whole = scanner.scan(is_end);
    let end = scanner.cursor.at();
    ScannedEntry {
        len: is_whole.then_some(end),
        scanned: end,
        anchors: scanner.anchors,
        aliases: scanner.aliases,
    }
}

struct Scanner<'yaml> {
    cursor: Cursor<'yaml>,
    /// Where the line begins.
    line_start: usize,
    /// The columns of the keys and dashes that the current position belongs to.
    parents: Vec<usize>,
    /// Where a space was last inserted before a comment.
    comment_at: Option<usize>,
    anchors: Vec<&'yaml str>,
    aliases: Vec<&'yaml str>,
    /// How many spaces may still be inserted as indentation. Without a bound, deep keys could make the new text
    /// much longer than the old one.
    spaces_left: usize,
}

/// A quoted scalar or a flow collection does not end.
struct Unclosed;

/// A part of a line outside of flow collections.
enum Part {
    /// A dash or another indicator, a tag, an anchor, an alias: more parts may follow.
    Prefix,
    /// A node that may be a key.
    Node,
    /// The start of a scalar that goes on over all deeper lines.
    LongScalar,
    /// A comment, or the end of the line.
    End,
}

impl<'yaml> Scanner<'yaml> {
    fn new(text: &'yaml str, limit: usize) -> Self {
        Self {
            cursor: Cursor::new(text, limit),
            line_start: 0,
            parents: Vec::new(),
            comment_at: None,
            anchors: Vec::new(),
            aliases: Vec::new(),
            spaces_left: 2 * text.len(),
        }
    }

    /// Scans up to the first line after the current one that `is_end`, or up to the end of the text. False if a
    /// quoted scalar or a flow collection is still open there, or if the limit is reached.
    fn scan(&mut self, is_end: impl Fn(&str) -> bool) -> bool {
        while !self.cursor.is_at_end() {
            if let Err(Unclosed) = self.line() {
                self.cursor.skip_to_end();
                return false;
            }
            if !self.cursor.is_at_end() && is_end(first_line(self.cursor.rest_of_text())) {
                return true;
            }
        }
        self.cursor.is_at_text_end()
    }

    /// Scans a line, and the next lines if a scalar or a collection of this line goes on there.
    fn line(&mut self) -> Result<(), Unclosed> {
        self.line_start = self.cursor.at();
        let indentation = self.cursor.skip_spaces();
        if self.cursor.is_at_line_end() || self.cursor.peek() == Some(b'#') {
            self.cursor.skip_line();
            return Ok(());
        }
        while self.parents.last().is_some_and(|parent| *parent >= indentation) {
            self.parents.pop();
        }
        loop {
            self.cursor.skip_spaces_and_tabs();
            let start = self.cursor.at();
            match self.part()? {
                Part::Prefix => {}
                Part::Node if self.colon_after(start) => {}
                Part::Node | Part::End => break,
                Part::LongScalar => {
                    self.cursor.skip_line();
                    self.skip_deeper_lines();
                    return Ok(());
                }
            }
        }
        self.cursor.skip_line();
        Ok(())
    }

    fn part(&mut self) -> Result<Part, Unclosed> {
        let is_line_start = self.cursor.at() == self.line_start;
        match self.cursor.peek() {
            None | Some(b'\n') => return Ok(Part::End),
            Some(b'#') if is_line_start || self.cursor.is_blank_before() => return Ok(Part::End),
            Some(b'-' | b'?' | b':') if self.cursor.is_blank_after() => {
                self.indicator(self.cursor.at());
                return Ok(Part::Prefix);
            }
            Some(sign @ (b'&' | b'*' | b'!')) => {
                self.property(sign, false);
                return Ok(Part::Prefix);
            }
            Some(quote @ (b'"' | b'\'')) => self.quoted(quote)?,
            Some(b'[' | b'{') => self.flow_collection()?,
            Some(b'|' | b'>') => return Ok(Part::LongScalar),
            Some(_) if self.plain_key() => {}
            Some(_) => return Ok(Part::LongScalar),
        }
        Ok(Part::Node)
    }

    /// Moves over a colon after the node that began at `start`, if there is one. A node that began in an earlier
    /// line is no key.
    fn colon_after(&mut self, start: usize) -> bool {
        let after_node = self.cursor.at();
        self.insert_space_before_comment();
        self.cursor.skip_spaces();
        let is_colon = self.cursor.peek() == Some(b':') && self.cursor.is_blank_after();
        if start < self.line_start || !is_colon {
            self.cursor.back_to(after_node);
            return false;
        }
        self.indicator(start);
        true
    }

    /// Moves over `-`, `?` or `:`. What follows belongs to the node that began at `start`.
    fn indicator(&mut self, start: usize) {
        self.parents.push(start - self.line_start);
        self.cursor.advance(1);
        self.replace_tab();
    }

    fn insert_space_before_comment(&mut self) {
        if self.cursor.peek() == Some(b'#') {
            self.cursor.replace(0, " ");
            self.comment_at = Some(self.cursor.at());
        }
    }

    fn replace_tab(&mut self) {
        if self.cursor.peek() == Some(b'\t') {
            self.cursor.replace(1, " ");
        }
    }

    /// Moves over a tag, an anchor or an alias.
    fn property(&mut self, sign: u8, in_flow: bool) {
        let start = self.cursor.at() + 1;
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b' ' | b'\t' | b'\n' => break,
                b',' | b'[' | b']' | b'{' | b'}' if in_flow => break,
                _ => self.cursor.advance(1),
            }
        }
        let name = self.cursor.text_from(start);
        match sign {
            b'&' => self.anchors.push(name),
            b'*' => self.aliases.push(name),
            _ => {}
        }
    }

    /// Moves over a plain scalar in this line, and says whether it is a key. A scalar that is no key goes on over
    /// all deeper lines.
    fn plain_key(&mut self) -> bool {
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'\n' => return false,
                b'#' if self.cursor.is_blank_before() => return false,
                b':' if self.cursor.is_blank_after() => return true,
                _ => self.cursor.advance(1),
            }
        }
        false
    }

    fn quoted(&mut self, quote: u8) -> Result<(), Unclosed> {
        self.cursor.advance(1);
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'\n' => self.next_line(),
                b'\\' if quote == b'"' => self.escape(),
                _ if byte == quote => {
                    self.cursor.advance(1);
                    // Two single quotes are one in the text.
                    if quote == b'"' || self.cursor.peek() != Some(quote) {
                        return Ok(());
                    }
                    self.cursor.advance(1);
                }
                _ => self.cursor.advance(1),
            }
        }
        Err(Unclosed)
    }

    fn escape(&mut self) {
        if let Some((character, len)) = surrogate::read_escape(self.cursor.rest()) {
            let code = u32::from(character);
            let escape = if code < 0x1_0000 { format!("\\u{code:04X}") } else { format!("\\U{code:08X}") };
            self.cursor.replace(len, &escape);
        } else if self.cursor.peek_next() == Some(b'\n') {
            // The line end is still to be scanned: the next line may lack indentation.
            self.cursor.advance(1);
        } else {
            self.cursor.advance(2);
        }
    }

    /// Moves over a flow collection, with its brackets.
    fn flow_collection(&mut self) -> Result<(), Unclosed> {
        let mut depth = 0_usize;
        // Only at the start of a node, a quote begins a quoted scalar.
        let mut at_node_start = true;
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'[' | b'{' | b',' => {
                    depth += usize::from(byte != b',');
                    at_node_start = true;
                    self.cursor.advance(1);
                    self.insert_space_before_comment();
                }
                b']' | b'}' => {
                    depth -= 1;
                    at_node_start = false;
                    self.cursor.advance(1);
                    if depth == 0 {
                        return Ok(());
                    }
                    self.insert_space_before_comment();
                }
                b'\n' => self.next_line(),
                b' ' | b'\t' => self.cursor.advance(1),
                b'#' if self.cursor.is_blank_before() || self.comment_at == Some(self.cursor.at()) => {
                    self.cursor.skip_to_line_end();
                }
                b'"' | b'\'' if at_node_start => at_node_start = self.quoted_in_flow(byte)?,
                b':' | b'?' if self.cursor.is_blank_after() && (at_node_start || byte == b':') => {
                    at_node_start = true;
                    self.cursor.advance(1);
                    self.replace_tab();
                }
                b'&' | b'*' | b'!' if at_node_start => self.property(byte, true),
                _ => {
                    at_node_start = false;
                    self.cursor.advance(1);
                }
            }
        }
        Err(Unclosed)
    }

    /// Moves over a quoted scalar and the colon that makes it a key, if there is one: in a flow collection, the
    /// value may follow the colon without white space. Says whether there is a colon.
    fn quoted_in_flow(&mut self, quote: u8) -> Result<bool, Unclosed> {
        self.quoted(quote)?;
        self.insert_space_before_comment();
        let is_key = self.cursor.peek() == Some(b':');
        if is_key {
            self.cursor.advance(1);
            self.replace_tab();
        }
        Ok(is_key)
    }

    /// Moves over a line end in a quoted scalar or a flow collection, and indents the next line if the strict
    /// parser needs that.
    fn next_line(&mut self) {
        self.cursor.advance(1);
        self.line_start = self.cursor.at();
        let indentation = self.cursor.skip_spaces();
        let wanted = self.parents.last().map_or(0, |parent| parent + 1);
        let missing = wanted.saturating_sub(indentation);
        if missing > 0 && missing <= self.spaces_left && !self.cursor.is_at_line_end() {
            self.spaces_left -= missing;
            self.cursor.replace(0, &" ".repeat(missing));
        }
    }

    /// Moves over the lines that are blank or indented deeper than the parent of the scalar.
    fn skip_deeper_lines(&mut self) {
        while !self.cursor.is_at_end() {
            let start = self.cursor.at();
            let indentation = self.cursor.skip_spaces();
            if !self.cursor.is_at_line_end() && indentation <= self.parents.last().copied().unwrap_or(0) {
                self.cursor.back_to(start);
                return;
            }
            self.cursor.skip_line();
        }
    }
}
