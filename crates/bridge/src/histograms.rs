//! Histograms of finished trials, read back.
#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands owned values over")]

use crate::EngineError;
use bakeoff_engine as engine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Values in ns at the quantiles `qs` (0 … 1) of an HdrHistogram V2 blob.
#[pyfunction]
pub(crate) fn quantiles(blob: &[u8], qs: Vec<f64>) -> PyResult<Vec<u64>> {
    engine::quantiles(blob, &qs).map_err(|error| EngineError::new_err(error.to_string()))
}

/// How many values of a blob are at most each of `limits_ns`.
#[pyfunction]
pub(crate) fn counts_within(blob: &[u8], limits_ns: Vec<u64>) -> PyResult<Vec<u64>> {
    engine::counts_within(blob, &limits_ns).map_err(|error| EngineError::new_err(error.to_string()))
}

/// The counts of all these blobs in one, and its figures as JSON.
#[pyfunction]
pub(crate) fn merge_histograms(py: Python<'_>, blobs: Vec<Vec<u8>>) -> PyResult<(Bound<'_, PyBytes>, String)> {
    let merged = py.detach(|| {
        let whole = engine::merge(blobs.iter().map(Vec::as_slice))?;
        Ok::<_, engine::HistogramError>((
            engine::serialize(&whole),
            serde_json::to_string(&engine::summarize(&whole)).unwrap_or_default(),
        ))
    });
    let (blob, told) = merged.map_err(|error| EngineError::new_err(error.to_string()))?;
    Ok((PyBytes::new(py, &blob), told))
}
