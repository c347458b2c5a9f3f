//! What a page embeds, and where a redirect leads: as much of HTML as `--wsesspage` asks for.

/// More objects of one page are not fetched.
pub(crate) const OBJECTS_MAX: usize = 1_000;
const URI_BYTES_MAX: usize = 4 * 1024;

/// The URIs on the same server that a page embeds (`src` of `img`, `iframe`, `frame`, `data` of `object`), in their order,
/// each once. `host` is the server's name, `base` the page's own URI.
pub(crate) fn embedded(html: &[u8], base: &[u8], hosts: &[&[u8]]) -> Vec<Box<[u8]>> {
    let mut found: Vec<Box<[u8]>> = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'<', &html[at..]) {
        at += open + 1;
        if html[at..].starts_with(b"!--") {
            let Some(end) = memchr::memmem::find(&html[at..], b"-->") else { break };
            at += end + 3;
            continue;
        }
        let (tag, end) = Tag::read(html, at);
        at = end;
        let wanted: &[u8] = match tag.name.to_ascii_lowercase().as_slice() {
            b"img" | b"iframe" | b"frame" => b"src",
            b"object" => b"data",
            _ => continue,
        };
        let Some(value) = tag.attribute(wanted) else { continue };
        if let Some(uri) = resolve(value, base, hosts)
            && !found.contains(&uri)
        {
            found.push(uri);
            if found.len() == OBJECTS_MAX {
                break;
            }
        }
    }
    found
}

/// A URI in a page or a `Location` as the server is to be asked for it; `None` when it leads elsewhere.
pub(crate) fn resolve(value: &[u8], base: &[u8], hosts: &[&[u8]]) -> Option<Box<[u8]>> {
    let value = value.trim_ascii().split(|&byte| byte == b'#').next()?;
    if value.is_empty() || value.len() > URI_BYTES_MAX || value.iter().any(|b| b.is_ascii_whitespace() || *b < b' ') {
        return None;
    }
    let scheme = value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    if scheme > 0 && value.get(scheme) == Some(&b':') {
        if !value[..scheme].eq_ignore_ascii_case(b"http") && !value[..scheme].eq_ignore_ascii_case(b"https") {
            return None;
        }
        return on_host(value[scheme + 1..].strip_prefix(b"//")?, hosts);
    }
    if let Some(rest) = value.strip_prefix(b"//") {
        return on_host(rest, hosts);
    }
    if value[0] == b'/' {
        return Some(value.into());
    }
    let path = base.split(|&byte| byte == b'?').next().unwrap_or(base);
    if value[0] == b'?' {
        return Some([path, value].concat().into());
    }
    let folder = path.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    Some(without_dots(&[&path[..folder], value].concat()).into())
}

/// The path of `name/path` when the name is one of ours: load goes to no other.
fn on_host(rest: &[u8], hosts: &[&[u8]]) -> Option<Box<[u8]>> {
    let end = rest.iter().position(|byte| b"/?".contains(byte)).unwrap_or(rest.len());
    let (name, path) = rest.split_at(end);
    hosts.iter().any(|host| host.eq_ignore_ascii_case(name)).then_some(())?;
    Some(if path.first() == Some(&b'/') { path.into() } else { [b"/", path].concat().into() })
}

/// A path without `.` and `..`.
fn without_dots(path: &[u8]) -> Vec<u8> {
    let query = path.iter().position(|&byte| byte == b'?').unwrap_or(path.len());
    let (path, query) = path.split_at(query);
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut parts = path.split(|&byte| byte == b'/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part {
            b"." | b".." => {
                if part == b".." {
                    kept.pop();
                }
                if last {
                    kept.push(b"");
                }
            }
            _ => kept.push(part),
        }
    }
    [b"/", kept.join(&b'/').as_slice(), query].concat()
}

/// A start tag.
struct Tag<'a> {
    name: &'a [u8],
    attributes: &'a [u8],
}

impl<'a> Tag<'a> {
    /// The tag whose name begins at `at`, and where it ends. Quotes hide the sign that ends it.
    fn read(html: &'a [u8], at: usize) -> (Self, usize) {
        let mut quote = None;
        let mut end = at;
        while end < html.len() {
            match (quote, html[end]) {
                (None, b'>') => break,
                (None, mark @ (b'"' | b'\'')) => quote = Some(mark),
                (Some(mark), byte) if mark == byte => quote = None,
                _ => {}
            }
            end += 1;
        }
        let inner = &html[at..end];
        let length = inner.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        (Self { name: &inner[..length], attributes: &inner[length..] }, (end + 1).min(html.len()))
    }

