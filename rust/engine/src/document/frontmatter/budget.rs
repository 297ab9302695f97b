//! The work that one document may cause.

/// The longest text that is given to the YAML parser, in bytes.
///
/// The parser is linear, but with a large factor at worst: it holds all tokens of a `[...]` or
/// `{...}` until that closes (some 200 bytes for each byte), and puts each key it recognises late
/// in front of them, 255 times at most. The worst MiB found takes about a second; ordinary ones
/// take a tenth of that. Depth needs no limit of ours: the parser refuses more than 255 levels of
/// brackets, and neither it nor we recurse on levels of indentation.
pub(super) const MAX_LEN: usize = 1 << 20;

/// A number of steps that may still be taken.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// For texts to parse: all entries of the longest block again after the block as a whole, and no more.
    pub(super) fn for_parsing() -> Self {
        Self { left: 2 * MAX_LEN }
    }

    /// For looking ahead, however often, for what closes a quote or a bracket.
    pub(super) fn for_looking_ahead(yaml: &str) -> Self {
        Self { left: 8 * yaml.len() + 4096 }
    }

    /// For what aliases and `%TAG` prefixes expand to: only they make much of little.
    pub(super) fn for_expanding(yaml: &str) -> Self {
        Self { left: 16 * yaml.len() + 4096 }
    }

    /// How many steps may still be taken.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Takes steps; `None` if there are too few left, and then they stay.
    pub(super) fn spend(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }
}
