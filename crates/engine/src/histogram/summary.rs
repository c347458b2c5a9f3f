//! Histograms as bytes, and the percentiles of the results of a trial.

use crate::LatencyHistogram;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

/// A histogram blob that cannot be read or merged.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// The bytes are not an HdrHistogram V2 encoding.
    #[error("not a V2 histogram: {0}")]
    Malformed(String),
    /// Two histograms have bounds that do not fit together.
    #[error("histograms cannot be merged: {0}")]
    Incompatible(String),
}

/// HdrHistogram V2 bytes (cookie 0x1c849313), readable by every HdrHistogram library.
pub fn serialize(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = V2Serializer::new().serialize(histogram, &mut bytes);
    debug_assert!(written.is_ok(), "writing to memory cannot fail");
    bytes
}

/// Reads V2 bytes.
pub fn deserialize(bytes: &[u8]) -> Result<Histogram<u64>, HistogramError> {
    Deserializer::new()
        .deserialize(&mut std::io::Cursor::new(bytes))
        .map_err(|error| HistogramError::Malformed(error.to_string()))
}

/// Adds the counts of several blobs; percentiles of the result are exact to the histograms' resolution.
pub fn merge<'a>(blobs: impl IntoIterator<Item = &'a [u8]>) -> Result<Histogram<u64>, HistogramError> {
    let mut total = LatencyHistogram::new().to_hdr().into_owned();
    for blob in blobs {
        total.add(deserialize(blob)?).map_err(|error| HistogramError::Incompatible(error.to_string()))?;
    }
    Ok(total)
}

/// Values in ns at the quantiles `qs` (0 … 1) of a blob.
pub fn quantiles(bytes: &[u8], qs: &[f64]) -> Result<Vec<u64>, HistogramError> {
    let histogram = deserialize(bytes)?;
    Ok(qs.iter().map(|&q| histogram.value_at_quantile(q)).collect())
}

/// How many values of a blob are at most each of `limits_ns`, within its three digits.
pub fn counts_within(bytes: &[u8], limits_ns: &[u64]) -> Result<Vec<u64>, HistogramError> {
    let histogram = deserialize(bytes)?;
    Ok(limits_ns.iter().map(|&limit_ns| histogram.count_between(0, limit_ns)).collect())
}

/// A histogram in figures, ns; all but the count are `None` when nothing was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many times were recorded.
    pub count: u64,
    /// Their mean.
    pub mean_ns: Option<f64>,
    /// The shortest.
    pub min_ns: Option<u64>,
    /// The median.
    pub p50_ns: Option<u64>,
    /// The 95th percentile.
    pub p95_ns: Option<u64>,
    /// The 99th.
    pub p99_ns: Option<u64>,
    /// The 99.9th.
    pub p999_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

/// A histogram in figures.
pub fn summarize(histogram: &Histogram<u64>) -> Summary {
    if histogram.is_empty() {
        return Summary::default();
    }
    let quantile = |quantile| Some(histogram.value_at_quantile(quantile));
    Summary {
        count: histogram.len(),
        mean_ns: Some(histogram.mean()),
        min_ns: Some(histogram.min()),
        p50_ns: quantile(0.50),
        p95_ns: quantile(0.95),
        p99_ns: quantile(0.99),
        p999_ns: quantile(0.999),
        max_ns: Some(histogram.max()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_values_come_back_within_a_tenth_of_a_percent() {
        let mut histogram = LatencyHistogram::new();
        for value in [1_u64, 2_047, 50_000, 5_000_000, 3_600_000_000_000] {
            histogram.clear();
            histogram.record(value);
            let found = histogram.to_hdr().value_at_quantile(0.5);
            let error = (found as f64 - value as f64).abs() / value as f64;
            assert!(error <= 0.001, "{value} came back as {found}");
        }
    }

    #[test]
    fn merging_adds_counts_and_does_not_average_percentiles() {
        let mut fast = LatencyHistogram::new();
        let mut slow = LatencyHistogram::new();
        (0..990).for_each(|_| fast.record(1_000));
        (0..10).for_each(|_| slow.record(1_000_000));
        let merged = merge([fast, slow].map(|part| serialize(&part.to_hdr())).iter().map(Vec::as_slice)).unwrap();
        let merged = serialize(&merged);
        let found = quantiles(&merged, &[0.5, 0.985, 0.995]).unwrap();
        assert_eq!(counts_within(&merged, &[0, u64::MAX / 2]).unwrap(), [0, deserialize(&merged).unwrap().len()]);
        assert!(
            counts_within(&merged, &[found[1]]).unwrap()[0] as f64
                >= 0.985 * deserialize(&merged).unwrap().len() as f64
        );
        assert_eq!(deserialize(&merged).unwrap().len(), 1_000);
        assert!(found[0] < 1_010 && found[1] < 1_010 && found[2] > 990_000, "{found:?}");
    }

    #[test]
    fn counts_past_two_to_the_32_and_53_come_back_and_add_up() {
        for count in [(1_u64 << 32) + 1, (1 << 53) + 1] {
            let mut inner = LatencyHistogram::new().to_hdr().into_owned();
            inner.record_n(1_000, count).unwrap();
            inner.record_n(1_000_000, 1).unwrap();
            let mut bytes = Vec::new();
            V2Serializer::new().serialize(&inner, &mut bytes).unwrap();
            let merged = merge([bytes.as_slice(), bytes.as_slice()]).unwrap();
            assert_eq!((merged.len(), merged.count_at(1_000)), (2 * count + 2, 2 * count));
            let told = summarize(&merged);
            assert_eq!((told.count, told.p99_ns), (2 * count + 2, Some(1_000)));
        }
    }

    #[test]
    fn garbage_is_an_error_and_not_a_panic() {
        for bytes in [&b""[..], b"x", &[0x1c, 0x84, 0x93, 0x13, 0xff, 0xff, 0xff, 0xff], &[0; 64]] {
            assert!(deserialize(bytes).is_err());
        }
    }
}
