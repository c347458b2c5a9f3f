//! Access logs, read piece by piece into the trace that a replay is made of.

use crate::{EngineError, SpecError};
use bakeoff_workloads::replay::{GivenBody, LogReader};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;

/// A log that is being read. `bodies` are method, path, content type and bytes each.
#[pyclass(frozen, module = "bakeoff._engine")]
pub(crate) struct AccessLog {
    inner: Mutex<Option<LogReader>>,
}

#[pymethods]
impl AccessLog {
    #[new]
    fn new(bodies: Vec<(String, String, String, Vec<u8>)>, keep_hosts: bool) -> Self {
        let given = |(method, path, content_type, bytes)| GivenBody { method, path, content_type, bytes };
        let reader = LogReader::new(bodies.into_iter().map(given).collect(), keep_hosts);
        Self { inner: Mutex::new(Some(reader)) }
    }

    /// Takes the next bytes. Raises `SpecError` that names the line at fault.
    fn feed(&self, py: Python<'_>, piece: &[u8]) -> PyResult<()> {
        py.detach(|| {
            let mut inner = self.inner.lock().map_err(|_| EngineError::new_err("the log broke"))?;
            let reader = inner.as_mut().ok_or_else(|| EngineError::new_err("the log is over"))?;
            reader.feed(piece).map_err(SpecError::new_err)
        })
    }

    /// The log is over: its trace, and what must be said of it as JSON.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, String)> {
        let (trace, summary) = py.detach(|| {
            let mut inner = self.inner.lock().map_err(|_| EngineError::new_err("the log broke"))?;
            let reader = inner.take().ok_or_else(|| EngineError::new_err("the log is over"))?;
            reader.finish().map_err(SpecError::new_err)
        })?;
        Ok((PyBytes::new(py, &trace), summary.to_string()))
    }
}
