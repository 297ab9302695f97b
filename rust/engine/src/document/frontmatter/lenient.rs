//! YAML as common readers take it, where the standard is stricter (B5).
//!
//! [`Outline`] goes over a text once and knows of each place whether it is quoted, between brackets, plain or
//! in a block, which is all it takes to write the text so that a strict parser reads it. Where it is mistaken,
//! the text is no YAML, and stays none: what it changes is white space that says nothing, and escapes.

use std::borrow::Cow;

/// The text, line for line, as a strict parser reads what common readers read:
///
/// - lines of quoted text and of what is between brackets are indented as far as their key asks for;
/// - a tab after `key:`, `-` or `?` is a space;
/// - a comment may follow a quote or a bracket at once;
/// - escaped halves of a UTF-16 pair are the character they make, or U+FFFD.
///
/// It is at most three times as long.
pub(super) fn relaxed(yaml: &str) -> Cow<'_, str> {
    let mut outline = Outline::of(yaml, usize::MAX);
    outline.until(|_| false);
    outline.written()
}

/// What one entry is, and what it refers to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extent<'yaml> {
    /// How many bytes it has; `None` if it does not end within the bytes that were looked at.
    pub(super) len: Option<usize>,
    /// How many bytes were looked at.
    pub(super) looked: usize,
    /// The names of anchors, in order.
    pub(super) anchors: Vec<&'yaml str>,
    /// The names that aliases have.
    pub(super) aliases: Vec<&'yaml str>,
}

/// How far the entry goes with which the text begins: to the next line that `is_start` and that stands neither
/// in quotes nor in brackets.
pub(super) fn extent(yaml: &str, most: usize, is_start: fn(&str) -> bool) -> Extent<'_> {
    let mut outline = Outline::of(yaml, most);
    let is_whole = outline.until(is_start);
    let len = is_whole.then_some(outline.at);
    Extent { len, looked: outline.at, anchors: outline.anchors, aliases: outline.aliases }
}

struct Outline<'yaml> {
    text: &'yaml str,
    bytes: &'yaml [u8],
    /// What is looked at ends here.
    end: usize,
    at: usize,
    line_start: usize,
    /// Columns of the keys and dashes that hold what follows.
    parents: Vec<usize>,
    /// Where a comment follows a quote or a bracket at once.
    comment: Option<usize>,
    anchors: Vec<&'yaml str>,
    aliases: Vec<&'yaml str>,
    out: String,
    copied: usize,
    /// How many spaces may still be put in. Deep keys could ask for more than the text is long.
    spaces: usize,
}

/// What a thing between line ends was.
enum Met {
    /// It may be a key.
    Node,
    /// It does not end.
    Open,
}

