//! Which statuses fit the one that a line of the log has.

/// Whether a reply of `status` is what the `logged` one lets expect of a request that is made again, unconditionally and
/// for the whole file.
///
/// * A 200, 206 (a part) and 304 (asked with a condition) all stand for the file: 200, 206 or 304 fits.
/// * A redirect fits any redirect; none is followed.
/// * What the client (408, 499) or the server (5xx) broke off says nothing of the right answer: anything fits but 5xx.
/// * Anything else fits itself alone. A 5xx fits nothing: a server that fails is not right because another has failed.
pub(crate) const fn fits(logged: u16, status: u16) -> bool {
    match logged {
        _ if status >= 500 => false,
        200 | 206 | 304 => matches!(status, 200 | 206 | 304),
        301 | 302 | 303 | 307 | 308 => matches!(status, 301 | 302 | 303 | 307 | 308),
        408 | 499 | 500..=599 => true,
        _ => logged == status,
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn statuses_fit_as_the_documentation_says() {
        for (logged, status, right) in [
            (200, 200, true),
            (304, 200, true),
            (206, 200, true),
            (200, 304, true),
            (200, 404, false),
            (200, 204, false),
            (200, 302, false),
            (301, 302, true),
            (301, 200, false),
            (404, 404, true),
            (404, 200, false),
            (401, 403, false),
            (499, 200, true),
            (499, 404, true),
            (502, 200, true),
            (502, 502, false),
            (200, 500, false),
        ] {
            assert_eq!(fits(logged, status), right, "{logged} {status}");
        }
    }
}
