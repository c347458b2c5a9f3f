//! The cookies of a client (RFC 6265), of one server.
//!
//! There is no clock here: a cookie lives until the jar is emptied, or the server takes it back as servers do, by `Max-Age=0`
//! or a date in 1970. `Domain` and `Secure` say nothing new of the only server that there is.

/// Cookies that a jar holds, and bytes of name and value together.
const COOKIES_MAX: usize = 100;
const COOKIE_BYTES_MAX: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
}

/// A server sets more, or larger ones, than a client keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JarFull;

/// The cookies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jar {
    cookies: Vec<Cookie>,
}

impl Jar {
    /// With these, for all paths.
    pub fn with(cookies: &[(String, String)]) -> Self {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let cookies =
            cookies.iter().map(|(name, value)| Cookie { name: bytes(name), value: bytes(value), path: bytes("/") });
        Self { cookies: cookies.collect() }
    }

    /// Makes it hold what `other` holds.
    pub fn reset(&mut self, other: &Self) {
        self.cookies.clone_from(&other.cookies);
    }

    /// Takes the value of a `Set-Cookie` field in the reply to a request for `path`. What names no cookie is left alone.
    pub fn set(&mut self, field: &[u8], path: &[u8]) -> Result<(), JarFull> {
        let mut parts = field.split(|&byte| byte == b';');
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = memchr::memchr(b'=', pair) else { return Ok(()) };
        let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        let clean = |text: &[u8]| text.iter().all(|&byte| byte >= b' ' && byte != 0x7f);
        if name.is_empty() || !clean(name) || !clean(value) {
            return Ok(());
        }
        let (mut own_path, mut max_age, mut expires) = (None, None, None);
        for part in parts {
            let equals = memchr::memchr(b'=', part).unwrap_or(part.len());
            let what = part.get(equals + 1..).unwrap_or_default().trim_ascii();
            match part[..equals].trim_ascii().to_ascii_lowercase().as_slice() {
                b"path" if what.starts_with(b"/") && clean(what) => own_path = Some(what),
                b"max-age" => max_age = Some(what.starts_with(b"-") || what == b"0"),
                b"expires" => expires = Some(memchr::memmem::find(what, b"1970").is_some()),
                _ => {}
            }
        }
        let path = own_path.unwrap_or_else(|| folder_of(path));
        let over = max_age.or(expires).unwrap_or(false);
        let known = self.cookies.iter().position(|cookie| cookie.name == name && cookie.path == path);
        match known {
            Some(at) if over => drop(self.cookies.remove(at)),
            _ if over => {}
            _ if name.len() + value.len() > COOKIE_BYTES_MAX || path.len() > COOKIE_BYTES_MAX => return Err(JarFull),
            Some(at) => self.cookies[at].value = value.to_vec(),
            None if self.cookies.len() == COOKIES_MAX => return Err(JarFull),
            None => self.cookies.push(Cookie { name: name.to_vec(), value: value.to_vec(), path: path.to_vec() }),
        }
        Ok(())
    }

    /// The value of a cookie; of several paths the one that was set last.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.cookies.iter().rev().find(|cookie| cookie.name == name).map(|cookie| cookie.value.as_slice())
    }

    /// Writes the `Cookie` field of a request for `path`, if it has any.
    pub fn write(&self, path: &[u8], out: &mut Vec<u8>) {
        let mut before: &[u8] = b"Cookie: ";
        for cookie in self.cookies.iter().filter(|cookie| is_below(path_only(path), &cookie.path)) {
            for part in [before, &cookie.name, b"=", &cookie.value] {
                out.extend_from_slice(part);
            }
            before = b"; ";
        }
        if before == b"; " {
            out.extend_from_slice(b"\r\n");
        }
    }
}

fn path_only(target: &[u8]) -> &[u8] {
    &target[..memchr::memchr(b'?', target).unwrap_or(target.len())]
}

/// RFC 6265, 5.1.4.
fn folder_of(target: &[u8]) -> &[u8] {
    let path = path_only(target);
    match memchr::memrchr(b'/', path) {
        None | Some(0) => b"/",
        Some(at) => &path[..at],
    }
}

fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || folder.ends_with(b"/") || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(jar: &Jar, path: &str) -> String {
        let mut out = Vec::new();
        jar.write(path.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    fn jar(fields: &[&str]) -> Jar {
        let mut jar = Jar::default();
        fields.iter().for_each(|field| jar.set(field.as_bytes(), b"/shop/login?x=/y").unwrap());
        jar
    }

    #[test]
    fn cookies_go_back_where_they_belong() {
        let jar = jar(&["sid=1; Path=/; HttpOnly; Secure", " cart = a=b ;path=/shop", "here=3", "odd=4; Path=x"]);
        assert_eq!(sent(&jar, "/shop/cart?q"), "Cookie: sid=1; cart=a=b; here=3; odd=4\r\n");
        assert_eq!(sent(&jar, "/shop"), "Cookie: sid=1; cart=a=b; here=3; odd=4\r\n");
        assert_eq!(sent(&jar, "/shopping"), "Cookie: sid=1\r\n");
        assert_eq!(sent(&Jar::default(), "/"), "");
        assert_eq!((jar.get(b"sid"), jar.get(b"other")), (Some(&b"1"[..]), None));
    }

    #[test]
    fn a_server_replaces_and_takes_back() {
        for last in ["a=; Max-Age=0", "a=x; max-age=-5", "a=; expires=Thu, 01 Jan 1970 00:00:00 GMT; path=/shop"] {
            assert_eq!(sent(&jar(&["a=1", last]), "/shop/"), "", "{last}");
        }
        let kept = "a=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60";
        assert_eq!(sent(&jar(&["a=1", kept]), "/shop/"), "Cookie: a=2\r\n");
        assert_eq!(sent(&jar(&["none", "=x", "", "a\u{1}=2", "b=\u{7f}", ";"]), "/"), "");
    }

    #[test]
    fn a_jar_is_bounded() {
        let mut jar = Jar::default();
        for number in 0..COOKIES_MAX {
            jar.set(format!("c{number}=1").as_bytes(), b"/").unwrap();
        }
        assert_eq!(jar.set(b"more=1", b"/"), Err(JarFull));
        assert_eq!(jar.set(b"c5=2", b"/"), Ok(()));
        assert_eq!(jar.set(format!("c5={}", "x".repeat(COOKIE_BYTES_MAX)).as_bytes(), b"/"), Err(JarFull));
    }
}
