//! A deck in an order that is fixed: every contender gets the same cards in the same order.

use super::counts;
use bakeoff_engine::Rng;

/// Sizes that a deck may have; a table whose weights need more is rounded to the last.
const SIZES: [u32; 18] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 25, 50, 96, 100, 200, 500, 1_000, 10_000];

/// Cards in proportion to a table's weights, spread so that any stretch of the deck has nearly the same shares.
///
/// One large message in a thousand carries most of the bytes of a mix: dealt blindly, it would decide a short trial.
#[derive(Debug, Clone)]
pub(crate) struct Spread {
    cards: Vec<u32>,
}

impl Spread {
    /// From values with weights. The order depends on `seed` alone.
    pub fn new(table: &[(u32, f64)], seed: u64) -> Result<Self, String> {
        let total: f64 = table.iter().map(|(_, weight)| weight).sum();
        if table.is_empty()
            || table.iter().any(|(_, weight)| weight.is_nan() || *weight < 0.0)
            || !(total > 0.0 && total.is_finite())
        {
            return Err("a table needs weights of at least 0 that are not all 0".to_owned());
        }
        let weights: Vec<f64> = table.iter().map(|(_, weight)| *weight).collect();
        let mut rng = Rng::for_thread(seed ^ 0xDEC4, 0, 0);
        let mut placed: Vec<(f64, u32)> = Vec::new();
        for ((value, _), count) in table.iter().zip(counts(&weights, SIZES)) {
            let phase = rng.unit();
            placed.extend((0..count).map(|card| {
                let jitter = 0.5 * rng.unit();
                ((f64::from(card) + phase * 0.5 + jitter) / f64::from(count), *value)
            }));
        }
        placed.sort_by(|left, right| left.0.total_cmp(&right.0));
        Ok(Self { cards: placed.into_iter().map(|(_, value)| value).collect() })
    }

    /// The card at a position, counted round and round.
    pub fn card(&self, position: u64) -> u32 {
        self.cards[(position % self.cards.len() as u64) as usize]
    }

    /// Where player `player` of `players` begins, so that together they use the deck evenly.
    pub fn first(&self, player: u64, players: u64) -> u64 {
        (u128::from(player) * self.cards.len() as u128 / u128::from(players.max(1))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const ISP_2001: &[(u32, f64)] = &[
        (1, 10.20),
        (2, 30.71),
        (3, 20.59),
        (4, 10.78),
        (5, 5.88),
        (6, 3.74),
        (10, 7.44),
        (100, 9.79),
        (1000, 0.69),
        (2675, 0.18),
    ];

    fn shares(cards: &[u32]) -> HashMap<u32, usize> {
        let mut counts = HashMap::new();
        cards.iter().for_each(|card| *counts.entry(*card).or_insert(0) += 1);
        counts
    }

    #[test]
    fn a_deck_has_exactly_the_shares_of_its_table() {
        let deck = Spread::new(ISP_2001, 1).unwrap();
        let counts = shares(&deck.cards);
        assert_eq!(deck.cards.len(), 10_000);
        assert_eq!((counts[&2], counts[&2675], counts[&100]), (3_071, 18, 979));
    }

    #[test]
    fn every_stretch_has_nearly_the_same_bytes() {
        let deck = Spread::new(ISP_2001, 7).unwrap();
        for stretch in deck.cards.chunks(1_000) {
            let counts = shares(stretch);
            assert!((1..=3).contains(&counts[&2675]), "{counts:?}");
            assert!((96..=100).contains(&counts[&100]), "{counts:?}");
        }
    }

    #[test]
    fn the_order_is_the_seeds() {
        let deal = |seed| Spread::new(ISP_2001, seed).unwrap().cards;
        assert_eq!(deal(1), deal(1));
        assert_ne!(deal(1), deal(2));
        assert!(
            Spread::new(&[(1, 0.0)], 1).is_err()
                && Spread::new(&[], 1).is_err()
                && Spread::new(&[(1, f64::NAN)], 1).is_err()
        );
    }
}
