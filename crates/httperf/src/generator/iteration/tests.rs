//! Iterations under scripted and random events.

use super::*;
use crate::http::pipeline::{Pipeline, Received, ReplyForm};
use crate::http::reply::ReplyParts;
use crate::http::request::RequestSize;
use crate::spec::for_tests::spec_with;
use crate::spec::uris::Uri;
use bakeoff_engine::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// An iteration with its connections, as a loop would have them.
struct Stage {
    rules: Rules,
    work: Work,
    iteration: Iteration,
    orders: Orders,
    pipelines: BTreeMap<usize, Pipeline>,
    /// What was done, in words.
    told: Vec<String>,
    over: Option<bool>,
    thinks: bool,
    most: usize,
}

impl Stage {
    fn new(extra: &str) -> Self {
        let spec = Arc::new(spec_with(extra));
        let (rules, work) = (Rules::new(&spec), Work::new(&spec));
        let (iteration, orders, pipelines) = (Iteration::default(), Orders::new(), BTreeMap::new());
        let (told, over, thinks, most) = (Vec::new(), None, false, 0);
        let mut stage = Self { rules, work, iteration, orders, pipelines, told, over, thinks, most };
        stage.iteration.begin(0, &stage.rules, &mut stage.work, &mut stage.orders);
        stage.obey();
        stage
    }

    fn obey(&mut self) {
        while let Some(order) = self.orders.pop_front() {
            match order {
                Order::Open(link) => {
                    self.told.push(format!("open {link}"));
                    assert!(self.pipelines.insert(link, Pipeline::new()).is_none(), "link {link} was open");
                    self.most = self.most.max(self.pipelines.len());
                }
                Order::Send(link, call) => {
                    self.told.push(format!("send {link} #{}", call.serial));
                    let pipeline = self.pipelines.get_mut(&link).expect("an open link");
                    pipeline.queue(call, ReplyForm::default(), |_| RequestSize { header_bytes: 1, content_bytes: 0 });
                    pipeline.wrote(1, 1, |_| ());
                }
                Order::Close(link) => {
                    self.told.push(format!("close {link}"));
                    self.leave(link, Closed::InOrder);
                }
                Order::Think(_) => {
                    self.told.push("think".to_owned());
                    self.thinks = true;
                }
                Order::Over(completed) => {
                    self.told.push(format!("over {completed}"));
                    assert!(self.over.replace(completed).is_none(), "over twice");
                    self.pipelines.clear();
                }
            }
        }
    }

    fn leave(&mut self, link: usize, cause: Closed) {
        let Some(mut pipeline) = self.pipelines.remove(&link) else { return };
        let calls = pipeline.abandon().into_iter().map(|flight| flight.call);
        self.iteration.left(link, cause, calls, &self.rules, &mut self.work, &mut self.orders);
    }

    fn reply(&mut self, link: usize, mut bytes: &[u8]) {
        let pipeline = self.pipelines.get_mut(&link).expect("an open link");
        let Ok(Received::Reply(heard)) =
            pipeline.take(&mut bytes, ReplyParts { page: true, ..ReplyParts::default() }, 2)
        else {
            panic!("no reply")
        };
        let (work, orders) = (&mut self.work, &mut self.orders);
        self.iteration.replied(link, &heard.0, &heard.1, &self.rules, work, orders);
        self.obey();
    }

    fn lose(&mut self, link: usize, cause: Closed) {
        self.leave(link, cause);
        self.obey();
    }

    fn told(&mut self) -> String {
        std::mem::take(&mut self.told).join(", ")
    }
}

#[test]
fn a_connection_sends_its_bursts_at_once_and_ends() {
    let mut stage = Stage::new(r#"{"num_calls":5,"burst_length":2}"#);
    assert_eq!(stage.told(), "open 0, send 0 #0, send 0 #1");
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "");
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "send 0 #2, send 0 #3");
    stage.reply(0, REPLY);
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "send 0 #4");
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "over true");
}

