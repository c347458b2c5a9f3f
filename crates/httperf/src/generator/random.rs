//! The generator of POSIX's `erand48`, so that a client draws the same numbers each time.

/// 48 bits of state.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

const MASK: u64 = (1 << 48) - 1;

impl Random {
    /// That of the client with this number: its three words are mixed with it.
    pub fn of_client(index: u32) -> Self {
        let index = u64::from(index);
        let words = [0x1234 ^ index, 0x5678 ^ (index << 8), 0x9abc ^ !index].map(|word| word & 0xffff);
        Self(words[0] | words[1] << 16 | words[2] << 32)
    }

    /// From 0 (included) to 1 (not included).
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & MASK;
        self.0 as f64 / (MASK + 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As POSIX defines it: X' = 0x5DEECE66D X + 0xB modulo 2^48, after `seed48` with these words.
    #[test]
    fn it_is_the_linear_congruence_of_posix() {
        let mut random = Random(0);
        assert_eq!((random.unit() * (MASK + 1) as f64) as u64, 0xB);
        assert_eq!((random.unit() * (MASK + 1) as f64) as u64, (0x5_DEEC_E66D * 0xB + 0xB) & MASK);
        assert_eq!(Random::of_client(0).0, 0x6543_5678_1234, "0x9abc ^ ~0 is 0x6543");
        let mut random = Random::of_client(3);
        let mean = (0..100_000).map(|_| random.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005);
    }
}
