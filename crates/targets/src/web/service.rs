//! From a request to its reply: what is asked for, when it may leave, what is wrong with it.

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, SERVER};
use hyper::{Method, Request, Response, StatusCode};

use super::connection::Conn;
use super::corpus::Page;
use super::dynamic;
use super::reply::ReplyBody;
use crate::server::clock::to_ns;

/// Paths below are about the target itself: never counted, delayed or damaged.
const COUNTS_PATH: &str = "/.bakeoff/";
/// How a request for the counts begins on the wire.
pub const COUNTS_REQUEST: &[u8] = b"GET /.bakeoff/";

/// A reply before any fault.
struct Draft {
    status: StatusCode,
    page: Page,
    computed: bool,
}

impl Draft {
    fn text(status: StatusCode, text: impl Into<Bytes>) -> Self {
        Self { status, page: Page::new(text.into(), "text/plain"), computed: false }
    }

    fn standard(status: StatusCode) -> Self {
        Self::text(status, format!("{} {}\n", status.as_u16(), status.canonical_reason().unwrap_or("")))
    }
}

/// An error ends the connection without a reply.
pub async fn answer(conn: Arc<Conn>, request: Request<Incoming>) -> io::Result<Response<ReplyBody>> {
    let for_counts = request.uri().path().starts_with(COUNTS_PATH);
    conn.for_counts.store(for_counts, Relaxed);
    if for_counts {
        return Ok(answer_counts(&conn, &request));
    }
    #[cfg(test)]
    assert_ne!(request.uri().path(), "/panic", "asked to panic");
    let arrived_ns = conn.shared.elapsed_ns();
    let begun = conn.requests.fetch_add(1, Relaxed) + 1;
    conn.count(|totals| {
        totals.requests += 1;
        if let Some(second) = totals.second(arrived_ns) {
            second.requests += 1;
        }
    });
    let leaves_ns = conn.shared.limiter.admit(arrived_ns) + to_ns(conn.shared.spec.delay_s);
    let mut draft = draft(&conn, &request);
    if leaves_ns > arrived_ns {
        conn.waiting.store(true, Relaxed);
        conn.timer.until(conn.shared.started_ns + leaves_ns).await;
        conn.waiting.store(false, Relaxed);
    }
    if conn.shared.every_unanswered.hit() {
        conn.reset.store(conn.shared.spec.cut_with_reset, Relaxed);
        conn.count(|totals| totals.unanswered += 1);
        return Err(io::Error::other("left unanswered on purpose"));
    }
    force_status(&conn, &mut draft);
    let head_only = request.method() == Method::HEAD;
    let last = conn.shared.spec.requests_per_connection.is_some_and(|max| begun >= max);
    if conn.shared.every_bad_chunk.hit() {
        conn.count(|totals| totals.bad_chunks += 1);
        *conn.last_words.lock().unwrap_or_else(PoisonError::into_inner) = bad_chunk(&draft.page.body);
        return Err(io::Error::other("badly chunked on purpose"));
    }
    let unsolicited = conn.shared.every_unsolicited.hit();
    let response = finish(&conn, draft, head_only, last);
    if unsolicited {
        conn.count(|totals| totals.unsolicited += 1);
        *conn.extra.lock().unwrap_or_else(PoisonError::into_inner) = whole_reply(response.body().data());
    }
    Ok(response)
}

/// A reply whose chunk size is written as `0x…`, which lenient clients take for an empty body.
fn bad_chunk(body: &Bytes) -> Bytes {
    let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x{:x}\r\n", body.len());
    [head.as_bytes(), body, b"\r\n0\r\n\r\n"].concat().into()
}

/// A reply as it may look when nobody asked for it.
fn whole_reply(body: &Bytes) -> Bytes {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat().into()
}

/// The counts of the server, on the side.
fn answer_counts(conn: &Arc<Conn>, request: &Request<Incoming>) -> Response<ReplyBody> {
    if conn.progress().0 == 0 && !conn.came_for_counts.swap(true, Relaxed) {
        conn.uncount();
    }
    let draft = if request.uri().path() == "/.bakeoff/counts" {
        let page = Page::new(conn.shared.counts_json().to_string().into(), "application/json");
        Draft { status: StatusCode::OK, page, computed: true }
    } else {
        Draft::standard(StatusCode::NOT_FOUND)
    };
    plain(draft, request.method() == Method::HEAD)
}

