//! The open streams of a connection.

/// A stream and what has gone over it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stream {
    /// 0 while there is none.
    pub id: u32,
    pub vu: usize,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Data bytes since its window was opened.
    pub window_used: u32,
    /// The head of the reply has come.
    pub has_head: bool,
    /// Heads before it.
    pub interims: u8,
}

/// The last number that a stream may have.
const ID_LAST: u32 = 0x7fff_ffff;

/// Streams by virtual user and by number.
///
/// A number's place in the index is given by its lower bits. A number whose place is taken, by a stream that lasts, is
/// skipped, as the protocol allows: so a look is one step, and the index never grows.
#[derive(Debug)]
pub(super) struct StreamTable {
    /// One for each virtual user of the connection.
    of_vus: Vec<Stream>,
    /// The virtual user's place in `of_vus`.
    index: Vec<u32>,
    next_id: u32,
    open: usize,
}

const FREE: u32 = u32::MAX;

impl StreamTable {
    pub fn new(vus: usize) -> Self {
        Self {
            of_vus: vec![Stream::default(); vus],
            index: vec![FREE; (vus * 4).next_power_of_two()],
            next_id: 1,
            open: 0,
        }
    }

    pub const fn open(&self) -> usize {
        self.open
    }

    /// Whether the numbers are used up, but for those that may have to be skipped.
    pub fn is_used_up(&self) -> bool {
        self.next_id > ID_LAST - 2 * self.index.len() as u32
    }

    /// Whether a server can know of this stream: the client has opened it, and may have closed it since.
    pub const fn was_opened(&self, id: u32) -> bool {
        id % 2 == 1 && id < self.next_id
    }

    const fn place(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.index.len() - 1)
    }

    /// Opens a stream for a virtual user that has none.
    #[inline]
    pub fn open_for(&mut self, vu: usize) -> &mut Stream {
        while self.index[self.place(self.next_id)] != FREE {
            self.next_id += 2;
        }
        let (id, local) = (self.next_id, vu % self.of_vus.len());
        self.next_id += 2;
        self.open += 1;
        let place = self.place(id);
        self.index[place] = local as u32;
        self.of_vus[local] = Stream { id, vu, ..Stream::default() };
        &mut self.of_vus[local]
    }

    /// The open stream of this number.
    #[inline]
    pub fn get(&mut self, id: u32) -> Option<&mut Stream> {
        let local = self.index[self.place(id)];
        self.of_vus.get_mut(local as usize).filter(|stream| stream.id == id)
    }

    /// The number of the stream that a virtual user has.
    pub fn of_vu(&self, vu: usize) -> Option<u32> {
        let stream = &self.of_vus[vu % self.of_vus.len()];
        (stream.id != 0).then_some(stream.id)
    }

    /// Forgets an open stream.
    #[inline]
    pub fn close(&mut self, id: u32) -> Option<Stream> {
        let stream = std::mem::take(self.get(id)?);
        let place = self.place(id);
        self.index[place] = FREE;
        self.open -= 1;
        Some(stream)
    }

    /// The open streams with numbers above `id`.
    pub fn above(&self, id: u32) -> Vec<u32> {
        let mut ids: Vec<u32> = self.of_vus.iter().map(|stream| stream.id).filter(|&own| own > id).collect();
        ids.sort_unstable();
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_lasts_is_found_and_its_place_skipped() {
        let mut table = StreamTable::new(2);
        let lasting = table.open_for(0).id;
        let mut last = lasting;
        for _ in 0..1_000 {
            let id = table.open_for(1).id;
            assert!(id > last && id % 2 == 1 && table.was_opened(id));
            assert_eq!((table.get(id).map(|stream| stream.vu), table.get(lasting).map(|s| s.vu)), (Some(1), Some(0)));
            assert_eq!((table.open(), table.of_vu(1), table.above(lasting)), (2, Some(id), vec![id]));
            assert_eq!(table.close(id).map(|stream| stream.id), Some(id));
            assert!(table.get(id).is_none() && table.close(id).is_none());
            last = id;
        }
        assert!(last > 2_000, "numbers were skipped");
        assert!(!table.was_opened(last + 2) && !table.was_opened(2) && !table.was_opened(0));
    }
}