impl<'yaml> Outline<'yaml> {
    fn of(text: &'yaml str, most: usize) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            end: text.len().min(most),
            at: 0,
            line_start: 0,
            parents: Vec::new(),
            comment: None,
            anchors: Vec::new(),
            aliases: Vec::new(),
            out: String::new(),
            copied: 0,
            spaces: 2 * text.len(),
        }
    }

    /// Goes on to the first line after this one that is to be the end, or to the end of the text; false if
    /// something is open there.
    fn until(&mut self, is_end: impl Fn(&str) -> bool) -> bool {
        while self.at < self.end {
            if let Met::Open = self.line() {
                self.at = self.end;
                return false;
            }
            if self.at < self.end && is_end(line(&self.text[self.at..])) {
                return true;
            }
        }
        self.at == self.text.len()
    }

    /// One line, and what of it goes on in the next ones.
    fn line(&mut self) -> Met {
        self.line_start = self.at;
        let indent = self.skip(b' ');
        if matches!(self.peek(), None | Some(b'\n' | b'#')) {
            self.skip_line();
            return Met::Node;
        }
        while self.parents.last().is_some_and(|parent| *parent >= indent) {
            self.parents.pop();
        }
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t')) {
                self.at += 1;
            }
            let start = self.at;
            match self.peek() {
                None | Some(b'\n') => break,
                Some(b'#') if self.at == self.line_start || self.is_blank(self.at - 1) => break,
                Some(b'-' | b'?' | b':') if self.is_blank(self.at + 1) => {
                    self.hold(start);
                    continue;
                }
                Some(sign @ (b'&' | b'*' | b'!')) => {
                    self.property(sign, false);
                    continue;
                }
                Some(quote @ (b'"' | b'\'')) => {
                    if let Met::Open = self.quoted(quote) {
                        return Met::Open;
                    }
                }
                Some(b'[' | b'{') => {
                    if let Met::Open = self.flow() {
                        return Met::Open;
                    }
                }
                Some(b'|' | b'>') => {
                    self.skip_line();
                    self.skip_deeper();
                    return Met::Node;
                }
                Some(_) => {
                    if !self.plain() {
                        self.skip_line();
                        self.skip_deeper();
                        return Met::Node;
                    }
                }
            }
            let after = self.at;
            self.space_before_comment();
            self.skip(b' ');
            if start < self.line_start || self.peek() != Some(b':') || !self.is_blank(self.at + 1) {
                self.at = after;
                break;
            }
            self.hold(start);
        }
        self.skip_line();
        Met::Node
    }

    /// What follows the sign here belongs to what began at `start`.
    fn hold(&mut self, start: usize) {
        self.parents.push(start - self.line_start);
        self.at += 1;
        self.no_tab();
    }

    fn space_before_comment(&mut self) {
        if self.peek() == Some(b'#') {
            self.replace(self.at, " ");
            self.comment = Some(self.at);
        }
    }

    fn no_tab(&mut self) {
        if self.peek() == Some(b'\t') {
            self.replace(self.at + 1, " ");
        }
    }

    /// A tag, an anchor or an alias.
    fn property(&mut self, sign: u8, in_flow: bool) {
        let start = self.at + 1;
        while self.peek().is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'\n'))
            && !(in_flow && matches!(self.peek(), Some(b',' | b'[' | b']' | b'{' | b'}')))
        {
            self.at += 1;
        }
        // What is looked at may end within a character.
        let name = self.text.get(start..self.at).unwrap_or_default();
        match sign {
            b'&' => self.anchors.push(name),
            b'*' => self.aliases.push(name),
            _ => {}
        }
    }

    /// Plain text; whether it is a key. If it is not, all that is deeper belongs to it.
    fn plain(&mut self) -> bool {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => return false,
                b'#' if self.is_blank(self.at - 1) => return false,
                b':' if self.is_blank(self.at + 1) => return true,
                _ => self.at += 1,
            }
        }
        false
    }

    fn quoted(&mut self, quote: u8) -> Met {
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => self.next_line(),
                b'\\' if quote == b'"' => self.escape(),
                _ if byte == quote => {
                    self.at += 1;
                    if quote == b'"' || self.peek() != Some(quote) {
                        return Met::Node;
                    }
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        Met::Open
    }

    fn escape(&mut self) {
        match half(&self.bytes[self.at..self.end]) {
            Some((first, len)) => {
                let pair = half(&self.bytes[self.at + len..self.end]);
                let joined = pair.and_then(|(second, more)| Some((joined(first, second)?, len + more)));
                let (c, len) = joined.unwrap_or((char::REPLACEMENT_CHARACTER, len));
                let code = u32::from(c);
                let written =
                    if code < 0x1_0000 { format!("\\u{code:04X}") } else { format!("\\U{code:08X}") };
                self.replace(self.at + len, &written);
            }
            // An escaped line end is a line end.
            None if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 1,
            None => self.at = (self.at + 2).min(self.end),
        }
    }

    /// What is between brackets, with the brackets.
    fn flow(&mut self) -> Met {
        let mut depth = 0_usize;
        // Whether the next character is the first of a node: only there, quotes are quotes.
        let mut fresh = true;
        while let Some(byte) = self.peek() {
            match byte {
                b'[' | b'{' => {
                    depth += 1;
                    fresh = true;
                    self.at += 1;
                    self.space_before_comment();
                }
                b']' | b'}' => {
                    depth -= 1;
                    fresh = false;
                    self.at += 1;
                    if depth == 0 {
                        return Met::Node;
                    }
                    self.space_before_comment();
                }
                b',' => {
                    fresh = true;
                    self.at += 1;
                    self.space_before_comment();
                }
                b'\n' => self.next_line(),
                b' ' | b'\t' => self.at += 1,
                b'#' if self.is_blank(self.at - 1) || self.comment == Some(self.at) => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                b'"' | b'\'' if fresh => {
                    if let Met::Open = self.quoted(byte) {
                        return Met::Open;
                    }
                    fresh = false;
                    self.space_before_comment();
                    // The value may follow at once.
                    if self.peek() == Some(b':') {
                        fresh = true;
                        self.at += 1;
                        self.no_tab();
                    }
                }
                b':' | b'?' if self.is_blank(self.at + 1) && (fresh || byte == b':') => {
                    fresh = true;
                    self.at += 1;
                    self.no_tab();
                }
                b'&' | b'*' | b'!' if fresh => self.property(byte, true),
                _ => {
                    fresh = false;
                    self.at += 1;
                }
            }
        }
        Met::Open
    }

    /// Goes over a line end inside of quotes or brackets, and gives the next line the indentation it lacks.
    fn next_line(&mut self) {
        self.at += 1;
        self.line_start = self.at;
        let indent = self.skip(b' ');
        let wanted = self.parents.last().map_or(0, |parent| parent + 1);
        let lacking = wanted.saturating_sub(indent);
        if lacking > 0 && lacking <= self.spaces && !matches!(self.peek(), None | Some(b'\n')) {
            self.spaces -= lacking;
            self.replace(self.at, &" ".repeat(lacking));
        }
    }

    /// Skips the lines that are deeper than what holds them, or blank.
    fn skip_deeper(&mut self) {
        while self.at < self.end {
            let start = self.at;
            let indent = self.skip(b' ');
            let is_blank = matches!(self.peek(), None | Some(b'\n'));
            if !is_blank && indent <= self.parents.last().copied().unwrap_or(0) {
                self.at = start;
                return;
            }
            self.skip_line();
        }
    }

    fn skip(&mut self, byte: u8) -> usize {
        let start = self.at;
        while self.peek() == Some(byte) {
            self.at += 1;
        }
        self.at - start
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..self.end];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    }

    fn peek(&self) -> Option<u8> {
        self.bytes[..self.end].get(self.at).copied()
    }

    /// Whether white space stands there, or nothing.
    fn is_blank(&self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
    }

    /// Writes something in place of what stands from here to `end`, and goes there.
    fn replace(&mut self, end: usize, text: &str) {
        self.out.push_str(&self.text[self.copied..self.at]);
        self.out.push_str(text);
        self.at = end;
        self.copied = end;
    }

    fn written(mut self) -> Cow<'yaml, str> {
        if self.out.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.out.push_str(&self.text[self.copied..]);
        Cow::Owned(self.out)
    }
}

/// The first line of a text, without its end.
pub(super) fn line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(line, _)| line)
}

/// An escaped half of a UTF-16 pair with which a text begins, and its length.
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

/// The character that two halves make.
fn joined(first: u32, second: u32) -> Option<char> {
    let is_pair = (0xD800..0xDC00).contains(&first) && (0xDC00..0xE000).contains(&second);
    is_pair.then(|| char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)))?
}
