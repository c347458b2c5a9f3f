//! An endpoint made ready for connecting.

use super::tls;
use bakeoff_engine::Endpoint;
use socket2::SockAddr;
use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};

/// Address and options of connections, one copy per load-generating thread.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub address: SockAddr,
    pub is_unix: bool,
    sources: Vec<SockAddr>,
    next_source: Cell<usize>,
    pub tls: Option<tls::Connector>,
    pub tls_on_connect: bool,
    pub receive_buffer_bytes: Option<usize>,
    pub close_with_reset: bool,
}

impl Remote {
    /// The local address of the next connection, when any was asked for.
    pub fn next_source(&self) -> Option<&SockAddr> {
        if self.sources.is_empty() {
            return None;
        }
        let at = self.next_source.get();
        self.next_source.set((at + 1) % self.sources.len());
        Some(&self.sources[at])
    }
}

/// Checks an endpoint and prepares its TLS configuration. The error says what is wrong with it.
pub(crate) fn resolve(endpoint: &Endpoint) -> Result<Remote, String> {
    let (address, is_unix) = match (&endpoint.unix, endpoint.addresses.first()) {
        (Some(path), _) => (SockAddr::unix(path).map_err(|error| format!("Unix socket `{path}`: {error}"))?, true),
        (None, Some(text)) => {
            let address: SocketAddr =
                text.parse().map_err(|_| format!("`{text}` is not an address of the form 127.0.0.1:80 or [::1]:80"))?;
            (address.into(), false)
        }
        (None, None) => return Err("an endpoint without address".to_owned()),
    };
    let source = |text: &String| {
        let address: IpAddr = text.parse().map_err(|_| format!("source address `{text}` is not an IP address"))?;
        Ok(SocketAddr::new(address, 0).into())
    };
    let tls = match &endpoint.tls {
        Some(settings) => Some(tls::Connector::new(settings, &endpoint.server_name)?),
        None => None,
    };
    Ok(Remote {
        address,
        is_unix,
        sources: endpoint.source_addresses.iter().map(source).collect::<Result<_, String>>()?,
        next_source: Cell::new(0),
        tls,
        tls_on_connect: endpoint.tls_on_connect,
        receive_buffer_bytes: endpoint.receive_buffer_bytes,
        close_with_reset: endpoint.close_with_reset,
    })
}
