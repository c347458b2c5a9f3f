//! Random bytes instead of replies: the session must neither panic nor believe them.

use super::tests::{answer, session};
use bakeoff_engine::{Actions, Event, Progress, Rng, Session};

const ROUNDS: u32 = 20_000;
const KINDS: [&str; 5] = ["upload", "download", "processor", "read", "write"];

/// A reply with some of its bytes changed, cut or lengthened, or nothing but noise.
fn spoil(reply: &mut Vec<u8>, rng: &mut Rng) {
    match rng.below(5) {
        0 => *reply = (0..rng.below(300)).map(|_| rng.next_u64() as u8).collect(),
        1 => reply.truncate(rng.below(reply.len() as u64 + 1) as usize),
        2 => reply.extend((0..rng.below(100)).map(|_| 7)),
        _ => {
            for _ in 0..=rng.below(3) {
                let place = rng.below(reply.len().min(120) as u64) as usize;
                reply[place] = rng.next_u64() as u8;
            }
        }
    }
}

#[test]
fn random_replies_neither_panic_nor_pass_as_transactions_of_another_kind() {
    let mut rng = Rng::for_thread(4, 0, 0);
    let mut session = session(&KINDS);
    let mut ended = 0;
    for _ in 0..ROUNDS {
        let mut actions = Actions::NONE;
        session.begin(&mut actions);
        if actions.connect.is_some() {
            session.advance(Event::Connected, &mut actions);
        }
        // A hello may come first, spoilt or not; at most three frames are exchanged.
        for _ in 0..3 {
            let true_reply = answer(session.outgoing());
            let mut reply = true_reply.clone();
            if rng.below(2) == 0 {
                spoil(&mut reply, &mut rng);
            }
            let cut = rng.below(reply.len() as u64 + 1) as usize;
            let mut done = false;
            for part in [&reply[..cut], &reply[cut..]] {
                if !part.is_empty() && !done {
                    actions.clear();
                    let progress = session.advance(Event::Received(part), &mut actions);
                    done = matches!(progress, Progress::Done(_));
                }
            }
            if done {
                ended += 1;
                break;
            }
        }
        if rng.below(3) == 0 {
            session.fail(bakeoff_engine::ErrorClass::ReplyTimeout);
        } else {
            session.advance(Event::Closed, &mut actions);
        }
    }
    assert!(ended > ROUNDS / 2, "{ended}");
}
