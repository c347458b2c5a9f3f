//! One thread with a loop of a kind's own: the frame that every trial has, without the event loop of virtual users.

use super::start_line::StartLine;
use crate::clock::thread_cpu_ns;
use crate::process::{self, spent};
use crate::trial::{TrialError, TrialHandle, bind, launch, panic_text};
use crate::watch::Watch;
use bakeoff_engine::{
    Connections, Generator, GeneratorFigures, Live, Nanos, Recorder, ThreadFigures, Timeline, TrialSpec, Unfinished,
    collect,
};
use serde_json::Value;
use std::sync::Arc;

/// What a loop of its own leaves behind.
#[derive(Debug)]
pub struct CustomLoop {
    /// What it counted.
    pub recorder: Recorder,
    /// What still ran at the end.
    pub unfinished: Unfinished,
    /// What of its CPU time went into polling for replies in vain, ns.
    pub polled_ns: Nanos,
    /// The end of all work.
    pub ended_ns: Nanos,
    /// What its transport knows of connections.
    pub connections: Connections,
    /// The kind's own figures.
    pub workload: Value,
}

/// Runs `body` on one load thread and makes a trial's result of what it leaves. It is told the trial's phases, makes
/// all ready, calls what it was given last, which comes back at the start, and then has to look at
/// [`Live::is_cancelled`] every 100 ms. The window is the whole of its life.
pub fn start_custom_loop(
    spec: TrialSpec,
    operations: Vec<String>,
    body: impl FnOnce(&Arc<Live>, Timeline, &dyn Fn()) -> std::io::Result<CustomLoop> + Send + 'static,
) -> Result<TrialHandle, TrialError> {
    process::raise_file_limit();
    let live = Arc::new(Live::new(1, None));
    let line = StartLine::new(&live, 1, spec.own_sessions());
    let (watched, start) = (Arc::clone(&live), Arc::clone(&line));
    let own = spec.clone();
    launch(live, line, &own, move |control| {
        let watch = Watch::start()?;
        let load = {
            let (live, spec, place) = (Arc::clone(&watched), spec.clone(), start.place());
            let beside = watch.watched();
            let line = Arc::clone(&start);
            std::thread::Builder::new().name("bakeoff-load-0".to_owned()).spawn(move || {
                bind(0, spec.pinned(0), &live);
                process::wake_on_time();
                let timeline = spec.timeline(place.ready());
                beside.expect(&timeline);
                let (cpu_ns, run_delay_ns) = (thread_cpu_ns(), process::thread_run_delay_ns());
                let ended = body(&live, timeline, &|| line.leave())?;
                let (cpu_ns, run_delay_ns) =
                    (thread_cpu_ns() - cpu_ns, spent(run_delay_ns, process::thread_run_delay_ns()));
                let window_ns = ended.ended_ns.min(timeline.end_ns).saturating_sub(timeline.start_ns);
                let thread = ThreadFigures {
                    window_ns,
                    cost: Generator::of_thread(window_ns, cpu_ns, ended.polled_ns, run_delay_ns),
                    connections: ended.connections,
                    unfinished: ended.unfinished,
                    outside_ns: 0,
                };
                Ok::<_, std::io::Error>((ended, thread, timeline))
            })?
        };
        let start_ns = start.await_start();
        control.begin(spec.timeline(start_ns));
        let (ended, thread, timeline) =
            load.join().map_err(|panic| TrialError::Broken(panic_text(panic.as_ref())))??;
        control.end();
        let generator = GeneratorFigures {
            start: start.figures(),
            elapsed_ns: ended.ended_ns.saturating_sub(timeline.start_ns).max(1),
            cancelled: watched.is_cancelled(),
            fatal: None,
            rss_bytes: process::resident_bytes(),
            disturbances: Some(watch.finish(&timeline)),
            workload: ended.workload,
            // All that httperf does is one client's, on each machine.
            slice: (!spec.is_whole()).then_some(0..1),
        };
        Ok(collect(&operations, vec![ended.recorder], &[thread], &generator))
    })
}
