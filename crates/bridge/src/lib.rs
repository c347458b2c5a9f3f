//! The Python extension module `bakeoff._engine`: a thin seam, text and bytes only.
//!
//! Every function that may wait releases the interpreter lock; nothing calls from Rust into Python.

mod access_log;
mod errors;
mod fetch;
mod file_server;
mod for_tests;
mod greet;
mod histograms;
mod mail;
mod registry;
mod server;
mod trial;

pub(crate) use errors::{EngineError, SpecError};
use pyo3::prelude::*;

/// Facts about this build, for run files and bug reports.
#[pyfunction]
fn build_info() -> Vec<(&'static str, String)> {
    vec![
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("profile", if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned()),
        ("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)),
        ("abi", "abi3-py311".to_owned()),
    ]
}

/// The kinds of workload this engine knows.
#[pyfunction]
fn workloads() -> Vec<&'static str> {
    registry::kinds()
}

/// The name of a work folder of this process in a contender's folder.
#[pyfunction]
fn work_folder_name(what: &str) -> String {
    bakeoff_platform::folder_name(what)
}

/// Whose a folder with this name is: `own`, `in_use`, `over` or `elsewhere`; None when Bakeoff did not make it.
#[pyfunction]
fn work_folder_owner(name: &str) -> Option<&'static str> {
    use bakeoff_platform::Owner;
    bakeoff_platform::owner_of(name).map(|owner| match owner {
        Owner::Own => "own",
        Owner::InUse => "in_use",
        Owner::Over => "over",
        Owner::Elsewhere => "elsewhere",
    })
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("SpecError", py.get_type::<SpecError>())?;
    module.add("EngineError", py.get_type::<EngineError>())?;
    module.add_class::<trial::TrialHandle>()?;
    module.add_class::<trial::TrialOutcome>()?;
    module.add_class::<server::ServerHandle>()?;
    module.add_class::<access_log::AccessLog>()?;
    module.add_class::<for_tests::ForTests>()?;
    module.add_function(wrap_pyfunction!(trial::start, module)?)?;
    module.add_function(wrap_pyfunction!(trial::wake_on, module)?)?;
    module.add_function(wrap_pyfunction!(trial::can_return, module)?)?;
    module.add_function(wrap_pyfunction!(server::serve, module)?)?;
    module.add_function(wrap_pyfunction!(fetch::connect, module)?)?;
    module.add_function(wrap_pyfunction!(fetch::fetch_http, module)?)?;
    module.add_function(wrap_pyfunction!(fetch::fetch_http3, module)?)?;
    module.add_function(wrap_pyfunction!(greet::greet_app, module)?)?;
    module.add_function(wrap_pyfunction!(mail::probe_mail, module)?)?;
    module.add_function(wrap_pyfunction!(file_server::check_file_server, module)?)?;
    module.add_function(wrap_pyfunction!(file_server::try_file_server, module)?)?;
    module.add_function(wrap_pyfunction!(file_server::remove_server_folder, module)?)?;
    module.add_function(wrap_pyfunction!(build_info, module)?)?;
    module.add_function(wrap_pyfunction!(workloads, module)?)?;
    module.add_function(wrap_pyfunction!(work_folder_name, module)?)?;
    module.add_function(wrap_pyfunction!(work_folder_owner, module)?)?;
    module.add_function(wrap_pyfunction!(trial::check, module)?)?;
    module.add_function(wrap_pyfunction!(trial::merge_slices, module)?)?;
    module.add_function(wrap_pyfunction!(histograms::quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(histograms::counts_within, module)?)?;
    module.add_function(wrap_pyfunction!(histograms::merge_histograms, module)?)?;
    Ok(())
}
