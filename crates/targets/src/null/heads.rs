//! Where the heads of HTTP/1 requests end.

const REQUEST_END: &[u8; 4] = b"\r\n\r\n";

/// Counts the ends of request heads in `bytes`. `matched` carries an end that is split over reads.
pub fn count_heads(bytes: &[u8], matched: &mut u8) -> u64 {
    let mut heads = 0;
    let mut rest = bytes;
    if *matched > 0 {
        // Byte by byte until the split end is decided.
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            *matched = advance(*matched, *byte);
            if *matched == 4 {
                heads += 1;
                *matched = 0;
            }
            if *matched == 0 {
                break;
            }
        }
        if *matched > 0 {
            return heads;
        }
    }
    let mut place = 3;
    let mut last_end = 0;
    while place < rest.len() {
        // A byte that is no line end cannot be in any of the four places of one.
        if rest[place] == b'\n' && rest[place - 3..=place] == *REQUEST_END {
            heads += 1;
            last_end = place + 1;
            place += 4;
        } else if rest[place] == b'\n' || rest[place] == b'\r' {
            place += 1;
        } else {
            place += 4;
        }
    }
    let tail = &rest[last_end.max(rest.len().saturating_sub(3))..];
    *matched = tail.iter().fold(0, |matched, byte| advance(matched, *byte));
    heads
}

/// How much of the end of a head is there after one more byte.
fn advance(matched: u8, byte: u8) -> u8 {
    match byte {
        _ if byte == REQUEST_END[matched as usize] => matched + 1,
        b'\r' => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_found_wherever_the_reads_are_split() {
        let stream = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.0\r\n\r\n\r\r\n\r\nx\n\r\n\r\n";
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let mut matched = 0;
                let parts = [&stream[..first], &stream[first..second], &stream[second..]];
                let heads: u64 = parts.iter().map(|part| count_heads(part, &mut matched)).sum();
                assert_eq!((heads, matched), (4, 0), "split at {first} and {second}");
            }
        }
    }

    #[test]
    fn an_unfinished_head_is_remembered() {
        let mut matched = 0;
        assert_eq!(count_heads(b"GET / HTTP/1.1\r\n\r", &mut matched), 0);
        assert_eq!(matched, 3);
        assert_eq!(count_heads(b"\n", &mut matched), 1);
    }
}
