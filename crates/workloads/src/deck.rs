//! Shares of operations that come out exactly.

use bakeoff_engine::SpecError;

/// Cards in proportion to the weights. A deck that is dealt to its end keeps the shares exact, so that
/// two contenders and two blocks do the same work.
pub(crate) fn deck(weights: &[f64]) -> Result<Vec<u16>, SpecError> {
    let total: f64 = weights.iter().sum();
    if weights.iter().any(|weight| !weight.is_finite() || *weight < 0.0) || total <= 0.0 {
        return Err("weights must be numbers of at least 0 and not all 0".to_owned().into());
    }
    let exact = |size: u32| {
        let counts: Vec<f64> = weights.iter().map(|weight| weight / total * f64::from(size)).collect();
        let close = counts.iter().all(|count| (count - count.round()).abs() < 1e-6);
        close.then(|| counts.iter().map(|count| count.round() as usize).collect::<Vec<_>>())
    };
    let counts = (1..=1_000).find_map(exact).unwrap_or_else(|| {
        weights
            .iter()
            .map(|weight| (weight / total * 1_000.0).round().max(f64::from(u8::from(*weight > 0.0))) as usize)
            .collect()
    });
    let cards = counts.iter().enumerate().flat_map(|(class, &count)| std::iter::repeat_n(class as u16, count));
    Ok(cards.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
