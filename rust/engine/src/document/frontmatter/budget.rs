//! Bounds on the work that one frontmatter may cause.

/// The longest text that is given to the YAML parser, in bytes.
///
/// The parser takes linear time, but its worst case is slow. It keeps all tokens of a `[...]` or `{...}` until the
/// bracket closes (some 200 bytes of memory for each byte of text), and it inserts a token in front of them for
/// each key that it recognises late, at most 255 times. The worst text of this length that was found takes about
/// one second, an ordinary one a tenth of that. Nesting needs no limit here: the parser refuses more than 255
/// levels of brackets, and neither the parser nor this crate recurses on levels of indentation.
pub(super) const MAX_YAML_BYTES: usize = 1 << 20;

/// Aliases and `%TAG` prefixes may expand to this many times the length of the frontmatter. Only they can make a
/// small text mean a large one.
const MAX_EXPANSION: usize = 16;

/// Looking for closing quotes and brackets may read this many times the length of the frontmatter. An entry whose
/// quote does not close is read to the end of the text, and so may be each of the next entries.
const MAX_SCANS: usize = 8;

/// Added to the budgets that depend on the length of the text, in bytes, so that short texts are not limited.
const ALLOWANCE: usize = 4096;

/// Explains that a field is left out because it used up [`Budget::for_expanding`].
pub(super) fn expands_too_much(field: &str) -> String {
    format!("`{field}` is left out: its aliases expand to more than {MAX_EXPANSION} times the frontmatter.")
}

/// Explains that a text is not read because its tags used up [`Budget::for_expanding`].
pub(super) fn tags_expand_too_much() -> String {
    format!("its tags expand to more than {MAX_EXPANSION} times the frontmatter")
}

/// A number of bytes that may still be processed.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// Bytes that may be parsed entry by entry: the longest text twice, once as it is and once as a lenient reader
    /// takes it.
    pub(super) fn for_parsing_entries() -> Self {
        Self { left: 2 * MAX_YAML_BYTES }
    }

    /// Bytes that may be read in search of closing quotes and brackets.
    pub(super) fn for_scanning(yaml: &str) -> Self {
        Self { left: MAX_SCANS * yaml.len() + ALLOWANCE }
    }

    /// Bytes that aliases and `%TAG` prefixes may expand to.
    pub(super) fn for_expanding(yaml: &str) -> Self {
        Self { left: MAX_EXPANSION * yaml.len() + ALLOWANCE }
    }

    /// How many bytes may still be processed.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Takes bytes from the budget. `None` if fewer are left; then none are taken.
    pub(super) fn spend(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }
}
