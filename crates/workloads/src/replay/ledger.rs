//! What became of each planned start, and the table of paths that is made of it.

use super::expect;
use super::paths::{OPERATIONS, Paths};
use super::trace::Trace;
use crate::packed::{self, Reader, Writer};
use bakeoff_engine::{ErrorClass, Nanos, Outcome, Stamps, Timeline};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

/// Rows of the table that are chosen for being asked for most, and for the time that they took.
const ROWS_BY_COUNT: usize = OPERATIONS;
const ROWS_BY_TIME: usize = 20;

const ENDED: u16 = 1 << 15;
const STATUS_BITS: u32 = 10;
const STATUS_MASK: u16 = (1 << STATUS_BITS) - 1;

/// A place for each planned start, written by whichever session carried it. Six bytes a start keep every time, so that
/// the percentiles of any path are known afterwards.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// Response time in ns, as the bits of an `f32`: right to seven digits.
    response: Vec<AtomicU32>,
    /// 0 where nothing ended in the window; else [`ENDED`], error class + 1, status.
    outcome: Vec<AtomicU16>,
}

impl Ledger {
    pub fn new(starts: usize) -> Self {
        Self {
            response: std::iter::repeat_with(AtomicU32::default).take(starts).collect(),
            outcome: std::iter::repeat_with(AtomicU16::default).take(starts).collect(),
        }
    }

    /// Writes down how a start ended, inside the window.
    #[inline]
    pub fn note(&self, start: u64, outcome: &Outcome, stamps: &Stamps) {
        let Ok(start) = usize::try_from(start) else { return };
        if let (Some(response), Some(place)) = (self.response.get(start), self.outcome.get(start)) {
            let class = outcome.error.map_or(0, |class| class as u16 + 1);
            response.store((stamps.response_ns() as f32).to_bits(), Ordering::Relaxed);
            place.store(ENDED | class << STATUS_BITS | outcome.status & STATUS_MASK, Ordering::Relaxed);
        }
    }

    fn read(&self, start: usize) -> Option<Ended> {
        let code = self.outcome[start].load(Ordering::Relaxed);
        let class = usize::from((code & !ENDED) >> STATUS_BITS).checked_sub(1);
        let response_ns = f32::from_bits(self.response[start].load(Ordering::Relaxed));
        let error = class.and_then(|class| ErrorClass::ALL.get(class).copied());
        (code & ENDED != 0).then_some(Ended { status: code & STATUS_MASK, error, response_ns })
    }

    /// What ended in the window, as text: the number of each start since the one before, its outcome and its time.
    pub fn packed(&self) -> String {
        let mut out = Writer::default();
        let mut next = 0;
        for start in 0..self.outcome.len() {
            let code = self.outcome[start].load(Ordering::Relaxed);
            if code & ENDED != 0 {
                out.number((start - next) as u64);
                out.number(u64::from(code & !ENDED));
                out.0.extend_from_slice(&self.response[start].load(Ordering::Relaxed).to_be_bytes());
                next = start + 1;
            }
        }
        out.shut()
    }

    /// Takes what another machine has packed; `None` when it is of another trial.
    pub fn take(&self, text: &str) -> Option<()> {
        let bytes = packed::open(text)?;
        let (mut from, mut next) = (Reader(&bytes), 0_usize);
        while !from.0.is_empty() {
            let start = next.checked_add(usize::try_from(from.number()?).ok()?)?;
            let code = u16::try_from(from.number()?).ok()?;
            let response = u32::from_be_bytes(from.bytes(4)?.try_into().ok()?);
            self.response.get(start)?.store(response, Ordering::Relaxed);
            self.outcome.get(start)?.store(code | ENDED, Ordering::Relaxed);
            next = start + 1;
        }
        Some(())
    }