    fn attribute(&self, wanted: &[u8]) -> Option<&'a [u8]> {
        let mut rest = self.attributes;
        loop {
            let skip = rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b'/').count();
            rest = &rest[skip..];
            let length = rest.iter().take_while(|b| !b.is_ascii_whitespace() && !b"=/>".contains(b)).count();
            if length == 0 {
                // A sign that begins no name: passed over, so that this ends.
                rest = rest.get(1..).filter(|rest| !rest.is_empty())?;
                continue;
            }
            let (name, after) = rest.split_at(length);
            let after = after.trim_ascii_start();
            let Some(value) = after.strip_prefix(b"=") else {
                rest = after;
                continue;
            };
            let value = value.trim_ascii_start();
            let (value, after) = match value.first() {
                Some(mark @ (b'"' | b'\'')) => {
                    let end = memchr::memchr(*mark, &value[1..]).unwrap_or(value.len() - 1);
                    (&value[1..=end], value.get(end + 2..).unwrap_or_default())
                }
                _ => value.split_at(value.iter().take_while(|byte| !byte.is_ascii_whitespace()).count()),
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value);
            }
            rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_engine::Rng;

    fn found(html: &str) -> Vec<String> {
        let found = embedded(html.as_bytes(), b"/a/b/page.html?x=/y", &[b"www", b"www:80"]);
        found.iter().map(|uri| String::from_utf8_lossy(uri).into_owned()).collect()
    }

    #[test]
    fn objects_of_a_page_are_found_and_resolved() {
        let html = r#"<html><IMG alt="a > b" SRC='pic.gif'><img src=/root.png/><iframe src="../up.html#x"></iframe>
            <object data="http://www/abs?q=1"></object><frame src = "./here.html"><img src="//WWW:80/two">
            <img data-src="no" src="pic.gif"><a href="/not"></a><!-- <img src="/hidden"> --><img>"#;
        assert_eq!(found(html), ["/a/b/pic.gif", "/root.png/", "/a/up.html", "/abs?q=1", "/a/b/here.html", "/two"]);
    }

    #[test]
    fn nothing_leads_to_other_servers_or_out_of_a_line() {
        for value in ["http://other/x", "//other/x", "data:image/gif;base64,xx", "javascript:x()", "", "#top", "a b"] {
            assert_eq!(found(&format!("<img src=\"{value}\">")), Vec::<String>::new(), "{value}");
        }
        assert_eq!(resolve(b"/x\r\nEvil: y", b"/", &[]), None);
        assert_eq!(resolve(b"../../../x", b"/a/b", &[]).as_deref(), Some(&b"/x"[..]));
        assert_eq!(resolve(b"?q", b"/a/b?c", &[]).as_deref(), Some(&b"/a/b?q"[..]));
        assert_eq!(resolve(b"http://www", b"/a", &[b"www"]).as_deref(), Some(&b"/"[..]));
    }

    #[test]
    fn random_pages_end_and_give_uris_that_can_be_sent() {
        let words = [
            "<img ",
            "src=",
            "'",
            "\"",
            ">",
            "<",
            "/",
            "<object data",
            "=",
            " ",
            "x",
            "..",
            "\0",
            "é",
            "<!--",
            "-->",
            "#",
            "http://www/",
        ];
        let mut rng = Rng::for_thread(5, 0, 0);
        let mut count = 0;
        for _ in 0..100_000 {
            let html: String = (0..rng.below(16)).map(|_| words[rng.below(words.len() as u64) as usize]).collect();
            for uri in embedded(html.as_bytes(), b"/a/b", &[b"www"]) {
                count += 1;
                assert!(uri[0] == b'/' && !uri.iter().any(u8::is_ascii_whitespace), "{html}");
            }
        }
        assert!(count > 1_000, "{count}: the words are badly chosen");
    }

    #[test]
    fn a_page_without_end_is_bounded() {
        let html: String = (0..5_000).flat_map(|n| ["<img src=".to_owned(), n.to_string(), ">".to_owned()]).collect();
        assert_eq!(embedded(html.as_bytes(), b"/", &[]).len(), OBJECTS_MAX);
    }
}
