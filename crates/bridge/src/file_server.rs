//! File servers that are met by their own protocol: their addresses, and whether they can be worked on.

use crate::errors::{EngineError, SpecError};
use bakeoff_engine::FileServer;
use bakeoff_platform::{remove_from_server, try_server};
use bakeoff_workloads::file::servers::server_of;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// The server of an address that names one. Raises `SpecError` with a sentence.
fn server(address: &str) -> PyResult<Arc<dyn FileServer>> {
    let found = server_of(address).map_err(SpecError::new_err)?;
    found.ok_or_else(|| SpecError::new_err(format!("{address} names no server")))
}

/// Reads the address of a file server. Raises `SpecError` with a sentence.
#[pyfunction]
pub(crate) fn check_file_server(address: &str) -> PyResult<()> {
    server(address).map(drop)
}

/// Writes, reads and removes a file: what was agreed with the server and its free space, as JSON. Raises `EngineError`
/// with a sentence.
#[pyfunction]
pub(crate) fn try_file_server(py: Python<'_>, address: &str, timeout_s: f64) -> PyResult<String> {
    let server = server(address)?;
    let facts = py.detach(|| try_server(&server, Duration::from_secs_f64(timeout_s)));
    facts.map(|facts| facts.to_string()).map_err(EngineError::new_err)
}

/// Removes a work folder. Raises `EngineError` with a sentence.
#[pyfunction]
pub(crate) fn remove_server_folder(py: Python<'_>, address: &str, name: &str, timeout_s: f64) -> PyResult<()> {
    let server = server(address)?;
    let removed = py.detach(|| remove_from_server(&server, name, Duration::from_secs_f64(timeout_s)));
    removed.map_err(EngineError::new_err)
}
