//! What is taken from replies, and what must be in them.

use super::jar::Jar;
use super::pointer::Pointer;
use super::spec::{ExtractorSpec, TakeSpec};
use bakeoff_engine::SpecError;
use memchr::memmem;
use std::borrow::Cow;

/// Longest value, bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 64 << 10;

#[derive(Debug)]
enum Extractor {
    Header(Box<str>),
    Cookie(Box<[u8]>),
    Json(Pointer),
    Between(Box<[u8]>, Box<[u8]>),
}

/// One value that is taken.
#[derive(Debug)]
pub(crate) struct Take {
    /// Which of the session's values it becomes.
    pub slot: usize,
    way: Extractor,
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    NotFound,
    TooLong,
}

/// A reply that is complete.
pub(crate) struct Found<'r> {
    pub head: &'r [u8],
    pub body: &'r [u8],
    pub jar: &'r Jar,
}

impl Take {
    pub fn new(spec: &TakeSpec, slot: usize) -> Result<Self, SpecError> {
        let way = match (spec.way, spec.what.as_slice()) {
            (ExtractorSpec::Header, [name]) if !name.is_empty() => Extractor::Header(name.as_str().into()),
            (ExtractorSpec::Cookie, [name]) if !name.is_empty() => Extractor::Cookie(name.as_bytes().into()),
            (ExtractorSpec::Json, [text]) => {
                let pointer = Pointer::parse(text);
                Extractor::Json(pointer.ok_or_else(|| format!("`{text}` is no JSON pointer, such as /order/0/id"))?)
            }
            (ExtractorSpec::Between, [begin, end]) if !begin.is_empty() && !end.is_empty() => {
                Extractor::Between(begin.as_bytes().into(), end.as_bytes().into())
            }
            _ => return Err(format!("{}: it is not said what to take, or too much", spec.name).into()),
        };
        Ok(Self { slot, way })
    }

    pub const fn reads_head(&self) -> bool {
        matches!(self.way, Extractor::Header(_))
    }

    pub const fn reads_body(&self) -> bool {
        matches!(self.way, Extractor::Json(_) | Extractor::Between(..))
    }

    pub const fn reads_cookies(&self) -> bool {
        matches!(self.way, Extractor::Cookie(_))
    }

    /// The value; an empty one is none.
    pub fn value<'r>(&self, reply: &Found<'r>) -> Result<Cow<'r, [u8]>, Missing> {
        let value: Option<Cow<'r, [u8]>> = match &self.way {
            Extractor::Header(name) => {
                let mut value = None;
                fields(reply.head, |field, text| {
                    if value.is_none() && field.eq_ignore_ascii_case(name) {
                        value = Some(Cow::Owned(text.trim_ascii().to_vec()));
                    }
                });
                value
            }
            Extractor::Cookie(name) => reply.jar.get(name).map(Cow::Borrowed),
            Extractor::Json(pointer) => pointer.find(reply.body).map(Cow::Owned),
            Extractor::Between(begin, end) => memmem::find(reply.body, begin).and_then(|at| {
                let rest = &reply.body[at + begin.len()..];
                memmem::find(rest, end).map(|length| Cow::Borrowed(&rest[..length]))
            }),
        };
        let value = value.filter(|value| !value.is_empty()).ok_or(Missing::NotFound)?;
        if value.len() > VALUE_BYTES_MAX { Err(Missing::TooLong) } else { Ok(value) }
    }
}

/// Tells the fields of a head that was parsed before.
pub(crate) fn fields(head: &[u8], mut tell: impl FnMut(&str, &[u8])) {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut response = httparse::Response::new(&mut headers);
    if matches!(response.parse(head), Ok(httparse::Status::Complete(_))) {
        response.headers.iter().for_each(|field| tell(field.name, field.value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nLocation:  /next \r\nlocation: /other\r\nEmpty:\r\n\r\n";

    fn take(way: ExtractorSpec, what: &str, more: &str, body: &[u8]) -> Result<String, Missing> {
        let what = [what, more].into_iter().filter(|text| !text.is_empty()).map(str::to_owned).collect();
        let spec = TakeSpec { name: "v".into(), way, what };
        let jar = Jar::with(&[("sid".to_owned(), "7".to_owned())]);
        let reply = Found { head: HEAD, body, jar: &jar };
        let value = Take::new(&spec, 0).unwrap().value(&reply)?;
        Ok(String::from_utf8_lossy(&value).into_owned())
    }

    #[test]
    fn each_way_finds_its_value_or_says_that_there_is_none() {
        assert_eq!(take(ExtractorSpec::Header, "LOCATION", "", b""), Ok("/next".to_owned()));
        assert_eq!(take(ExtractorSpec::Header, "Empty", "", b""), Err(Missing::NotFound), "never a silent empty text");
        assert_eq!(take(ExtractorSpec::Cookie, "sid", "", b""), Ok("7".to_owned()));
        assert_eq!(take(ExtractorSpec::Cookie, "Sid", "", b""), Err(Missing::NotFound));
        assert_eq!(take(ExtractorSpec::Json, "/a", "", b"{\"a\":1}"), Ok("1".to_owned()));
        assert_eq!(take(ExtractorSpec::Json, "/a", "", b"{\"a\":\"\"}"), Err(Missing::NotFound));
        assert_eq!(take(ExtractorSpec::Between, "v=\"", "\"", b"x v=\"1\" v=\"2\""), Ok("1".to_owned()));
        for body in [&b"v=\"1"[..], b"v=\"\"", b"", b"1\""] {
            assert_eq!(take(ExtractorSpec::Between, "v=\"", "\"", body), Err(Missing::NotFound));
        }
        let long = [b"<".as_slice(), &vec![b'x'; VALUE_BYTES_MAX + 1], b">"].concat();
        assert_eq!(take(ExtractorSpec::Between, "<", ">", &long), Err(Missing::TooLong));
        assert_eq!(take(ExtractorSpec::Between, "<", ">", &long[1..]), Err(Missing::NotFound));
    }

    #[test]
    fn what_is_not_said_whole_is_refused() {
        let taken = |way, what: &[&str]| {
            let what = what.iter().map(|text| (*text).to_owned()).collect();
            Take::new(&TakeSpec { name: "v".into(), way, what }, 0)
        };
        assert!(taken(ExtractorSpec::Header, &[]).is_err() && taken(ExtractorSpec::Header, &[""]).is_err());
        assert!(taken(ExtractorSpec::Cookie, &["a", "b"]).is_err() && taken(ExtractorSpec::Between, &["a"]).is_err());
        assert!(taken(ExtractorSpec::Between, &["a", ""]).is_err() && taken(ExtractorSpec::Json, &["a"]).is_err());
        assert!(taken(ExtractorSpec::Json, &[""]).is_ok() && taken(ExtractorSpec::Between, &["a", "b"]).is_ok());
    }
}
