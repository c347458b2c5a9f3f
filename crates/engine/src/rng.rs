//! A small generator whose sequence is part of the plan: the same seed gives the same requests for ever.

/// xoshiro256++ seeded by `SplitMix64` (Blackman and Vigna, 2019, public domain algorithms).
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// A stream of its own for each (seed, client, thread).
    pub fn for_thread(seed: u64, client: u32, thread: u32) -> Self {
        let mut mixer = seed ^ (u64::from(client) << 32 | u64::from(thread)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Self { state: std::array::from_fn(|_| split_mix(&mut mixer)) }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in `0..bound`; 0 when `bound` is 0. The bias is below 2⁻³² for bounds under 2³².
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `0.0..1.0`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles in place (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_seed_is_fixed_for_ever() {
        let mut rng = Rng::for_thread(1, 0, 0);
        let first: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        let mut again = Rng::for_thread(1, 0, 0);
        assert_eq!(first, (0..3).map(|_| again.next_u64()).collect::<Vec<_>>());
        assert_ne!(first[0], Rng::for_thread(1, 1, 0).next_u64());
        assert_ne!(first[0], Rng::for_thread(1, 0, 1).next_u64());
        assert_ne!(first[0], Rng::for_thread(2, 0, 0).next_u64());
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::for_thread(7, 0, 0);
        let mut counts = [0_u32; 10];
        (0..100_000).for_each(|_| counts[rng.below(10) as usize] += 1);
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
    }
}
