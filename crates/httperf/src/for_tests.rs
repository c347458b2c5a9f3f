//! Specifications for tests.

use crate::spec::HttperfSpec;
use bakeoff_engine::TrialSpec;
use serde_json::{Value, json};

/// That of `httperf --server www`, as JSON.
pub(crate) fn plain() -> Value {
    json!({
        "kind": "httperf", "servers": [{"host": "www", "address": "127.0.0.1:9"}], "server_name": null, "uri": "/",
        "method": "GET", "http_version": "1.1", "no_host_hdr": false, "user_agent": "httperf/0.9.0", "add_header": "",
        "period": null, "num_conns": 1, "num_calls": 1, "burst_length": 1, "wsess": null, "wsesslog": null,
        "wsesspage": null, "wlog": null, "wset": null, "max_connections": null, "max_piped_calls": 32,
        "timeout_s": null, "think_timeout_s": 0.0, "runtime_s": null, "client": {"index": 0, "of": 1}, "hog": false,
        "myaddr": [], "send_buffer": 4096, "recv_buffer": 16384, "close_with_reset": false, "failure_status": null,
        "retry_on_failure": false, "session_cookies": false, "ssl": null,
        "print_request": {"header": false, "body": false}, "print_reply": {"header": false, "body": false},
        "periodic_stats": false, "verbose": false,
    })
}

/// The same with some options changed; the load follows the period.
pub(crate) fn try_spec(extra: &str) -> Result<HttperfSpec, String> {
    let (mut workload, extra): (Value, Value) = (plain(), serde_json::from_str(extra).unwrap());
    for (name, value) in extra.as_object().unwrap() {
        workload[name] = value.clone();
    }
    let load = if workload["period"].is_null() {
        json!({"clients": 1})
    } else {
        json!({"rate": {"per_s": 1.0, "most_connections": 1}})
    };
    let trial = json!({"workload": workload, "load": load, "length_s": 10});
    let trial = TrialSpec::from_json(&trial.to_string()).unwrap();
    HttperfSpec::from_trial(&trial).map_err(|error| error.to_string())
}

/// One that must be right.
pub(crate) fn spec_with(extra: &str) -> HttperfSpec {
    try_spec(extra).unwrap()
}
