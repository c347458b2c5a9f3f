//! One thread with a loop of a kind's own: the frame that every trial has, without the event loop of lanes.

use crate::clock::thread_cpu_ns;
use crate::process::{self, spent};
use crate::start_line::StartLine;
use crate::trial::{TrialError, TrialHandle, bind, launch, panic_text};
use crate::watch::Watch;
use bakeoff_engine::{GeneratorFigures, Live, Nanos, Recorder, ThreadFigures, Timeline, TrialSpec, collect};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a loop of its own leaves behind.
#[derive(Debug)]
pub struct Alone {
    /// What it counted.
    pub recorder: Recorder,
    /// What it knows of its thread beside CPU time and window, which are taken here.
    pub thread: ThreadFigures,
    /// The end of all work.
    pub ended_ns: Nanos,
    /// Added under `connections` of the result.
    pub transport: Map<String, Value>,
    /// The kind's own figures.
    pub workload: Value,
}

/// Runs `body` on one load thread and makes a trial's result of what it leaves. It is told the trial's phases, makes all
/// ready, calls what it was given last, which comes back at the start, and then has to look at [`Live::is_cancelled`] every
/// 100 ms. The window is the whole of its life.
pub fn start_alone(
    spec: TrialSpec,
    operations: Vec<String>,
    body: impl FnOnce(&Arc<Live>, Timeline, &dyn Fn()) -> std::io::Result<Alone> + Send + 'static,
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
                let mut alone = body(&live, timeline, &|| line.leave())?;
                alone.thread.cpu_ns = thread_cpu_ns() - cpu_ns;
                alone.thread.run_delay_ns = spent(run_delay_ns, process::thread_run_delay_ns());
                alone.thread.window_ns = alone.ended_ns.min(timeline.end_ns).saturating_sub(timeline.start_ns);
                Ok::<_, std::io::Error>((alone, timeline))
            })?
        };
        let start_ns = start.await_start();
        control.begin(spec.timeline(start_ns));
        let (alone, timeline) = load.join().map_err(|panic| TrialError::Broken(panic_text(panic.as_ref())))??;
        control.end();
        let generator = GeneratorFigures {
            start: start.figures(),
            elapsed_ns: alone.ended_ns.saturating_sub(timeline.start_ns).max(1),
            cancelled: watched.is_cancelled(),
            fatal: None,
            rss_bytes: process::resident_bytes(),
            transport: alone.transport,
            disturbances: watch.finish(&timeline),
            workload: alone.workload,
            slice: None,
        };
        Ok(collect(&operations, vec![alone.recorder], &[alone.thread], &generator))
    })
}