#[test]
fn a_connection_that_is_closed_early_is_not_opened_again() {
    let mut stage = Stage::new(r#"{"num_calls":5,"burst_length":2}"#);
    stage.told();
    stage.reply(0, LAST);
    assert_eq!(stage.told(), "close 0, over false");
    let mut stage = Stage::new(r#"{"num_calls":1}"#);
    stage.told();
    stage.reply(0, LAST);
    assert_eq!((stage.told().as_str(), stage.over), ("close 0, over true", Some(true)));
    let mut stage = Stage::new(r#"{"num_calls":2}"#);
    stage.lose(0, Closed::Failed);
    assert_eq!(stage.over, Some(false));
}

#[test]
fn a_session_sends_the_first_call_of_a_burst_alone() {
    let mut stage = Stage::new(r#"{"wsess":{"sessions":1,"calls":5,"think_s":1},"burst_length":3}"#);
    assert_eq!(stage.told(), "open 0, send 0 #0");
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "send 0 #1, send 0 #2");
    stage.reply(0, REPLY);
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "think");
    stage.iteration.thought(&stage.rules, &mut stage.work, &mut stage.orders);
    stage.obey();
    assert_eq!(stage.told(), "send 0 #3");
    stage.reply(0, REPLY);
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "send 0 #4, over true");
    assert_eq!((stage.iteration.replies, stage.iteration.connections), (5, 1));
}

#[test]
fn where_the_server_closes_each_call_has_a_connection_of_its_own() {
    let mut stage =
        Stage::new(r#"{"wsess":{"sessions":1,"calls":5,"think_s":0},"burst_length":5,"max_connections":2}"#);
    stage.told();
    stage.reply(0, LAST);
    assert_eq!(stage.told(), "close 0, open 1, send 1 #1, open 2, send 2 #2");
    stage.reply(2, LAST);
    assert_eq!(stage.told(), "close 2, open 0, send 0 #3");
    stage.reply(0, LAST);
    stage.reply(1, LAST);
    assert_eq!(stage.told(), "close 0, open 2, send 2 #4, close 1");
    stage.reply(2, LAST);
    assert_eq!(stage.told(), "close 2, over true");
    assert_eq!((stage.most, stage.iteration.connections), (2, 5));
}

#[test]
fn a_full_connection_is_helped_by_another() {
    let extra =
        r#"{"wsess":{"sessions":1,"calls":6,"think_s":0},"burst_length":6,"max_connections":2,"max_piped_calls":2}"#;
    let mut stage = Stage::new(extra);
    stage.told();
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "send 0 #1, send 0 #2, open 1, send 1 #3, send 1 #4");
    stage.reply(1, REPLY);
    assert_eq!(stage.told(), "send 1 #5");
}

#[test]
fn calls_of_a_connection_that_had_replies_are_sent_again_and_others_fail_the_session() {
    let extra = r#"{"wsess":{"sessions":1,"calls":4,"think_s":0},"burst_length":4}"#;
    let mut stage = Stage::new(extra);
    stage.reply(0, REPLY);
    stage.told();
    stage.lose(0, Closed::Failed);
    assert_eq!(stage.told(), "open 0, send 0 #1, send 0 #2, send 0 #3");
    stage.lose(0, Closed::Failed);
    assert_eq!(stage.over, Some(false));
    let mut stage = Stage::new(extra);
    stage.reply(0, REPLY);
    stage.lose(0, Closed::TimedOut);
    assert_eq!(stage.over, Some(false));
}

#[test]
fn the_status_of_failure_fails_or_is_tried_again() {
    let busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
    let mut stage = Stage::new(r#"{"wsess":{"sessions":1,"calls":2,"think_s":0},"failure_status":503}"#);
    stage.reply(0, busy);
    assert_eq!(stage.over, Some(false));
    let extra = r#"{"wsess":{"sessions":1,"calls":2,"think_s":0},"failure_status":503,"retry_on_failure":true}"#;
    let mut stage = Stage::new(extra);
    stage.told();
    stage.reply(0, busy);
    assert_eq!(stage.told(), "send 0 #0");
    stage.reply(0, REPLY);
    assert_eq!(stage.told(), "send 0 #1");
    let mut stage = Stage::new(extra);
    (0..=TRIES_MAX).for_each(|_| stage.reply(0, busy));
    assert_eq!(stage.over, Some(false), "not for ever");
}

#[test]
fn pages_bring_what_they_embed_and_redirects_are_followed() {
    let mut stage = Stage::new(r#"{"wsesspage":{"sessions":1,"pages":2,"think_s":0},"uri":"/p"}"#);
    stage.reply(0, b"HTTP/1.1 302 Found\r\nLocation: /q/\r\nContent-Length: 0\r\n\r\n");
    stage.told();
    stage.reply(
        0,
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 26\r\n\r\n<img src=a><img src='/b'> ",
    );
    assert_eq!(stage.told(), "send 0 #2, send 0 #3");
    let asked: Vec<_> = stage.pipelines[&0].in_flight().map(|flight| flight.call.uri.clone()).collect();
    assert_eq!(asked, [Uri::Page(b"/q/a".as_slice().into()), Uri::Page(b"/b".as_slice().into())]);
    stage.reply(0, REPLY);
    stage.reply(0, b"HTTP/1.1 302 Found\r\nLocation: /c\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(stage.told(), "send 0 #4", "the second page");
}

#[test]
fn a_list_that_ends_ends_the_calls() {
    let mut stage = Stage::new(r#"{"num_calls":9,"burst_length":2,"wlog":{"wrap":false,"uris":["/a","/b","/c"]}}"#);
    stage.reply(0, REPLY);
    stage.reply(0, REPLY);
    stage.reply(0, REPLY);
    assert_eq!(stage.over, Some(true));
    assert!(stage.work.is_exhausted());
}

/// Whatever a server does: the iteration ends, never has more connections or calls on one than it may, and its counters
/// add up.
#[test]
fn random_servers_bring_every_iteration_to_its_end() {
    let kinds = [
        r#"{"num_calls":7,"burst_length":3}"#,
        r#"{"wsess":{"sessions":1,"calls":9,"think_s":0},"burst_length":4,"max_connections":2,"max_piped_calls":2}"#,
        r#"{"wsess":{"sessions":1,"calls":9,"think_s":1},"burst_length":9,"max_connections":3}"#,
        r#"{"wsess":{"sessions":1,"calls":5,"think_s":0},"burst_length":2,"http_version":"1.0"}"#,
        r#"{"wsess":{"sessions":1,"calls":5,"think_s":0},"failure_status":503,"retry_on_failure":true}"#,
    ];
    let mut rng = Rng::for_thread(11, 0, 0);
    let mut ends = [0; 2];
    for round in 0..20_000 {
        let mut stage = Stage::new(kinds[round % kinds.len()]);
        let (mut replies, mut steps) = (0, 0);
        while stage.over.is_none() {
            steps += 1;
            assert!(steps < 5_000, "it never ends");
            assert!(stage.pipelines.len() <= stage.rules.connections.max(1));
            assert!(stage.pipelines.values().all(|pipeline| pipeline.in_flight().count() <= stage.rules.piped));
            let busy: Vec<_> =
                stage.pipelines.iter().filter(|(_, pipeline)| !pipeline.is_idle()).map(|(link, _)| *link).collect();
            if busy.is_empty() || rng.below(20) == 0 {
                if stage.thinks {
                    stage.thinks = false;
                    stage.iteration.thought(&stage.rules, &mut stage.work, &mut stage.orders);
                    stage.obey();
                    continue;
                }
                assert!(!busy.is_empty(), "nothing is waited for");
            }
            let link = busy[rng.below(busy.len() as u64) as usize];
            match rng.below(24) {
                0 => stage.lose(link, Closed::Failed),
                1 if steps > 3 => stage.lose(link, Closed::TimedOut),
                2 => stage.lose(link, Closed::InOrder),
                3..6 => {
                    replies += 1;
                    stage.reply(link, LAST);
                }
                6 => {
                    replies += 1;
                    stage.reply(link, b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
                }
                _ => {
                    replies += 1;
                    stage.reply(link, REPLY);
                }
            }
        }
        assert_eq!(stage.iteration.replies, replies);
        ends[usize::from(stage.over == Some(true))] += 1;
    }
    assert!(ends.iter().all(|&count| count > 1_000), "{ends:?}: the events are badly chosen");
}
