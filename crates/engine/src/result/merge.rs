//! How figures that several machines, or threads, have of one trial become one.
//!
//! Each figure says so where it is declared ([`figures`]): counts add up, histograms add their counts and their
//! percentiles are computed again, of shares and lengths the greatest counts. What is declared is read, too: the error
//! names the figure that is missing or of another type.

use crate::HistogramError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What one machine measured: its name, and the figure.
pub(crate) type Part<'a, T> = (&'a str, &'a T);

pub(crate) type Merged<T> = Result<T, MergeError>;

/// Results that are none, or do not fit together.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There is no slice at all.
    #[error("there is nothing to merge")]
    Nothing,
    /// What a machine told is no JSON.
    #[error("the result of {name}: {error}")]
    Malformed {
        /// The machine's name.
        name: String,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// A figure is missing or of another type.
    #[error("the result of {name} has no figure `{figure}`")]
    Missing {
        /// The machine's name.
        name: String,
        /// Where the figure should be.
        figure: String,
    },
    /// The slices are not of one trial.
    #[error("{name} has done other operations than {first}")]
    Unlike {
        /// The machine that differs.
        name: String,
        /// The one it differs from.
        first: String,
    },
    /// What the machines tell of their sessions does not come together.
    #[error("{0}")]
    Figures(String),
    /// A histogram that cannot be read.
    #[error("a histogram of {name}: {error}")]
    Histogram {
        /// The machine's name.
        name: String,
        /// What is wrong with it.
        error: HistogramError,
    },
}

