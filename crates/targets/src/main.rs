//! The built-in servers as a program of their own, for tests and benchmarks.
//!
//! Prints one line of JSON with the address when it is ready, and one with the counts when SIGTERM or SIGINT ends it.
#![allow(clippy::print_stdout)]

use std::io::Write;
use std::process::ExitCode;

use bakeoff_targets::Arguments;
use clap::Parser;

/// Built-in servers with exact, programmable misbehaviour
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    kind: Arguments,
}

/// The signals that end the program, blocked in this thread and all it starts, so that they can be waited for.
fn block_signals() -> libc::sigset_t {
    // SAFETY: sigset_t is plain bits and initialised by sigemptyset before use; all pointers are to live values.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGINT);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        set
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let signals = block_signals();
    let mut server = match bakeoff_targets::start(&cli.kind.into()) {
        Ok(server) => server,
        Err(e) => {
            eprintln!("bakeoff-targets: {e}");
            return ExitCode::from(2);
        }
    };
    println!("{}", serde_json::json!({"address": server.address()}));
    // A reader that has gone does not matter: the server is what is wanted.
    let _ = std::io::stdout().flush();
    let mut signal = 0;
    // SAFETY: both pointers are to live values.
    unsafe { libc::sigwait(&raw const signals, &raw mut signal) };
    server.stop();
    println!("{}", server.counts());
    ExitCode::SUCCESS
}
