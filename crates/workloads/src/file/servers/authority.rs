//! Host and port of an address.

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
