//! What a service thread does for a request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use bakeoff_app_protocol::{
    Hello, Kind, REPLY_BYTES, ReadEntry, Reply, Status, VERSION, checksum, fill_record, is_record_size, pattern,
    process, read_stamp, record_at,
};

use super::connection::{Job, Session};
use super::counts::{Tally, Used, bump};
use super::pause::Pause;
use super::segment::{NoSegment, Scratch, Segment, Store};
use super::spec::{AppSpec, FalseTimes, processors};
use crate::ServeError;
use crate::server::clock::{now_ns, to_ns};

/// Processor work beyond so many rounds, or a payload beyond so many bytes, is worth another thread's attention.
const SHORT_ROUNDS: u32 = 4096;
const SHORT_BYTES: u32 = 256 * 1024;
/// Records of segments that are made before it is known what clients want.
const PREPARED_RECORD_BYTES: u32 = 4096;
/// By how much times are told too long that are to be false.
const FALSE_NS: u64 = 1_000_000_000;
/// More results than this are not remembered.
const REMEMBERED_MAX: usize = 1 << 20;

/// All that requests are served with.
pub(super) struct Service {
    store: Store,
    pattern: Vec<u8>,
    programmed_ns: u64,
    rounds_max: u32,
    hello: Hello,
    epochs: AtomicU64,
    writes: AtomicU64,
    damage_every: Option<u64>,
    lose_every: Option<u64>,
    answers: AtomicU64,
    garbage_every: Option<u64>,
    /// Results by seed and rounds, of a server that remembers them.
    remembered: Option<Mutex<HashMap<(u64, u32), u64>>>,
    false_times: Option<FalseTimes>,
    started_ns: u64,
    pub used: Used,
}

/// What one thread has of its own.
pub(super) struct WorkerState {
    scratch: Scratch,
    pause: Pause,
}

impl WorkerState {
    pub fn new() -> Self {
        Self { scratch: Scratch::new(), pause: Pause::new() }
    }
}

impl Service {
    pub fn new(spec: &AppSpec) -> Result<Self, ServeError> {
        let store = Store::new(spec)?;
        let service_ns = to_ns(spec.service_s);
        let service = Self {
            store,
            pattern: pattern(spec.payload_max_bytes as usize),
            programmed_ns: service_ns,
            rounds_max: spec.rounds_max,
            hello: Hello {
                segment_bytes: spec.segment_bytes,
                service_ns,
                threads: spec.service_threads() as u32,
                processors: processors() as u32,
                direct: spec.direct,
                fsync: spec.fsync,
                payload_max: spec.payload_max_bytes,
                records_max: spec.records_max,
            },
            epochs: AtomicU64::new(1),
            writes: AtomicU64::new(0),
            damage_every: spec.damage_every,
            lose_every: spec.lose_every,
            answers: AtomicU64::new(0),
            garbage_every: spec.garbage_every,
            remembered: spec.remember.then(Mutex::default),
            false_times: spec.false_times,
            started_ns: now_ns(),
            used: Used::of(&spec.data.clone().unwrap_or_else(std::env::temp_dir)),
        };
        service.store.prepare(spec.prepare, PREPARED_RECORD_BYTES, &mut Scratch::new()).map_err(|_| {
            ServeError::Start("the prepared data segments do not fit: choose another data folder or fewer".to_owned())
        })?;
        service.used.look(0);
        Ok(service)
    }

    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    pub fn segments(&self) -> u64 {
        self.store.made()
    }

    /// Whether a request may keep its thread for long, so that another must look after the sockets meanwhile.
    pub fn is_long(&self, job: &Job) -> bool {
        let request = &job.request;
        self.programmed_ns > 0
            || match request.kind {
                Kind::Hello | Kind::Read | Kind::Write => true,
                Kind::Processor => request.b > SHORT_ROUNDS,
                Kind::Upload => request.payload_bytes > SHORT_BYTES,
                Kind::Download => request.b > SHORT_BYTES,
            }
    }

