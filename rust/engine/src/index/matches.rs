//! Where one term matches in a segment, and what it is worth there (K3).

/// The fields a token occurs in, as bits.
pub(super) mod field {
    pub(in crate::index) const BODY: u32 = 1;
    pub(in crate::index) const TAGS_OR_DESCRIPTION: u32 = 2;
    pub(in crate::index) const TITLE: u32 = 4;
    /// How many bits a posting spends on them.
    pub(in crate::index) const BITS: u32 = 3;
    pub(in crate::index) const MASK: u32 = (1 << BITS) - 1;

    /// The concept of a posting, and its fields (or their worth).
    #[allow(clippy::cast_possible_truncation)] // Three bits.
    pub(in crate::index) fn split(posting: u32) -> (u32, u8) {
        (posting >> BITS, (posting & MASK) as u8)
    }
}

/// What a set of fields is worth: 3 for the title, 2 for tags or description, 1 for the body.
const WORTH: [u8; 8] = [0, 1, 2, 3, 3, 4, 5, 6];

/// The most that one occurrence of a term can add to a score.
pub(crate) const MOST: u32 = 6;

/// The concepts of a segment that contain a term.
#[derive(Debug)]
pub enum Matches {
    /// `concept << field::BITS | worth`, ascending.
    Few(Box<[u32]>),
    /// For each concept, the worth.
    Many(Box<[u8]>),
}

impl Matches {
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
        // Going over all concepts is several times cheaper a piece than sorting postings.
        if postings < concepts / 32 {
            return Self::sorted(rows.flatten().copied().collect());
        }
        let mut fields = vec![0_u8; concepts];
        for posting in rows.flatten() {
            let (concept, found) = field::split(*posting);
            fields[concept as usize] |= found;
        }
        Self::of_fields(fields.into_iter())
    }

    /// From the fields that match in every concept.
    pub(super) fn of_fields(fields: impl Iterator<Item = u8>) -> Self {
        let worth: Vec<u8> = fields.map(|fields| WORTH[usize::from(fields & 7)]).collect();
        let count = worth.iter().filter(|worth| **worth != 0).count();
        if count * 4 >= worth.len() {
            return Matches::Many(worth.into());
        }
        let mut few = Vec::with_capacity(count);
        for (at, block) in (0_u32..).step_by(64).zip(worth.chunks(64)) {
            if block.iter().any(|worth| *worth != 0) {
                let block = (at..).zip(block).filter(|(_, worth)| **worth != 0);
                few.extend(block.map(|(concept, worth)| concept << field::BITS | u32::from(*worth)));
            }
        }
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
            *posting = *posting & !field::MASK | u32::from(WORTH[(*posting & field::MASK) as usize]);
        }
        Matches::Few(postings.into())
    }

    /// The concept and the worth of an entry of [`Matches::Few`].
    pub(crate) fn entry(entry: u32) -> (u32, u8) {
        field::split(entry)
    }
}
