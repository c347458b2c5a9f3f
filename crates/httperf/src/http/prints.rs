//! Messages as `--print-request` and `--print-reply` show them: each line with its kind and its call's number.

use super::reply::Reply;
use super::request::RequestSize;
use crate::spec::PrintSpec;
use crate::spec::octets::text_of;
use std::fmt::Write;

/// A request of these bytes.
pub(crate) fn of_request(serial: u64, bytes: &[u8], size: RequestSize, print: PrintSpec) -> String {
    let (header_bytes, content_bytes) = (size.header_bytes, size.content_bytes);
    let (head, body) = bytes.split_at((header_bytes as usize).min(bytes.len()));
    let mut text = String::new();
    if print.header {
        lines(&mut text, "SH", serial, head);
    }
    if print.body && !body.is_empty() {
        lines(&mut text, "SB", serial, body);
    }
    let _ = write!(text, "SS{serial}: header {header_bytes} content {content_bytes}");
    text
}

/// A reply.
pub(crate) fn of_reply(serial: u64, reply: &Reply, print: PrintSpec) -> String {
    let Reply { header_bytes, content_bytes, footer_bytes, .. } = reply;
    let mut text = String::new();
    if print.header {
        lines(&mut text, "RH", serial, &reply.head);
    }
    if print.body && !reply.body.is_empty() {
        lines(&mut text, "RB", serial, &reply.body);
    }
    let _ = write!(text, "RS{serial}: header {header_bytes} content {content_bytes} footer {footer_bytes}");
    text
}

fn lines(text: &mut String, kind: &str, serial: u64, bytes: &[u8]) {
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    for line in whole.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let _ = writeln!(text, "{kind}{serial}:{}", text_of(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_shown_line_by_line() {
        let all = PrintSpec { header: true, body: true };
        let size = RequestSize { header_bytes: 18, content_bytes: 3 };
        let request = of_request(7, b"GET / HTTP/1.1\r\n\r\na\xe9b", size, all);
        assert_eq!(request, "SH7:GET / HTTP/1.1\nSH7:\nSB7:a\u{e9}b\nSS7: header 18 content 3");
        let reply = Reply {
            header_bytes: 38,
            content_bytes: 2,
            head: b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n".to_vec(),
            body: b"ok".to_vec(),
            ..Reply::default()
        };
        let expected = "RH0:HTTP/1.1 200 OK\nRH0:A: b\nRH0:\nRB0:ok\nRS0: header 38 content 2 footer 0";
        assert_eq!(of_reply(0, &reply, all), expected);
        assert_eq!(of_reply(0, &reply, PrintSpec::default()), "RS0: header 38 content 2 footer 0");
    }
}
