//! The header blocks of requests, prepared once: what all requests share is kept by the server and sent as its index
//! after the first request of a connection.

use super::hpack::{Indexing, TABLE_BYTES, entry_bytes, put_field, put_integer, static_index};
use super::static_table::FIELDS;

/// Some fields in each of the forms in which they may be sent.
#[derive(Debug, Default)]
struct Forms {
    /// In full, to be kept by the server.
    first: Vec<u8>,
    /// As indices into what it keeps.
    later: Vec<u8>,
    /// In full each time, for a server that keeps too little.
    plain: Vec<u8>,
}

/// The fields that all requests of a workload share. Those of a request stand between them: pseudo-headers come first.
#[derive(Debug)]
pub(crate) struct SharedFields {
    pseudo: Forms,
    others: Forms,
    /// What the server keeps for them, bytes.
    pub kept_bytes: usize,
}

/// Which of the forms a connection is to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    First,
    Later,
    Plain,
}

impl SharedFields {
    /// `others` are name and value of the fields beside scheme and authority, names in any case.
    pub fn new(scheme: &str, authority: &str, others: &[(String, String)]) -> Self {
        let others: Vec<_> = others.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.as_str())).collect();
        let pseudo = [(":scheme", scheme), (":authority", authority)];
        let all = pseudo.into_iter().chain(others.iter().map(|(name, value)| (name.as_str(), *value)));
        let kept: Vec<_> = all.clone().filter(|(name, value)| static_index(name, value).is_none()).collect();
        let kept_bytes = kept.iter().map(|(name, value)| entry_bytes(name, value)).sum();
        let mut shared = Self { pseudo: Forms::default(), others: Forms::default(), kept_bytes };
        let mut younger = kept.len();
        for (name, value) in all {
            let forms = if name.starts_with(':') { &mut shared.pseudo } else { &mut shared.others };
            put_field(name, value, Indexing::Keep, &mut forms.first);
            put_field(name, value, Indexing::Plain, &mut forms.plain);
            if static_index(name, value).is_some() {
                put_field(name, value, Indexing::Plain, &mut forms.later);
            } else {
                // The youngest comes first, behind the static table.
                younger -= 1;
                put_integer(0x80, 7, FIELDS.len() + 1 + younger, &mut forms.later);
            }
        }
        shared
    }

    /// The form of a connection's first request, unless its server keeps less than `TABLE_BYTES`.
    pub const fn first_form(&self) -> Form {
        if self.kept_bytes <= TABLE_BYTES { Form::First } else { Form::Plain }
    }

    /// Appends the whole block of a request, whose own fields are `own`.
    #[inline]
    pub fn put(&self, form: Form, own: &[u8], block: &mut Vec<u8>) {
        for (forms, between) in [(&self.pseudo, own), (&self.others, &[][..])] {
            block.extend_from_slice(match form {
                Form::First => &forms.first,
                Form::Later => &forms.later,
                Form::Plain => &forms.plain,
            });
            block.extend_from_slice(between);
        }
    }

    /// The longest that a block can be with own fields of so many bytes.
    pub fn longest(&self, own_bytes: usize) -> usize {
        let of = |forms: &Forms| forms.first.len().max(forms.plain.len());
        of(&self.pseudo) + of(&self.others) + own_bytes
    }
}

/// Appends the fields that are a request's own.
pub(crate) fn put_own(method: &str, path: &str, block: &mut Vec<u8>) {
    put_field(":method", method, Indexing::Plain, block);
    put_field(":path", path, Indexing::Plain, block);
}

#[cfg(test)]
mod tests {
    use super::super::hpack::Decoder;
    use super::*;

    #[test]
    fn every_form_says_the_same_and_a_later_one_is_short() {
        let others = [("User-Agent".to_owned(), "x/1".to_owned()), ("X-Own".to_owned(), "1".to_owned())];
        for scheme in ["http", "https"] {
            let shared = SharedFields::new(scheme, "example.test:80", &others);
            let mut own = Vec::new();
            put_own("GET", "/a", &mut own);
            let mut decoder = Decoder::new();
            for form in [Form::Plain, Form::First, Form::Later, Form::Later] {
                let (mut block, mut text) = (Vec::new(), Vec::new());
                shared.put(form, &own, &mut block);
                let mut take = |name: &[u8], value: &[u8]| {
                    text.push([name, b" ", value, b"\n"].concat());
                    Ok(())
                };
                decoder.decode(&block, &mut take).unwrap();
                let expected = ":authority example.test:80\n:method GET\n:path /a\nuser-agent x/1\nx-own 1\n";
                assert_eq!(text.concat(), format!(":scheme {scheme}\n{expected}").into_bytes());
                assert!(form != Form::Later || block.len() == 4 + own.len());
                assert!(block.len() <= shared.longest(own.len()));
            }
        }
    }
}
