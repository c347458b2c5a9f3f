//! Which URI a call asks for, where no script says.

use super::octets::Octets;
use crate::spec::{ClientSpec, HttperfSpec, WsetSpec};
use std::sync::Arc;

/// A URI by its place, so that a call that is sent again asks for the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Uri {
    /// `--uri`.
    Fixed,
    /// Of the list of `--wlog`.
    Log(u32),
    /// The file of this number of `--wset`.
    Set(u32),
    /// Of a script: session, burst, call.
    Script(u32, u32, u32),
    /// Of a page that was read.
    Page(Box<[u8]>),
}

/// Hands out URIs.
#[derive(Debug)]
pub(crate) enum Uris {
    Fixed,
    Log { count: u32, wrap: bool, next: u32, step: u32 },
    Set(FileSet),
}

/// `--wset`: another file as often as the miss rate says, the next one of this client's.
#[derive(Debug)]
pub(crate) struct FileSet {
    files: u32,
    step: u32,
    file: u32,
    miss_rate: f64,
    calls: u64,
    misses: u64,
}

impl Uris {
    pub fn new(spec: &HttperfSpec) -> Self {
        if let Some(log) = &spec.wlog {
            let count = log.uris.len() as u32;
            let next = if log.wrap { spec.part.index % count.max(1) } else { spec.part.index.min(count) };
            return Self::Log { count, wrap: log.wrap, next, step: spec.part.of };
        }
        spec.wset.map_or(Self::Fixed, |set| Self::Set(FileSet::new(set, spec.own_client())))
    }

    /// The next; `None` when the list is at its end.
    pub fn next(&mut self) -> Option<Uri> {
        match self {
            Self::Fixed => Some(Uri::Fixed),
            Self::Log { count, wrap, next, step } => {
                if *next >= *count {
                    return None;
                }
                let uri = Uri::Log(*next);
                let after = next.saturating_add(*step);
                *next = if *wrap { after % *count } else { after };
                Some(uri)
            }
            Self::Set(set) => Some(Uri::Set(set.next())),
        }
    }

    /// Whether nothing will come any more.
    pub fn is_exhausted(&self) -> bool {
        matches!(self, Self::Log { count, wrap: false, next, .. } if next >= count)
    }
}

impl FileSet {
    fn new(set: WsetSpec, client: ClientSpec) -> Self {
        let file = client.index % set.files;
        Self { files: set.files, step: client.of % set.files, file, miss_rate: set.miss_rate, calls: 0, misses: 0 }
    }

    /// The first call asks for the client's first file; a call is a miss when fewer than the rate's share have been.
    fn next(&mut self) -> u32 {
        if self.calls > 0 && (self.misses as f64) < self.calls as f64 * self.miss_rate {
            self.misses += 1;
            self.file = ((u64::from(self.file) + u64::from(self.step)) % u64::from(self.files)) as u32;
        }
        self.calls += 1;
        self.file
    }
}

/// Writes the name of file `number` of a set: its decimal digits, as many as there are powers of ten below the size,
/// each a folder.
fn write_file_name(prefix: &[u8], number: u32, files: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(prefix);
    let digits = std::iter::successors(Some(1_u64), |power| Some(power * 10)).take_while(|&p| p < u64::from(files));
    let width = digits.count().max(1);
    for digit in format!("{number:0width$}").bytes() {
        out.extend_from_slice(&[b'/', digit]);
    }
    out.extend_from_slice(b".html");
}

/// The texts that URIs stand for.
#[derive(Debug)]
pub(crate) struct UriTexts {
    spec: Arc<HttperfSpec>,
}

impl UriTexts {
    pub const fn new(spec: Arc<HttperfSpec>) -> Self {
        Self { spec }
    }

    pub fn write(&self, uri: &Uri, out: &mut Vec<u8>) {
        let known =
            |octets: Option<&Octets>, out: &mut Vec<u8>| octets.iter().for_each(|o| out.extend_from_slice(&o.0));
        match uri {
            Uri::Fixed => out.extend_from_slice(&self.spec.uri.0),
            Uri::Log(index) => known(self.spec.wlog.as_ref().and_then(|log| log.uris.get(*index as usize)), out),
            Uri::Set(number) => {
                let prefix = if self.spec.uri.0 == b"/" { &[][..] } else { &self.spec.uri.0 };
                write_file_name(prefix, *number, self.spec.wset.map_or(1, |set| set.files), out);
            }
            Uri::Script(session, burst, call) => {
                let script = self.spec.wsesslog.as_ref().map(|log| &log.scripts[*session as usize]);
                known(script.map(|s| &s.bursts[*burst as usize].calls[*call as usize].uri), out);
            }
            Uri::Page(text) => out.extend_from_slice(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(prefix: &str, number: u32, files: u32) -> String {
        let mut out = Vec::new();
        write_file_name(prefix.as_bytes(), number, files, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_file_of_a_set_has_a_digit_for_each_power_of_ten_below_the_size() {
        assert_eq!(name("/wset1024", 103, 1024), "/wset1024/0/1/0/3.html");
        assert_eq!(name("/s", 7, 10), "/s/7.html");
        assert_eq!(name("/s", 7, 11), "/s/0/7.html");
        assert_eq!(name("", 0, 1), "/0.html");
        assert_eq!(name("", 999_999_999, 1_000_000_000), "/9/9/9/9/9/9/9/9/9.html");
    }

    #[test]
    fn clients_share_a_set_and_miss_as_often_as_asked() {
        let files = |index, miss_rate, count| {
            let mut set = FileSet::new(WsetSpec { files: 10, miss_rate }, ClientSpec { index, of: 4 });
            (0..count).map(|_| set.next()).collect::<Vec<_>>()
        };
        assert_eq!(files(1, 1.0, 6), [1, 5, 9, 3, 7, 1]);
        assert_eq!(files(2, 0.0, 3), [2, 2, 2]);
        let halves = files(0, 0.5, 10_001);
        assert_eq!(halves.windows(2).filter(|pair| pair[0] != pair[1]).count(), 5_000);
    }

    #[test]
    fn a_list_wraps_or_ends() {
        let mut list = Uris::Log { count: 2, wrap: true, next: 0, step: 1 };
        let all: Vec<_> = (0..5).map(|_| list.next().unwrap()).collect();
        assert_eq!(all, [0, 1, 0, 1, 0].map(Uri::Log));
        let mut list = Uris::Log { count: 2, wrap: false, next: 0, step: 1 };
        assert!(list.next().is_some() && !list.is_exhausted() && list.next().is_some() && list.is_exhausted());
        assert_eq!(list.next(), None);
        let third = |index| {
            let mut list = Uris::Log { count: 7, wrap: false, next: index, step: 3 };
            std::iter::from_fn(move || list.next()).collect::<Vec<_>>()
        };
        assert_eq!(
            (0..3).map(third).collect::<Vec<_>>(),
            [vec![0, 3, 6], vec![1, 4], vec![2, 5]].map(|part| part.into_iter().map(Uri::Log).collect::<Vec<_>>())
        );
    }
}