    /// The table: of each path of the rows, and of all others together, what was asked in the window and became of it.
    pub fn table(&self, trace: &Trace, paths: &Paths, moments: &[Nanos], timeline: Option<&Timeline>) -> Value {
        let mut sums = vec![Sum::default(); paths.len()];
        let line = |start: usize| trace.lines[start % trace.lines.len()];
        for (start, moment) in moments.iter().enumerate() {
            let sum = &mut sums[paths.of_request(line(start).0)];
            sum.asked += u64::from(timeline.is_none_or(|timeline| timeline.in_window(timeline.start_ns + moment)));
            if let Some(ended) = self.read(start).filter(|ended| ended.error.is_none()) {
                sum.answered += 1;
                sum.time_ns += f64::from(ended.response_ns);
            }
        }
        let rows = chosen(&sums);
        let mut row_of = vec![rows.len(); paths.len()];
        rows.iter().enumerate().for_each(|(row, path)| row_of[*path] = row);
        let mut details: Vec<Detail> = std::iter::repeat_with(Detail::default).take(rows.len() + 1).collect();
        for start in 0..moments.len() {
            let (request, logged) = line(start);
            if let Some(ended) = self.read(start) {
                details[row_of[paths.of_request(request)]].add(ended, logged);
            }
        }
        let rest = details.pop().unwrap_or_default();
        let shown: Vec<Value> = rows
            .iter()
            .zip(details)
            .map(|(path, detail)| detail.json(paths.name(*path), paths.in_log(*path), sums[*path].asked))
            .collect();
        let hidden = (0..paths.len()).filter(|path| row_of[*path] == rows.len());
        let (in_log, asked) =
            hidden.clone().fold((0, 0), |(log, asked), path| (log + paths.in_log(path), asked + sums[path].asked));
        json!({
            "rows": shown,
            "others": {"paths": hidden.count(), "sum": rest.json("other paths", in_log, asked)},
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct Ended {
    status: u16,
    error: Option<ErrorClass>,
    response_ns: f32,
}

#[derive(Debug, Clone, Default)]
struct Sum {
    asked: u64,
    answered: u64,
    time_ns: f64,
}

/// The paths that are shown: the first by number, which the log asks for most, and those that took the most time.
fn chosen(sums: &[Sum]) -> Vec<usize> {
    let by_count = sums.len().min(ROWS_BY_COUNT);
    let mut by_time: Vec<usize> = (by_count..sums.len()).filter(|path| sums[*path].answered > 0).collect();
    by_time.sort_by(|one, other| sums[*other].time_ns.total_cmp(&sums[*one].time_ns));
    by_time.truncate(ROWS_BY_TIME);
    (0..by_count).chain(by_time).collect()
}

/// What became of the requests of one row.
#[derive(Debug, Default)]
struct Detail {
    times: Vec<f32>,
    statuses: BTreeMap<u16, u64>,
    errors: BTreeMap<&'static str, u64>,
    other_status: u64,
    example: Option<(u16, u16)>,
}

impl Detail {
    fn add(&mut self, ended: Ended, logged: u16) {
        if ended.status > 0 {
            *self.statuses.entry(ended.status).or_default() += 1;
        }
        let answered = ended.error.is_none() || ended.error == Some(ErrorClass::WrongStatus);
        if answered && !expect::fits(logged, ended.status) {
            self.other_status += 1;
            self.example.get_or_insert((logged, ended.status));
        }
        match ended.error {
            None => self.times.push(ended.response_ns),
            Some(class) => *self.errors.entry(class.name()).or_default() += 1,
        }
    }

    fn json(mut self, name: &str, in_log: u64, asked: u64) -> Value {
        let time_ns: f64 = self.times.iter().map(|time| f64::from(*time)).sum();
        let quantile = |times: &mut [f32], share: f64| {
            let at = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len().max(1)) - 1;
            (!times.is_empty()).then(|| f64::from(*times.select_nth_unstable_by(at, f32::total_cmp).1).round())
        };
        json!({
            "path": name, "in_log": in_log, "asked": asked, "answered": self.times.len(),
            "time_s": time_ns / 1e9,
            "p50_ns": quantile(&mut self.times, 0.5), "p99_ns": quantile(&mut self.times, 0.99),
            "statuses": self.statuses.iter().map(|(status, count)| (status.to_string(), *count)).collect::<BTreeMap<_, _>>(),
            "errors": self.errors,
            "other_status": self.other_status,
            "logged_status": self.example.map(|(logged, _)| logged),
            "got_status": self.example.map(|(_, got)| got),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: u16, error: Option<ErrorClass>) -> Outcome {
        Outcome { operation: 0, error, bytes_in: 0, bytes_out: 0, status }
    }

    #[test]
    fn what_is_written_is_read_for_every_class_and_status() {
        let ledger = Ledger::new(1);
        for class in ErrorClass::ALL.iter().map(|class| Some(*class)).chain([None]) {
            for status in [0, 200, 599] {
                let stamps = Stamps { planned_ns: 5, start_ns: 7, end_ns: 1_005, ..Stamps::default() };
                ledger.note(0, &outcome(status, class), &stamps);
                let read = ledger.read(0).unwrap();
                assert_eq!((read.status, read.error, read.response_ns), (status, class, 1_000.0));
            }
        }
        ledger.note(7, &outcome(200, None), &Stamps::default());
        ledger.note(u64::MAX, &outcome(200, None), &Stamps::default());
    }

    #[test]
    fn machines_that_divided_the_starts_tell_together_what_one_would() {
        let mut rng = bakeoff_engine::Rng::for_thread(4, 0, 0);
        let whole = Ledger::new(10_000);
        let parts = [Ledger::new(10_000), Ledger::new(10_000), Ledger::new(10_000)];
        for start in 0..9_000 {
            let error = (rng.below(9) == 0).then_some(ErrorClass::Refused);
            let outcome = outcome(if error.is_some() { 0 } else { 200 }, error);
            let stamps = Stamps { end_ns: rng.below(1 << 33), ..Stamps::default() };
            whole.note(start, &outcome, &stamps);
            parts[(start % 3) as usize].note(start, &outcome, &stamps);
        }
        let merged = Ledger::new(10_000);
        let bytes: usize = parts.iter().map(|part| part.packed().len()).sum();
        parts.iter().for_each(|part| merged.take(&part.packed()).unwrap());
        let told = |ledger: &Ledger| -> Vec<_> {
            let of = |start| ledger.read(start).map(|ended| (ended.status, ended.error, ended.response_ns.to_bits()));
            (0..10_000).map(of).collect()
        };
        assert_eq!(told(&merged), told(&whole));
        assert!(bytes < 9_000 * 10, "{bytes} bytes for 9,000 starts");
        assert_eq!((Ledger::new(5).take(&parts[0].packed()), merged.take("?")), (None, None));
    }

    #[test]
    fn the_table_has_the_most_asked_and_the_longest_and_sums_up_the_rest() {
        let mut trace = Trace { methods: vec![b"GET".to_vec()], period_us: 1_000_000, ..Trace::default() };
        // Path n is asked for 200 − n times; path 150 is slow.
        for path in 0..200_u32 {
            trace.ask(0, None, None, format!("/{path:03}").as_bytes());
            trace.lines.extend((path..200).map(|_| (path, if path == 3 { 404 } else { 200 })));
        }
        let paths = Paths::new(&trace);
        let moments: Vec<Nanos> = (0..trace.lines.len() as u64).collect();
        let ledger = Ledger::new(moments.len());
        for (start, (path, _)) in trace.lines.iter().enumerate() {
            let time_ns = if *path == 150 { 1_000_000 } else { 10 + u64::from(*path) };
            let error = (*path == 5).then_some(ErrorClass::Refused);
            let status = if error.is_some() { 0 } else { 200 };
            ledger.note(start as u64, &outcome(status, error), &Stamps { end_ns: time_ns, ..Stamps::default() });
        }
        let table = ledger.table(&trace, &paths, &moments, None);
        let rows = table["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 40);
        assert_eq!(
            (&rows[0]["path"], &rows[0]["answered"], &rows[0]["p50_ns"]),
            (&json!("GET /000"), &json!(200), &json!(10.0))
        );
        assert_eq!((&rows[3]["other_status"], &rows[3]["logged_status"]), (&json!(197), &json!(404)));
        assert_eq!((&rows[5]["answered"], &rows[5]["errors"]["refused"]), (&json!(0), &json!(195)));
        assert_eq!((&rows[20]["path"], &rows[20]["asked"]), (&json!("GET /150"), &json!(50)));
        let counted: u64 = rows.iter().map(|row| row["asked"].as_u64().unwrap()).sum();
        assert_eq!(counted + table["others"]["sum"]["asked"].as_u64().unwrap(), trace.lines.len() as u64);
        assert_eq!(table["others"]["paths"], 160);
    }
}
