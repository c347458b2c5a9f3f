//! A bare epoll pair: one thread that echoes frames, one thread that plays ping-pong with N clients. Nothing is
//! measured but the rate. The yardstick of `benchmarks/app.py`.
//!
//! `bare server` prints its address and serves until it is killed; `bare client ADDRESS CLIENTS SECONDS` prints JSON.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::time::{Duration, Instant};

/// The sizes of a request and a reply of the app protocol without payload.
const REQUEST_BYTES: usize = 32;
const REPLY_BYTES: usize = 80;
const EVENTS: usize = 256;

fn epoll() -> RawFd {
    // SAFETY: no pointers.
    unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }
}

fn watch(epoll: RawFd, fd: RawFd) {
    let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: fd as u64 };
    // SAFETY: live descriptors, a live event.
    assert_eq!(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event) }, 0);
}

fn wait(epoll: RawFd, events: &mut [libc::epoll_event; EVENTS], timeout_ms: i32) -> usize {
    // SAFETY: room for EVENTS events.
    unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), EVENTS as i32, timeout_ms) }.max(0) as usize
}

fn receive(fd: RawFd, buffer: &mut [u8]) -> isize {
    // SAFETY: the buffer is live and as long as said.
    unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) }
}

fn send(fd: RawFd, bytes: &[u8]) -> bool {
    // SAFETY: the bytes are live and as long as said.
    unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) == bytes.len() as isize }
}

fn server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    let (epoll, mut events) = (epoll(), [libc::epoll_event { events: 0, u64: 0 }; EVENTS]);
    let (mut buffer, reply) = ([0; 4096], [1; REPLY_BYTES]);
    watch(epoll, listener.as_raw_fd());
    loop {
        let count = wait(epoll, &mut events, -1);
        for event in &events[..count] {
            let fd = event.u64 as RawFd;
            if fd == listener.as_raw_fd() {
                let (stream, _) = listener.accept().unwrap();
                stream.set_nodelay(true).unwrap();
                stream.set_nonblocking(true).unwrap();
                watch(epoll, stream.into_raw_fd());
                continue;
            }
            let received = receive(fd, &mut buffer);
            if received == REQUEST_BYTES as isize && send(fd, &reply) {
                continue;
            }
            // SAFETY: a descriptor from `accept`, which leaves epoll as it is closed.
            unsafe { libc::close(fd) };
        }
    }
}

fn client(address: &str, clients: usize, length: Duration) {
    let (epoll, mut events) = (epoll(), [libc::epoll_event { events: 0, u64: 0 }; EVENTS]);
    let (mut buffer, request) = ([0; 4096], [1; REQUEST_BYTES]);
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    let streams: Vec<_> = (0..clients).map(|_| connect()).collect();
    for stream in &streams {
        watch(epoll, stream.as_raw_fd());
    }
    let start = Instant::now();
    for stream in &streams {
        assert!(send(stream.as_raw_fd(), &request));
    }
    let mut transactions = 0_u64;
    while start.elapsed() < length {
        let count = wait(epoll, &mut events, 50);
        for event in &events[..count] {
            let fd = event.u64 as RawFd;
            assert_eq!(receive(fd, &mut buffer), REPLY_BYTES as isize);
            transactions += 1;
            assert!(send(fd, &request));
        }
    }
    println!(r#"{{"transactions":{transactions},"seconds":{}}}"#, start.elapsed().as_secs_f64());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server"] => server(),
        ["client", address, clients, seconds] => {
            client(address, clients.parse().unwrap(), Duration::from_secs_f64(seconds.parse().unwrap()));
        }
        _ => panic!("usage: bare server | bare client ADDRESS CLIENTS SECONDS"),
    }
}
