//! Parts of an address.

/// Host and port of an authority; an IPv6 address stands in brackets.
pub(super) fn split_port(authority: &str) -> Result<(&str, Option<u16>), &'static str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("a bracket is missing")?;
            (host, after.strip_prefix(':'))
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = port.map(|port| port.parse().ok().filter(|&port: &u16| port > 0).ok_or("the port is no number"));
    Ok((host, port.transpose()?))
}

/// The text of a part of an address in which %20 and its like stand for bytes.
pub(super) fn decoded(text: &str) -> Result<String, &'static str> {
    const WRONG: &str = "after % two hexadecimal digits of a name in UTF-8 are expected";
    let mut bytes = Vec::with_capacity(text.len());
    let mut parts = text.split('%');
    bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).ok_or(WRONG)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| WRONG)?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| WRONG)
}
