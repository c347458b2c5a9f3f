//! Compares replies with what the page was before timing: all of them to status and length; of the bodies those of a
//! trial's first replies, and of the others a sample that nobody can foresee, to the hash.

use super::reply::Reply;
use bakeoff_engine::{ErrorClass, Rng, SpecError};
use bakeoff_workloads::web::{Draws, KnownReply, RequestSpec, WHOLE_BODIES, WHOLE_BYTES};
use serde::Deserialize;

/// The page that all calls without a URI of their own ask for, as it was before timing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageSpec {
    /// The request, with what its reply must be.
    pub request: RequestSpec,
    /// One in so many bodies is hashed; 0: none.
    pub check_every: u32,
}

/// What replies are held to.
#[derive(Debug)]
pub(crate) struct PageCheck {
    agreed: KnownReply,
    draws: Draws,
    hashes: bool,
    pub hashed: u64,
    hashed_bytes: u64,
}

impl PageCheck {
    /// `secret` draws the sample; each `part` of the machines has draws of its own.
    pub fn new(page: &PageSpec, secret: u64, part: u32) -> Result<Self, SpecError> {
        let agreed = KnownReply::new(&page.request)?;
        let draws = Draws::new(Rng::for_thread(secret, part, 0), page.check_every);
        let hashes = page.check_every > 0 && page.request.sha256.is_some();
        Ok(Self { agreed, draws, hashes, hashed: 0, hashed_bytes: 0 })
    }

    /// Whether the body of the next call's reply is to be hashed.
    pub fn is_due(&mut self) -> bool {
        let early = self.hashed < WHOLE_BODIES && self.hashed_bytes < WHOLE_BYTES;
        self.hashes && (self.draws.draw() || early)
    }

    /// What is wrong with a reply.
    pub fn fault(&mut self, reply: &Reply) -> Option<ErrorClass> {
        if let Some(fault) = self.agreed.fault(reply.status, reply.content_bytes) {
            return Some(fault);
        }
        let hash = reply.hash.filter(|_| self.agreed.has_hash(reply.status))?;
        self.hashed += 1;
        self.hashed_bytes += reply.content_bytes;
        (!self.agreed.is_of_hash(&hash)).then_some(ErrorClass::WrongContent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn page_check(check_every: u32) -> PageCheck {
        let reply = json!({"status": 200, "exact": true});
        let request = json!({"method": "GET", "path": "/", "length": 4, "sha256": EMPTY, "reply": reply});
        let page = serde_json::from_value(json!({"request": request, "check_every": check_every})).unwrap();
        PageCheck::new(&page, 7, 0).unwrap()
    }

    fn reply(status: u16, content_bytes: u64, hash: Option<[u8; 32]>) -> Reply {
        Reply { status, content_bytes, hash, ..Reply::default() }
    }

    #[test]
    fn status_length_and_hash_are_held() {
        let right: [u8; 32] = std::array::from_fn(|at| u8::from_str_radix(&EMPTY[2 * at..2 * at + 2], 16).unwrap());
        let mut page_check = page_check(1);
        assert_eq!(page_check.fault(&reply(200, 4, None)), None);
        assert_eq!(page_check.fault(&reply(200, 4, Some(right))), None);
        assert_eq!(page_check.fault(&reply(200, 4, Some([0; 32]))), Some(ErrorClass::WrongContent));
        assert_eq!(page_check.fault(&reply(200, 5, Some(right))), Some(ErrorClass::WrongContent));
        assert_eq!(page_check.fault(&reply(503, 4, Some(right))), Some(ErrorClass::WrongStatus));
        assert_eq!(page_check.hashed, 2);
    }

    #[test]
    fn the_first_bodies_are_hashed_and_then_one_in_so_many() {
        let mut page_check = page_check(100);
        let mut due = |count: u32| {
            (0..count)
                .filter(|_| page_check.is_due() && page_check.fault(&reply(200, 4, Some([1; 32]))).is_some())
                .count()
        };
        assert_eq!(due(1_000), 1_000);
        let later = due(100_000);
        assert!((700..1_300).contains(&later), "{later}");
    }

    #[test]
    fn nothing_is_hashed_where_no_hash_is_known_or_none_is_wanted() {
        assert!(!page_check(0).is_due());
    }
}
