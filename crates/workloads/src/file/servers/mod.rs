//! File servers met by their own protocol: one session of its own for each simulated client.

mod authority;
pub mod nfs;
pub mod smb;
mod wire;

use bakeoff_engine::FileServer;
use std::sync::Arc;
pub use wire::NOT_EXPRESSIBLE;

/// The server that a contender's address names; `None` for a folder of this machine. The error is a sentence.
pub fn server_of(address: &str) -> Result<Option<Arc<dyn FileServer>>, String> {
    match address.split_once("://") {
        None => Ok(None),
        Some(("nfs", _)) => Ok(Some(Arc::new(nfs::NfsServer::of(address)?))),
        Some(("smb", _)) => {
            let password = std::env::var("BAKEOFF_SMB_PASSWORD").unwrap_or_default();
            Ok(Some(Arc::new(smb::SmbServer::of(address, &password)?)))
        }
        Some(_) => Err(format!("{address}: a file server's address begins with nfs:// or smb://")),
    }
}
