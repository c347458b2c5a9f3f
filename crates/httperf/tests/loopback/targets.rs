//! Against the built-in web target: its faults against its own counts, and TLS.

use crate::common::{figure, run};
use bakeoff_targets::ServerHandle;
use serde_json::{Value, json};

fn serve(extra: &Value) -> ServerHandle {
    let mut spec = json!({"kind": "web", "page_bytes": 100});
    extra.as_object().unwrap().iter().for_each(|(name, value)| spec[name] = value.clone());
    bakeoff_targets::serve(&spec.to_string()).unwrap()
}

/// What a trial told, and what the target has counted.
fn against(target: &Value, extra: &Value) -> (bakeoff_engine::TrialResult, Value) {
    let mut server = serve(target);
    let (result, _) = run(&server.address(), extra);
    let counts = serde_json::from_str(&server.counts()).unwrap();
    server.stop();
    (result, counts)
}

#[test]
fn faults_of_the_target_are_the_errors_that_are_told() {
    let load = json!({"num_conns": 60, "num_calls": 2});
    for (fault, counted, error) in [
        (json!({"truncate_every": 7}), "truncated", "connreset"),
        (json!({"unanswered_every": 40}), "unanswered", "connreset"),
        (json!({"refuse": {"count": 1, "of": 6}}), "refused", "connreset"),
        (json!({"bad_chunk_every": 9, "chunked": true}), "bad_chunks", "other"),
        (json!({"close_after_bytes": 50}), "closed_after", "connreset"),
    ] {
        let (result, counts) = against(&fault, &load);
        let errors = figure(&result, &format!("/errors/{error}"));
        assert_eq!(Some(errors), counts[counted].as_u64(), "{fault} {counts}");
        assert!(errors > 0);
        assert_eq!(result.workload["errors"].as_object().unwrap().values().filter(|n| **n != 0).count(), 1);
        let replies: u64 = counts["replies"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert!(figure(&result, "/replies") <= replies && figure(&result, "/requests") >= replies, "{fault}");
    }
}

#[test]
fn statuses_and_bytes_are_those_of_the_target() {
    let load = json!({"num_conns": 30, "num_calls": 4, "burst_length": 2});
    let (result, counts) = against(&json!({"status": {"code": 503, "every": 5}, "chunked": true}), &load);
    assert_eq!((figure(&result, "/statuses/s5xx"), figure(&result, "/statuses/s2xx")), (24, 96));
    assert_eq!(counts["replies"], json!({"200": 96, "503": 24}));
    // httperf counts every reply; who compares servers must not take a failure for an answer.
    assert_eq!(result.measured.errors["wrong_status"], 24);
    assert_eq!(result.per_operation[1].measured.operations, 96);
    assert_eq!(Some(figure(&result, "/reply_content_bytes")), counts["body_bytes"].as_u64());
}

fn ssl(changes: &Value) -> Value {
    let mut ssl = json!({"protocol": "auto", "ciphers": [], "no_reuse": false, "certificate": null, "key": null,
                         "verify": false, "ca_file": null, "ca_path": null, "server_name": null});
    changes.as_object().unwrap().iter().for_each(|(name, value)| ssl[name] = value.clone());
    ssl
}

#[test]
fn connections_speak_tls_as_the_options_say() {
    let folder = std::env::temp_dir().join(format!("bakeoff-httperf-tls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("certificate.pem");
    let server = serve(&json!({"tls": {"certificate_file": file}}));
    let named = json!([{"host": "localhost", "address": server.address()}]);
    let try_with = |changes: Value| {
        let extra = json!({"ssl": ssl(&changes), "num_conns": 5, "num_calls": 3, "burst_length": 2, "servers": named});
        let (result, _) = run("", &extra);
        let [replies, other] = ["/replies", "/errors/other"].map(|name| figure(&result, name));
        let [full, resumed] = ["/tls_full", "/tls_resumed"].map(|name| figure(&result, name));
        assert_eq!(figure(&result, "/connect/count"), full + resumed, "handshakes are part of connecting");
        [replies, other, full, resumed]
    };
    assert_eq!(try_with(json!({})), [15, 0, 1, 4]);
    assert_eq!(try_with(json!({"no_reuse": true})), [15, 0, 5, 0]);
    assert_eq!(try_with(json!({"protocol": "TLSv1.2", "no_reuse": true})), [15, 0, 5, 0]);
    let cipher = json!({"protocol": "TLSv1.3", "ciphers": ["TLS_CHACHA20_POLY1305_SHA256"], "no_reuse": true});
    assert_eq!(try_with(cipher), [15, 0, 5, 0]);
    assert_eq!(try_with(json!({"verify": true, "ca_file": file, "no_reuse": true})), [15, 0, 5, 0]);
    assert_eq!(try_with(json!({"verify": true, "ca_path": folder, "no_reuse": true})), [15, 0, 5, 0]);
    let other = json!({"verify": true, "ca_file": file, "server_name": "example.org"});
    assert_eq!(try_with(other), [0, 5, 0, 0], "another name than the certificate's");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_server_without_tls_fails_the_handshake() {
    let (result, _) = against(&json!({}), &json!({"ssl": ssl(&json!({})), "num_conns": 3}));
    assert_eq!((figure(&result, "/replies"), figure(&result, "/errors/other")), (0, 3));
    assert_eq!(result.measured.errors["tls"], 3);
}

#[test]
fn sessions_over_tls_think_and_time_out_as_asked() {
    let server = serve(&json!({"tls": {}}));
    let named = json!([{"host": "localhost", "address": server.address()}]);
    let wsess = json!({"sessions": 10, "calls": 5, "think_s": 0.01});
    let extra = json!({"ssl": ssl(&json!({})), "wsess": wsess, "burst_length": 2, "timeout_s": 30.0, "servers": named,
                       "period": {"shape": "fixed", "period_s": 0.005}});
    let (result, _) = run("", &extra);
    assert_eq!((figure(&result, "/sessions/completed"), figure(&result, "/replies")), (10, 50));
    assert_eq!(figure(&result, "/connections"), 10);
}
