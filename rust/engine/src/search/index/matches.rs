//! Where one term matches in a segment, and what it is worth there (K3).

use super::interner::narrow;

/// The fields a token occurs in, as bits.
pub(super) mod field {
    pub(in crate::search::index) const BODY: u32 = 1;
    pub(in crate::search::index) const TAGS_OR_DESCRIPTION: u32 = 2;
    pub(in crate::search::index) const TITLE: u32 = 4;
    /// How many bits a posting spends on them.
    pub(in crate::search::index) const BITS: u32 = 3;
    pub(in crate::search::index) const MASK: u32 = (1 << BITS) - 1;

    /// The concept of a posting, and its fields (or their worth).
    #[allow(clippy::cast_possible_truncation)] // Three bits.
    pub(in crate::search::index) fn split(posting: u32) -> (u32, u8) {
        (posting >> BITS, (posting & MASK) as u8)
    }
}

/// What a set of fields is worth: 3 for the title, 2 for tags or description, 1 for the body.
///
/// The bits are worth 4, 2 and 1: the title's is one too many. Unlike a table this goes by the dozen.
const fn worth(fields: u8) -> u8 {
    fields - (fields >> 2)
}

/// The most that one occurrence of a term can add to a score.
pub(crate) const MOST: u32 = 6;

/// If one concept in so many matches, going over all is quicker than sorting the postings.
const SPARSE: usize = 128;
/// If one concept in so many matches, adding the worth of all is quicker than that of those which match.
const DENSE: usize = 8;

/// The concepts of a segment that contain a term.
#[derive(Debug)]
pub enum Matches {
    /// `concept << field::BITS | worth`, ascending.
    Few(Box<[u32]>),
    /// For each concept, the worth.
    Many(Box<[u8]>),
}

impl Matches {
    /// How many concepts match, or how many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Matches::Few(few) => few.len(),
            Matches::Many(many) => many.len(),
        }
    }

    /// How many bytes they occupy.
    pub(crate) fn size(&self) -> usize {
        match self {
            Matches::Few(few) => size_of_val(&**few),
            Matches::Many(many) => many.len(),
        }
    }

    /// Unites posting lists, each ascending, of a segment of `concepts` concepts.
    pub(super) fn unite<'rows>(concepts: usize, rows: impl Iterator<Item = &'rows [u32]> + Clone) -> Self {
        let postings: usize = rows.clone().map(<[u32]>::len).sum();
        if postings < concepts / SPARSE {
            let mut united = Vec::with_capacity(postings);
            rows.for_each(|row| united.extend_from_slice(row));
            return Self::sorted(united);
        }
        let mut fields = vec![0_u8; concepts];
        for row in rows {
            for posting in row {
                let (concept, found) = field::split(*posting);
                fields[concept as usize] |= found;
            }
        }
        Self::of_fields(fields)
    }

    /// From the fields that match in every concept.
    pub(super) fn of_fields(mut fields: Vec<u8>) -> Self {
        for fields in &mut fields {
            *fields = worth(*fields);
        }
        let worth = fields;
        // Short sums of bytes, so that they go by the dozen.
        let count = |run: &[u8]| usize::from(run.iter().map(|worth| u8::from(*worth != 0)).sum::<u8>());
        let all: usize = worth.chunks(128).map(count).sum();
        if all * DENSE >= worth.len() {
            return Matches::Many(worth.into());
        }
        let mut few = Vec::with_capacity(all);
        let (eights, rest) = worth.as_chunks::<8>();
        for (at, eight) in (0_u32..).step_by(8).zip(eights) {
            let mut eight = u64::from_le_bytes(*eight);
            while eight != 0 {
                let zeros = eight.trailing_zeros() & !7;
                let worth = eight >> zeros & 0xff;
                eight ^= worth << zeros;
                few.push((at + zeros / 8) << field::BITS | u32::try_from(worth).unwrap_or(0));
            }
        }
        let rest = (narrow(eights.len() * 8)..).zip(rest).filter(|(_, worth)| **worth != 0);
        few.extend(rest.map(|(concept, worth)| concept << field::BITS | u32::from(*worth)));
        Matches::Few(few.into())
    }

    fn sorted(mut postings: Vec<u32>) -> Self {
        postings.sort_unstable();
        postings.dedup_by(|next, kept| {
            let same = *next >> field::BITS == *kept >> field::BITS;
            if same {
                *kept |= *next & field::MASK;
            }
            same
        });
        for posting in &mut postings {
            let (concept, fields) = field::split(*posting);
            *posting = concept << field::BITS | u32::from(worth(fields));
        }
        Matches::Few(postings.into())
    }

    /// The concept and the worth of an entry of [`Matches::Few`].
    pub(crate) fn entry(entry: u32) -> (u32, u8) {
        field::split(entry)
    }
}
