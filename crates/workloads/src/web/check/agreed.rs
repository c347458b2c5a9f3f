//! What the reply to a request must be, as far as that is known before the trial.

use crate::web::hex::from_hex;
use crate::web::spec::{ReplySpec, RequestSpec};
use bakeoff_engine::{ErrorClass, SpecError};

/// What is known of a reply.
#[derive(Debug)]
pub struct KnownReply {
    /// The status of the reply whose body is known.
    status: u16,
    /// Any other status is a failure, whatever the class takes.
    exact: bool,
    least_bytes: u64,
    most_bytes: u64,
    sha256: Option<[u8; 32]>,
    /// The content type, in small letters; told by HTTP/1 alone.
    content_type: Option<Box<[u8]>>,
}

impl KnownReply {
    /// Of a request. Errors: a hash that is none.
    pub fn new(request: &RequestSpec) -> Result<Self, SpecError> {
        let reply = request.reply.clone().unwrap_or(ReplySpec {
            status: 200,
            exact: false,
            least_bytes: None,
            most_bytes: None,
            content_type: None,
        });
        let sha256 = request.sha256.as_deref().map(parse_sha256).transpose()?;
        // A reply to HEAD has no body, whatever length it states.
        let is_bodiless = request.method == "HEAD";
        Ok(Self {
            status: reply.status,
            exact: reply.exact,
            least_bytes: request.length.or(reply.least_bytes).filter(|_| !is_bodiless).unwrap_or(0),
            most_bytes: request.length.or(reply.most_bytes).filter(|_| !is_bodiless).unwrap_or(u64::MAX),
            sha256: sha256.filter(|_| !is_bodiless),
            content_type: reply.content_type.map(|text| text.to_ascii_lowercase().into_bytes().into()),
        })
    }

    /// Whether the body of a reply with this status has a hash that it can be held to.
    #[inline]
    pub const fn has_hash(&self, status: u16) -> bool {
        self.sha256.is_some() && status == self.status
    }

    /// Whether this SHA-256 is the right one, or none is known.
    pub fn is_of_hash(&self, hash: &[u8]) -> bool {
        self.sha256.is_none_or(|own| own[..] == *hash)
    }

    /// What is wrong with status and length of a reply that its class takes.
    #[inline]
    pub const fn fault(&self, status: u16, body_bytes: u64) -> Option<ErrorClass> {
        if status != self.status {
            return if self.exact { Some(ErrorClass::WrongStatus) } else { None };
        }
        let fits = self.least_bytes <= body_bytes && body_bytes <= self.most_bytes;
        if fits { None } else { Some(ErrorClass::WrongContent) }
    }

    /// Whether a body that has so many bytes already cannot become the one that was agreed.
    #[inline]
    pub const fn is_too_long(&self, status: u16, body_bytes: u64) -> bool {
        body_bytes > self.most_bytes && status == self.status
    }

    /// Whether a head, which was parsed before, says another content type than was agreed.
    #[inline]
    pub fn is_other_type(&self, status: u16, head: &[u8]) -> bool {
        self.content_type.as_ref().is_some_and(|own| status == self.status && *own != content_type(head))
    }
}

/// The content type that a head says, in small letters and without parameters; empty when it says none.
#[cold]
pub(crate) fn content_type(head: &[u8]) -> Box<[u8]> {
    const NAME: &[u8] = b"content-type:";
    let line = head
        .split(|&byte| byte == b'\n')
        .find(|line| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)));
    let value = line.map_or(&b""[..], |line| &line[NAME.len()..]);
    let kind = value.split(|&byte| byte == b';').next().unwrap_or_default();
    kind.trim_ascii().to_ascii_lowercase().into()
}

fn parse_sha256(text: &str) -> Result<[u8; 32], SpecError> {
    let hash = from_hex(text).ok().and_then(|hash| hash.try_into().ok());
    hash.ok_or_else(|| SpecError::Range(format!("`{text}` is not a SHA-256 in hexadecimal")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_that_of_its_field_without_parameters() {
        let head = b"HTTP/1.1 200 OK\r\nX: content-type: a/b\r\ncontent-TYPE:  Text/HTML ; charset=x\r\n\r\n";
        assert_eq!(*content_type(head), *b"text/html");
        assert_eq!(*content_type(b"HTTP/1.1 200 OK\r\nContent-Types: a\r\n\r\n"), *b"");
    }
}
