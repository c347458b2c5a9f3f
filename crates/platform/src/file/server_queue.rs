//! A session with a file server that has several calls in flight on its connection.

use super::calls::Calls;
use super::slots::Slots;
use super::virtual_user::{End, VirtualUser};
use crate::barrier::sessions::SessionBarrier;
use bakeoff_engine::{Clock, FileCall, FileDriver, FileNext, FileSession};
use std::sync::Arc;

/// Runs a session to its end.
pub(crate) fn run<S: FileSession, C: Clock>(driver: &mut FileDriver<S, C>, vu: &mut VirtualUser, clock: &C) -> End {
    let depth = driver.depth();
    let mut slots = Slots::new(depth);
    let mut flights: Vec<Option<FileCall>> = vec![None; depth];
    loop {
        if let Some(end) = start_ready(driver, vu, &mut flights, &mut slots) {
            return end;
        }
        // Some calls need no word with the server.
        if take_finished(driver, vu, clock, &mut flights, &mut slots) {
            continue;
        }
        let timer_ns = slots.timer_ns();
        if flights.iter().all(Option::is_none) {
            let Some(until_ns) = timer_ns else { return End::Stopped };
            vu.sleep_until(until_ns, clock);
            driver.resumed(Some(until_ns));
            slots.wake(driver.mark_ns().max(until_ns));
            continue;
        }
        vu.beat();
        if let Calls::Server(server) = &mut vu.calls {
            server.wait(timer_ns.map(|until_ns| until_ns.saturating_sub(clock.now_ns()).max(1)));
        }
        vu.beat();
        take_finished(driver, vu, clock, &mut flights, &mut slots);
        if let Some(until_ns) = timer_ns
            && clock.now_ns() >= until_ns
        {
            driver.resumed(Some(until_ns));
            slots.wake(driver.mark_ns());
        }
    }
}

/// Hands over what is finished; whether anything was.
fn take_finished<S: FileSession, C: Clock>(
    driver: &mut FileDriver<S, C>,
    vu: &mut VirtualUser,
    clock: &C,
    flights: &mut [Option<FileCall>],
    slots: &mut Slots,
) -> bool {
    let mut ended_ns = None;
    while let Calls::Server(server) = &mut vu.calls
        && let Some((slot, value)) = server.finished()
    {
        let Some(call) = flights.get_mut(slot as usize).and_then(Option::take) else { continue };
        server.take_read(slot, &call, value, &mut vu.buffers);
        driver.done_at(*ended_ns.get_or_insert_with(|| clock.now_ns()), slot, value, &mut vu.buffers);
        vu.common.note(value);
        slots.ended(slot);
    }
    ended_ns.is_some()
}

/// Asks every ready slot what it does next; the end of the session when one says so.
fn start_ready<S: FileSession, C: Clock>(
    driver: &mut FileDriver<S, C>,
    vu: &mut VirtualUser,
    flights: &mut [Option<FileCall>],
    slots: &mut Slots,
) -> Option<End> {
    let common = Arc::clone(&vu.common);
    while let Some(slot) = slots.ready.pop() {
        match driver.next(slot, common.rendezvous.someone_waits(), &mut vu.buffers) {
            FileNext::Call(call) => match &mut vu.calls {
                Calls::Server(server) if !VirtualUser::is_special(&call) => {
                    flights[slot as usize] = Some(call);
                    server.begin(slot, &call, driver.session(), &mut vu.buffers);
                }
                _ => {
                    vu.beat();
                    let value = vu.execute(&call, driver);
                    driver.done(slot, value, &mut vu.buffers);
                    vu.beat();
                    slots.ended(slot);
                }
            },
            FileNext::Barrier => {
                if !vu.wait(driver, SessionBarrier::wait) {
                    return Some(End::Stopped);
                }
                slots.ended(slot);
            }
            FileNext::FleetBarrier => {
                if !vu.wait(driver, SessionBarrier::wait_for_fleet) {
                    return Some(End::Stopped);
                }
                slots.ended(slot);
            }
            FileNext::Wait(until_ns) => slots.wait(until_ns, slot),
            FileNext::Idle => slots.idle.push(slot),
            FileNext::Abort => return Some(vu.aborted(driver.session().fault())),
            FileNext::Stopped => {}
        }
    }
    None
}
