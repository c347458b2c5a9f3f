use super::*;
use serde_json::json;

fn stamped(second: u32, request: &str, status: u16) -> String {
    format!(
        "192.0.2.1 - - [10/Oct/2000:13:{:02}:{:02} +0200] \"{request} HTTP/1.1\" {status} 5\n",
        second / 60,
        second % 60
    )
}

fn read(text: &str) -> Result<(Trace, Value), String> {
    read_with(text, LogReader::new(Vec::new(), false))
}

fn read_with(text: &str, mut reader: LogReader) -> Result<(Trace, Value), String> {
    reader.feed(text.as_bytes())?;
    let (bytes, summary) = reader.finish()?;
    Ok((Trace::decode(&bytes).expect("a trace"), summary))
}

fn asked(trace: &Trace) -> Vec<(u64, String, u16)> {
    let line = |(at_us, (request, status)): (&u64, &(u32, u16))| {
        let request = *request as usize;
        let method = String::from_utf8_lossy(&trace.methods[usize::from(trace.asked(request).method)]).into_owned();
        (at_us / 1_000_000, format!("{method} {}", String::from_utf8_lossy(trace.path(request))), *status)
    };
    trace.at_us.iter().zip(&trace.lines).map(line).collect()
}

#[test]
fn a_log_is_a_trace_in_the_order_of_time() {
    let text = [
        stamped(5, "GET /a?x=1", 200),
        stamped(4, "GET /b", 404),
        stamped(4, "HEAD /a", 200),
        "\n".to_owned(),
        stamped(9, "GET /a?x=1", 304),
        stamped(8, "POST /a", 200),
        "rubbish\n".to_owned(),
        stamped(9, "DELETE /a", 204).trim_end().to_owned(),
    ]
    .concat();
    let (trace, summary) = read(&text).unwrap();
    let expected = [(0, "GET /b", 404), (0, "HEAD /a", 200), (1, "GET /a?x=1", 200), (5, "GET /a?x=1", 304)];
    assert_eq!(asked(&trace), expected.map(|(at, what, status)| (at, what.to_owned(), status)));
    assert_eq!((trace.period_us, trace.requests(), trace.exact), (6_000_000, 3, false));
    assert_eq!(summary["lines"], 8);
    assert_eq!((&summary["blank"], &summary["requests"]), (&json!(1), &json!(4)));
    assert_eq!(summary["left_out"], json!({"DELETE": 1, "POST": 1}));
    assert_eq!(summary["faults"][0]["first_line"], 7);
    assert_eq!(summary["faults"][0]["example"], "rubbish");
    assert_eq!((&summary["backwards"], &summary["backwards_s"]), (&json!(3), &json!(1.0)));
    assert_eq!(summary["first_s"], 971_175_604.0);
    assert_eq!(summary["top"], json!([["GET /a", 2], ["GET /b", 1], ["HEAD /a", 1]]));
}

#[test]
fn a_log_is_the_same_however_it_is_cut() {
    let text: String = (0..40).map(|line| stamped(line / 3, &format!("GET /{}", line % 5), 200)).collect();
    let whole = read(&text).unwrap();
    for size in [1, 2, 7, 64, 4_096] {
        let mut reader = LogReader::new(Vec::new(), false);
        text.as_bytes().chunks(size).for_each(|piece| reader.feed(piece).unwrap());
        let (bytes, summary) = reader.finish().unwrap();
        assert_eq!(
            (Trace::decode(&bytes).unwrap(), summary),
            (Trace::decode(&whole.0.encode()).unwrap(), whole.1.clone())
        );
    }
}

#[test]
fn zones_are_moments_and_not_hours() {
    let text =
        stamped(0, "GET /first", 200) + &stamped(1, "GET /second", 200).replace("13:00:01 +0200", "04:00:01 -0700");
    assert_eq!(read(&text).unwrap().0.at_us, [0, 1_000_000]);
}

#[test]
fn fractions_of_seconds_are_kept_where_there_are_any() {
    let text = stamped(0, "GET /", 200).replace(":00 +", ":00.250 +")
        + &stamped(1, "GET /", 200).replace(":01 +", ":01.750 +");
    let (trace, _) = read(&text).unwrap();
    assert_eq!((trace.exact, trace.at_us, trace.period_us), (true, vec![0, 1_500_000], 3_000_000));
}

#[test]
fn a_stamp_far_back_is_refused_with_its_line() {
    let error = read(&(stamped(700, "GET /", 200) + &stamped(99, "GET /", 200))).unwrap_err();
    assert!(error.starts_with("line 2 is stamped 601 s before line 1: up to 600 s are put in order"), "{error}");
    assert!(read(&(stamped(700, "GET /", 200) + &stamped(100, "GET /", 200))).is_ok());
}

