//! The measuring core of Bakeoff.
//!
//! It knows what a client, an operation and a measured window are, and nothing of sockets, files or clocks:
//! a *transport* (crate `bakeoff-platform`, or a script in a test) carries out the [`Actions`] that a
//! [`Session`] asks for and tells the [`Driver`] what happened. The driver stamps, the [`Recorder`] counts.
//! So the same session runs on epoll, on TLS, and in virtual time.

mod actions;
mod collect;
mod driver;
mod endpoint;
mod error_class;
mod file_driver;
mod file_session;
mod histogram;
mod latency;
mod load;
mod measurement;
mod merge;
mod mux;
mod recorder;
pub mod records;
mod result;
mod rng;
mod rows;
mod schedule;
mod series;
mod session;
mod snapshot;
mod spec;
mod stage;
mod tally;
mod timeline;
mod times;

pub use actions::Actions;
pub use collect::{GeneratorFigures, ThreadFigures, collect};
pub use driver::{Clock, Driver, Next};
pub use endpoint::{Endpoint, TlsSettings};
pub use error_class::ErrorClass;
pub use file_driver::{FileDriver, FileNext};
pub use file_session::{
    BufferIndex, Executor, FileBuffers, FileCall, FileContext, FileNeeds, FileProgress, FileResult, FileSession,
    FileStep, FileWorkload, Handle, Name, Observation, OpenMode, Stint,
};
pub use histogram::{HistogramError, Summary, counts_within, deserialize, merge, quantiles, serialize, summarize};
pub use latency::LatencyHistogram;
pub use load::{Distribution, Load, Rate};
pub use measurement::{Cost, Counted, Counts, Measurement, Times};
pub use merge::{MergeError, add_counts};
pub use mux::{MakeMux, Mux, MuxEvent, StreamEvent, Streams};
pub use recorder::{Recorder, Stamps};
pub use result::{
    Client, Connections, Disturbances, Fates, Generator, Histograms, OperationResult, Outside, Second, SliceResult,
    StartFigures, Starts, Step, Stop, TrialResult, Unfinished, merge_slices,
};
pub use rng::Rng;
pub use rows::{RowCost, RowPart, SoakRow};
pub use schedule::Shape;
pub use session::{Event, Identity, Outcome, Progress, Session, Workload};
pub use snapshot::{Live, OperationCount, Recent, Snapshot};
pub use spec::{Slice, SpecError, TrialSpec, limits};
pub use stage::{Stage, Stages};
pub use tally::Tally;
pub use timeline::{Phase, Timeline};
pub use times::SharedTimes;

/// Nanoseconds on a monotonic clock whose zero is not defined.
pub type Nanos = u64;

/// Nanoseconds in one second.
pub const SECOND_NS: Nanos = 1_000_000_000;