    /// Serves a request; the reply is then in its output. Returns how it went and the moment it was done.
    pub fn serve(&self, job: &mut Job, hands: &mut WorkerState, tally: &Tally) -> (Status, u64) {
        let started_ns = now_ns();
        let mut output = std::mem::take(&mut job.output);
        output.clear();
        output.resize(REPLY_BYTES, 0);
        let served = self.work(job, &mut output, hands, tally);
        if self.programmed_ns > 0 && job.request.kind != Kind::Hello {
            hands.pause.until(started_ns + self.programmed_ns);
        }
        let done_ns = now_ns();
        let (status, value) = match served {
            Ok(value) => (Status::Ok, value),
            Err(status) => {
                output.truncate(REPLY_BYTES);
                (status, 0)
            }
        };
        let (queue_ns, service_ns) = (started_ns.saturating_sub(job.received_ns), done_ns - started_ns);
        let (told_queue_ns, told_service_ns) = match self.false_times {
            None => (queue_ns, service_ns),
            Some(FalseTimes::Zero) => (0, 0),
            Some(FalseTimes::Long) => (queue_ns, service_ns + FALSE_NS),
        };
        Reply {
            kind: Some(job.request.kind),
            status,
            sequence: job.request.sequence,
            queue_ns: told_queue_ns,
            service_ns: told_service_ns,
            server_ns: done_ns.saturating_sub(job.began_ns),
            value,
            figures: self.used.figures(),
            payload_bytes: (output.len() - REPLY_BYTES) as u32,
        }
        .write(&mut output);
        job.output = output;
        if status == Status::Ok {
            tally.served(job.request.kind, queue_ns, service_ns);
        }
        (status, done_ns)
    }

    /// The reply to a request that is not served.
    pub fn refusal(&self, status: Status, kind: Option<Kind>, sequence: u64, mut output: Vec<u8>) -> Vec<u8> {
        output.clear();
        output.resize(REPLY_BYTES, 0);
        Reply {
            kind,
            status,
            sequence,
            queue_ns: 0,
            service_ns: 0,
            server_ns: 0,
            value: 0,
            figures: self.used.figures(),
            payload_bytes: 0,
        }
        .write(&mut output);
        output
    }

    /// The session of a connection that has ended.
    pub fn release(&self, session: Session) {
        if let Some(segment) = session.segment {
            self.store.give_back(session.epoch, segment);
        }
    }

    fn work(&self, job: &mut Job, output: &mut Vec<u8>, hands: &mut WorkerState, tally: &Tally) -> Result<u64, Status> {
        let request = job.request;
        if request.kind == Kind::Hello {
            return self.hello(job, output, hands);
        }
        let session = job.session.as_deref().ok_or(Status::NoHello)?;
        match request.kind {
            Kind::Hello => Err(Status::NoHello),
            Kind::Upload => Ok(u64::from(checksum(job.payload())) ^ u64::from(self.is_garbage(tally))),
            Kind::Download => {
                let bytes = self.pattern.get(..request.b as usize).ok_or(Status::TooLarge)?;
                output.extend_from_slice(bytes);
                if self.is_garbage(tally) {
                    output[REPLY_BYTES..].reverse();
                }
                Ok(u64::from(request.b))
            }
            Kind::Processor if request.b == 0 || request.b > self.rounds_max => Err(Status::BadParameter),
            Kind::Processor if self.is_garbage(tally) => Ok(!request.a),
            Kind::Processor => Ok(self.computed(request.a, request.b, tally)),
            Kind::Read => self.read(job, session, output, hands, tally),
            Kind::Write => self.write(job, session, hands, tally),
        }
    }

    /// Whether this answer is one of those that are to be wrong.
    fn is_garbage(&self, tally: &Tally) -> bool {
        let Some(every) = self.garbage_every else { return false };
        let is_due = (self.answers.fetch_add(1, Relaxed) + 1).is_multiple_of(every);
        bump(&tally.spoilt, u64::from(is_due));
        is_due
    }

