//! How long a client pauses between two operations.

use crate::spec::nanos;
use crate::{Distribution, Nanos, Rng, TrialSpec};

/// The pauses of one load-generating thread.
#[derive(Debug)]
pub(crate) struct Pause {
    mean_ns: Nanos,
    /// Exponential pauses when there is one.
    random: Option<Rng>,
}

impl Pause {
    /// Those between the operations of a load thread.
    pub fn new(spec: &TrialSpec, thread: usize) -> Self {
        Self::with(spec, || Rng::for_thread(spec.thread_seed() ^ 0x7417, thread as u32, 0))
    }

    /// The pause with which a client's session begins where pauses are random; else there is none.
    pub fn first_ns(spec: &TrialSpec, client: u32, of_client: u32) -> Nanos {
        let mut pause = Self::with(spec, || Rng::for_thread(spec.seed ^ 0x7418, client, of_client));
        if pause.random.is_some() { pause.next_ns() } else { 0 }
    }

    fn with(spec: &TrialSpec, rng: impl FnOnce() -> Rng) -> Self {
        let mean_ns = nanos(spec.think_s);
        let is_random = spec.think_distribution == Distribution::Exponential && mean_ns > 0;
        Self { mean_ns, random: is_random.then(rng) }
    }

    #[inline]
    pub fn next_ns(&mut self) -> Nanos {
        match &mut self.random {
            None => self.mean_ns,
            // At least 1 ns: a pause of 0 would be none.
            Some(rng) => ((-(1.0 - rng.unit()).ln() * self.mean_ns as f64) as Nanos).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(text: &str) -> Vec<Nanos> {
        let spec = format!(r#"{{"workload":{{}},"load":{{"clients":1}},"length_s":1,"think_s":0.002{text}}}"#);
        let mut pause = Pause::new(&TrialSpec::from_json(&spec).unwrap(), 0);
        (0..100_000).map(|_| pause.next_ns()).collect()
    }

    #[test]
    fn a_fixed_pause_is_always_the_same() {
        assert!(pauses("").iter().all(|&pause| pause == 2_000_000));
    }

    #[test]
    fn an_exponential_pause_has_the_mean_and_the_spread_of_one() {
        let pauses = pauses(r#","think_distribution":"exponential""#);
        let mean = pauses.iter().sum::<u64>() as f64 / 1e5;
        let square = pauses.iter().map(|&pause| (pause as f64 - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean / 2e6 - 1.0).abs() < 0.02, "{mean}");
        assert!((square.sqrt() / mean - 1.0).abs() < 0.02, "{square}");
    }
}
