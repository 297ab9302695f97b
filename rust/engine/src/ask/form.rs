//! The form in which a text that is shown is searched for terms: folded (K2), or the normal form of BM25F (V3).

use crate::text::{
    compose::{has_one_form, normal},
    fold::{fold_char, fold_into},
};

/// A form of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Folded,
    Normal,
}

impl Form {
    /// Appends the form of `text` to `out`.
    pub(super) fn append(self, text: &str, out: &mut String) {
        match self {
            Form::Normal if !text.is_ascii() => out.push_str(&normal(text)),
            _ => fold_into(text, out),
        }
    }

    /// Whether the form of a text is that of what is before this character, and then that of the rest.
    pub(super) fn can_cut_before(self, c: char) -> bool {
        self == Form::Folded || has_one_form(c)
    }

    /// The offset in a text of what stands at the offset `formed` of its form; a character that several characters
    /// were composed to begins with the first of them.
    pub(super) fn original_offset(self, text: &str, formed: usize) -> usize {
        let mut formed_until = 0;
        let mut starts =
            text.char_indices().filter(|(_, c)| self.can_cut_before(*c)).map(|(at, _)| at).peekable();
        // What comes before the first place where the text can be cut is a part of its own.
        let mut start = 0;
        if starts.peek() == Some(&0) {
            starts.next();
        }
        loop {
            let end = starts.next().unwrap_or(text.len());
            formed_until += self.len(&text[start..end]);
            if formed_until > formed || end == text.len() {
                return if formed_until > formed { start } else { text.len() };
            }
            start = end;
        }
    }

    /// How many bytes the form of a text has.
    fn len(self, text: &str) -> usize {
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if self.can_cut_before(c) => fold_char(c).len_utf8(),
            _ => {
                let mut form = String::new();
                self.append(text, &mut form);
                form.len()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_a_form_lead_back_to_the_text() {
        let text = "don’t GRO\u{308}ßE ＡＢ漢";
        let mut form = String::new();
        Form::Normal.append(text, &mut form);
        assert_eq!(form, "DON'T GRÖßE AB漢");
        for (in_form, in_text) in
            [("T", "t"), ("GR", "GR"), ("Ö", "O\u{308}"), ("E A", "E Ａ"), ("AB", "ＡＢ"), ("漢", "漢")]
        {
            let offset = Form::Normal.original_offset(text, form.find(in_form).unwrap());
            // A character that may compose with others stands with those before it.
            let expected = text.find(in_text).unwrap();
            assert!(offset <= expected && text[offset..expected].chars().count() <= 2, "{in_form}");
        }
        assert_eq!(Form::Normal.original_offset("", 0), 0);
        assert_eq!(Form::Folded.original_offset("aß", 1), 1);
    }
}