fn draft(conn: &Conn, request: &Request<Incoming>) -> Draft {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return Draft::standard(StatusCode::METHOD_NOT_ALLOWED);
    }
    let path = request.uri().path();
    if path == dynamic::PATH {
        return computed(conn, request.uri().query().unwrap_or(""));
    }
    match conn.shared.corpus.find(path) {
        Some(page) => Draft { status: StatusCode::OK, page: page.clone(), computed: false },
        None => Draft::standard(StatusCode::NOT_FOUND),
    }
}

fn computed(conn: &Conn, query: &str) -> Draft {
    if !conn.shared.spec.dynamic {
        return Draft::standard(StatusCode::NOT_FOUND);
    }
    match dynamic::page(query) {
        Some(body) => Draft { status: StatusCode::OK, page: Page::new(body, "text/html"), computed: true },
        None => Draft::text(StatusCode::BAD_REQUEST, dynamic::BAD_QUERY),
    }
}

fn force_status(conn: &Conn, draft: &mut Draft) {
    let Some(wanted) = conn.shared.spec.status else { return };
    if conn.shared.every_status.hit()
        && let Ok(status) = StatusCode::from_u16(wanted.code)
    {
        *draft = Draft::standard(status);
        conn.count(|totals| totals.status_forced += 1);
    }
}

/// Applies the faults of bodies, counts the reply, and builds it.
fn finish(conn: &Arc<Conn>, mut draft: Draft, head_only: bool, last: bool) -> Response<ReplyBody> {
    let full = draft.page.body.len();
    let status = draft.status;
    let bodiless = head_only || full == 0 || matches!(status.as_u16(), 204 | 304);
    let mut keep = full;
    let (mut truncated, mut corrupted, mut closed_after) = (false, false, false);
    if status == StatusCode::OK && !bodiless {
        corrupted = conn.shared.every_corrupt.hit();
        truncated = conn.shared.every_truncate.hit();
        if corrupted {
            draft.page.body = with_one_byte_wrong(&draft.page.body);
        }
        if truncated {
            keep = full / 2;
        }
        if let Some(max) = conn.shared.spec.close_after_bytes.filter(|max| *max < keep as u64) {
            keep = max as usize;
            closed_after = true;
        }
    }
    let at_ns = conn.shared.elapsed_ns();
    conn.count(|totals| {
        *totals.replies.entry(status.as_u16()).or_default() += 1;
        totals.body_bytes += if bodiless { 0 } else { keep as u64 };
        totals.truncated += u64::from(truncated);
        totals.corrupted += u64::from(corrupted);
        totals.closed_after += u64::from(closed_after);
        if let Some(second) = totals.second(at_ns) {
            second.replies += 1;
        }
    });
    let chunked = conn.shared.spec.chunked && !bodiless;
    let mut response = if truncated || closed_after {
        let body = ReplyBody::cut(draft.page.body.clone(), keep, Arc::clone(conn));
        with_head(draft, body, !chunked)
    } else if chunked {
        let body = ReplyBody::chunks(draft.page.body.clone());
        with_head(draft, body, false)
    } else {
        plain(draft, bodiless)
    };
    if last || conn.shared.spec.leave_open {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn plain(draft: Draft, bodiless: bool) -> Response<ReplyBody> {
    let body = if bodiless { Bytes::new() } else { draft.page.body.clone() };
    with_head(draft, ReplyBody::whole(body), true)
}

fn with_head(draft: Draft, body: ReplyBody, tell_length: bool) -> Response<ReplyBody> {
    let mut response = Response::new(body);
    *response.status_mut() = draft.status;
    let headers = response.headers_mut();
    headers.insert(SERVER, HeaderValue::from_static("bakeoff"));
    if !matches!(draft.status.as_u16(), 204 | 304) {
        headers.insert(CONTENT_TYPE, draft.page.content_type);
        if tell_length {
            headers.insert(CONTENT_LENGTH, draft.page.content_length);
        }
    }
    if draft.computed {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if draft.status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// The byte at a quarter of the length, so that it is also in the half that a cut leaves.
fn with_one_byte_wrong(body: &Bytes) -> Bytes {
    let mut wrong = body.to_vec();
    let place = wrong.len() / 4;
    wrong[place] ^= 0x01;
    wrong.into()
}
