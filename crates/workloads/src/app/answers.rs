//! Answers to processor work that are worked out again when the trial is over, where that costs the measurement nothing.

use bakeoff_app_protocol::process;
use bakeoff_engine::Rng;

/// Rounds that one machine works out again: about half a second.
const ROUNDS: u64 = 250_000_000;
/// So many answers of a trial are looked at, where rounds allow it: one wrong in 300 is then missed once in 10¹¹ trials.
const SAMPLE: u64 = 8_192;
const SAMPLE_LEAST: u64 = 4;
/// What one session keeps beyond its share, as not all sessions of a rate are used.
const SPARE: u64 = 8;
const KEPT_LEAST: u64 = 16;

/// How many answers with so many rounds are worked out again in a whole trial.
pub(crate) fn sample(rounds: u32) -> u64 {
    (ROUNDS / u64::from(rounds.max(1))).clamp(SAMPLE_LEAST, SAMPLE)
}

/// Seed and answer.
type Answer = (u64, u64);

/// A random sample of a session's answers, with its first and its last one.
#[derive(Debug)]
pub(crate) struct Answers {
    kept: Vec<Answer>,
    first: Option<Answer>,
    last: Option<Answer>,
    room: usize,
    pub count: u64,
}

impl Answers {
    /// Of one of so many sessions; `sample` as told by [`sample`].
    pub fn new(sample: u64, sessions: u64) -> Self {
        let room = (SPARE * sample / sessions.max(1)).clamp(KEPT_LEAST.min(sample), sample) as usize;
        Self { kept: Vec::new(), first: None, last: None, room, count: 0 }
    }

    /// Takes an answer.
    #[inline]
    pub fn take(&mut self, answer: Answer, rng: &mut Rng) {
        self.count += 1;
        self.first.get_or_insert(answer);
        self.last = Some(answer);
        if self.kept.len() < self.room {
            if self.kept.is_empty() {
                self.kept.reserve_exact(self.room);
            }
            self.kept.push(answer);
        } else {
            let place = rng.below(self.count) as usize;
            if let Some(kept) = self.kept.get_mut(place) {
                *kept = answer;
            }
        }
    }

    /// Works out `most` of them again, beside the first and the last one: how many were looked at, and were wrong.
    pub fn work_out(&mut self, most: u64, rounds: u32, rng: &mut Rng) -> (u64, u64) {
        rng.shuffle(&mut self.kept);
        self.kept.truncate(most as usize);
        let all = self.kept.drain(..).chain(self.first.take()).chain(self.last.take());
        all.fold((0, 0), |(checked, wrong), (seed, answer)| {
            (checked + 1, wrong + u64::from(process(seed, rounds) != answer))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(wrong: impl Fn(u64) -> bool, count: u64) -> (u64, u64) {
        let (mut answers, mut rng) = (Answers::new(sample(50), 1), Rng::for_thread(3, 0, 0));
        for seed in 0..count {
            let right = process(seed, 50);
            answers.take((seed, if wrong(seed) { right ^ 1 } else { right }), &mut rng);
        }
        assert_eq!(answers.count, count);
        answers.work_out(SAMPLE, 50, &mut rng)
    }

    #[test]
    fn few_answers_are_all_worked_out_again() {
        assert_eq!(checked(|_| false, 1000), (1002, 0));
        assert_eq!(checked(|seed| seed == 500, 1000).1, 1);
    }

    #[test]
    fn of_many_a_sample_from_begin_to_end_is() {
        let (checked_of_many, wrong) = checked(|seed| seed.is_multiple_of(300), 100_000);
        assert!(checked_of_many == SAMPLE + 2 && wrong > 0, "{wrong} of {checked_of_many}");
        // Right at first and wrong from then on; wrong at the very end alone.
        let (_, late) = checked(|seed| seed >= 50, 100_000);
        assert!(late > SAMPLE * 99 / 100, "{late}");
        assert!(checked(|seed| seed == 99_999, 100_000).1 >= 1);
    }

    #[test]
    fn hard_work_is_worked_out_less_often_and_many_sessions_keep_little() {
        assert_eq!((sample(1), sample(1_000_000), sample(100_000_000)), (SAMPLE, 250, SAMPLE_LEAST));
        assert_eq!(Answers::new(SAMPLE, 10_000).room, 16);
        assert_eq!(Answers::new(SAMPLE_LEAST, 10_000).room, 4);
        assert_eq!(Answers::new(SAMPLE, 60).room, 1092);
    }
}
