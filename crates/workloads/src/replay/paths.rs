//! The paths of a log by how often it asks for them: the names under which results are told.

use super::trace::Trace;
use std::collections::HashMap;

/// Paths that are operations of their own; the log chooses them, no result does.
pub(crate) const OPERATIONS: usize = 20;
const OTHERS: &str = "other paths";

/// Requests grouped by method and path without the query, the most asked first.
#[derive(Debug)]
pub(crate) struct Paths {
    names: Vec<String>,
    in_log: Vec<u64>,
    of_request: Vec<u32>,
}

impl Paths {
    pub fn new(trace: &Trace) -> Self {
        let mut asked = vec![0_u64; trace.requests()];
        trace.lines.iter().for_each(|(request, _)| asked[*request as usize] += 1);
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut of_request: Vec<u32> = Vec::with_capacity(trace.requests());
        let mut counts: Vec<u64> = Vec::new();
        for (request, count) in asked.iter().enumerate() {
            let fresh = counts.len() as u32;
            let number = *numbers.entry(trace.label(request)).or_insert(fresh);
            if number == fresh {
                counts.push(0);
            }
            counts[number as usize] += count;
            of_request.push(number);
        }
        let mut order: Vec<(String, u32)> = numbers.into_iter().collect();
        order.sort_by(|(name, one), (than, other)| {
            counts[*other as usize].cmp(&counts[*one as usize]).then_with(|| name.cmp(than))
        });
        let mut place = vec![0; order.len()];
        order.iter().zip(0..).for_each(|((_, number), at)| place[*number as usize] = at);
        of_request.iter_mut().for_each(|number| *number = place[*number as usize]);
        let in_log = order.iter().map(|(_, number)| counts[*number as usize]).collect();
        Self { names: order.into_iter().map(|(name, _)| name).collect(), in_log, of_request }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn name(&self, path: usize) -> &str {
        &self.names[path]
    }

    /// How many lines of the log ask for it.
    pub fn in_log(&self, path: usize) -> u64 {
        self.in_log[path]
    }

    #[inline]
    pub fn of_request(&self, request: u32) -> usize {
        self.of_request[request as usize] as usize
    }

    /// Names of the operations: the most asked paths, and the others together where there are any.
    pub fn operations(&self) -> Vec<String> {
        let own = self.names.iter().take(OPERATIONS).cloned();
        own.chain((self.len() > OPERATIONS).then(|| OTHERS.to_owned())).collect()
    }

    #[inline]
    pub fn operation(&self, request: u32) -> u16 {
        self.of_request(request).min(OPERATIONS) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_without_queries_and_the_most_asked_first() {
        let mut trace = Trace { methods: vec![b"GET".to_vec(), b"HEAD".to_vec()], ..Trace::default() };
        for (method, path) in [(0, &b"/b"[..]), (0, b"/a?x"), (0, b"/a?y"), (1, b"/a")] {
            trace.ask(method, None, None, path);
        }
        trace.lines = [0, 0, 1, 2, 2, 3].map(|request| (request, 200)).to_vec();
        let paths = Paths::new(&trace);
        assert_eq!(paths.operations(), ["GET /a", "GET /b", "HEAD /a"]);
        assert_eq!((0..4).map(|request| paths.operation(request)).collect::<Vec<_>>(), [1, 0, 0, 2]);
        assert_eq!((0..3).map(|path| paths.in_log(path)).collect::<Vec<_>>(), [3, 2, 1]);
    }

    #[test]
    fn what_is_rarely_asked_is_one_operation() {
        let mut trace = Trace { methods: vec![b"GET".to_vec()], ..Trace::default() };
        trace.lines = (0..30).map(|path| (trace.ask(0, None, None, format!("/{path:02}").as_bytes()), 200)).collect();
        let paths = Paths::new(&trace);
        assert_eq!(paths.operations().len(), OPERATIONS + 1);
        assert_eq!((paths.operation(19), paths.operation(20), paths.operation(29)), (19, 20, 20));
        assert_eq!(paths.operations()[OPERATIONS], OTHERS);
    }
}
