//! Bytes and numbers that both sides must be able to compute, so that each can check the other.

use crate::u64_at;

/// Bytes at the start of each record that say who wrote it: checksum of the rest, index, epoch, sequence.
pub const STAMP_BYTES: usize = 32;
/// Smallest record.
pub const RECORD_BYTES_MIN: u32 = 512;
/// Largest record.
pub const RECORD_BYTES_MAX: u32 = 1 << 20;
/// Most records of a segment.
pub const RECORDS_MAX: u64 = 1 << 28;

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014).
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// CRC-32 (IEEE 802.3).
#[inline]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The first `length` bytes of the endless pattern that uploads and downloads carry.
pub fn pattern(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    fill(&mut bytes, 0);
    bytes
}

/// Fills with the random words that follow from `key`; they do not compress.
#[inline]
fn fill(bytes: &mut [u8], key: u64) {
    let mut state = key;
    for word in bytes.chunks_mut(8) {
        state = state.wrapping_add(STEP);
        word.copy_from_slice(&mix(state).to_le_bytes()[..word.len()]);
    }
}

/// `rounds` dependent rounds of a 64-bit mix: work that no compiler can leave out and no cache can help.
#[inline(never)]
pub fn process(seed: u64, rounds: u32) -> u64 {
    let mut state = seed;
    for _ in 0..rounds {
        state = mix(state.wrapping_add(STEP));
    }
    state
}

/// Which record the `nth` access of a request goes to, evenly over `records`.
#[inline]
pub fn record_at(seed: u64, nth: u32, records: u64) -> u64 {
    let random = mix(seed.wrapping_add(STEP.wrapping_mul(u64::from(nth) + 1)));
    ((u128::from(random) * u128::from(records)) >> 64) as u64
}

/// A seed whose first access goes to the record `index` of `records`; of the many that there are `draw` chooses one.
///
/// # Panics
/// When `records` is 0 or `index` is not below it.
pub fn seed_of(index: u64, records: u64, draw: u64) -> u64 {
    assert!(index < records, "record {index} of {records}");
    let begin_of = |index: u64| ((u128::from(index) << 64).div_ceil(u128::from(records))) as u64;
    let begin = begin_of(index);
    // Of the last record the end is 2^64, which wraps to 0 as it must.
    let end = if index + 1 == records { 0 } else { begin_of(index + 1) };
    let width = end.wrapping_sub(begin);
    let random = if width == 0 { draw } else { begin + ((u128::from(draw) * u128::from(width)) >> 64) as u64 };
    unmix(random).wrapping_sub(STEP)
}

/// The inverse of [`mix`].
fn unmix(mut z: u64) -> u64 {
    z = (z ^ (z >> 31) ^ (z >> 62)).wrapping_mul(0x3196_42B2_D24D_8EC3);
    z = (z ^ (z >> 27) ^ (z >> 54)).wrapping_mul(0x96DE_1B17_3F11_9089);
    z ^ (z >> 30) ^ (z >> 60)
}

/// Whether a record may have this size: a multiple of 512 bytes within the bounds.
pub fn is_record_size(bytes: u32) -> bool {
    bytes.is_multiple_of(RECORD_BYTES_MIN) && (RECORD_BYTES_MIN..=RECORD_BYTES_MAX).contains(&bytes)
}

/// Writes the one content that a record can have: the stamp, then words that follow from it.
///
/// # Panics
/// When `record` is shorter than a stamp.
pub fn fill_record(record: &mut [u8], index: u64, epoch: u64, sequence: u64) {
    fill(&mut record[STAMP_BYTES..], mix(epoch ^ mix(sequence ^ mix(index))));
    record[8..16].copy_from_slice(&index.to_le_bytes());
    record[16..24].copy_from_slice(&epoch.to_le_bytes());
    record[24..32].copy_from_slice(&sequence.to_le_bytes());
    let rest = checksum(&record[8..]);
    record[0..4].copy_from_slice(b"BKRC");
    record[4..8].copy_from_slice(&rest.to_le_bytes());
}

/// Epoch and sequence in the stamp of a record, and whether the record is the one of `index` and whole.
pub fn read_stamp(record: &[u8], index: u64) -> (u64, u64, bool) {
    if record.len() < STAMP_BYTES {
        return (0, 0, false);
    }
    let rest = checksum(&record[8..]);
    let whole = &record[0..4] == b"BKRC" && record[4..8] == rest.to_le_bytes() && u64_at(record, 8) == index;
    (u64_at(record, 16), u64_at(record, 24), whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_the_reference() {
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        // The first outputs of SplitMix64 from state 0, as published with it.
        assert_eq!(&pattern(16)[..8], 0xE220_A839_7B1D_CDAF_u64.to_le_bytes());
        assert_eq!(&pattern(16)[8..], 0x6E78_9E6A_A1B9_65F4_u64.to_le_bytes());
        assert_eq!(pattern(11), pattern(16)[..11]);
        assert_eq!(process(0, 1), 0xE220_A839_7B1D_CDAF);
        assert_eq!(process(5, 3), process(process(5, 2), 1));
    }

    #[test]
    fn a_record_is_whole_only_in_its_place_and_unchanged() {
        let mut record = vec![0; 4096];
        fill_record(&mut record, 9, 3, 77);
        assert_eq!(read_stamp(&record, 9), (3, 77, true));
        assert!(!read_stamp(&record, 8).2);
        for place in [0, 5, 9, 17, 25, 32, 4095] {
            record[place] ^= 1;
            assert!(!read_stamp(&record, 9).2, "byte {place}");
            record[place] ^= 1;
        }
        let mut other = vec![0; 4096];
        fill_record(&mut other, 9, 3, 78);
        assert_ne!(checksum(&record[32..]), checksum(&other[32..]));
    }

    #[test]
    fn places_cover_the_segment_evenly() {
        let mut counts = [0_u32; 8];
        (0..80_000).for_each(|seed| counts[record_at(seed, 0, 8) as usize] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
        assert_ne!(record_at(1, 0, 1 << 20), record_at(1, 1, 1 << 20));
    }

    #[test]
    fn a_seed_is_found_for_every_record() {
        for records in [1, 2, 3, 7, 4096, 4097, RECORDS_MAX] {
            for index in [0, 1, 2, records / 2, records.saturating_sub(2), records - 1]
                .into_iter()
                .filter(|&index| index < records)
            {
                for draw in [0, 1, 1 << 63, u64::MAX] {
                    assert_eq!(record_at(seed_of(index, records, draw), 0, records), index, "{index} of {records}");
                }
            }
        }
        assert_ne!(seed_of(3, 4096, 1 << 40), seed_of(3, 4096, 1 << 63), "which one cannot be foreseen");
    }

    #[test]
    fn record_sizes_are_whole_sectors() {
        assert!(is_record_size(512) && is_record_size(4096) && is_record_size(1 << 20));
        assert!(!is_record_size(0) && !is_record_size(513) && !is_record_size(2 << 20));
    }
}
