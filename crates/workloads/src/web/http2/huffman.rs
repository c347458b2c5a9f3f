//! The string code of HPACK and QPACK (RFC 7541, appendix B). It is canonical: the lengths say all.

/// Bits of each octet's code; the last is the end of string, which no string may contain.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12,
    10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6,
    5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22,
    22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20,
    22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28,
    27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28,
    27, 27, 27, 27, 27, 26, 30,
];
const END: usize = 256;
const BITS_MAX: usize = 30;
/// Codes of so many bits are looked up at once: all that a header usually has.
const FAST_BITS: u32 = 10;

struct Tables {
    codes: [u32; 257],
    /// Symbols in the order of their codes.
    symbols: [u16; 257],
    /// First code of each length, left-aligned to 32 bits, and where its symbols begin.
    first: [u64; BITS_MAX + 2],
    offset: [u16; BITS_MAX + 2],
    /// Octet and bits by the next `FAST_BITS` bits; no bits where the code is longer.
    fast: [(u8, u8); 1 << FAST_BITS],
}

static TABLES: Tables = tables();

const fn tables() -> Tables {
    let mut made = Tables {
        codes: [0; 257],
        symbols: [0; 257],
        first: [1 << 32; BITS_MAX + 2],
        offset: [0; BITS_MAX + 2],
        fast: [(0, 0); 1 << FAST_BITS],
    };
    let (mut code, mut count, mut bits) = (0_u32, 0, 1);
    while bits <= BITS_MAX {
        code <<= 1;
        made.first[bits] = (code as u64) << (32 - bits);
        made.offset[bits] = count as u16;
        let mut symbol = 0;
        while symbol <= END {
            if LENGTHS[symbol] as usize == bits {
                made.codes[symbol] = code;
                made.symbols[count] = symbol as u16;
                if bits <= FAST_BITS as usize {
                    let shift = FAST_BITS as usize - bits;
                    let mut at = (code as usize) << shift;
                    while at < (code as usize + 1) << shift {
                        made.fast[at] = (symbol as u8, bits as u8);
                        at += 1;
                    }
                }
                code += 1;
                count += 1;
            }
            symbol += 1;
        }
        bits += 1;
    }
    made
}

/// A string that is not in this code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Appends the decoded string to `text`, which never grows by more than eight fifths of `coded`.
pub(crate) fn decode(coded: &[u8], text: &mut Vec<u8>) -> Result<(), Malformed> {
    let (mut window, mut bits) = (0_u64, 0_u32);
    let mut rest = coded.iter();
    loop {
        while bits <= 56 {
            let Some(&byte) = rest.next() else { break };
            window |= u64::from(byte) << (56 - bits);
            bits += 8;
        }
        // What lies beyond the end is padding, which is made of ones.
        let ahead = if bits < 32 { window | u64::MAX >> bits } else { window };
        let (octet, length) = TABLES.fast[(ahead >> (64 - FAST_BITS)) as usize];
        let found = if length > 0 { Some((octet, u32::from(length))) } else { long(ahead >> 32) };
        let Some((octet, length)) = found.filter(|(_, length)| *length <= bits) else {
            // The end: less than an octet of ones. No code is that short, so this is not one.
            return if bits < 8 && ahead == u64::MAX { Ok(()) } else { Err(Malformed) };
        };
        text.push(octet);
        window <<= length;
        bits -= length;
    }
}

/// Octet and bits of a code that is longer than those of the table; `None` for the end of string.
#[cold]
fn long(ahead: u64) -> Option<(u8, u32)> {
    let mut bits = FAST_BITS as usize + 1;
    // A code is as long as the last length whose first code is not above it.
    while bits < BITS_MAX && ahead >= TABLES.first[bits + 1] {
        bits += 1;
    }
    let behind = ((ahead - TABLES.first[bits]) >> (32 - bits)) as usize;
    let symbol = *TABLES.symbols.get(usize::from(TABLES.offset[bits]) + behind)?;
    u8::try_from(symbol).ok().map(|octet| (octet, bits as u32))
}

/// Appends `text` in this code.
pub(crate) fn encode(text: &[u8], coded: &mut Vec<u8>) {
    let (mut window, mut bits) = (0_u64, 0_u32);
    for &octet in text {
        let length = u32::from(LENGTHS[usize::from(octet)]);
        window = window << length | u64::from(TABLES.codes[usize::from(octet)]);
        bits += length;
        while bits >= 8 {
            bits -= 8;
            coded.push((window >> bits) as u8);
        }
    }
    if bits > 0 {
        coded.push((window << (8 - bits)) as u8 | 0xff >> bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(text: &[u8]) -> Vec<u8> {
        let mut coded = Vec::new();
        encode(text, &mut coded);
        coded
    }

    fn decoded(coded: &[u8]) -> Result<Vec<u8>, Malformed> {
        let mut text = Vec::new();
        decode(coded, &mut text).map(|()| text)
    }

    #[test]
    fn the_examples_of_the_rfc_are_coded_as_it_says() {
        // RFC 7541, C.4 and C.6.
        let cases: &[(&str, &[u8])] = &[
            ("www.example.com", &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff]),
            ("no-cache", &[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]),
            ("302", &[0x64, 0x02]),
            ("private", &[0xae, 0xc3, 0x77, 0x1a, 0x4b]),
            ("", &[]),
        ];
        for (text, wire) in cases {
            assert_eq!((coded(text.as_bytes()).as_slice(), decoded(wire).as_deref()), (*wire, Ok(text.as_bytes())));
        }
    }

    #[test]
    fn every_octet_comes_back_beside_every_length_of_padding() {
        for octet in 0..=255_u8 {
            for before in 0..8 {
                let text = [vec![b'0'; before], vec![octet]].concat();
                assert_eq!(decoded(&coded(&text)), Ok(text));
            }
        }
    }

    #[test]
    fn padding_must_be_short_and_of_ones_and_the_end_of_string_is_none() {
        for wire in [&[0xff][..], &[0x07, 0xff], &[0x00], &[0xff, 0xff, 0xff, 0xff], &[0xff, 0xff, 0xff, 0xfc], &[0xfe]]
        {
            assert_eq!(decoded(wire), Err(Malformed), "{wire:x?}");
        }
        assert_eq!(decoded(&[0x07]), Ok(b"0".to_vec()));
    }

    #[test]
    fn what_random_bytes_decode_to_is_coded_as_the_same_bytes() {
        let mut rng = bakeoff_engine::Rng::for_thread(3, 0, 0);
        let mut right = 0;
        for _ in 0..200_000 {
            let wire: Vec<u8> = (0..rng.below(6)).map(|_| rng.below(256) as u8).collect();
            if let Ok(text) = decoded(&wire) {
                assert_eq!(coded(&text), wire);
                right += 1;
            }
        }
        assert!(right > 1_000);
    }
}
