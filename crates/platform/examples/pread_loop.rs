//! A bare loop of `pread`: what the kernel alone needs per call. `pread_loop FILE RECORD_BYTES ROUNDS`
//! reads the file from start to end so many times and prints ns per call, the best and the median round.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark program")]

use std::os::fd::AsRawFd;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, record, rounds] = arguments.as_slice() else {
        return Err("usage: pread_loop FILE RECORD_BYTES ROUNDS".into());
    };
    let (record, rounds): (usize, usize) = (record.parse()?, rounds.parse()?);
    let file = std::fs::File::open(path)?;
    let records = file.metadata()?.len() as usize / record;
    let layout = std::alloc::Layout::from_size_align(record, 4096)?;
    // SAFETY: the size is not zero; the memory is never freed, the program ends soon.
    let buffer = unsafe { std::alloc::alloc_zeroed(layout) };
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        for index in 0..records {
            // SAFETY: the buffer holds `record` bytes.
            let read = unsafe { libc::pread(file.as_raw_fd(), buffer.cast(), record, (index * record) as i64) };
            assert_eq!(read, record as isize);
        }
        times.push(start.elapsed().as_nanos() as f64 / records as f64);
    }
    times.sort_by(f64::total_cmp);
    println!("{:.1} {:.1}", times[0], times[rounds / 2]);
    Ok(())
}
