//! What is written into files, so that everything read back can be checked.
//!
//! Each page (4 KiB, counted from the start of a record) begins with a stamp: whose file it is, where in it, and
//! from which pass of writing. The rest of a page is fixed random bytes, 1 MiB of them over and over: what compresses
//! within that finds nothing to save, and any changed byte is found. Stores that look for equal pages find none as
//! long as pages are stamped.

use bakeoff_engine::Rng;
use std::sync::OnceLock;

/// Distance of stamps, bytes.
pub const PAGE: usize = 4096;
/// Length of a stamp, bytes. Pieces shorter than this carry none.
pub const STAMP: usize = 32;
/// Length of the fixed bytes: file systems that compress look at no more than this at once.
pub(super) const BODY: usize = 256 * PAGE;
const SEED: u64 = 0x0BAD_0FF5;

/// Whose data they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u64);

impl Owner {
    /// One file of one session of one trial.
    pub fn new(seed: u64, session: u64, file: u64) -> Self {
        Self(mix(seed ^ mix(session << 20 ^ file)))
    }
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

pub(super) fn body() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut rng = Rng::for_thread(SEED, 0, 0);
        // Not an array, which would lie on the small stack of a session for a moment.
        let mut bytes = vec![0; BODY];
        bytes.chunks_exact_mut(8).for_each(|chunk| chunk.copy_from_slice(&rng.next_u64().to_le_bytes()));
        bytes
    })
}

pub(super) fn stamp(owner: Owner, offset: u64, pass: u64) -> [u8; STAMP] {
    let words = [owner.0, offset, pass, mix(owner.0 ^ mix(offset ^ mix(pass)))];
    let mut bytes = [0; STAMP];
    bytes.chunks_exact_mut(8).zip(words).for_each(|(chunk, word)| chunk.copy_from_slice(&word.to_le_bytes()));
    bytes
}

/// Fills a whole buffer with the fixed bytes; needed once, [`fill`] keeps them.
pub fn prepare(buffer: &mut [u8]) {
    buffer.chunks_mut(BODY).for_each(|chunk| chunk.copy_from_slice(&body()[..chunk.len()]));
}

/// Stamps a prepared buffer as the record at `offset`.
pub fn fill(buffer: &mut [u8], owner: Owner, offset: u64, pass: u64) {
    for (index, page) in buffer.chunks_mut(PAGE).enumerate() {
        if page.len() >= STAMP {
            page[..STAMP].copy_from_slice(&stamp(owner, offset + (index * PAGE) as u64, pass));
        }
    }
}

/// Whether a record is, byte for byte, the one that was written at `offset` in `pass`.
pub fn check(buffer: &[u8], owner: Owner, offset: u64, pass: u64) -> bool {
    buffer.chunks(PAGE).enumerate().all(|(index, page)| {
        let at = index * PAGE % BODY;
        if page.len() < STAMP {
            return *page == body()[at..at + page.len()];
        }
        page[..STAMP] == stamp(owner, offset + (index * PAGE) as u64, pass)
            && page[STAMP..] == body()[at + STAMP..at + page.len()]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_is_found() {
        let owner = Owner::new(1, 2, 3);
        for length in [1, 31, 32, 512, 4096, 5000, BODY + 7] {
            let mut buffer = vec![0; length];
            prepare(&mut buffer);
            fill(&mut buffer, owner, 8192, 4);
            assert!(check(&buffer, owner, 8192, 4), "{length}");
            for at in [0, length / 2, length - 1] {
                buffer[at] ^= 1;
                assert!(!check(&buffer, owner, 8192, 4), "{length} {at}");
                buffer[at] ^= 1;
            }
        }
    }

    #[test]
    fn old_misplaced_and_foreign_records_are_found() {
        let owner = Owner::new(1, 2, 3);
        let mut buffer = vec![0; 4096];
        prepare(&mut buffer);
        fill(&mut buffer, owner, 4096, 2);
        assert!(!check(&buffer, owner, 4096, 1));
        assert!(!check(&buffer, owner, 8192, 2));
        for other in [Owner::new(2, 2, 3), Owner::new(1, 3, 3), Owner::new(1, 2, 4)] {
            assert!(!check(&buffer, other, 4096, 2));
        }
        assert!(!check(&vec![0; 4096], owner, 4096, 2));
    }
}
