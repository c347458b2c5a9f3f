//! The head of a reply as HTTP/2 and HTTP/3 send it: a list of fields.

use crate::web::http1::head::parse_decimal;

/// Interim heads (RFC 9110, 15.2) in front of one reply. A server that sends more keeps its client busy with nothing.
pub(crate) const INTERIM_MAX: u8 = 32;

/// What matters of a reply's head, or of its trailer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReplyHead {
    /// 0 until it has come.
    pub status: u16,
    pub length: Option<u64>,
    /// It contradicts RFC 9113, 8.2 and 8.3.
    pub is_malformed: bool,
    has_fields: bool,
}

impl ReplyHead {
    /// Takes the next field.
    #[inline]
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        if name.first().is_none_or(|&byte| byte == b':') {
            let status = parse_decimal(value).filter(|status| value.len() == 3 && (100..600).contains(status));
            self.is_malformed |= name != b":status" || self.status != 0 || self.has_fields || status.is_none();
            self.status = status.unwrap_or(0) as u16;
            return;
        }
        self.has_fields = true;
        self.is_malformed |= name.iter().any(|byte| byte.is_ascii_uppercase() || *byte <= b' ' || *byte == 0x7f);
        self.is_malformed |= value.iter().any(|byte| matches!(byte, b'\0' | b'\r' | b'\n'));
        if name == b"content-length" {
            let length = parse_decimal(value);
            self.is_malformed |= length.is_none() || self.length.is_some_and(|seen| Some(seen) != length);
            self.length = length;
        }
    }

    /// Whether a reply may begin so; `ends` when nothing follows.
    pub const fn is_right(&self, ends: bool) -> bool {
        !self.is_malformed && self.status != 0 && !(self.is_interim() && ends)
    }

    /// Whether another head follows.
    pub const fn is_interim(&self) -> bool {
        self.status / 100 == 1
    }

    /// Whether a reply may end so.
    pub const fn is_trailer(&self) -> bool {
        !self.is_malformed && self.status == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&str, &str)]) -> ReplyHead {
        let mut head = ReplyHead::default();
        fields.iter().for_each(|(name, value)| head.take(name.as_bytes(), value.as_bytes()));
        head
    }

    #[test]
    fn a_reply_has_one_status_in_front_and_small_names() {
        let right = head(&[(":status", "200"), ("content-length", "5"), ("x", "")]);
        assert!(right.is_right(false) && right.is_right(true) && !right.is_trailer());
        assert_eq!((right.status, right.length), (200, Some(5)));
        let interim = head(&[(":status", "103"), ("link", "x")]);
        assert!(interim.is_right(false) && !interim.is_right(true));
        for wrong in [
            &[("x", "1")][..],
            &[("x", "1"), (":status", "200")],
            &[(":status", "200"), (":status", "200")],
            &[(":status", "999")],
            &[(":status", "+20")],
            &[(":status", "20")],
            &[(":path", "/")],
            &[(":status", "200"), ("X", "1")],
            &[(":status", "200"), ("", "1")],
            &[(":status", "200"), ("x", "a\r\nb")],
            &[(":status", "200"), ("content-length", "5"), ("content-length", "6")],
            &[(":status", "200"), ("content-length", "-5")],
        ] {
            assert!(!head(wrong).is_right(false), "{wrong:?}");
        }
        assert!(head(&[("x", "1")]).is_trailer() && !head(&[(":status", "200")]).is_trailer());
    }
}
