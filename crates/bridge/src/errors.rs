//! What can go wrong, as Python sees it.

pyo3::create_exception!(_engine, SpecError, pyo3::exceptions::PyValueError, "A specification that cannot be run.");
pyo3::create_exception!(_engine, EngineError, pyo3::exceptions::PyRuntimeError, "The engine could not do its work.");
