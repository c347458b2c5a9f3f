//! One session with several calls in flight: a ring (`io_uring`) of its own, without locks and allocations in
//! its loop. What a ring cannot do is done by blocking calls in between.

use super::slots::Slots;
use super::virtual_user::{End, VirtualUser};
use crate::barrier::sessions::SessionBarrier;
use bakeoff_engine::{BufferIndex, Clock, FileCall, FileDriver, FileNext, FileSession, Handle, Nanos};
use io_uring::types::{Fd, Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use std::io;
use std::sync::Arc;

/// Memory that one session registers with the kernel at most, bytes; it is pinned.
const REGISTERED_MAX: usize = 16 << 20;
/// Registered part of a buffer at least; smaller is not worth it.
const REGISTERED_MIN: usize = 4096;

/// A call in flight: how much of it is done.
#[derive(Debug, Clone, Copy)]
struct Flight {
    call: FileCall,
    done: u32,
}

struct Ring {
    kernel: IoUring,
    /// Handles are registered files.
    fixed_files: bool,
    /// The first so many bytes of each buffer are registered; 0: none.
    fixed_bytes: usize,
    flights: Vec<Option<Flight>>,
    in_flight: usize,
}

/// The ring with what this kernel knows to make it cheap, given up one by one.
fn make_ring(depth: u32) -> io::Result<IoUring> {
    let entries = depth.next_power_of_two();
    let first = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    let refused = |error: &io::Error| error.raw_os_error() == Some(libc::EINVAL);
    let second = match first {
        Err(error) if refused(&error) => IoUring::builder().setup_coop_taskrun().build(entries),
        made => made,
    };
    match second {
        Err(error) if refused(&error) => IoUring::builder().build(entries),
        made => made,
    }
}

fn advice(error: &io::Error) -> String {
    match error.raw_os_error().unwrap_or(0) {
        libc::ENOSYS | libc::EPERM | libc::EACCES => {
            "more than one outstanding I/O needs io_uring, which this machine does not allow: \
             set outstanding to 1, or allow it (sysctl kernel.io_uring_disabled=0, seccomp profile of the container)"
                .to_owned()
        }
        libc::ENOMEM => "io_uring needs more locked memory: raise `ulimit -l`, or set outstanding lower".to_owned(),
        _ => format!("io_uring does not work here ({error}): set outstanding to 1"),
    }
}

/// The bytes of each buffer that are worth registering.
fn registered_bytes(wanted: usize, count: usize) -> usize {
    let share = (REGISTERED_MAX / count.max(1)).min(wanted);
    if share < REGISTERED_MIN { 0 } else { share & !(REGISTERED_MIN - 1) }
}

impl Ring {
    fn new(depth: usize, vu: &VirtualUser) -> io::Result<Self> {
        let ring = make_ring(depth as u32)?;
        let handles = vec![-1; vu.calls.handles().max(1)];
        let fixed_files = ring.submitter().register_files(&handles).is_ok();
        let (count, wanted) = vu.buffers.to_register();
        let mut fixed_bytes = registered_bytes(wanted, count);
        if fixed_bytes > 0 {
            let parts: Vec<libc::iovec> = (0..count)
                .map(|index| libc::iovec {
                    iov_base: vu.buffers.pointer(index as BufferIndex, fixed_bytes).cast(),
                    iov_len: fixed_bytes,
                })
                .collect();
            // SAFETY: the buffers live in the virtual user, which outlives the ring; they are unmapped after it is
            // closed.
            if unsafe { ring.submitter().register_buffers(&parts) }.is_err() {
                fixed_bytes = 0;
            }
        }
        Ok(Self { kernel: ring, fixed_files, fixed_bytes, flights: vec![None; depth], in_flight: 0 })
    }

    /// Tells the kernel which descriptor a handle is now.
    fn register(&mut self, file: Handle, descriptor: i32) {
        if self.fixed_files && self.kernel.submitter().register_files_update(u32::from(file), &[descriptor]).is_err() {
            self.fixed_files = false;
        }
    }

    /// Whether a ring can do this call.
    const fn takes(call: &FileCall) -> bool {
        matches!(
            call,
            FileCall::ReadAt { .. } | FileCall::WriteAt { .. } | FileCall::Sync { .. } | FileCall::DataSync { .. }
        )
    }

    fn entry(&self, flight: &Flight, vu: &VirtualUser) -> squeue::Entry {
        macro_rules! on_file {
            ($file:expr, $make:expr) => {
                if self.fixed_files { $make(Fixed(u32::from($file))) } else { $make(Fd(vu.calls.descriptor($file))) }
            };
        }
        macro_rules! transfer {
            ($plain:ident, $fixed:ident, $file:expr, $buffer:expr, $length:expr, $offset:expr) => {{
                let at = vu.buffers.pointer($buffer, $length as usize).wrapping_add(flight.done as usize);
                let (left, offset) = ($length - flight.done, $offset + u64::from(flight.done));
                if $length as usize <= self.fixed_bytes {
                    on_file!($file, |file| opcode::$fixed::new(file, at, left, $buffer).offset(offset).build())
                } else {
                    on_file!($file, |file| opcode::$plain::new(file, at, left).offset(offset).build())
                }
            }};
        }
        match flight.call {
            FileCall::ReadAt { file, buffer, length, offset } => {
                transfer!(Read, ReadFixed, file, buffer, length, offset)
            }
            FileCall::WriteAt { file, buffer, length, offset } => {
                transfer!(Write, WriteFixed, file, buffer, length, offset)
            }
            FileCall::Sync { file } => on_file!(file, |file| opcode::Fsync::new(file).build()),
            FileCall::DataSync { file } => {
                on_file!(file, |file| opcode::Fsync::new(file).flags(FsyncFlags::DATASYNC).build())
            }
            _ => opcode::Nop::new().build(),
        }
    }

    /// Hands a call to the kernel.
    fn push(&mut self, slot: u32, flight: Flight, vu: &VirtualUser) {
        let entry = self.entry(&flight, vu).user_data(u64::from(slot));
        self.flights[slot as usize] = Some(flight);
        self.in_flight += 1;
        // SAFETY: buffer and descriptor stay valid until the completion has been seen: the loop never ends before.
        // The queue has as many places as there are slots, so that it cannot be full.
        let pushed = unsafe { self.kernel.submission().push(&entry) };
        debug_assert!(pushed.is_ok());
        // At once, so that the disk works while the next slot is asked. Slots that became free together start
        // together: what the submission of one takes is time of those behind it, as in any queue.
        // What the kernel cannot take now goes with the next submission.
        let _ = self.kernel.submit();
    }

    /// Waits for a completion unless there is one, at most until `timeout_ns` from now when that is given.
    fn wait(&mut self, timeout_ns: Option<Nanos>) -> io::Result<()> {
        if !self.kernel.completion().is_empty() {
            return Ok(());
        }
        let entered = match timeout_ns {
            None => self.kernel.submit_and_wait(1),
            Some(wait_ns) => {
                let time = Timespec::new().sec(wait_ns / 1_000_000_000).nsec((wait_ns % 1_000_000_000) as u32);
                self.kernel.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        match entered {
            Err(error)
                if !matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY)) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// The next completion: slot and value; `None` value: a part is done and the rest was pushed again.
    fn completed(&mut self, slot: u32, result: i32, vu: &VirtualUser) -> Option<i64> {
        self.in_flight -= 1;
        let mut flight = self.flights[slot as usize].take()?;
        let wanted = flight.call.transfer().map_or(0, |transfer| transfer.1);
        if result == -libc::EINTR || (result > 0 && flight.done + (result as u32) < wanted) {
            flight.done += result.max(0) as u32;
            self.push(slot, flight, vu);
            return None;
        }
        Some(if result < 0 { i64::from(result) } else { i64::from(flight.done) + i64::from(result) })
    }

    /// Waits until nothing is in flight any more: the kernel writes to the buffers until then.
    fn drain(&mut self) {
        while self.in_flight > 0 {
            if self.wait(None).is_err() {
                return;
            }
            let ended = self.kernel.completion().count();
            self.in_flight -= ended.min(self.in_flight);
        }
    }
}

/// Runs a session to its end.
pub(crate) fn run<S: FileSession, C: Clock>(driver: &mut FileDriver<S, C>, vu: &mut VirtualUser, clock: &C) -> End {
    let depth = driver.depth();
    let mut ring = match Ring::new(depth, vu) {
        Ok(ring) => ring,
        Err(error) => return End::Aborted(advice(&error)),
    };
    let mut slots = Slots::new(depth);
    let mut ended: Vec<(u32, i32)> = Vec::with_capacity(depth);
    let end = loop {
        if let Some(end) = start_ready(driver, vu, &mut ring, &mut slots) {
            break end;
        }
        let timer_ns = slots.timer_ns();
        if ring.in_flight == 0 {
            let Some(until_ns) = timer_ns else { break End::Stopped };
            vu.sleep_until(until_ns, clock);
            driver.resumed(Some(until_ns));
            slots.wake(driver.mark_ns().max(until_ns));
            continue;
        }
        vu.beat();
        let waited = ring.wait(timer_ns.map(|until_ns| until_ns.saturating_sub(clock.now_ns()).max(1)));
        vu.beat();
        if let Err(error) = waited {
            break End::Aborted(advice(&error));
        }
        ended.extend(ring.kernel.completion().map(|entry| (entry.user_data() as u32, entry.result())));
        let ended_ns = clock.now_ns();
        for (slot, result) in ended.drain(..) {
            if let Some(value) = ring.completed(slot, result, vu) {
                driver.done_at(ended_ns, slot, value, &mut vu.buffers);
                vu.common.note(value);
                slots.ended(slot);
            }
        }
        if let Some(until_ns) = timer_ns
            && clock.now_ns() >= until_ns
        {
            driver.resumed(Some(until_ns));
            slots.wake(driver.mark_ns());
        }
    };
    vu.beat();
    ring.drain();
    vu.beat();
    end
}

/// Asks every ready slot what it does next; the end of the session when one says so.
fn start_ready<S: FileSession, C: Clock>(
    driver: &mut FileDriver<S, C>,
    vu: &mut VirtualUser,
    ring: &mut Ring,
    slots: &mut Slots,
) -> Option<End> {
    let common = Arc::clone(&vu.common);
    while let Some(slot) = slots.ready.pop() {
        match driver.next(slot, common.rendezvous.someone_waits(), &mut vu.buffers) {
            FileNext::Call(call) if Ring::takes(&call) => ring.push(slot, Flight { call, done: 0 }, vu),
            FileNext::Call(call) => {
                vu.beat();
                let value = execute(&call, driver, vu, ring);
                driver.done(slot, value, &mut vu.buffers);
                vu.beat();
                common.note(value);
                slots.ended(slot);
            }
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

/// A blocking call; the registered files follow what it opens and closes.
fn execute<S: FileSession, C: Clock>(
    call: &FileCall,
    driver: &mut FileDriver<S, C>,
    vu: &mut VirtualUser,
    ring: &mut Ring,
) -> i64 {
    if let FileCall::Close { file } = *call {
        ring.register(file, -1);
    }
    let value = vu.execute(call, driver);
    if let FileCall::Open { file, .. } = *call
        && value >= 0
    {
        ring.register(file, vu.calls.descriptor(file));
    }
    value
}

#[cfg(test)]
mod tests;
