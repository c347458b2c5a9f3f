//! Bytes that depend on their place, but for the second half of stamps: whoever wrote a piece of the file last, and in
//! pieces of whatever size, what is read back must be these.
//!
//! Each page of 4 KiB, counted from the start of the file, begins with a stamp: owner and offset, then the pass of writing
//! and a hash of all three. The rest are the fixed random bytes of [`super::pattern`]. Who knows which pass was written
//! last sees a write that was lost, and old data that came back.

use super::pattern::{BODY, Owner, PAGE, STAMP, body, stamp};
use std::ops::Range;

/// What a buffer holds already, so that it need not be copied again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prepared {
    phase: usize,
    length: usize,
}

impl Prepared {
    /// Whether so many bytes hold something that can be written where content does not matter.
    pub const fn covers(&self, length: usize) -> bool {
        self.length >= length
    }
}

/// The parts of `0..length`, which lies at `offset` in the file, and where each lies in the fixed bytes.
fn parts(length: usize, offset: u64) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = ((offset + done as u64) % BODY as u64) as usize;
        let count = (BODY - at).min(length - done);
        let part = (done..done + count, at..at + count);
        done += count;
        Some(part)
    })
}

/// The stamped pieces of `0..length`: (piece, offset of its page, where it lies in the page's stamp).
fn stamps(length: usize, offset: u64) -> impl Iterator<Item = (Range<usize>, u64, Range<usize>)> {
    let first = offset - offset % PAGE as u64;
    let end = offset + length as u64;
    (first..end).step_by(PAGE).filter_map(move |page| {
        let (from, to) = (page.max(offset), (page + STAMP as u64).min(end));
        (from < to).then(|| {
            let place = |at: u64| (at - offset) as usize;
            (place(from)..place(to), page, (from - page) as usize..(to - page) as usize)
        })
    })
}

/// Makes a buffer the bytes at `offset`. `pass` gives the pass of a page, by its offset and by whether its whole stamp is
/// in the buffer. `prepared` says what it holds, and is brought up to date.
pub fn fill(
    buffer: &mut [u8],
    owner: Owner,
    offset: u64,
    mut pass: impl FnMut(u64, bool) -> u64,
    prepared: &mut Prepared,
) {
    let wanted = Prepared { phase: (offset % BODY as u64) as usize, length: buffer.len() };
    if prepared.phase != wanted.phase || prepared.length < wanted.length {
        for (part, from) in parts(buffer.len(), offset) {
            buffer[part].copy_from_slice(&body()[from]);
        }
        *prepared = wanted;
    }
    for (part, page, of) in stamps(buffer.len(), offset) {
        buffer[part].copy_from_slice(&stamp(owner, page, pass(page, of.len() == STAMP))[of]);
    }
}

/// Whether these are the bytes at `offset`: all of them on pages whose `pass` is known, all but pass and hash on others.
pub fn check(buffer: &[u8], owner: Owner, offset: u64, mut pass: impl FnMut(u64) -> Option<u64>) -> bool {
    let mut at = 0;
    for (part, page, of) in stamps(buffer.len(), offset) {
        let known = pass(page);
        let wanted = stamp(owner, page, known.unwrap_or(0));
        let end = if known.is_some() { of.end } else { of.end.min(STAMP / 2) };
        let compared = end.saturating_sub(of.start);
        let same = compared == 0 || buffer[part.start..part.start + compared] == wanted[of.start..end];
        if !same || !is_body(&buffer[at..part.start], offset + at as u64) {
            return false;
        }
        at = part.end;
    }
    is_body(&buffer[at..], offset + at as u64)
}

/// The pass of the page at `offset` that a buffer begins with; `None` where its stamp is not whole.
pub fn pass_of(buffer: &[u8], owner: Owner, offset: u64) -> Option<u64> {
    let found = buffer.get(..STAMP)?;
    let pass = u64::from_le_bytes(found[STAMP / 2..STAMP - 8].try_into().ok()?);
    (found == stamp(owner, offset, pass)).then_some(pass)
}

fn is_body(piece: &[u8], offset: u64) -> bool {
    parts(piece.len(), offset).all(|(part, from)| piece[part] == body()[from])
}

#[cfg(test)]
mod tests {
    use super::*;
    use bakeoff_engine::Rng;

    fn owner() -> Owner {
        Owner::new(1, 2, 3)
    }

    #[test]
    fn pieces_written_in_any_size_and_order_read_back_in_any_size() {
        let mut file = vec![0_u8; 300_000];
        fill(&mut file, owner(), 0, |_, _| 0, &mut Prepared::default());
        let mut rng = Rng::for_thread(5, 0, 0);
        let mut buffer = vec![0; 150_000];
        let mut prepared = Prepared::default();
        for _ in 0..500 {
            let length = 1 + rng.below(150_000) as usize;
            let offset = rng.below((file.len() - length) as u64 + 1) as usize;
            fill(&mut buffer[..length], owner(), offset as u64, |_, _| 0, &mut prepared);
            assert_eq!(&buffer[..length], &file[offset..offset + length], "{length} at {offset}");
            assert!(check(&file[offset..offset + length], owner(), offset as u64, |_| Some(0)));
        }
    }

    #[test]
    fn any_changed_byte_and_any_wrong_place_is_found() {
        let mut buffer = vec![0; 9000];
        fill(&mut buffer, owner(), 512, |_, _| 0, &mut Prepared::default());
        for at in [0, 1, 3583, 3584, 3600, 3616, 8999] {
            buffer[at] ^= 4;
            assert!(!check(&buffer, owner(), 512, |_| Some(0)), "{at}");
            buffer[at] ^= 4;
        }
        assert!(check(&buffer, owner(), 512, |_| Some(0)));
        let known = |_| Some(0);
        assert!(!check(&buffer, owner(), 4608, known) && !check(&buffer, Owner::new(1, 2, 4), 512, known));
        assert!(!check(&[0; 512], owner(), 0, known));
    }

    #[test]
    fn an_old_pass_is_found_where_the_last_one_is_known() {
        let mut buffer = vec![0; 8192];
        fill(&mut buffer, owner(), 4096, |page, whole| if whole { page } else { 0 }, &mut Prepared::default());
        assert!(check(&buffer, owner(), 4096, Some) && check(&buffer, owner(), 4096, |_| None));
        assert!(!check(&buffer, owner(), 4096, |page| Some(page + 1)));
        assert_eq!((pass_of(&buffer, owner(), 4096), pass_of(&buffer[..4096], owner(), 8192)), (Some(4096), None));
        assert_eq!(
            (pass_of(&buffer[4096..], owner(), 8192), pass_of(&buffer[..31], owner(), 4096)),
            (Some(8192), None)
        );
        for at in [0, 15, 32, 4095] {
            buffer[at] ^= 1;
            assert!(!check(&buffer, owner(), 4096, |_| None), "{at}");
            buffer[at] ^= 1;
        }
        assert!(check(&buffer[20..100], owner(), 4116, |_| None), "a piece that begins inside of a stamp");
    }
}
