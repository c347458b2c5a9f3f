//! The figures of a trial from those of the machines that divided its starts.

use super::figures::{Errors, HttperfFigures, SessionFigures, Spread, Statuses, Sum};
use super::samples::median_s;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The figures as one machine with all starts would have told them. The error is a sentence.
pub fn merged(parts: &[&Value]) -> Result<Value, String> {
    let read = |part: &&Value| {
        HttperfFigures::deserialize(*part).map_err(|error| format!("a machine tells no figures of httperf: {error}"))
    };
    let parts = parts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let samples = samples(&parts);
    let mut bins: BTreeMap<u32, u32> = BTreeMap::new();
    for &(bin, count) in parts.iter().flat_map(|part| &part.lifetimes) {
        let sum = bins.entry(bin).or_default();
        *sum = sum.saturating_add(count);
    }
    let lifetimes: Vec<(u32, u32)> = bins.into_iter().collect();
    let total = |pick: fn(&HttperfFigures) -> u64| parts.iter().map(pick).sum::<u64>();
    let seconds = |pick: fn(&HttperfFigures) -> f64| parts.iter().map(pick).sum::<f64>();
    let sums = |pick: fn(&HttperfFigures) -> Sum| parts.iter().map(pick).fold(Sum::default(), add_sums);
    let figures = HttperfFigures {
        test_duration_s: parts.iter().map(|part| part.test_duration_s).fold(0.0, f64::max),
        connections: total(|part| part.connections),
        connections_unfinished: total(|part| part.connections_unfinished),
        requests: total(|part| part.requests),
        requests_unfinished: total(|part| part.requests_unfinished),
        requests_failed: total(|part| part.requests_failed),
        replies: total(|part| part.replies),
        // At most: whether they had them at the same moment nobody knows.
        concurrent_max: total(|part| part.concurrent_max),
        connect_burst_max: parts.iter().map(|part| part.connect_burst_max).max().unwrap_or(0),
        starts: total(|part| part.starts),
        starts_planned: total(|part| part.starts_planned),
        connect: sums(|part| part.connect),
        lifetime: parts.iter().map(|part| part.lifetime).fold(Spread::default(), add_spreads),
        lifetime_median_s: median_s(&lifetimes),
        lifetimes,
        request_bytes: total(|part| part.request_bytes),
        reply_rate: spread_of(samples.iter().map(|sample| sample.0)),
        response: sums(|part| part.response),
        transfer: sums(|part| part.transfer),
        reply_header_bytes: total(|part| part.reply_header_bytes),
        reply_content_bytes: total(|part| part.reply_content_bytes),
        reply_footer_bytes: total(|part| part.reply_footer_bytes),
        statuses: statuses(&parts),
        cpu_user_s: seconds(|part| part.cpu_user_s),
        cpu_system_s: seconds(|part| part.cpu_system_s),
        errors: errors(&parts),
        descriptors_max: parts.iter().map(|part| part.descriptors_max).min().unwrap_or(0),
        prints_lost: total(|part| part.prints_lost),
        hashed: total(|part| part.hashed),
        tls_full: total(|part| part.tls_full),
        tls_resumed: total(|part| part.tls_resumed),
        sessions: sessions(&parts, &samples),
        samples: Vec::new(),
    };
    serde_json::to_value(&figures).map_err(|error| error.to_string())
}

