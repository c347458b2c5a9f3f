//! What only tests ask of the engine: its histograms read back, and its limits.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands owned values over")]

use crate::EngineError;
use bakeoff_engine as engine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Functions for tests; nothing in the package calls them.
#[pyclass(frozen, module = "bakeoff._engine")]
pub(crate) struct ForTests;

fn raise(error: engine::HistogramError) -> PyErr {
    EngineError::new_err(error.to_string())
}

#[pymethods]
impl ForTests {
    /// One blob with the counts of all.
    #[staticmethod]
    fn merge(py: Python<'_>, blobs: Vec<Vec<u8>>) -> PyResult<Bound<'_, PyBytes>> {
        let merged = engine::merge(blobs.iter().map(Vec::as_slice)).map_err(raise)?;
        Ok(PyBytes::new(py, &engine::serialize(&merged)))
    }

    /// Count, mean, minimum, percentiles and maximum of a blob, as JSON, ns.
    #[staticmethod]
    fn summary(blob: &[u8]) -> PyResult<String> {
        let histogram = engine::deserialize(blob).map_err(raise)?;
        Ok(serde_json::to_string(&engine::summarize(&histogram)).unwrap_or_default())
    }

    /// The largest values that a trial specification may have, by name.
    #[staticmethod]
    fn limits() -> Vec<(&'static str, f64)> {
        engine::limits().to_vec()
    }
}
