//! The first words of a session, for checks before timing.

use bakeoff_app_protocol::{
    HELLO_REPLY_BYTES, Hello, Kind, REPLY_BYTES, REQUEST_BYTES, Reply, Request, Status, VERSION,
};

/// Why there is no greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GreetingFault {
    /// What came is none of this protocol.
    OtherProtocol,
    /// The server does not take the client.
    Refused(Status),
    /// It tells of itself in another way.
    OtherVersion,
    /// The connection ends within the greeting, after so many bytes.
    Closed(usize),
}

/// What has come of a server's greeting.
#[derive(Debug, Default)]
pub struct Greeting {
    bytes: Vec<u8>,
}

impl Greeting {
    /// What is sent for it; `record_bytes` 0 asks for no data segment.
    pub fn request(record_bytes: u32) -> Vec<u8> {
        let mut frame = vec![0; REQUEST_BYTES];
        let hello = Request { kind: Kind::Hello, sequence: 1, a: 0, b: VERSION, c: record_bytes, payload_bytes: 0 };
        hello.write(&mut frame);
        frame
    }

    /// Takes what came; how the server was set up, once it has told so.
    ///
    /// # Errors
    /// It is no app server, or takes no client.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<Hello>, GreetingFault> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() < REPLY_BYTES {
            return Ok(None);
        }
        let reply = Reply::parse(&self.bytes).ok_or(GreetingFault::OtherProtocol)?;
        if reply.status != Status::Ok {
            return Err(GreetingFault::Refused(reply.status));
        }
        if reply.payload_bytes as usize != HELLO_REPLY_BYTES {
            return Err(GreetingFault::OtherVersion);
        }
        Ok(self.bytes.get(REPLY_BYTES..REPLY_BYTES + HELLO_REPLY_BYTES).and_then(Hello::from_bytes))
    }

    /// The connection has ended.
    pub fn end(&self) -> GreetingFault {
        GreetingFault::Closed(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_app_protocol::Figures;

    const HELLO: Hello = Hello {
        segment_bytes: 1 << 20,
        service_ns: 7,
        threads: 4,
        processors: 2,
        direct: true,
        fsync: false,
        payload_max: 9,
        records_max: 100,
    };

    fn answer(status: Status, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; REPLY_BYTES];
        let reply = Reply {
            kind: Some(Kind::Hello),
            status,
            sequence: 1,
            queue_ns: 0,
            service_ns: 0,
            server_ns: 0,
            value: 0,
            figures: Figures { uptime_ns: 0, cpu_ns: 0, disk_read_bytes: 0, disk_written_bytes: 0 },
            payload_bytes: payload.len() as u32,
        };
        reply.write(&mut frame);
        [&frame, payload].concat()
    }

    #[test]
    fn a_greeting_is_the_same_however_it_is_cut() {
        let wire = answer(Status::Ok, &HELLO.to_bytes());
        for cut in 0..wire.len() {
            let mut greeting = Greeting::default();
            assert_eq!(greeting.take(&wire[..cut]), Ok(None));
            assert_eq!(greeting.end(), GreetingFault::Closed(cut));
            assert_eq!(greeting.take(&wire[cut..]), Ok(Some(HELLO)));
        }
        let asked = Greeting::request(4096);
        let request = Request::parse(&asked, 0).unwrap().unwrap();
        assert_eq!((request.kind, request.b, request.c), (Kind::Hello, VERSION, 4096));
    }

    #[test]
    fn what_is_no_greeting_is_named() {
        let take = |bytes: &[u8]| Greeting::default().take(bytes).unwrap_err();
        assert_eq!(take(&answer(Status::NoSpace, &[])), GreetingFault::Refused(Status::NoSpace));
        assert_eq!(take(&answer(Status::Ok, &[0; 8])), GreetingFault::OtherVersion);
        assert_eq!(take(&[b'x'; 200]), GreetingFault::OtherProtocol);
        let mut rng = bakeoff_engine::Rng::for_thread(13, 0, 0);
        for _ in 0..10_000 {
            let mut wire = answer(Status::Ok, &HELLO.to_bytes());
            let at = rng.below(wire.len() as u64) as usize;
            wire[at] = rng.below(256) as u8;
            let _ = Greeting::default().take(&wire);
        }
    }
}
