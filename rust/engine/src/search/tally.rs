//! What all concepts are worth, added up term by term.

use crate::search::index::Matches;

/// A score of one of the widths that are added up: bytes, where they suffice, go by the dozen.
pub(super) trait Tally: Copy + Default + Into<u32> + TryFrom<u32> + Ord {
    fn add(self, worth: u8, times: u32) -> Self;
}

impl Tally for u8 {
    // The sum was found to fit before.
    fn add(self, worth: u8, times: u32) -> Self {
        self.wrapping_add(worth.wrapping_mul(u8::try_from(times).unwrap_or(0)))
    }
}

impl Tally for u32 {
    fn add(self, worth: u8, times: u32) -> Self {
        self.saturating_add(u32::from(worth).saturating_mul(times))
    }
}

/// Adds what each concept of a part is worth for a term that was written so many times.
pub(super) fn tally<T: Tally>(scores: &mut [T], times: u32, matches: &Matches) {
    match matches {
        Matches::Few(few) => {
            for entry in few {
                let (concept, worth) = Matches::entry(*entry);
                let score = &mut scores[concept as usize];
                *score = score.add(worth, times);
            }
        }
        Matches::Many(many) => {
            for (score, worth) in scores.iter_mut().zip(many) {
                *score = score.add(*worth, times);
            }
        }
    }
}