#[test]
fn what_is_no_log_is_refused_with_its_first_line() {
    let rubbish = "10.0.0.7 {\"path\": \"/\"}\n".repeat(3) + &stamped(1, "GET /", 200);
    let error = read(&rubbish).unwrap_err();
    let start = "3 of 4 lines are no requests (in 3 of them: no time stamp such as [10/Oct/2000:13:55:36 -0700]; first line 1: ";
    assert!(error.starts_with(start) && !error.contains("10.0.0.7"), "{error}");
    assert_eq!(read("\n\n").unwrap_err(), "it has no lines");
    let posts = read(&stamped(1, "POST /", 200)).unwrap_err();
    assert!(posts.starts_with("none of its 1 lines is a GET or a HEAD (there are POST): give bodies"), "{posts}");
}

#[test]
fn lines_without_end_take_no_memory() {
    let mut reader = LogReader::new(Vec::new(), false);
    reader.feed(stamped(0, "GET /", 200).as_bytes()).unwrap();
    for _ in 0..1_000 {
        reader.feed(&[b'x'; 4_096]).unwrap();
        assert!(reader.partial.capacity() <= 4 * LINE_BYTES_MAX);
    }
    reader.feed(b"\n").unwrap();
    reader.feed(stamped(1, "GET /", 200).as_bytes()).unwrap();
    let (_, summary) = reader.finish().unwrap();
    assert_eq!((&summary["requests"], &summary["faults"][0]["reason"]), (&json!(2), &json!("longer than 64 KiB")));
}

#[test]
fn given_bodies_bring_their_methods_back_and_are_used_in_turn() {
    let body = |path: &str, text: &str| GivenBody {
        method: "POST".to_owned(),
        path: path.to_owned(),
        content_type: "text/plain".to_owned(),
        bytes: text.into(),
    };
    let bodies = vec![body("/form", "one"), body("/form", "two"), body("/form?exact", "three")];
    let lines = ["POST /form", "POST /form?x", "POST /form?exact", "POST /form", "POST /other", "PUT /form"];
    let text: String = lines.iter().map(|line| stamped(0, line, 201)).collect();
    let (trace, summary) = read_with(&text, LogReader::new(bodies, false)).unwrap();
    let sent =
        |line: usize| trace.bodies[trace.asked(trace.lines[line].0 as usize).body.unwrap() as usize].bytes.as_slice();
    assert_eq!((0..4).map(sent).collect::<Vec<_>>(), [&b"one"[..], b"two", b"three", b"one"]);
    assert_eq!(summary["left_out"], json!({"POST": 1, "PUT": 1}));
    assert_eq!(summary["methods"], json!({"POST": 4}));
}

#[test]
fn virtual_hosts_are_told_and_kept_on_demand() {
    let text = format!("a.test:80 {}b.test:80 {}", stamped(0, "GET /", 200), stamped(0, "GET /", 200));
    let (trace, summary) = read(&text).unwrap();
    assert_eq!((trace.requests(), &summary["hosts"]), (1, &json!([["a.test", 1], ["b.test", 1]])));
    let (trace, _) = read_with(&text, LogReader::new(Vec::new(), true)).unwrap();
    assert_eq!((trace.label(0), trace.label(1)), ("GET a.test/".to_owned(), "GET b.test/".to_owned()));
}

/// Whatever comes in whatever pieces: a trace that can be read, or a sentence.
#[test]
fn random_bytes_are_a_trace_or_a_sentence() {
    let good = stamped(1, "GET /a?b", 200);
    let words: Vec<Vec<u8>> = [good.as_str(), "\n", "\"", "[", "]", "\\x", " ", "HTTP/1.1\" 200 5\n", "\r\n", "\0"]
        .iter()
        .map(|word| word.as_bytes().to_vec())
        .collect();
    let mut rng = bakeoff_engine::Rng::for_thread(3, 0, 0);
    let mut traces = 0;
    for _ in 0..20_000 {
        let mut reader = LogReader::new(Vec::new(), rng.below(2) == 0);
        let mut broken = false;
        for _ in 0..rng.below(12) {
            let mut word = words[rng.below(words.len() as u64) as usize].clone();
            if rng.below(4) == 0 && word.len() > 1 {
                let at = rng.below(word.len() as u64) as usize;
                word[at] = rng.next_u64() as u8;
            }
            broken |= reader.feed(&word).is_err();
        }
        if !broken && let Ok((bytes, _)) = reader.finish() {
            let trace = Trace::decode(&bytes).expect("what is written is read");
            assert!(!trace.lines.is_empty());
            traces += 1;
        }
    }
    assert!(traces > 1_000, "{traces} were traces: the words are badly chosen");
}
