//! Rates by turns, again and again.

/// How much a sum of starts may be off a whole number by rounding.
const ROUNDING: f64 = 1e-6;

/// Parts of a period, each with a rate of its own; an even grid over the sum of starts.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    /// Where each part with starts begins: starts before it, its beginning, and the time between its starts, ns.
    parts: Vec<Part>,
    period_ns: f64,
    per_period: f64,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    before: f64,
    begin_ns: f64,
    interval_ns: f64,
}

impl Steps {
    /// Parts of (factor of the rate, seconds), one factor over 0, when a start each `interval_ns` is the rate.
    pub fn new(steps: &[(f64, f64)], interval_ns: f64) -> Self {
        let (mut parts, mut begin_ns, mut before) = (Vec::new(), 0.0, 0.0);
        for &(factor, length_s) in steps {
            let length_ns = length_s * 1e9;
            if factor > 0.0 {
                let interval_ns = interval_ns / factor;
                parts.push(Part { before, begin_ns, interval_ns });
                before = settled(before + length_ns / interval_ns);
            }
            begin_ns += length_ns;
        }
        Self { parts, period_ns: begin_ns, per_period: before }
    }

    /// The moment of the start `index`. One that falls between two parts belongs to the later one: the first start
    /// after a pause comes when the pause is over.
    pub fn at_ns(&self, index: u64) -> f64 {
        let index = index as f64;
        let mut period = (index / self.per_period).floor();
        let mut of_period = settled(index - period * self.per_period);
        if of_period >= self.per_period {
            (period, of_period) = (period + 1.0, 0.0);
        }
        let part = self.parts.partition_point(|part| part.before <= of_period).saturating_sub(1);
        let Part { before, begin_ns, interval_ns } = self.parts[part];
        period * self.period_ns + begin_ns + (of_period - before) * interval_ns
    }
}

/// Without the rounding error of what is meant to be whole.
fn settled(count: f64) -> f64 {
    let whole = count.round();
    if (count - whole).abs() < ROUNDING { whole } else { count }
}
