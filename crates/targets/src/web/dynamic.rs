//! The page that is computed for each request: byte for byte what `cgi-bin/bakeoff.cgi` of the `web-dynamic` corpus
//! prints.

use std::fmt::Write;

use bytes::Bytes;

pub const PATH: &str = "/cgi-bin/bakeoff.cgi";
pub const BAD_QUERY: &[u8] = b"bad query: use ?n=0..999999999&size=64..131072\n";

const HEAD: &str = "<!DOCTYPE html><title>bakeoff</title><pre>\n";
const TAIL: &str = "</pre>\n";
const DOTS: &str = ".........................................";
const LEAST_BYTES: u64 = 64;
const BYTES_MAX: u64 = 131_072;

/// The page for a query such as `n=7&size=300`; `None` when it is not a good one.
pub fn page(query: &str) -> Option<Bytes> {
    let number = parameter(query, "n", 9)?;
    let size = parameter(query, "size", 6).filter(|size| (LEAST_BYTES..=BYTES_MAX).contains(size))?;
    Some(body(number, size as usize))
}

/// So many decimal digits at most; of several values the last counts.
fn parameter(query: &str, name: &str, most_digits: usize) -> Option<u64> {
    let value = query.split('&').filter_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).next_back()?;
    let good = (1..=most_digits).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
    if good { value.parse().ok() } else { None }
}

fn body(number: u64, size: usize) -> Bytes {
    let end = size - TAIL.len();
    let mut text = String::with_capacity(size + 64);
    text.push_str(HEAD);
    let mut line = 0u64;
    while text.len() < end {
        let value = 1_000_000_000 + (number * 7919 + line * 104_729) % 1_000_003;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{} {value} {DOTS}", 1_000_000_000 + number);
        line += 1;
    }
    text.truncate(end);
    text.push_str(TAIL);
    text.into()
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    fn sha256(query: &str) -> String {
        use std::fmt::Write;
        let digest = Sha256::digest(page(query).unwrap());
        digest.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        })
    }

    #[test]
    fn equals_the_reference_program() {
        assert_eq!(sha256("n=7&size=300"), "83fbc678662989d296ca14f654ca47ef6cb95ec4b4fa2990d9c2131e4a2c5278");
        assert_eq!(sha256("size=16384&n=199"), "5e5bed83b9830490f5fbe7f0ce28c9a8d6453fe87dd6a428b5a5f08867cc7e71");
    }

    #[test]
    fn has_exactly_the_size_asked_for() {
        for size in [64, 65, 113, 114, 115, 131_072] {
            assert_eq!(page(&format!("n=999999999&size={size}")).unwrap().len(), size);
        }
    }

    #[test]
    fn reads_queries_as_the_program_does() {
        let page_of = |query| page(query).unwrap();
        assert_eq!(page_of("n=1&n=2&size=64&x=3"), page_of("size=000064&n=002"));
    }

    #[test]
    fn refuses_bad_queries() {
        for query in [
            "",
            "n=1",
            "size=64",
            "n=1&size=63",
            "n=1&size=131073",
            "n=-1&size=64",
            "n=+1&size=64",
            "n=1000000000&size=64",
            "n=&size=64",
            "n=1&size=0x40",
            "n=1&size=0000064",
            "n=1&n=&size=64",
            "nn=1&size=64",
        ] {
            assert!(page(query).is_none(), "{query}");
        }
    }
}
