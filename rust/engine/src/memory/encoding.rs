//! The encoding of a file that gets more text: every byte that is there stays (Y4).

/// How a file encodes its text (B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16(Order),
}

/// Which byte of a two-byte unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Big,
    Little,
}

impl Encoding {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0xFE, 0xFF, ..] => Encoding::Utf16(Order::Big),
            [0xFF, 0xFE, ..] => Encoding::Utf16(Order::Little),
            _ => Encoding::Utf8,
        }
    }

    /// The bytes without the line ends at their end.
    pub(super) fn without_trailing_line_ends(self, bytes: &[u8]) -> &[u8] {
        let mut rest = bytes;
        let ends = ['\n', '\r'].map(|end| {
            let mut unit = Vec::new();
            self.append(&mut unit, end.encode_utf8(&mut [0; 4]));
            unit
        });
        while let Some(shorter) = ends.iter().find_map(|end| rest.strip_suffix(&**end)) {
            rest = shorter;
        }
        rest
    }

    /// Whether the bytes are only byte-order marks and line ends.
    pub(super) fn is_blank(self, bytes: &[u8]) -> bool {
        let mut mark = Vec::new();
        self.append(&mut mark, "\u{FEFF}");
        let mut rest = self.without_trailing_line_ends(bytes);
        while let Some(shorter) = rest.strip_prefix(&*mark) {
            rest = shorter;
        }
        rest.is_empty()
    }

    /// Appends a text, encoded like the rest of the file.
    pub(super) fn append(self, bytes: &mut Vec<u8>, text: &str) {
        match self {
            Encoding::Utf8 => bytes.extend_from_slice(text.as_bytes()),
            Encoding::Utf16(Order::Big) => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Encoding::Utf16(Order::Little) => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_trimmed_and_appended_in_whole_units() {
        for (bytes, encoding, kept) in [
            (&b"\xFF\xFEa\0\r\0\n\0"[..], Encoding::Utf16(Order::Little), &b"\xFF\xFEa\0"[..]),
            (b"\xFE\xFF\0a\0\r\0\n", Encoding::Utf16(Order::Big), b"\xFE\xFF\0a"),
            // The unit U+0A0A is not a line end.
            (b"\xFE\xFF\x0A\x0A", Encoding::Utf16(Order::Big), b"\xFE\xFF\x0A\x0A"),
            (b"a\r\n", Encoding::Utf8, b"a"),
        ] {
            assert_eq!(Encoding::of(bytes), encoding);
            assert_eq!(encoding.without_trailing_line_ends(bytes), kept);
            let mut longer = kept.to_vec();
            encoding.append(&mut longer, "\n");
            assert_eq!(encoding.without_trailing_line_ends(&longer), kept);
        }
        for nothing in [&b""[..], b"\n", b"\xEF\xBB\xBF\xEF\xBB\xBF\r", b"\xFF\xFE\n\0", b"\xFE\xFF\xFE\xFF"]
        {
            assert!(Encoding::of(nothing).is_blank(nothing), "{nothing:?}");
        }
    }
}
