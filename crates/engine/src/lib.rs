//! The measuring core of Bakeoff.
//!
//! It knows what a client, an operation and a measured window are, and nothing of sockets, files or clocks:
//! a *transport* (crate `bakeoff-platform`, or a script in a test) carries out the [`Actions`] that a
//! [`Session`] asks for and tells the [`Driver`] what happened. The driver stamps, the [`Recorder`] counts.
//! So the same session runs on epoll, on TLS, and in virtual time.

mod driver;
mod error_class;
mod file;
mod histogram;
mod load;
mod recorder;
mod result;
mod rng;
mod schedule;
mod session;
mod spec;

pub use driver::{Clock, Driver, Next};
pub use error_class::ErrorClass;
pub use file::call::{BufferIndex, FileCall, Handle, Name, OpenMode};
pub use file::driver::{FileDriver, FileNext};
pub use file::server::{CONNECTING, FileClient, FileServer};
pub use file::session::{
    BarrierSpan, Executor, FileBuffers, FileContext, FileNeeds, FileProgress, FileResult, FileSession, FileStep,
    FileWorkload, Observation,
};
pub use histogram::latency::LatencyHistogram;
pub use histogram::shared::SharedTimes;
pub use histogram::summary::{
    HistogramError, Summary, counts_within, deserialize, merge, quantiles, serialize, summarize,
};
pub use load::{Distribution, Load, Rate};
pub use recorder::intervals::{IntervalCost, IntervalPart, SoakInterval};
pub use recorder::tally::Tally;
pub use recorder::{Recorder, Stamps};
pub use result::collect::{GeneratorFigures, ThreadFigures, collect};
pub use result::measurement::{Cost, Counted, Counts, Measurement, Times};
pub use result::merge::{MergeError, add_counts};
pub use result::snapshot::{Live, OperationCount, Recent, Snapshot};
pub use result::{
    Client, Connections, Disturbances, Fates, Generator, Histograms, OperationResult, OutsideWindow, Second,
    SliceResult, StartFigures, Starts, Step, Stop, TrialResult, Unfinished, merge_slices,
};
pub use rng::Rng;
pub use schedule::Shape;
pub use schedule::timeline::{Phase, Timeline};
pub use session::actions::Actions;
pub use session::endpoint::{Endpoint, TlsSettings};
pub use session::mux::{MakeMux, Mux, MuxEvent, StreamEvent, Streams};
pub use session::records;
pub use session::stage::{Stage, Stages};
pub use session::{Event, Identity, Outcome, Progress, Session, Workload};
pub use spec::{Slice, SpecError, TrialSpec, limits};

/// Nanoseconds on a monotonic clock whose zero is not defined.
pub type Nanos = u64;

/// Nanoseconds in one second.
pub const SECOND_NS: Nanos = 1_000_000_000;
