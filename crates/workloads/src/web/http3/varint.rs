//! Integers of variable length (RFC 9000, 16).

/// Takes one from `bytes`; `None` when not all of it is there.
#[inline]
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let length = 1 << (bytes.first()? >> 6);
    let (octets, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    let value = octets.iter().fold(0, |value, &octet| value << 8 | u64::from(octet));
    // The two highest bits are the length.
    Some(value & ((1 << (8 * length - 2)) - 1))
}

/// Appends one, in as few bytes as it takes.
pub(super) fn put(value: u64, out: &mut Vec<u8>) {
    match value {
        0..0x40 => out.push(value as u8),
        0x40..0x4000 => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfc_and_every_length_come_back() {
        // RFC 9000, A.1.
        for (wire, value) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ] {
            let mut out = Vec::new();
            put(value, &mut out);
            assert_eq!((take(&mut &*wire), out.as_slice()), (Some(value), wire));
            assert_eq!(take(&mut &wire[..wire.len() - 1]), None);
        }
        assert_eq!(take(&mut &[0x40, 0x25][..]), Some(37));
    }
}
