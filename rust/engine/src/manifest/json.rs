//! Parses JSON for a manifest: numbers stay as written, and repeated keys are found with their positions.

use std::cell::Cell;
use std::collections::hash_map::{Entry, HashMap};
use std::fmt;
use std::io::{self, Read};

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

/// A JSON value. Only the root, `sources` and each source keep their items and members (see [`Part`]). Other lists and
/// objects are parsed, but what they hold is dropped.
pub(super) enum Node {
    Null,
    Bool(bool),
    /// As written, so that `1.0`, `1e2` and `-0` differ from the integers they equal.
    Number(String),
    Text(String),
    List {
        items: Vec<Node>,
        /// Whether an item that is not kept has a NUL in a text.
        has_nul: bool,
    },
    Object {
        members: Vec<Member>,
        /// Whether a member that is not kept has a NUL in its key or in a text.
        has_nul: bool,
    },
}

impl Node {
    /// Whether it is a text with a NUL, or has a NUL in a part that is not kept. Parts that are kept are checked
    /// one by one.
    pub(super) fn has_nul(&self) -> bool {
        match self {
            Node::Null | Node::Bool(_) | Node::Number(_) => false,
            Node::Text(text) => text.contains('\0'),
            Node::List { has_nul, .. } | Node::Object { has_nul, .. } => *has_nul,
        }
    }
}

/// A key of an object and its value.
pub(super) struct Member {
    pub(super) key: String,
    /// `None` if the key is repeated: it is not known which value is right.
    value: Option<Node>,
}

impl Member {
    /// Whether the value has a NUL.
    pub(super) fn has_nul(&self) -> bool {
        self.value.as_ref().is_some_and(Node::has_nul)
    }
}

/// What an object has under a key.
#[derive(Clone, Copy)]
pub(super) enum Field<'a> {
    Absent,
    /// The key is repeated, or the value is a text with a NUL. This is reported without looking at the field.
    Reported,
    Present(&'a Node),
}

/// Looks up a key of an object.
pub(super) fn field<'a>(members: &'a [Member], key: &str) -> Field<'a> {
    match members.iter().find(|member| member.key == key) {
        None => Field::Absent,
        Some(Member { value: None, .. }) => Field::Reported,
        Some(Member { value: Some(text @ Node::Text(_)), .. }) if text.has_nul() => Field::Reported,
        Some(Member { value: Some(node), .. }) => Field::Present(node),
    }
}

/// The result of parsing, also of a text that is not valid.
pub(super) struct ParsedJson {
    pub(super) root: Result<Node, SyntaxError>,
    /// Keys that an object has more than once, in the order of the text.
    pub(super) repeated_keys: Vec<RepeatedKey>,
}

/// Why and where a text is not one JSON value.
pub(super) struct SyntaxError {
    pub(super) reason: String,
    pub(super) position: Position,
}

/// The second occurrence of a key in its object.
pub(super) struct RepeatedKey {
    pub(super) key: String,
    pub(super) position: Position,
    /// The index of the source that is the object or holds it.
    pub(super) source: Option<usize>,
}

/// The position of a character in a text.
#[derive(Clone)]
pub(super) struct Position {
    /// The byte offset after the character.
    offset: usize,
    /// From 1.
    line: usize,
    /// In characters, from 1; 0 before the first character of a line.
    column: usize,
}

impl Position {
    const START: Position = Position { offset: 0, line: 1, column: 0 };

    /// The last character before a byte offset.
    pub(super) fn before(text: &[u8], offset: usize) -> Position {
        let mut position = Position::START;
        position.advance(text, offset);
        position
    }

    /// Moves forward to the last character before a byte offset.
    fn advance(&mut self, text: &[u8], offset: usize) {
        for &byte in text.get(self.offset..offset).unwrap_or_default() {
            if byte == b'\n' {
                self.line += 1;
                self.column = 0;
            } else if byte & 0xC0 != 0x80 {
                // Only the first byte of a character counts.
                self.column += 1;
            }
        }
        self.offset = offset;
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column.max(1))
    }
}

/// Parses a text that must be one JSON value. Nesting deeper than `serde_json` allows (128 levels) is a syntax error.
pub(super) fn parse(text: &str) -> ParsedJson {
    let consumed = Cell::new(0);
    let mut state =
        ParserState { text, consumed: &consumed, position: Position::START, repeated_keys: Vec::new() };
    let reader = CountingReader { text: text.as_bytes(), consumed: &consumed };
    let mut deserializer = serde_json::Deserializer::from_reader(reader);
    let root = NodeVisitor { part: Part::Root, source: None, state: &mut state }
        .deserialize(&mut deserializer)
        .and_then(|root| deserializer.end().map(|()| root))
        .map_err(|error| syntax_error(text, &error));
    ParsedJson { root, repeated_keys: state.repeated_keys }
}

