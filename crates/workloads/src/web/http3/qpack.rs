//! Header compression of HTTP/3 (RFC 9204) with the static table alone: what we offer is a dynamic table of no size, so
//! replies use none, and requests use none either.

use super::super::http2::hpack::{ENTRY_BYTES, LIST_BYTES_MAX, integer, put_integer, put_string, string};
use super::super::http2::huffman::Malformed;
use super::static_table::FIELDS;

/// Hands each field of `section` to `field`, as name and value; `text` is room for one.
pub(super) fn decode(section: &[u8], text: &mut Vec<u8>, mut field: impl FnMut(&[u8], &[u8])) -> Result<(), Malformed> {
    let mut rest = section;
    // No field may need an entry of the dynamic table; where its entries would be counted from does not matter then.
    if integer(&mut rest, 8)? != 0 {
        return Err(Malformed);
    }
    integer(&mut rest, 7)?;
    let mut list_bytes = 0;
    while let Some(&first) = rest.first() {
        text.clear();
        let name_bytes = match first {
            0xc0.. => {
                let (name, value) = entry(integer(&mut rest, 6)?)?;
                field(name.as_bytes(), value.as_bytes());
                list_bytes += name.len() + value.len() + ENTRY_BYTES;
                continue;
            }
            0x50..0x60 | 0x70..0x80 => {
                text.extend_from_slice(entry(integer(&mut rest, 4)?)?.0.as_bytes());
                text.len()
            }
            0x20..0x40 => {
                string(&mut rest, 3, text)?;
                text.len()
            }
            // All others name the dynamic table.
            _ => return Err(Malformed),
        };
        string(&mut rest, 7, text)?;
        let (name, value) = text.split_at(name_bytes);
        field(name, value);
        list_bytes += text.len() + ENTRY_BYTES;
        if list_bytes > LIST_BYTES_MAX {
            return Err(Malformed);
        }
    }
    Ok(())
}

fn entry(index: usize) -> Result<&'static (&'static str, &'static str), Malformed> {
    FIELDS.get(index).ok_or(Malformed)
}

/// Appends what stands before the fields of each section: that no dynamic table is used.
pub(super) fn put_prefix(section: &mut Vec<u8>) {
    section.extend_from_slice(&[0, 0]);
}

/// Appends a field: its index, or its name's with the value, or both in full.
pub(super) fn put_field(name: &str, value: &str, section: &mut Vec<u8>) {
    if let Some(index) = FIELDS.iter().position(|field| *field == (name, value)) {
        return put_integer(0xc0, 6, index, section);
    }
    match FIELDS.iter().position(|field| field.0 == name) {
        Some(index) => put_integer(0x50, 4, index, section),
        None => put_string(0x20, 3, name.as_bytes(), section),
    }
    put_string(0, 7, value.as_bytes(), section);
}

#[cfg(test)]
mod tests {
    use super::*;

    type Fields = Vec<(String, String)>;

    fn decoded(section: &[u8]) -> Result<Fields, Malformed> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decode(section, &mut Vec::new(), |name, value| fields.push((text(name), text(value)))).map(|()| fields)
    }

    #[test]
    fn an_example_of_the_rfc_and_every_form_come_back() {
        // RFC 9204, B.1.
        let example = [b"\x00\x00\x51\x0b".as_slice(), b"/index.html"].concat();
        assert_eq!(decoded(&example), Ok(vec![(":path".to_owned(), "/index.html".to_owned())]));
        let fields = [(":method", "GET"), (":path", "/a"), ("x-own", "1"), ("user-agent", "x"), ("vary", "origin")];
        let mut section = Vec::new();
        put_prefix(&mut section);
        fields.iter().for_each(|(name, value)| put_field(name, value, &mut section));
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        assert_eq!(decoded(&section), Ok(fields.iter().map(own).collect()));
        assert!((0..section.len()).filter(|&end| decoded(&section[..end]).is_err()).count() > 10);
    }

    #[test]
    fn the_dynamic_table_is_refused_and_so_is_what_unfolds_too_far() {
        for wrong in [&[1, 0][..], &[0, 0, 0x80], &[0, 0, 0x40, 0], &[0, 0, 0x10], &[0, 0, 0x00, 0], &[0, 0, 0xff, 36]]
        {
            assert_eq!(decoded(wrong), Err(Malformed), "{wrong:?}");
        }
        assert_eq!(decoded(&[0, 0, 0xff, 35]).unwrap()[0].1, "sameorigin");
        let mut long = vec![0, 0];
        (0..5).for_each(|_| {
            put_field("x", "", &mut long);
            long.pop();
            put_integer(0, 7, 60_000, &mut long);
            long.extend_from_slice(&[b'y'; 60_000]);
        });
        assert_eq!(decoded(&long), Err(Malformed));
    }

    #[test]
    fn random_sections_never_panic() {
        let mut rng = bakeoff_engine::Rng::for_thread(5, 0, 0);
        let mut right = 0;
        for _ in 0..200_000 {
            let mut section = vec![0, 0];
            section.extend((0..rng.below(12)).map(|_| rng.below(256) as u8));
            right += usize::from(decoded(&section).is_ok());
        }
        assert!(right > 100);
    }
}
