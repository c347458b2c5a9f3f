//! Iterations: a client works until it has moved so many bytes, rests, and works again.
//!
//! A published table of ten mixes, for two servers, has throughput × (response + 2.36 s) = 16 × clients at every mix: what
//! is called a response there is such an iteration, and no single call.

use bakeoff_engine::{FileResult, Nanos};

/// Names of what a session tells of each iteration: its calls, and the rest before them.
pub(super) const STEPS: [&str; 2] = ["iteration", "rest"];

/// The iterations of one session.
#[derive(Debug, Clone)]
pub(super) struct Iterations {
    bytes: u64,
    pause_ns: Nanos,
    /// Moved since the last iteration. What an iteration moved too much belongs to the next: the mean is exactly `bytes`.
    moved: u64,
    start_ns: Option<Nanos>,
    last_end_ns: Nanos,
    /// Filling and checking buffers between the calls of this iteration, which is no time of the server's.
    outside_ns: Nanos,
    rest_ns: Option<Nanos>,
    resting: bool,
    steps: [(u16, u64); 2],
    telling: usize,
}

impl Iterations {
    pub fn new(bytes: u64, pause_s: f64) -> Self {
        Self {
            bytes,
            pause_ns: (pause_s * 1e9) as Nanos,
            moved: 0,
            start_ns: None,
            last_end_ns: 0,
            outside_ns: 0,
            rest_ns: None,
            resting: false,
            steps: [(0, 0); 2],
            telling: 0,
        }
    }

    /// The rest that comes now, if one does.
    pub fn rest(&mut self) -> Option<Nanos> {
        (std::mem::take(&mut self.resting) && self.pause_ns > 0).then_some(self.pause_ns)
    }

    /// Whether the next call is the first of an iteration.
    pub fn begins(&self) -> bool {
        self.start_ns.is_none()
    }

    /// A call is over that moved so many bytes.
    pub fn done(&mut self, moved: u64, result: &FileResult) {
        match self.start_ns {
            None => {
                self.start_ns = Some(result.start_ns);
                self.rest_ns = (self.last_end_ns != 0).then(|| result.start_ns - self.last_end_ns);
                self.outside_ns = 0;
            }
            Some(_) => self.outside_ns += result.start_ns - self.last_end_ns,
        }
        self.last_end_ns = result.end_ns;
        self.moved += moved;
        if self.moved < self.bytes {
            return;
        }
        self.moved -= self.bytes;
        let start_ns = self.start_ns.take().unwrap_or(result.start_ns);
        self.steps[0] = (0, result.end_ns - start_ns - self.outside_ns);
        self.telling = 1;
        if let Some(rest_ns) = self.rest_ns {
            self.steps[1] = (1, rest_ns);
            self.telling = 2;
        }
        self.resting = true;
    }

    /// What is to be told of the iteration that has just ended.
    pub fn tell(&mut self) -> &[(u16, u64)] {
        &self.steps[..std::mem::take(&mut self.telling)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(start_ns: Nanos, end_ns: Nanos) -> FileResult {
        FileResult { value: 1, start_ns, end_ns, damaged: false }
    }

    #[test]
    fn a_turn_lasts_from_its_first_call_to_the_one_that_fills_it() {
        let mut iterations = Iterations::new(100, 2.0);
        assert!(iterations.begins());
        iterations.done(60, &call(1_000, 1_010));
        assert!(iterations.tell().is_empty() && iterations.rest().is_none() && !iterations.begins());
        iterations.done(60, &call(1_015, 1_030));
        assert_eq!(iterations.tell(), [(0, 25)], "the 5 ns between the calls are the checking of data");
        assert_eq!((iterations.rest(), iterations.rest()), (Some(2_000_000_000), None));
        iterations.done(79, &call(5_000, 5_001));
        assert!(iterations.tell().is_empty(), "20 of the first iteration's bytes count here, one is missing");
        iterations.done(1, &call(5_001, 5_007));
        assert_eq!(iterations.tell(), [(0, 7), (1, 3_970)]);
    }
}
