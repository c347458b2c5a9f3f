//! HPACK against the examples of RFC 7541, appendix C, and against random bytes.

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.bytes().filter(u8::is_ascii_hexdigit).map(|b| (b as char).to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<String>, Malformed> {
    let mut fields = Vec::new();
    decoder.decode(block, |name, value| {
        fields.push(format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value)));
        Ok(())
    })?;
    Ok(fields)
}

fn table(decoder: &Decoder) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    decoder.table.iter().map(|entry| format!("{}: {}", text(entry.field().0), text(entry.field().1))).collect()
}

#[test]
fn integers_are_those_of_c_1() {
    for (wire, prefix_bits, value) in [(&[0x0a][..], 5, 10), (&[0x1f, 0x9a, 0x0a], 5, 1337), (&[0x2a], 8, 42)] {
        let mut rest = wire;
        assert_eq!((integer(&mut rest, prefix_bits), rest), (Ok(value), &[][..]));
        let mut put = Vec::new();
        put_integer(0, prefix_bits, value, &mut put);
        assert_eq!(put, wire);
    }
    for wire in [&[][..], &[0x1f], &[0x1f, 0x80], &[0x1f, 0xff, 0xff, 0xff, 0xff, 0x00]] {
        assert_eq!(integer(&mut &wire[..], 5), Err(Malformed));
    }
}

#[test]
fn literals_are_those_of_c_2() {
    let mut decoder = Decoder::new();
    let kept = bytes("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572");
    assert_eq!(decode(&mut decoder, &kept).unwrap(), ["custom-key: custom-header"]);
    assert_eq!((table(&decoder), decoder.table_bytes), (vec!["custom-key: custom-header".to_owned()], 55));
    let mut decoder = Decoder::new();
    assert_eq!(decode(&mut decoder, &bytes("040c 2f73 616d 706c 652f 7061 7468")).unwrap(), [":path: /sample/path"]);
    assert_eq!(
        decode(&mut decoder, &bytes("1008 7061 7373 776f 7264 0673 6563 7265 74")).unwrap(),
        ["password: secret"]
    );
    assert_eq!(decode(&mut decoder, &bytes("82")).unwrap(), [":method: GET"]);
    assert!(decoder.table.is_empty());
}

#[test]
fn requests_are_those_of_c_3_and_c_4() {
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let coded = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    for blocks in [plain, coded] {
        let mut decoder = Decoder::new();
        let first = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
        assert_eq!(decode(&mut decoder, &bytes(blocks[0])).unwrap(), first);
        assert_eq!(
            decode(&mut decoder, &bytes(blocks[1])).unwrap(),
            [&first[..], &["cache-control: no-cache"]].concat()
        );
        let third = [
            ":method: GET",
            ":scheme: https",
            ":path: /index.html",
            ":authority: www.example.com",
            "custom-key: custom-value",
        ];
        assert_eq!(decode(&mut decoder, &bytes(blocks[2])).unwrap(), third);
        assert_eq!(
            table(&decoder),
            ["custom-key: custom-value", "cache-control: no-cache", ":authority: www.example.com"]
        );
        assert_eq!(decoder.table_bytes, 164);
    }
}

#[test]
fn replies_are_those_of_c_5_and_c_6_with_a_table_of_256_bytes() {
    let plain = [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
    ];
    let coded = [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ];
    for blocks in [plain, coded] {
        let mut decoder = Decoder::new();
        decoder.limit_bytes = 256;
        let (private, date, place) =
            ("cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com");
        assert_eq!(decode(&mut decoder, &bytes(blocks[0])).unwrap(), [":status: 302", private, date, place]);
        assert_eq!(decoder.table_bytes, 222);
        assert_eq!(decode(&mut decoder, &bytes(blocks[1])).unwrap(), [":status: 307", private, date, place]);
        assert_eq!(
            (table(&decoder), decoder.table_bytes),
            ([":status: 307", place, date, private].map(str::to_owned).to_vec(), 222)
        );
        let cookie = "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";
        let later = "date: Mon, 21 Oct 2013 20:13:22 GMT";
        let third = [":status: 200", private, later, place, "content-encoding: gzip", cookie];
        assert_eq!(decode(&mut decoder, &bytes(blocks[2])).unwrap(), third);
        assert_eq!(
            (table(&decoder), decoder.table_bytes),
            ([cookie, "content-encoding: gzip", later].map(str::to_owned).to_vec(), 215)
        );
    }
}

