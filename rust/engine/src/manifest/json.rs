//! JSON as a manifest needs it: numbers as written, repeated keys noticed, positions known.

use std::cell::Cell;
use std::collections::hash_map::{Entry, HashMap};
use std::fmt;
use std::io::{self, Read};

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

/// A value. Lists and objects keep what they hold only where a manifest's meaning lies (see
/// [`Part`]); the rest is read, and forgotten.
pub(super) enum Node {
    Null,
    Bool(bool),
    /// As written: `1.0`, `1e2` and `-0` stay apart from integers they equal.
    Number(String),
    Text(String),
    List {
        items: Vec<Node>,
        /// Whether a text in an item that is not kept has a NUL.
        nul: bool,
    },
    Object {
        members: Vec<Member>,
        /// Whether a key that is not kept, or a text in its value, has a NUL.
        nul: bool,
    },
}

impl Node {
    /// Whether it is a text with a NUL, or holds one that is not looked at by itself.
    pub(super) fn has_nul(&self) -> bool {
        match self {
            Node::Null | Node::Bool(_) | Node::Number(_) => false,
            Node::Text(text) => text.contains('\0'),
            Node::List { nul, .. } | Node::Object { nul, .. } => *nul,
        }
    }
}

pub(super) struct Member {
    pub(super) key: String,
    /// Nothing if the key was repeated: no value is the right one then.
    value: Option<Node>,
}

impl Member {
    /// Whether a NUL is in its value.
    pub(super) fn has_nul(&self) -> bool {
        self.value.as_ref().is_some_and(Node::has_nul)
    }
}

#[derive(Clone, Copy)]
pub(super) enum Field<'a> {
    Absent,
    /// What is wrong is said elsewhere: the key is repeated, or its text has a NUL.
    Faulty,
    Once(&'a Node),
}

/// What an object says under a key.
pub(super) fn field<'a>(members: &'a [Member], key: &str) -> Field<'a> {
    match members.iter().find(|member| member.key == key) {
        None => Field::Absent,
        Some(Member { value: None, .. }) => Field::Faulty,
        Some(Member { value: Some(text @ Node::Text(_)), .. }) if text.has_nul() => Field::Faulty,
        Some(Member { value: Some(node), .. }) => Field::Once(node),
    }
}

/// A text as far as it could be read.
pub(super) struct Reading {
    pub(super) root: Result<Node, Broken>,
    /// Keys that an object has more than once, in the order of the text.
    pub(super) repeats: Vec<Repeat>,
}

/// Why a text is not one JSON value.
pub(super) struct Broken {
    pub(super) reason: String,
    pub(super) place: Place,
}

/// A key's second occurrence in its object.
pub(super) struct Repeat {
    pub(super) key: String,
    pub(super) place: Place,
    /// The index of the source that the object is, or lies in.
    pub(super) source: Option<usize>,
}

/// A character of a text. Lines and columns count from 1.
#[derive(Clone)]
pub(super) struct Place {
    offset: usize,
    line: usize,
    column: usize,
}

impl Place {
    const START: Place = Place { offset: 0, line: 1, column: 0 };

    /// The last character before a byte position.
    pub(super) fn after(text: &[u8], offset: usize) -> Place {
        let mut place = Place::START;
        place.advance(text, offset);
        place
    }

    fn advance(&mut self, text: &[u8], offset: usize) {
        for &byte in text.get(self.offset..offset).unwrap_or_default() {
            if byte == b'\n' {
                self.line += 1;
                self.column = 0;
            } else if byte & 0xC0 != 0x80 {
                // Bytes that continue a character are not counted.
                self.column += 1;
            }
        }
        self.offset = offset;
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column.max(1))
    }
}

/// Reads one JSON value and nothing after it. Nesting deeper than `serde_json` allows (128) is an
/// error like any other.
pub(super) fn read(text: &str) -> Reading {
    let consumed = Cell::new(0);
    let mut notes = Notes { text, consumed: &consumed, place: Place::START, repeats: Vec::new() };
    let mut deserializer =
        serde_json::Deserializer::from_reader(Counted { text: text.as_bytes(), consumed: &consumed });
    let root = Value { part: Part::Root, source: None, notes: &mut notes }
        .deserialize(&mut deserializer)
        .and_then(|root| deserializer.end().map(|()| root))
        .map_err(|error| broken(text, &error));
    Reading { root, repeats: notes.repeats }
}

fn broken(text: &str, error: &serde_json::Error) -> Broken {
    let mut reason = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if reason.ends_with(&position) {
        reason.truncate(reason.len() - position.len());
    }
    // Its columns are bytes of a line, ours are characters.
    let earlier: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let offset = (earlier + error.column()).min(text.len());
    Broken { reason, place: Place::after(text.as_bytes(), offset) }
}

/// Hands out bytes one by one, so that what has been consumed is what has been looked at. That is
/// how positions are known, which `serde_json` itself tells only of errors that end the reading.
struct Counted<'t> {
    text: &'t [u8],
    consumed: &'t Cell<usize>,
}

impl Read for Counted<'_> {
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

/// What is noted on the way.
struct Notes<'t> {
    text: &'t str,
    consumed: &'t Cell<usize>,
    /// Moves forward only: finding all places is linear, however many lie in one line.
    place: Place,
    repeats: Vec<Repeat>,
}

impl Notes<'_> {
    fn repeat(&mut self, key: &str, source: Option<usize>) {
        self.place.advance(self.text.as_bytes(), self.consumed.get());
        self.repeats.push(Repeat { key: key.to_owned(), place: self.place.clone(), source });
    }

    /// The number that has just been read, as written. The one byte behind it may have been
    /// consumed too.
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

/// Where in a manifest a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Root,
    Sources,
    Source,
    Elsewhere,
}

/// A value to be read.
struct Value<'n, 't> {
    part: Part,
    source: Option<usize>,
    notes: &'n mut Notes<'t>,
}

impl<'t> Value<'_, 't> {
    fn inner(&mut self, part: Part) -> Value<'_, 't> {
        Value { part, source: self.source, notes: self.notes }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = Node;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
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
        Ok(Node::Number(self.notes.number().to_owned()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Node, A::Error> {
        let (mut items, mut nul) = (Vec::new(), false);
        if self.part == Part::Sources {
            for index in 0.. {
                let item = Value { part: Part::Source, source: Some(index), notes: self.notes };
                match list.next_element_seed(item)? {
                    Some(item) => items.push(item),
                    None => break,
                }
            }
        } else {
            while let Some(item) = list.next_element_seed(self.inner(Part::Elsewhere))? {
                nul |= item.has_nul();
            }
        }
        Ok(Node::List { items, nul })
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Node, A::Error> {
        let mut kept: Vec<Member> = Vec::new();
        // Hashed with a secret: no choice of keys makes them collide.
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
                    let first = kept.get_mut(*slot.get()).ok_or_else(|| A::Error::custom("a lost key"))?;
                    if first.value.take().is_some() {
                        self.notes.repeat(&first.key, self.source);
                    }
                    object.next_value_seed(self.inner(Part::Elsewhere))?;
                }
            }
        }
        let mut nul = false;
        if !matches!(self.part, Part::Root | Part::Source) {
            nul = kept.iter().any(|member| member.key.contains('\0') || member.has_nul());
            kept = Vec::new();
        }
        Ok(Node::Object { members: kept, nul })
    }
}
