//! The built-in targets.

use crate::{EngineError, SpecError};
use bakeoff_targets::ServeError;
use pyo3::prelude::*;
use std::sync::Mutex;

/// A built-in server that runs in threads of its own; it stops when dropped.
#[pyclass(frozen, module = "bakeoff._engine")]
pub(crate) struct ServerHandle {
    inner: Mutex<bakeoff_targets::ServerHandle>,
}

/// Starts a built-in server from its JSON specification.
#[pyfunction]
pub(crate) fn serve(py: Python<'_>, spec_json: &str) -> PyResult<ServerHandle> {
    match py.detach(|| bakeoff_targets::serve(spec_json)) {
        Ok(inner) => Ok(ServerHandle { inner: Mutex::new(inner) }),
        Err(ServeError::Spec(text)) => Err(SpecError::new_err(text)),
        Err(error) => Err(EngineError::new_err(error.to_string())),
    }
}

impl ServerHandle {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut bakeoff_targets::ServerHandle) -> T + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut inner = self.inner.lock().map_err(|_| EngineError::new_err("the server broke"))?;
            Ok(run(&mut inner))
        })
    }
}

#[pymethods]
impl ServerHandle {
    /// Where it listens, as `host:port` or the path of a Unix socket.
    fn address(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |inner| inner.address())
    }

    /// What it has served so far, as JSON.
    fn counts(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |inner| inner.counts())
    }

    /// Stops it.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, bakeoff_targets::ServerHandle::stop)
    }
}