    /// The result of processor work, from memory where it was done before and is remembered.
    fn computed(&self, seed: u64, rounds: u32, tally: &Tally) -> u64 {
        let Some(results) = &self.remembered else { return process(seed, rounds) };
        let lock = || results.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&result) = lock().get(&(seed, rounds)) {
            bump(&tally.remembered, 1);
            return result;
        }
        let result = process(seed, rounds);
        let mut known = lock();
        if known.len() < REMEMBERED_MAX {
            known.insert((seed, rounds), result);
        }
        result
    }

    fn hello(&self, job: &mut Job, output: &mut Vec<u8>, hands: &mut WorkerState) -> Result<u64, Status> {
        let (back, version, record_bytes) = (job.request.a, job.request.b, job.request.c);
        if job.session.is_some() {
            return Err(Status::NoHello);
        }
        if version != VERSION {
            return Err(Status::NotOurs);
        }
        let epoch = self.epochs.fetch_add(1, Relaxed);
        let segment = if record_bytes == 0 {
            None
        } else if is_record_size(record_bytes) {
            Some(self.store.take(epoch, back, record_bytes, &mut hands.scratch).map_err(|why| match why {
                NoSegment::Size | NoSegment::Gone => Status::BadParameter,
                NoSegment::Space => Status::NoSpace,
                NoSegment::Fault => Status::Storage,
                NoSegment::Held => Status::Busy,
            })?)
        } else {
            return Err(Status::BadParameter);
        };
        let segment_bytes = if segment.is_some() { self.hello.segment_bytes } else { 0 };
        output.extend_from_slice(&Hello { segment_bytes, ..self.hello }.to_bytes());
        job.session = Some(Box::new(Session { epoch, record_bytes, segment }));
        Ok(epoch)
    }

    /// The segment and how many of its records are in play.
    fn records<'a>(&self, job: &Job, session: &'a Session) -> Result<(&'a Segment, u64), Status> {
        let segment = session.segment.as_ref().ok_or(Status::BadParameter)?;
        let (count, span) = (job.request.b, u64::from(job.request.c));
        if count == 0 || count > self.hello.records_max || span > segment.records {
            return Err(Status::BadParameter);
        }
        Ok((segment, if span == 0 { segment.records } else { span }))
    }

    fn read(
        &self,
        job: &Job,
        session: &Session,
        output: &mut Vec<u8>,
        hands: &mut WorkerState,
        tally: &Tally,
    ) -> Result<u64, Status> {
        let (segment, records) = self.records(job, session)?;
        for nth in 0..job.request.b {
            let index = record_at(job.request.a, nth, records);
            let record = hands.scratch.bytes(session.record_bytes as usize);
            segment.read(index, record).map_err(|_| Status::Storage)?;
            let (epoch, sequence, whole) = read_stamp(record, index);
            if !whole {
                bump(&tally.broken_records, 1);
            }
            output.extend_from_slice(&ReadEntry { epoch, sequence, checksum: checksum(record) }.to_bytes());
        }
        Ok(u64::from(job.request.b))
    }

    fn write(&self, job: &Job, session: &Session, hands: &mut WorkerState, tally: &Tally) -> Result<u64, Status> {
        let (segment, records) = self.records(job, session)?;
        for nth in 0..job.request.b {
            let index = record_at(job.request.a, nth, records);
            let record = hands.scratch.bytes(session.record_bytes as usize);
            fill_record(record, index, session.epoch, job.request.sequence);
            let number = self.writes.fetch_add(1, Relaxed) + 1;
            let is_due = |every: Option<u64>| every.is_some_and(|every| number.is_multiple_of(every));
            if is_due(self.damage_every) {
                let middle = record.len() / 2;
                record[middle] ^= 1;
                bump(&tally.spoilt, 1);
            }
            if is_due(self.lose_every) {
                bump(&tally.spoilt, 1);
                continue;
            }
            segment.write(index, record).map_err(|_| Status::Storage)?;
        }
        if self.hello.fsync {
            segment.flush().map_err(|_| Status::Storage)?;
        }
        Ok(u64::from(job.request.b))
    }
}
