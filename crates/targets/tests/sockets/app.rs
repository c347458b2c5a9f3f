//! The app server over real sockets, by a plain blocking client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::{HEADS_MAX, PAIRS, counts, counts_when, tcp};
use bakeoff_app_protocol::{
    Hello, Kind, REPLY_BYTES, REQUEST_BYTES, ReadEntry, Reply, Request, Status, VERSION, checksum, fill_record,
    pattern, process, record_at,
};
use bakeoff_targets::{ServerHandle, serve};
use serde_json::json;

fn app(settings: &str) -> ServerHandle {
    let comma = if settings.is_empty() { "" } else { "," };
    serve(&format!(r#"{{"kind":"app","segment_bytes":1048576{comma}{settings}}}"#)).unwrap()
}

struct Client {
    socket: TcpStream,
    sequence: u64,
    epoch: u64,
}

impl Client {
    /// Connected and greeted; `record_bytes` 0 asks for no segment.
    fn to(server: &ServerHandle, record_bytes: u32) -> Self {
        let mut client = Self { socket: tcp(&server.address()), sequence: 0, epoch: 0 };
        let (reply, payload) = client.ask(Kind::Hello, 0, VERSION, record_bytes);
        assert_eq!(reply.status, Status::Ok);
        assert_eq!(Hello::from_bytes(&payload).unwrap().segment_bytes > 0, record_bytes > 0);
        client.epoch = reply.value;
        client
    }

    fn frame(&mut self, kind: Kind, a: u64, b: u32, c: u32, payload: &[u8]) -> Vec<u8> {
        self.sequence += 1;
        let mut frame = vec![0; REQUEST_BYTES];
        Request { kind, sequence: self.sequence, a, b, c, payload_bytes: payload.len() as u32 }.write(&mut frame);
        frame.extend_from_slice(payload);
        frame
    }

    fn ask(&mut self, kind: Kind, a: u64, b: u32, c: u32) -> (Reply, Vec<u8>) {
        let frame = self.frame(kind, a, b, c, &[]);
        self.socket.write_all(&frame).unwrap();
        let (reply, payload) = self.reply().unwrap();
        assert_eq!((reply.kind, reply.sequence), (Some(kind), self.sequence));
        (reply, payload)
    }

    fn reply(&mut self) -> std::io::Result<(Reply, Vec<u8>)> {
        let mut head = [0; REPLY_BYTES];
        self.socket.read_exact(&mut head)?;
        let reply = Reply::parse(&head).expect("a reply");
        let mut payload = vec![0; reply.payload_bytes as usize];
        self.socket.read_exact(&mut payload)?;
        Ok((reply, payload))
    }

    /// Sends raw bytes and reads the refusal, after which the server must end the connection in order.
    fn refused(&mut self, bytes: &[u8]) -> Status {
        self.socket.write_all(bytes).unwrap();
        let (reply, _) = self.reply().unwrap();
        assert_eq!(self.socket.read(&mut [0; 16]).unwrap(), 0, "the end follows the refusal");
        reply.status
    }
}

/// What a record that `client` wrote by its request `sequence` must be read as.
fn entry(client: &Client, index: u64, sequence: u64) -> ReadEntry {
    let mut record = vec![0; 4096];
    fill_record(&mut record, index, client.epoch, sequence);
    ReadEntry { epoch: client.epoch, sequence, checksum: checksum(&record) }
}

#[test]
fn every_kind_of_request_is_answered_as_the_protocol_says() {
    let server = app("");
    let mut client = Client::to(&server, 4096);
    let payload = pattern(10_000);
    let frame = client.frame(Kind::Upload, 0, 0, 0, &payload);
    client.socket.write_all(&frame).unwrap();
    assert_eq!(client.reply().unwrap().0.value, u64::from(checksum(&payload)));
    assert_eq!(client.ask(Kind::Download, 0, 5_000, 0).1, pattern(5_000));
    assert_eq!(client.ask(Kind::Processor, 3, 1_000, 0).0.value, process(3, 1_000));

    let (written, _) = client.ask(Kind::Write, 77, 3, 0);
    assert_eq!(written.value, 3);
    let sequence = client.sequence;
    let (_, entries) = client.ask(Kind::Read, 77, 3, 0);
    for (nth, bytes) in (0..3).zip(entries.chunks_exact(24)) {
        let index = record_at(77, nth, 256);
        assert_eq!(ReadEntry::from_bytes(bytes), entry(&client, index, sequence));
    }
    let counts = counts(&server);
    assert_eq!((&counts["requests"], &counts["kinds"]["write"]["requests"]), (&json!(6), &json!(1)));
    assert_eq!(counts["broken_records"], 0);
}

#[test]
fn times_in_the_reply_add_up() {
    let server = app(r#""service_s":0.02,"threads":1"#);
    let mut clients: Vec<_> = (0..3).map(|_| Client::to(&server, 0)).collect();
    let start = Instant::now();
    for client in &mut clients {
        let frame = client.frame(Kind::Download, 0, 0, 0, &[]);
        client.socket.write_all(&frame).unwrap();
    }
    let replies: Vec<_> = clients.iter_mut().map(|client| client.reply().unwrap().0).collect();
    let elapsed_ns = start.elapsed().as_nanos() as u64;
    assert!(elapsed_ns > 59_000_000, "one service thread serves one after the other");
    // When each service began at the latest: nobody's before those of the others in front of it had their time, however
    // late the sockets were looked at.
    let mut begun_ns: Vec<_> = replies.iter().map(|reply| elapsed_ns - reply.server_ns + reply.queue_ns).collect();
    begun_ns.sort_unstable();
    assert!(begun_ns[1] > 19_500_000 && begun_ns[2] > 39_000_000, "{begun_ns:?}");
    for reply in &replies {
        assert!(reply.service_ns > 19_500_000);
        assert!(reply.server_ns >= reply.queue_ns + reply.service_ns && reply.server_ns <= elapsed_ns);
    }
}

/// Seconds that eight requests take when they come at once.
fn eight_at_once(threads: usize) -> f64 {
    let server = app(&format!(r#""service_s":0.1,"threads":{threads}"#));
    let mut clients: Vec<_> = (0..8).map(|_| Client::to(&server, 0)).collect();
    let start = Instant::now();
    for client in &mut clients {
        let frame = client.frame(Kind::Download, 0, 0, 0, &[]);
        client.socket.write_all(&frame).unwrap();
    }
    for client in &mut clients {
        client.reply().unwrap();
    }
    start.elapsed().as_secs_f64()
}

#[test]
fn requests_are_served_side_by_side_by_as_many_as_there_are_threads() {
    // One after the other they never take less; side by side the machine may be late, but not in each of five tries.
    let one_s = eight_at_once(1);
    let eight_s = (0..5).map(|_| eight_at_once(8)).fold(f64::INFINITY, f64::min);
    assert!(one_s > 0.79 && eight_s < one_s - 0.1, "one thread {one_s} s, eight {eight_s} s");
}

#[test]
fn a_request_is_understood_however_it_arrives() {
    let server = app("");
    let mut client = Client::to(&server, 0);
    for byte in client.frame(Kind::Upload, 0, 0, 0, b"in single bytes") {
        client.socket.write_all(&[byte]).unwrap();
    }
    assert_eq!(client.reply().unwrap().0.value, u64::from(checksum(b"in single bytes")));
    // Three at once are served in their order.
    let mut frames = Vec::new();
    for seed in 1..=3 {
        frames.extend(client.frame(Kind::Processor, seed, 10, 0, &[]));
    }
    client.socket.write_all(&frames).unwrap();
    for seed in 1..=3 {
        assert_eq!(client.reply().unwrap().0.value, process(seed, 10));
    }
    // Larger than any buffer of the socket, both ways.
    let large = pattern(4 << 20);
    let frame = client.frame(Kind::Upload, 0, 0, 0, &large);
    client.socket.write_all(&frame).unwrap();
    assert_eq!(client.reply().unwrap().0.value, u64::from(checksum(&large)));
    assert_eq!(client.ask(Kind::Download, 0, 4 << 20, 0).1, large);
}

#[test]
fn wrong_frames_are_refused_by_name_and_harm_nobody() {
    let server = app(r#""records_max":4,"rounds_max":1000"#);
    let mut bystander = Client::to(&server, 4096);
    let mut check = |what: &str, status: Status, bytes: &dyn Fn(&mut Client) -> Vec<u8>| {
        let mut client = Client::to(&server, 4096);
        let bytes = bytes(&mut client);
        assert_eq!(client.refused(&bytes), status, "{what}");
        assert_eq!(bystander.ask(Kind::Processor, 1, 10, 0).0.value, process(1, 10));
    };
    check("too short", Status::BadLength, &|_| vec![3, 0, 0, 0]);
    check("huge", Status::TooLarge, &|_| vec![0xFF; 64]);
    check("another protocol", Status::NotOurs, &|_| [&100_u32.to_le_bytes()[..], b"GET / HTTP/1.1\r\n"].concat());
    check("unknown kind", Status::UnknownKind, &|_| vec![28, 0, 0, 0, 0xB4, 77]);
    check("payload of a read", Status::BadLength, &|_| vec![29, 0, 0, 0, 0xB4, 5]);
    check("second hello", Status::NoHello, &|client| client.frame(Kind::Hello, 0, VERSION, 0, &[]));
    check("too much work", Status::BadParameter, &|client| client.frame(Kind::Processor, 0, 1001, 0, &[]));
    check("too many records", Status::BadParameter, &|client| client.frame(Kind::Read, 0, 5, 0, &[]));
    check("beyond the segment", Status::BadParameter, &|client| client.frame(Kind::Write, 0, 1, 257, &[]));
    check("huge download", Status::TooLarge, &|client| client.frame(Kind::Download, 0, u32::MAX, 0, &[]));
    let counts = counts(&server);
    assert_eq!(counts["refused"]["bad_parameter"], 3);
    assert_eq!(counts["refused"]["too_large"], 2);
}

#[test]
fn the_first_request_must_be_a_hello_of_this_version() {
    let server = app("");
    let mut client = Client { socket: tcp(&server.address()), sequence: 0, epoch: 0 };
    let frame = client.frame(Kind::Processor, 0, 1, 0, &[]);
    assert_eq!(client.refused(&frame), Status::NoHello);
    let mut client = Client { socket: tcp(&server.address()), sequence: 0, epoch: 0 };
    let frame = client.frame(Kind::Hello, 0, VERSION + 1, 0, &[]);
    assert_eq!(client.refused(&frame), Status::NotOurs);
    let mut client = Client { socket: tcp(&server.address()), sequence: 0, epoch: 0 };
    let frame = client.frame(Kind::Hello, 0, VERSION, 1000, &[]);
    assert_eq!(client.refused(&frame), Status::BadParameter);
    let mut without = Client::to(&server, 0);
    let frame = without.frame(Kind::Read, 0, 1, 0, &[]);
    assert_eq!(without.refused(&frame), Status::BadParameter);
}

#[test]
fn slow_senders_slow_readers_and_the_silent_are_ended_and_harm_nobody() {
    let server = app(r#""request_timeout_s":1.0,"idle_timeout_s":8.0"#);
    let mut slow: Vec<_> = (0..50).map(|_| Client::to(&server, 0)).collect();
    for client in &mut slow {
        client.socket.write_all(&[28, 0, 0, 0, 0xB4]).unwrap();
    }
    let mut reader = Client::to(&server, 0);
    for _ in 0..20 {
        let frame = reader.frame(Kind::Download, 0, 4 << 20, 0, &[]);
        reader.socket.write_all(&frame).unwrap();
    }
    // A bystander beside one of a server without such guests, asked in turn with it.
    let quiet = app("");
    let (mut bystander, mut control) = (Client::to(&server, 0), Client::to(&quiet, 0));
    let once = |client: &mut Client| {
        let before = Instant::now();
        client.ask(Kind::Processor, 1, 100, 0);
        before.elapsed().as_secs_f64()
    };
    let later = (0..PAIRS).filter(|_| once(&mut bystander) > 2.0 * once(&mut control) + 0.001).count();
    assert!(later <= HEADS_MAX, "later than the control in {later} of {PAIRS} pairs");
    for client in &mut slow {
        assert_eq!(client.reply().unwrap().0.status, Status::TooSlow);
    }
    let counts = counts_when(&server, |counts| counts["open"] == 0);
    assert_eq!(counts["refused"]["too_slow"], 50);
}

#[test]
fn connections_and_the_queue_have_a_limit() {
    let server = app(r#""max_connections":2,"threads":1,"service_s":0.2,"queue":1"#);
    let mut one = Client::to(&server, 0);
    let two = Client::to(&server, 0);
    let mut third = tcp(&server.address());
    assert!(matches!(third.read(&mut [0]), Ok(0) | Err(_)), "refused");
    drop(two);
    counts_when(&server, |counts| counts["open"] == 1);
    assert_eq!(counts(&server)["connections_refused"], 1);
    let mut two = Client::to(&server, 0);

    // One in service, one in the queue; what comes then is told so and may come again.
    let server = app(r#""threads":1,"service_s":5.0,"queue":1"#);
    let mut clients: Vec<_> = (0..3).map(|_| Client::to(&server, 0)).collect();
    // The hello of the last client may be in service for a moment after its reply.
    counts_when(&server, |counts| counts["serving"] == 0);
    for (number, client) in clients.iter_mut().enumerate() {
        let frame = client.frame(Kind::Download, 0, 0, 0, &[]);
        client.socket.write_all(&frame).unwrap();
        let waiting = number.min(1);
        counts_when(&server, |counts| counts["serving"] == 1 && counts["queued"] == waiting);
    }
    let statuses: Vec<_> = clients.iter_mut().map(|client| client.reply().unwrap().0.status).collect();
    assert_eq!(statuses, [Status::Ok, Status::Ok, Status::Busy]);
    assert_eq!(clients[2].ask(Kind::Download, 0, 0, 0).0.status, Status::Ok);
    assert_eq!(one.ask(Kind::Download, 0, 0, 0).0.status, two.ask(Kind::Download, 0, 0, 0).0.status);
}

#[test]
fn segments_are_limited_shared_by_nobody_and_used_again() {
    let server = app(r#""data_limit_bytes":2097152"#);
    let (mut one, mut two) = (Client::to(&server, 4096), Client::to(&server, 4096));
    let mut third = Client { socket: tcp(&server.address()), sequence: 0, epoch: 0 };
    let frame = third.frame(Kind::Hello, 0, VERSION, 4096, &[]);
    assert_eq!(third.refused(&frame), Status::NoSpace);
    one.ask(Kind::Write, 5, 1, 0);
    let (_, entries) = two.ask(Kind::Read, 5, 1, 0);
    assert_eq!(ReadEntry::from_bytes(&entries).epoch, 0, "the other's write is not seen");
    let (writer, sequence) = (one.epoch, one.sequence);
    drop(one);
    counts_when(&server, |counts| counts["open"] == 1);
    let mut next = Client::to(&server, 4096);
    let (_, entries) = next.ask(Kind::Read, 5, 1, 0);
    let found = ReadEntry::from_bytes(&entries);
    assert_eq!((found.epoch, found.sequence), (writer, sequence), "what the client before has left");
    assert!(next.epoch > writer);
}

#[test]
fn damaged_and_lost_writes_can_be_told_by_what_is_read() {
    let server = app(r#""damage_every":3,"lose_every":4"#);
    let mut client = Client::to(&server, 4096);
    let read = |client: &mut Client, seed| ReadEntry::from_bytes(&client.ask(Kind::Read, seed, 1, 0).1);
    let mut wrong = Vec::new();
    for write in 1..=12_u64 {
        client.ask(Kind::Write, write, 1, 0);
        let expected = entry(&client, record_at(write, 0, 256), client.sequence);
        if read(&mut client, write) != expected {
            wrong.push(write);
        }
    }
    assert_eq!(wrong, [3, 4, 6, 8, 9, 12]);
    let counts = counts(&server);
    assert_eq!((&counts["spoilt"], &counts["broken_records"]), (&json!(7), &json!(3)));
}

#[test]
fn direct_and_flushed_segments_work_where_the_file_system_has_them() {
    let folder = crate::common::Folder::new("app-direct");
    // The build's own folder is on a disk; a folder for temporary files may be in memory.
    let data = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let server = app(&format!(r#""direct":true,"fsync":true,"prepare":1,"data":"{}""#, data.display()));
    let mut client = Client::to(&server, 4096);
    client.ask(Kind::Write, 1, 2, 0);
    let sequence = client.sequence;
    let (_, entries) = client.ask(Kind::Read, 1, 1, 0);
    assert_eq!(ReadEntry::from_bytes(&entries), entry(&client, record_at(1, 0, 256), sequence));
    let mut odd = Client { socket: tcp(&server.address()), sequence: 0, epoch: 0 };
    let frame = odd.frame(Kind::Hello, 0, VERSION, 512, &[]);
    assert_eq!(odd.refused(&frame), Status::BadParameter, "direct I/O has records of whole pages");
    assert_eq!(counts(&server)["segments"], 1);
    drop(folder);
}

#[test]
fn figures_of_the_process_come_with_each_reply() {
    let start = Instant::now();
    let server = app("");
    let mut client = Client::to(&server, 0);
    let first = client.ask(Kind::Processor, 1, 1, 0).0.figures;
    let mut last = first;
    while last.uptime_ns < first.uptime_ns + 300_000_000 && start.elapsed() < crate::common::TIMEOUT {
        client.ask(Kind::Processor, 1, 100_000, 0);
        last = client.ask(Kind::Processor, 1, 1, 0).0.figures;
    }
    assert!(last.uptime_ns >= first.uptime_ns + 300_000_000 && last.uptime_ns <= start.elapsed().as_nanos() as u64);
    assert!(last.cpu_ns > first.cpu_ns);
}

#[test]
fn settings_that_make_no_sense_are_refused_with_words() {
    for (settings, word) in [
        (r#""segment_bytes":1000"#, "segment_bytes"),
        (r#""threads":0"#, "threads"),
        (r#""service_s":-1"#, "service_s"),
        (r#""queue":0"#, "queue"),
        (r#""prepare":1000000"#, "prepare"),
        (r#""damage_every":0"#, "damage_every"),
        (r#""colour":1"#, "colour"),
        (r#""data":"/proc/none""#, "/proc/none"),
    ] {
        let error = serve(&format!(r#"{{"kind":"app",{settings}}}"#)).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// Random and nearly right bytes: the server must live, answer others, and give every connection back.
#[test]
fn random_bytes_do_not_hurt_the_server() {
    let server = app(r#""request_timeout_s":0.3,"max_connections":64"#);
    let mut bystander = Client::to(&server, 4096);
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..3_000 {
        let mut socket = tcp(&server.address());
        let mut bytes: Vec<u8> = (0..random() % 200).map(|_| random() as u8).collect();
        if round % 3 > 0 {
            let kind = Kind::from_byte((random() % 6 + 1) as u8).unwrap();
            let small = |random: u64| if random.is_multiple_of(4) { random as u32 } else { (random % 2000) as u32 };
            let payload_bytes = if kind == Kind::Upload { (random() % 300) as u32 } else { 0 };
            let (b, c) = (small(random()).min(1_000_000), small(random()));
            let mut frame = vec![0; REQUEST_BYTES];
            Request { kind, sequence: random(), a: random(), b, c, payload_bytes }.write(&mut frame);
            if round % 3 == 1 {
                frame[(random() % 32) as usize] = random() as u8;
            } else {
                let hello = Request { kind: Kind::Hello, sequence: 1, a: 0, b: VERSION, c: 0, payload_bytes: 0 };
                hello.write(bytes_of_head(&mut bytes));
            }
            bytes.extend(frame);
        }
        let _ = socket.write_all(&bytes);
        if random().is_multiple_of(4) {
            let _ = socket.set_read_timeout(Some(Duration::from_millis(1)));
            let _ = socket.read(&mut [0; 4096]);
        }
        if round % 100 == 0 {
            assert_eq!(bystander.ask(Kind::Processor, 9, 9, 0).0.value, process(9, 9));
        }
    }
    counts_when(&server, |counts| counts["open"] == 1 && counts["queued"] == 0);
    assert_eq!(bystander.ask(Kind::Processor, 9, 9, 0).0.value, process(9, 9));
}

/// Makes `bytes` exactly one empty head, to be written into.
fn bytes_of_head(bytes: &mut Vec<u8>) -> &mut [u8] {
    bytes.clear();
    bytes.resize(REQUEST_BYTES, 0);
    bytes
}