/// A figure, or a struct of them, that comes together of parts.
pub(crate) trait Merge: Sized {
    /// That of all together.
    fn merged(parts: &[Part<'_, Self>]) -> Merged<Self>;
}

/// Declares structs of a result, as `#[derive(Serialize, Deserialize)]` would, with [`Merge`]: a figure comes together
/// as its type does or, behind `=>`, by a function. The figures of a `flat` field stand among those of the struct in
/// JSON.
macro_rules! figures {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(flat $(#[$flat_meta:meta])* pub $flat:ident: $flat_type:ty,)*
            $($(#[$figure_meta:meta])* pub $figure:ident: $type:ty $(=> $rule:path)?,)*
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
        pub struct $name {
            $($(#[$flat_meta])* #[serde(flatten)] pub $flat: $flat_type,)*
            $($(#[$figure_meta])* pub $figure: $type,)*
        }

        impl $name {
            /// Takes its figures out of what was read; the error is the place of the one that is not there.
            pub(crate) fn take(told: &mut serde_json::Map<String, serde_json::Value>) -> Result<Self, String> {
                Ok(Self {
                    $($flat: <$flat_type>::take(told)?,)*
                    $($figure: crate::result::merge::take(told, stringify!($figure))?,)*
                })
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Self::take(&mut serde::Deserialize::deserialize(from)?).map_err(serde::de::Error::custom)
            }
        }

        impl self::Merge for $name {
            fn merged(parts: &[crate::result::merge::Part<'_, Self>]) -> crate::result::merge::Merged<Self> {
                Ok(Self {
                    $($flat: self::Merge::merged(&crate::result::merge::each(parts, |part| &part.$flat))?,)*
                    $($figure: figures!(@merged crate::result::merge::each(parts, |part| &part.$figure) $(, $rule)?),)*
                })
            }
        }
    )+};
    (@merged $parts:expr) => { self::Merge::merged(&$parts)? };
    (@merged $parts:expr, $rule:path) => { $rule(&$parts)? };
}
pub(crate) use figures;

/// One figure of each part.
pub(crate) fn each<'a, S, T>(parts: &[Part<'a, S>], pick: impl Fn(&'a S) -> &'a T) -> Vec<Part<'a, T>> {
    parts.iter().map(|(name, part)| (*name, pick(part))).collect()
}

/// A figure out of what was read; the error is its place, without what was there.
pub(crate) fn take<T: DeserializeOwned>(told: &mut Map<String, Value>, figure: &str) -> Result<T, String> {
    T::deserialize(told.remove(figure).unwrap_or_default()).map_err(|error| {
        // A figure further in is told as its place, which no message of the library begins like.
        let inner = Some(error.to_string()).filter(|inner| inner.starts_with('/')).unwrap_or_default();
        format!("/{figure}{inner}")
    })
}

impl Merge for u64 {
    fn merged(parts: &[Part<'_, Self>]) -> Merged<Self> {
        Ok(parts.iter().fold(0, |sum, (_, count)| sum.saturating_add(**count)))
    }
}

impl Merge for bool {
    fn merged(parts: &[Part<'_, Self>]) -> Merged<Self> {
        Ok(parts.iter().any(|(_, one)| **one))
    }
}

/// Counts by name, added up.
impl Merge for BTreeMap<String, u64> {
    fn merged(parts: &[Part<'_, Self>]) -> Merged<Self> {
        let mut sums = Self::new();
        for (name, count) in parts.iter().flat_map(|(_, counts)| *counts) {
            let sum = sums.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        Ok(sums)
    }
}

/// Those of all; `None` where one has none.
impl<T: Merge> Merge for Option<T> {
    fn merged(parts: &[Part<'_, Self>]) -> Merged<Self> {
        let told: Option<Vec<_>> = parts.iter().map(|(name, part)| Some((*name, part.as_ref()?))).collect();
        told.as_deref().map(T::merged).transpose()
    }
}

/// The greatest.
pub(crate) fn max<T: PartialOrd + Copy + Default>(parts: &[Part<'_, T>]) -> Merged<T> {
    let greater = |one: T, other: T| if other > one { other } else { one };
    Ok(parts.iter().map(|(_, part)| **part).reduce(greater).unwrap_or_default())
}

/// The greatest of what some cannot measure; `None` where one did not, as that may be the greatest of all.
pub(crate) fn max_if_all<T: PartialOrd + Copy + Default>(parts: &[Part<'_, Option<T>>]) -> Merged<Option<T>> {
    let told: Option<Vec<_>> = parts.iter().map(|(name, part)| Some((*name, part.as_ref()?))).collect();
    told.as_deref().filter(|told| !told.is_empty()).map(max).transpose()
}

/// The sum of seconds, added as whole nanoseconds: so it is the same in any order.
pub(crate) fn seconds(parts: &[Part<'_, f64>]) -> Merged<f64> {
    let sum_ns = parts.iter().fold(0_u64, |sum_ns, (_, part)| sum_ns.saturating_add((**part * 1e9).round() as u64));
    Ok(sum_ns as f64 / 1e9)
}

/// Each has its own: together they have none.
pub(crate) fn of_each<T>(_: &[Part<'_, Option<T>>]) -> Merged<Option<T>> {
    Ok(None)
}

/// The same for all.
pub(crate) fn first<T: Clone + Default>(parts: &[Part<'_, T>]) -> Merged<T> {
    Ok(parts.first().map(|(_, part)| (*part).clone()).unwrap_or_default())
}

/// Follows from others, when those are together.
pub(crate) fn afterwards<T: Default>(_: &[Part<'_, T>]) -> Merged<T> {
    Ok(T::default())
}

/// Whole numbers of the same name added up, one level after the other; anything else is that of the first.
pub fn add_counts(parts: &[&Value]) -> Value {
    let mut total = Value::Null;
    parts.iter().for_each(|part| add_count(&mut total, part));
    total
}

fn add_count(total: &mut Value, part: &Value) {
    match (&mut *total, part) {
        (Value::Object(total), Value::Object(part)) => {
            for (name, value) in part {
                add_count(total.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Number(sum), Value::Number(more)) => {
            if let (Some(sum), Some(more)) = (sum.as_u64(), more.as_u64()) {
                *total = json!(sum.saturating_add(more));
            }
        }
        (Value::Null, part) => *total = part.clone(),
        _ => {}
    }
}
