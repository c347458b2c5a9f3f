//! Mean response times that polls of empty mailboxes do not flatter.

use crate::mail::operation::Operation;
use bakeoff_engine::{ErrorClass, Nanos};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Steps and the time they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sum {
    steps: u64,
    time_ns: Nanos,
}

impl Sum {
    fn add(&mut self, time_ns: Nanos) {
        self.steps += 1;
        self.time_ns += time_ns;
    }

    fn join(&mut self, other: Self) {
        self.steps += other.steps;
        self.time_ns += other.time_ns;
    }

    const fn mean_ns(self) -> f64 {
        if self.steps == 0 { 0.0 } else { self.time_ns as f64 / self.steps as f64 }
    }

    /// Together with steps that are left out where they are the quicker ones: a side must not look quick by that.
    fn with_slow(mut self, greetings: Self) -> Self {
        if greetings.mean_ns() > self.mean_ns() {
            self.join(greetings);
        }
        self
    }

    fn json(self) -> Value {
        let mean_s = (self.steps > 0).then(|| self.time_ns as f64 / 1e9 / self.steps as f64);
        json!({"steps": self.steps, "mean_s": mean_s})
    }
}

/// Of the steps in the window.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Response {
    /// All successful steps but those of sessions that found a mailbox empty.
    full: Sum,
    /// Steps that say how long sending and reading take: no empty poll, and a greeting of
    /// ours or a farewell only where these take longer. A step that
    /// ran into its time-out counts here with the time that was waited for it.
    sending: Sum,
    reading: Sum,
    /// Our greetings and farewells, which count as well where they take longer.
    greetings: Sum,
    farewells: Sum,
    /// Those of the POP3 session in progress: whether it finds anything turns out in its course.
    #[serde(skip)]
    open_full: Sum,
    #[serde(skip)]
    open_reading: Sum,
    #[serde(skip)]
    open_farewells: Sum,
    /// It found nothing.
    #[serde(skip)]
    empty: bool,
}

impl Response {
    /// A POP3 session begins.
    pub fn open(&mut self) {
        self.close();
    }

    /// The POP3 session in progress found nothing to read.
    pub fn was_empty(&mut self) {
        self.empty = true;
    }

    /// A step of the window is over.
    pub fn add(&mut self, operation: Operation, error: Option<ErrorClass>, time_ns: Nanos) {
        let timed_out = matches!(error, Some(ErrorClass::ReplyTimeout | ErrorClass::ConnectTimeout));
        if error.is_some() && !timed_out {
            return;
        }
        let (full, side, aside) = if operation.sends() {
            (&mut self.full, &mut self.sending, &mut self.greetings)
        } else {
            (&mut self.open_full, &mut self.open_reading, &mut self.open_farewells)
        };
        if !timed_out {
            full.add(time_ns);
        }
        let is_aside = matches!(operation, Operation::SmtpHello | Operation::SmtpQuit | Operation::PopQuit);
        if is_aside { aside } else { side }.add(time_ns);
    }

    /// The POP3 session in progress is over.
    pub fn close(&mut self) {
        let (full, reading) = (std::mem::take(&mut self.open_full), std::mem::take(&mut self.open_reading));
        let farewells = std::mem::take(&mut self.open_farewells);
        if !std::mem::take(&mut self.empty) {
            self.full.join(full);
            self.reading.join(reading);
            self.farewells.join(farewells);
        }
    }

    /// Takes the figures of another session.
    pub fn join(&mut self, other: &Self) {
        self.full.join(other.full);
        self.sending.join(other.sending);
        self.reading.join(other.reading);
        self.greetings.join(other.greetings);
        self.farewells.join(other.farewells);
    }

    pub fn json(&self) -> Value {
        json!({
            "without_empty_polls": self.full.json(),
            "sending": self.sending.with_slow(self.greetings).json(),
            "reading": self.reading.with_slow(self.farewells).json(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_and_farewells_that_take_longest_count_as_steps() {
        let mut response = Response::default();
        for (operation, time_ns) in [(Operation::SmtpBody, 1_000), (Operation::SmtpQuit, 201_000)] {
            response.add(operation, None, time_ns);
        }
        response.open();
        response.add(Operation::PopStat, None, 1_000);
        response.add(Operation::PopQuit, None, 3_000);
        response.close();
        let json = response.json();
        assert_eq!(json["sending"], json!({"steps": 2, "mean_s": 0.000_101}));
        assert_eq!(json["reading"], json!({"steps": 2, "mean_s": 0.000_002}));
    }

    #[test]
    fn empty_polls_greetings_and_farewells_do_not_hide_slow_steps() {
        let mut response = Response::default();
        for has_mail in [true, false, false] {
            response.open();
            response.add(Operation::PopStat, None, 1_000);
            if has_mail {
                response.add(Operation::PopRetrieve, None, 9_000_000_000);
            } else {
                response.was_empty();
            }
            response.add(Operation::PopQuit, None, 1_000);
        }
        response.add(Operation::SmtpHello, None, 10);
        response.add(Operation::SmtpBody, None, 2_000_000_000);
        response.add(Operation::SmtpBody, Some(ErrorClass::ReplyTimeout), 4_000_000_000);
        response.add(Operation::SmtpBody, Some(ErrorClass::ClosedEarly), 1);
        response.close();
        let json = response.json();
        assert_eq!(json["without_empty_polls"]["steps"], 5);
        assert_eq!(json["sending"], json!({"steps": 2, "mean_s": 3.0}));
        assert_eq!(json["reading"], json!({"steps": 2, "mean_s": 4.500_000_5}));
    }
}
