//! The bytes of a request.

use crate::spec::HttperfSpec;
use crate::spec::uris::{Uri, UriTexts};
use std::io::Write;
use std::sync::Arc;

/// Writes requests; what they have in common is made once.
#[derive(Debug)]
pub(crate) struct Requests {
    spec: Arc<HttperfSpec>,
    texts: UriTexts,
    /// By server: from after the URI to the empty line.
    tails: Vec<Vec<u8>>,
}

/// The bytes of one request's head and body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RequestSize {
    pub header_bytes: u64,
    pub content_bytes: u64,
}

impl Requests {
    pub fn new(spec: &Arc<HttperfSpec>) -> Self {
        let tails = spec.servers.iter().map(|server| {
            let mut tail = format!(" HTTP/{}\r\nUser-Agent: {}\r\n", spec.http_version, spec.user_agent).into_bytes();
            if spec.http_version == "1.0" {
                tail.extend_from_slice(b"Connection: keep-alive\r\n");
            }
            if !spec.no_host_hdr {
                let name = spec.server_name.as_ref().unwrap_or(&server.host);
                tail.extend_from_slice(format!("Host: {name}\r\n").as_bytes());
            }
            tail.extend_from_slice(&spec.add_header.0);
            tail
        });
        Self { tails: tails.collect(), texts: UriTexts::new(Arc::clone(spec)), spec: Arc::clone(spec) }
    }

    /// Appends a request; returns how long it is.
    pub fn write(&self, uri: &Uri, server: usize, cookie: Option<&[u8]>, out: &mut Vec<u8>) -> RequestSize {
        let begin = out.len();
        let (method, contents) = self.call(uri);
        out.extend_from_slice(method);
        out.push(b' ');
        self.texts.write(uri, out);
        out.extend_from_slice(&self.tails[server]);
        if let Some(cookie) = cookie {
            out.extend_from_slice(b"Cookie: ");
            out.extend_from_slice(cookie);
            out.extend_from_slice(b"\r\n");
        }
        if let Some(contents) = contents {
            // Writing to memory does not fail.
            let _ = write!(out, "Content-length: {}\r\n", contents.len());
        }
        out.extend_from_slice(b"\r\n");
        let header_bytes = (out.len() - begin) as u64;
        out.extend_from_slice(contents.unwrap_or_default());
        RequestSize { header_bytes, content_bytes: contents.map_or(0, <[u8]>::len) as u64 }
    }

    /// Whether replies to it have no body.
    pub fn is_head(&self, uri: &Uri) -> bool {
        self.call(uri).0 == b"HEAD"
    }

    fn call(&self, uri: &Uri) -> (&[u8], Option<&[u8]>) {
        if let (Uri::Script(session, burst, call), Some(log)) = (uri, &self.spec.wsesslog) {
            let call = &log.scripts[*session as usize].bursts[*burst as usize].calls[*call as usize];
            return (&call.method.0, call.contents.as_ref().map(|contents| contents.0.as_slice()));
        }
        (&self.spec.method.0, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::for_tests::spec_with;

    fn request(extra: &str, uri: &Uri, cookie: Option<&[u8]>) -> String {
        let requests = Requests::new(&Arc::new(spec_with(extra)));
        let mut out = Vec::new();
        let size = requests.write(uri, 0, cookie, &mut out);
        assert_eq!(size.header_bytes + size.content_bytes, out.len() as u64);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn requests_are_those_of_the_manual() {
        let plain = "GET /x HTTP/1.1\r\nUser-Agent: httperf/0.9.0\r\nHost: www\r\n\r\n";
        assert_eq!(request(r#"{"uri":"/x"}"#, &Uri::Fixed, None), plain);
        let old = request(r#"{"http_version":"1.0","add_header":"X: y\r\n","no_host_hdr":true}"#, &Uri::Fixed, None);
        assert_eq!(old, "GET / HTTP/1.0\r\nUser-Agent: httperf/0.9.0\r\nConnection: keep-alive\r\nX: y\r\n\r\n");
        let named = request(r#"{"server_name":"n","method":"HEAD"}"#, &Uri::Fixed, Some(b"a=b"));
        assert_eq!(named, "HEAD / HTTP/1.1\r\nUser-Agent: httperf/0.9.0\r\nHost: n\r\nCookie: a=b\r\n\r\n");
    }

    #[test]
    fn a_script_s_call_has_its_method_and_contents() {
        let script = r#"{"wsesslog":{"sessions":1,"scripts":[{"bursts":[{"think_s":0,"calls":[
            {"uri":"/a","method":"POST","contents":"h\u00e9"}]}]}]}}"#;
        let requests = Requests::new(&Arc::new(spec_with(script)));
        let mut out = Vec::new();
        let size = requests.write(&Uri::Script(0, 0, 0), 0, None, &mut out);
        assert!(out.starts_with(b"POST /a HTTP/1.1\r\n") && out.ends_with(b"Content-length: 2\r\n\r\nh\xe9"));
        assert_eq!(size.content_bytes, 2);
    }
}
