//! An executor for tests: several sessions with one slot each, their barriers, and a clock for all.

use super::simulated::{Counted, Disk};
use bakeoff_engine::{
    BarrierSpan, FileCall, FileContext, FileProgress, FileResult, FileSession, FileStep, Nanos, Observation,
};
use std::collections::BTreeMap;

/// How fast a client is.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Duration of each of its calls.
    pub call_ns: Nanos,
    /// How long after a barrier has opened it goes on.
    pub wake_ns: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready(Nanos),
    /// At a barrier since.
    Waiting(Nanos),
    Over,
}

struct Client<'a, S> {
    session: &'a mut S,
    pace: Pace,
    state: State,
    /// When the last barrier opened, and when it went on.
    released: Option<(Nanos, Nanos)>,
    handles: BTreeMap<u16, String>,
    positions: BTreeMap<u16, u64>,
    counted: Vec<Counted>,
}

/// Runs sessions to their ends: the counted operations of each, or why one of them gave up.
pub fn play_together<S: FileSession>(
    sessions: &mut [S],
    paces: &[Pace],
    disk: &mut Disk,
) -> Result<Vec<Vec<Counted>>, String> {
    let start = |(session, &pace)| Client {
        session,
        pace,
        state: State::Ready(1_000),
        released: None,
        handles: BTreeMap::new(),
        positions: BTreeMap::new(),
        counted: Vec::new(),
    };
    let mut clients: Vec<Client<'_, S>> = sessions.iter_mut().zip(paces).map(start).collect();
    let mut buffer = vec![0_u8; 1 << 20];
    loop {
        let ready = |(index, client): (usize, &Client<'_, S>)| match client.state {
            State::Ready(at_ns) => Some((at_ns, index)),
            _ => None,
        };
        let Some((now_ns, index)) = clients.iter().enumerate().filter_map(ready).min() else {
            if !open_barrier(&mut clients) {
                return Ok(clients.into_iter().map(|client| client.counted).collect());
            }
            continue;
        };
        let others_wait = clients.iter().any(|client| matches!(client.state, State::Waiting(_)));
        step(&mut clients[index], &FileContext { now_ns, others_wait, released_ns: 0 }, disk, &mut buffer)?;
    }
}

/// Lets all go on that wait; `false` when nobody does.
fn open_barrier<S>(clients: &mut [Client<'_, S>]) -> bool {
    let waiting = |client: &Client<'_, S>| match client.state {
        State::Waiting(since_ns) => Some(since_ns),
        _ => None,
    };
    let Some(last_ns) = clients.iter().filter_map(waiting).max() else { return false };
    for client in clients {
        if client.state != State::Over {
            let wake_ns = last_ns + client.pace.wake_ns;
            client.released = Some((last_ns, wake_ns));
            client.state = State::Ready(wake_ns);
        }
    }
    true
}

fn step<S: FileSession>(
    client: &mut Client<'_, S>,
    context: &FileContext,
    disk: &mut Disk,
    buffer: &mut [u8],
) -> Result<(), String> {
    let now_ns = context.now_ns;
    match client.session.next(0, context) {
        FileStep::Call { call, prepare, check } => {
            if let (true, Some((_, length))) = (prepare, call.transfer()) {
                client.session.fill(0, &mut buffer[..length as usize]);
            }
            std::mem::swap(&mut disk.handles, &mut client.handles);
            std::mem::swap(&mut disk.positions, &mut client.positions);
            let value = disk.execute(&call, &*client.session, buffer);
            std::mem::swap(&mut disk.handles, &mut client.handles);
            std::mem::swap(&mut disk.positions, &mut client.positions);
            if matches!(call, FileCall::Observe { .. }) {
                client.session.observe(&Observation::default());
            }
            let damaged = check && value > 0 && !client.session.check(0, &buffer[..value as usize]);
            let result = FileResult { value, start_ns: now_ns, end_ns: now_ns + client.pace.call_ns, damaged };
            if let FileProgress::Done(outcome) = client.session.done(0, &result) {
                client.counted.push(Counted { outcome, start_ns: now_ns, end_ns: result.end_ns });
            }
            client.state = State::Ready(result.end_ns);
        }
        FileStep::Barrier | FileStep::FleetBarrier => {
            if let Some((opened_ns, woke_ns)) = client.released.take() {
                client
                    .session
                    .passed_barrier(BarrierSpan { length_ns: now_ns - opened_ns, waited_ns: woke_ns - opened_ns });
            }
            client.state = State::Waiting(now_ns);
        }
        FileStep::Focus(_) => {}
        FileStep::Pause(pause_ns) => client.state = State::Ready(now_ns + pause_ns),
        FileStep::Idle | FileStep::Finished => client.state = State::Over,
        FileStep::Abort => return Err(client.session.fault()),
    }
    Ok(())
}
