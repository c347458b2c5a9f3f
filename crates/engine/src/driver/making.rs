//! A driver with its virtual users, before traffic begins.

use super::idle::Idle;
use super::parts::Part;
use super::{Clock, Driver, VirtualUser};
use crate::schedule::Schedule;
use crate::spec::nanos;
use crate::{Identity, Live, Nanos, Recorder, Session, Stamps, Timeline, TrialSpec, Workload};
use std::sync::Arc;

impl<S: Session, C: Clock> Driver<S, C> {
    /// The driver of load-generating thread `thread`, which serves every client of this machine with
    /// `client % spec.load_threads == thread`, counted from its first. Traffic starts at `start_ns`.
    pub fn new<W: Workload<Session = S>>(
        workload: &W,
        spec: &TrialSpec,
        live: Arc<Live>,
        thread: usize,
        start_ns: Nanos,
        clock: C,
    ) -> Self {
        let sessions = Self::sessions(workload, spec, thread);
        Self::resume(workload, sessions, spec, live, thread, spec.timeline(start_ns), clock).under_load(workload, spec)
    }

    /// The sessions of load-generating thread `thread`, each with its client.
    pub fn sessions<W: Workload<Session = S>>(workload: &W, spec: &TrialSpec, thread: usize) -> Vec<(u32, S)> {
        let own = spec.own_clients();
        let first = own.start;
        let clients = own.filter(move |client| ((client - first) % spec.load_threads) as usize == thread);
        clients
            .flat_map(|client| (0..spec.sessions_of_client()).map(move |vu| (client, vu)))
            .map(|(client, vu)| (client, workload.session(Identity { client, vu, seed: spec.seed })))
            .collect()
    }

    /// A driver of sessions that have lived through an earlier stage, or are about to. Each virtual user follows
    /// itself, as it is right around the measured part.
    pub fn resume<W: Workload<Session = S>>(
        workload: &W,
        sessions: Vec<(u32, S)>,
        spec: &TrialSpec,
        live: Arc<Live>,
        thread: usize,
        timeline: Timeline,
        clock: C,
    ) -> Self {
        let vus: Vec<_> = sessions
            .into_iter()
            .map(|(client, session)| VirtualUser {
                session,
                client,
                busy: false,
                connecting: false,
                stamps: Stamps::default(),
                deadline_ns: Nanos::MAX,
                part: Part::First,
                failures: 0,
                late_ns: 0,
                turned_ns: None,
                iteration_ns: Nanos::MAX,
            })
            .collect();
        let names = workload.operations();
        let recorder = Recorder::new(timeline, names.len(), spec.clients() as usize)
            .with_steps(workload.steps())
            .split(&workload.split());
        live.show(thread, names, recorder.tally());
        Self {
            planned: vus.len(),
            vus,
            clock,
            recorder,
            live,
            thread,
            schedule: Schedule::after_pause(spec, thread),
            idle: Idle::none(),
            connect_timeout_ns: nanos(spec.connect_timeout_s),
            reply_timeout_ns: nanos(spec.reply_timeout_s),
            end_ns: timeline.end_ns,
            batch_ns: timeline.start_ns,
            busy: 0,
            streams: spec.streams as usize,
        }
    }

    /// The measured part: operations begin as the trial's load says.
    #[must_use]
    pub fn under_load<W: Workload<Session = S>>(mut self, workload: &W, spec: &TrialSpec) -> Self {
        let share = spec.share(self.thread as u32, spec.load_threads);
        let recorded = workload.moments();
        self.schedule = Schedule::of_load(spec, share, *self.recorder.timeline(), recorded.as_ref());
        if self.schedule.is_planned() {
            self.recorder = self.recorder.with_plan();
            self.idle = Idle::all(self.vus.len(), workload.is_round_robin());
        }
        if let Some(interval_s) = spec.interval_s {
            self.recorder = self.recorder.with_intervals(nanos(interval_s));
        }
        self
    }

    /// When each virtual user is to begin; of a rate none is, [`Driver::next_start_ns`] tells the first start.
    pub fn first_starts(&mut self, spec: &TrialSpec) -> Vec<(usize, Nanos)> {
        if self.schedule.is_planned() {
            return Vec::new();
        }
        let start_ns = self.recorder.timeline().start_ns;
        // A client's sessions are virtual users that follow each other.
        let of_client = spec.sessions_of_client() as usize;
        let vus = self.vus.iter().enumerate();
        vus.map(|(index, vu)| (index, start_ns + Schedule::first_ns(spec, vu.client, (index % of_client) as u32)))
            .collect()
    }
}