#[test]
fn what_contradicts_the_table_is_malformed() {
    // Index 0, an index beyond the table, a table larger than allowed, a change of size behind a field, cut strings.
    for hex in ["80", "be", "ff00", "3fe21f", "8820", "00", "0003", "000361", "0f"] {
        assert_eq!(decode(&mut Decoder::new(), &bytes(hex)), Err(Malformed), "{hex}");
    }
    assert_eq!(decode(&mut Decoder::new(), &bytes("3fe11f 20 88")).unwrap(), [":status: 200"]);
}

#[test]
fn a_block_does_not_unfold_without_end() {
    let mut decoder = Decoder::new();
    let mut block = Vec::new();
    put_field("x", &"y".repeat(4000), Indexing::Keep, &mut block);
    block.extend(std::iter::repeat_n(0xbe, 100));
    assert_eq!(decode(&mut decoder, &block), Err(Malformed));
}

#[test]
fn the_table_stays_within_its_size_whatever_comes() {
    let mut rng = bakeoff_engine::Rng::for_thread(5, 0, 0);
    let mut right = 0;
    for _ in 0..20_000 {
        let mut decoder = Decoder::new();
        for _ in 0..4 {
            let block: Vec<u8> =
                (0..rng.below(60)).map(|_| if rng.below(3) == 0 { 0x40 } else { rng.below(256) as u8 }).collect();
            right += u32::from(decode(&mut decoder, &block).is_ok());
            assert!(decoder.table_bytes <= TABLE_BYTES);
            assert_eq!(decoder.table_bytes, decoder.table.iter().map(Entry::size).sum::<usize>());
        }
    }
    assert!(right > 1_000, "{right}");
}

#[test]
fn what_is_put_is_decoded_and_kept_as_asked() {
    let fields = [(":method", "GET"), (":path", "/a?b=c"), ("user-agent", "bakeoff/1"), ("x-own", "\u{1}\u{2}")];
    for indexing in [Indexing::Keep, Indexing::Plain] {
        let mut block = Vec::new();
        fields.iter().for_each(|(name, value)| put_field(name, value, indexing, &mut block));
        let mut decoder = Decoder::new();
        assert_eq!(decode(&mut decoder, &block).unwrap(), fields.map(|(name, value)| format!("{name}: {value}")));
        assert_eq!(decoder.table.len(), if indexing == Indexing::Keep { 3 } else { 0 });
    }
}

/// A block of fields in every form, which may name what is or is not in the dynamic table, and change its size.
fn random_block(rng: &mut bakeoff_engine::Rng) -> Vec<u8> {
    let mut block = Vec::new();
    if rng.below(12) == 0 {
        put_integer(0x20, 5, rng.below(TABLE_BYTES as u64 + 1) as usize, &mut block);
    }
    for _ in 0..rng.below(5) {
        let most = [4, 40, 400, 5_000][rng.below(4) as usize];
        let value = "v".repeat(rng.below(most) as usize);
        let named = FIELDS.len() + rng.below(6) as usize;
        match rng.below(12) {
            0 => put_integer(0x80, 7, named, &mut block),
            1 => {
                put_integer(0x40, 6, named, &mut block);
                put_string(0, 7, value.as_bytes(), &mut block);
            }
            2..6 => put_integer(0x80, 7, 1 + rng.below(FIELDS.len() as u64) as usize, &mut block),
            6 | 7 => put_field("x", &value, Indexing::Plain, &mut block),
            _ => put_field(["date", "x", "etag"][rng.below(3) as usize], &value, Indexing::Keep, &mut block),
        }
    }
    block
}

#[test]
fn a_block_that_is_not_decoded_again_would_have_told_the_same_and_changed_nothing() {
    let mut rng = bakeoff_engine::Rng::for_thread(11, 0, 0);
    let (mut spared, mut spared_with_insertion) = (0, 0);
    for _ in 0..3_000 {
        let blocks: Vec<_> = (0..3).map(|_| random_block(&mut rng)).collect();
        let (mut sparing, mut always) = (Decoder::new(), Decoder::new());
        let (mut told, mut at) = (Vec::new(), 0);
        for _ in 0..60 {
            at = if rng.below(20) == 0 { rng.below(3) as usize } else { at };
            let Ok(expected) = decode(&mut always, &blocks[at]) else { break };
            if sparing.repeats(&blocks[at]) {
                spared += 1;
                spared_with_insertion += u32::from(always.repeat.inserts);
            } else {
                told = decode(&mut sparing, &blocks[at]).unwrap();
            }
            assert_eq!(told, expected);
            assert_eq!((table(&sparing), sparing.table_bytes), (table(&always), always.table_bytes));
        }
    }
    assert!(spared > 10_000 && spared_with_insertion > 10_000, "{spared}, {spared_with_insertion}");
}