fn syntax_error(text: &str, error: &serde_json::Error) -> SyntaxError {
    let mut reason = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if reason.ends_with(&position) {
        reason.truncate(reason.len() - position.len());
    }
    // `serde_json` counts columns in bytes, messages count them in characters.
    let earlier: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let offset = (earlier + error.column()).min(text.len());
    SyntaxError { reason, position: Position::before(text.as_bytes(), offset) }
}

/// Hands out one byte at a time and counts them, so that the position of a key is known while it is parsed.
/// `serde_json` itself tells positions only of errors.
struct CountingReader<'text> {
    text: &'text [u8],
    consumed: &'text Cell<usize>,
}

impl Read for CountingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let consumed = self.consumed.get();
        match (buffer.first_mut(), self.text.get(consumed)) {
            (Some(slot), Some(byte)) => {
                *slot = *byte;
                self.consumed.set(consumed + 1);
                Ok(1)
            }
            _ => Ok(0),
        }
    }
}

/// What is shared while nested values are parsed.
struct ParserState<'text> {
    text: &'text str,
    /// How many bytes were read.
    consumed: &'text Cell<usize>,
    /// The position of the last repeated key. It moves forward only, so that finding all positions takes linear time,
    /// also if they are in one line.
    position: Position,
    repeated_keys: Vec<RepeatedKey>,
}

impl ParserState<'_> {
    fn add_repeated_key(&mut self, key: &str, source: Option<usize>) {
        self.position.advance(self.text.as_bytes(), self.consumed.get());
        self.repeated_keys.push(RepeatedKey { key: key.to_owned(), position: self.position.clone(), source });
    }

    /// The number that was just parsed, as written. The parser may have read one byte after it.
    fn number(&self) -> &str {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let read = self.text.as_bytes().get(..self.consumed.get()).unwrap_or_default();
        let read = match read {
            [before @ .., last] if !is_part(*last) => before,
            all => all,
        };
        let start = read.iter().rposition(|&byte| !is_part(byte)).map_or(0, |other| other + 1);
        self.text.get(start..read.len()).unwrap_or_default()
    }
}

/// The part of a manifest that a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Root,
    Sources,
    Source,
    Elsewhere,
}

/// Makes a node of the next value.
struct NodeVisitor<'state, 'text> {
    part: Part,
    /// The index of the source that is the value or holds it.
    source: Option<usize>,
    state: &'state mut ParserState<'text>,
}

impl<'text> NodeVisitor<'_, 'text> {
    /// The visitor for a value inside this one.
    fn inner(&mut self, part: Part) -> NodeVisitor<'_, 'text> {
        NodeVisitor { part, source: self.source, state: self.state }
    }
}

impl<'de> DeserializeSeed<'de> for NodeVisitor<'_, '_> {
    type Value = Node;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeVisitor<'_, '_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Number(self.state.number().to_owned()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Node, A::Error> {
        let (mut items, mut has_nul) = (Vec::new(), false);
        if self.part == Part::Sources {
            for index in 0.. {
                let item = NodeVisitor { part: Part::Source, source: Some(index), state: self.state };
                match list.next_element_seed(item)? {
                    Some(item) => items.push(item),
                    None => break,
                }
            }
        } else {
            while let Some(item) = list.next_element_seed(self.inner(Part::Elsewhere))? {
                has_nul |= item.has_nul();
            }
        }
        Ok(Node::List { items, has_nul })
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Node, A::Error> {
        let mut kept: Vec<Member> = Vec::new();
        // From a key to its position in `kept`. The standard hash map has random keys, so no choice of keys makes
        // their hashes collide.
        let mut seen: HashMap<String, usize> = HashMap::new();
        while let Some(key) = object.next_key::<String>()? {
            match seen.entry(key) {
                Entry::Vacant(slot) => {
                    let key = slot.key().clone();
                    let part = match (self.part, key.as_str()) {
                        (Part::Root, "sources") => Part::Sources,
                        _ => Part::Elsewhere,
                    };
                    slot.insert(kept.len());
                    let value = Some(object.next_value_seed(self.inner(part))?);
                    kept.push(Member { key, value });
                }
                Entry::Occupied(slot) => {
                    let first = kept
                        .get_mut(*slot.get())
                        .ok_or_else(|| A::Error::custom("a key is missing from its object"))?;
                    if first.value.take().is_some() {
                        self.state.add_repeated_key(&first.key, self.source);
                    }
                    object.next_value_seed(self.inner(Part::Elsewhere))?;
                }
            }
        }
        let mut has_nul = false;
        if !matches!(self.part, Part::Root | Part::Source) {
            has_nul = kept.iter().any(|member| member.key.contains('\0') || member.has_nul());
            kept = Vec::new();
        }
        Ok(Node::Object { members: kept, has_nul })
    }
}
