//! Decks of cards: shares of operations, sizes or recipients that come out exactly.

mod spread;

use bakeoff_engine::{Rng, SpecError};
pub(crate) use spread::Spread;

/// Cards in proportion to weights, each the number of its weight. A deck that is dealt to its end keeps the shares
/// exact, so that two contenders and two blocks do the same work.
///
/// A plan keeps one that nobody has dealt from; each session deals from its own copy.
#[derive(Debug, Clone)]
pub(crate) struct Deck {
    cards: Vec<u16>,
    dealt: usize,
}

impl Deck {
    /// Refuses weights that are no numbers, below 0 or all 0.
    pub fn new(weights: impl IntoIterator<Item = f64>) -> Result<Self, SpecError> {
        let weights: Vec<f64> = weights.into_iter().collect();
        let total: f64 = weights.iter().sum();
        if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) || total <= 0.0 {
            return Err("weights must be numbers of at least 0 and not all 0".to_owned().into());
        }
        let cards: Vec<u16> = (0..)
            .zip(counts(&weights, 1..=1_000))
            .flat_map(|(card, count)| std::iter::repeat_n(card, count as usize))
            .collect();
        Ok(Self { dealt: cards.len(), cards })
    }

    /// The next card. The deck is shuffled when it is used up.
    #[inline]
    pub fn deal(&mut self, rng: &mut Rng) -> u16 {
        if self.dealt == self.cards.len() {
            rng.shuffle(&mut self.cards);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.cards[self.dealt - 1]
    }
}

/// How many cards each weight gets: as few as keep the weights exact, of the `sizes` that a deck may have, or else
/// rounded numbers for the last size. A weight above 0 gets a card at least.
fn counts(weights: &[f64], sizes: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let total: f64 = weights.iter().sum();
    let mut counts = Vec::new();
    for size in sizes {
        let shares = || weights.iter().map(|weight| weight / total * f64::from(size));
        let least = |share: f64| if share > 0.0 { share.round().max(1.0) } else { 0.0 };
        counts = shares().map(|share| least(share) as u32).collect();
        if shares().all(|share| (share - least(share)).abs() < 1e-6) {
            break;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deck(weights: &[f64]) -> Result<Vec<u16>, SpecError> {
        Deck::new(weights.iter().copied()).map(|deck| deck.cards)
    }

    #[test]
    fn the_deck_is_the_smallest_that_keeps_the_weights_exact() {
        assert_eq!(deck(&[1.0]).unwrap(), [0]);
        assert_eq!(deck(&[20.0, 20.0]).unwrap(), [0, 1]);
        let shares = deck(&[20.0, 8.0, 12.0, 20.0, 14.0, 16.0, 7.0, 1.0, 2.0]).unwrap();
        assert_eq!(shares.len(), 100);
        assert_eq!(shares.iter().filter(|&&class| class == 8).count(), 2);
        assert!(deck(&[0.0, 0.0]).is_err() && deck(&[-1.0, 2.0]).is_err() && deck(&[f64::NAN]).is_err());
        let odd = deck(&[std::f64::consts::PI, 1.0]).unwrap();
        assert!((odd.iter().filter(|&&class| class == 0).count() as f64 / odd.len() as f64 - 0.7585).abs() < 0.001);
    }

    #[test]
    fn each_round_of_a_deck_has_all_its_cards_in_another_order() {
        let mut deck = Deck::new([3.0, 1.0, 4.0]).unwrap();
        let mut rng = Rng::for_thread(5, 0, 0);
        let mut round = || (0..8).map(|_| deck.deal(&mut rng)).collect::<Vec<_>>();
        let rounds: Vec<_> = (0..20).map(|_| round()).collect();
        for dealt in &rounds {
            let of = |card| dealt.iter().filter(|dealt| **dealt == card).count();
            assert_eq!((of(0), of(1), of(2)), (3, 1, 4));
        }
        assert!(rounds.iter().any(|dealt| *dealt != rounds[0]));
    }

    #[test]
    fn the_rarest_weight_has_a_card() {
        let deck = deck(&[1.0, 1e-9]).unwrap();
        assert_eq!((deck.len(), deck.iter().filter(|&&card| card == 1).count()), (1_001, 1));
    }
}
