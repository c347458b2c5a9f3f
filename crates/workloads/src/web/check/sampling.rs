//! Which bodies are hashed: none that a server could guess.
//!
//! All of a trial's first ones, so that a trial of few replies is looked at whole; the first of each request; and of the
//! others one in so many, drawn by the secret of the trial. The others are held to status and length, which costs nothing.

use crate::web::plan::WebPlan;
use bakeoff_engine::{Identity, Rng};
use std::sync::atomic::Ordering;

/// So many bodies of a trial are hashed before any is left out, as long as they have no more bytes together than this.
pub const WHOLE_BODIES: u64 = 1_000;
/// See [`WHOLE_BODIES`].
pub const WHOLE_BYTES: u64 = 64 << 20;

/// One in so many, drawn with the same chance whatever was drawn before.
#[derive(Debug)]
pub struct Draws {
    rng: Rng,
    every: u32,
    /// Until the next that is drawn, which is the one at 0.
    left: u64,
}

impl Draws {
    /// One in `every`; none where that is 0.
    pub fn new(rng: Rng, every: u32) -> Self {
        let mut draws = Self { rng, every, left: 0 };
        draws.left = draws.gap();
        draws
    }

    /// Whether the next one is drawn.
    #[inline]
    pub fn draw(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.left = self.gap();
        self.every > 0
    }

    /// How many are passed over.
    fn gap(&mut self) -> u64 {
        if self.every <= 1 {
            return 0;
        }
        ((1.0 - self.rng.unit()).ln() / (-1.0 / f64::from(self.every)).ln_1p()) as u64
    }
}

/// The draws of one session.
#[derive(Debug)]
pub(crate) struct Sampler(Draws);

impl Sampler {
    pub fn new(plan: &WebPlan, identity: Identity) -> Self {
        let rng = Rng::for_thread(identity.seed ^ plan.secret, identity.client, identity.vu);
        Self(Draws::new(rng, plan.check_every))
    }

    /// Whether the next body with a known hash is to be hashed.
    #[inline]
    pub fn is_due(&mut self, plan: &WebPlan, request: usize) -> bool {
        plan.check_every > 0 && (self.0.draw() || plan.is_first_fetch(request) || is_early(plan))
    }
}

#[inline]
fn is_early(plan: &WebPlan) -> bool {
    let few = plan.hashed.load(Ordering::Relaxed) < WHOLE_BODIES;
    few && plan.hashed_bytes.load(Ordering::Relaxed) < WHOLE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_so_many_is_drawn_at_no_fixed_distance() {
        let mut draws = Draws::new(Rng::for_thread(5, 0, 0), 100);
        let gaps: Vec<u64> = (0..20_000).map(|_| draws.gap() + 1).collect();
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((97.0..103.0).contains(&mean), "{mean}");
        assert!(gaps.iter().any(|&gap| gap < 5) && gaps.iter().any(|&gap| gap > 300));
        let drawn = |every| {
            let mut draws = Draws::new(Rng::for_thread(5, 0, 0), every);
            (0..100_000).filter(|_| draws.draw()).count()
        };
        assert_eq!((drawn(0), drawn(1)), (0, 100_000));
        assert!((9_000..11_000).contains(&drawn(10)), "{}", drawn(10));
    }
}