/// Rates of all together: samples are taken at the same moments, as long as all machines took some.
fn samples(parts: &[HttperfFigures]) -> Vec<(f64, f64)> {
    let count = parts.iter().map(|part| part.samples.len()).min().unwrap_or(0);
    let at = |index: usize| {
        parts.iter().map(|part| part.samples[index]).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    (0..count).map(at).collect()
}

fn spread_of(values: impl Iterator<Item = f64>) -> Spread {
    let mut spread = Spread::default();
    values.for_each(|value| spread.add(value));
    spread
}

fn add_spreads(one: Spread, other: Spread) -> Spread {
    match (one.count, other.count) {
        (0, _) => other,
        (_, 0) => one,
        _ => Spread {
            count: one.count + other.count,
            sum: one.sum + other.sum,
            sum_of_squares: one.sum_of_squares + other.sum_of_squares,
            min: one.min.min(other.min),
            max: one.max.max(other.max),
        },
    }
}

fn add_sums(one: Sum, other: Sum) -> Sum {
    Sum { count: one.count + other.count, sum_s: one.sum_s + other.sum_s }
}

fn statuses(parts: &[HttperfFigures]) -> Statuses {
    let total = |pick: fn(&Statuses) -> u64| parts.iter().map(|part| pick(&part.statuses)).sum();
    Statuses {
        s1xx: total(|one| one.s1xx),
        s2xx: total(|one| one.s2xx),
        s3xx: total(|one| one.s3xx),
        s4xx: total(|one| one.s4xx),
        s5xx: total(|one| one.s5xx),
        other: total(|one| one.other),
        s200: total(|one| one.s200),
        s302: total(|one| one.s302),
        interim: total(|one| one.interim),
    }
}

fn errors(parts: &[HttperfFigures]) -> Errors {
    let total = |pick: fn(&Errors) -> u64| parts.iter().map(|part| pick(&part.errors)).sum();
    Errors {
        client_timo: total(|one| one.client_timo),
        socket_timo: total(|one| one.socket_timo),
        connrefused: total(|one| one.connrefused),
        connreset: total(|one| one.connreset),
        fd_unavail: total(|one| one.fd_unavail),
        addrunavail: total(|one| one.addrunavail),
        ftab_full: total(|one| one.ftab_full),
        other: total(|one| one.other),
    }
}

fn sessions(parts: &[HttperfFigures], samples: &[(f64, f64)]) -> Option<SessionFigures> {
    let each: Vec<&SessionFigures> = parts.iter().filter_map(|part| part.sessions.as_ref()).collect();
    if each.is_empty() {
        return None;
    }
    let total = |pick: fn(&SessionFigures) -> u64| each.iter().map(|one| pick(one)).sum();
    let mut lengths = vec![0; each.iter().map(|one| one.lengths.len()).max().unwrap_or(0)];
    for one in &each {
        lengths.iter_mut().zip(&one.lengths).for_each(|(sum, count)| *sum += count);
    }
    Some(SessionFigures {
        completed: total(|one| one.completed),
        failed: total(|one| one.failed),
        unfinished: total(|one| one.unfinished),
        rate: spread_of(samples.iter().map(|sample| sample.1)),
        connections: total(|one| one.connections),
        lifetime: each.iter().map(|one| one.lifetime).fold(Sum::default(), add_sums),
        failtime: each.iter().map(|one| one.failtime).fold(Sum::default(), add_sums),
        lengths,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn part(replies: u64, lifetimes: &[(u32, u32)], samples: &[(f64, f64)]) -> Value {
        let mut lifetime = Spread::default();
        lifetimes.iter().for_each(|&(bin, _)| lifetime.add(f64::from(bin)));
        let sessions = SessionFigures { completed: replies, lengths: vec![0, replies], ..SessionFigures::default() };
        let figures = HttperfFigures {
            replies,
            test_duration_s: replies as f64,
            concurrent_max: replies,
            lifetime,
            lifetimes: lifetimes.to_vec(),
            samples: samples.to_vec(),
            sessions: Some(sessions),
            ..HttperfFigures::default()
        };
        serde_json::to_value(figures).unwrap()
    }

    #[test]
    fn figures_of_machines_are_those_of_one_with_all_starts() {
        let one = part(10, &[(1, 4), (7, 1)], &[(2.0, 1.0), (4.0, 0.0), (9.0, 9.0)]);
        let other = part(5, &[(1, 1), (3, 9)], &[(3.0, 1.0), (1.0, 1.0)]);
        let all = HttperfFigures::deserialize(merged(&[&one, &other]).unwrap()).unwrap();
        assert_eq!(
            (all.replies, all.concurrent_max, all.lifetimes.as_slice()),
            (15, 15, &[(1, 5), (3, 9), (7, 1)][..])
        );
        assert!((all.lifetime_median_s - 0.0035).abs() < 1e-12 && (all.test_duration_s - 10.0).abs() < 1e-12);
        assert_eq!((all.reply_rate.count, all.reply_rate.min, all.reply_rate.max), (2, 5.0, 5.0));
        assert_eq!((all.lifetime.count, all.lifetime.min, all.lifetime.max), (4, 1.0, 7.0));
        let sessions = all.sessions.unwrap();
        assert_eq!((sessions.completed, sessions.lengths, sessions.rate.sum), (15, vec![0, 15], 3.0));
        assert!(merged(&[&json!({"replies": "many"})]).is_err());
    }
}
