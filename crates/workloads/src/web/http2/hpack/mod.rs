//! Header compression of HTTP/2 (RFC 7541): replies are decoded whole, requests are encoded once, ahead of time.

use super::huffman::{self, Malformed};
use super::static_table::FIELDS;
use repeat::Repeat;
use std::collections::VecDeque;

mod repeat;

/// The size of either dynamic table unless a peer says otherwise, bytes.
pub(crate) const TABLE_BYTES: usize = 4096;
/// What an entry takes beside name and value, bytes.
pub(crate) const ENTRY_BYTES: usize = 32;
/// A block may not unfold to more, bytes as in RFC 9113, 6.5.2.
pub(crate) const LIST_BYTES_MAX: usize = 256 * 1024;

#[derive(Debug)]
struct Entry {
    /// Name and value in one piece.
    text: Box<[u8]>,
    name_bytes: usize,
}

impl Entry {
    fn field(&self) -> (&[u8], &[u8]) {
        self.text.split_at(self.name_bytes)
    }

    fn size(&self) -> usize {
        self.text.len() + ENTRY_BYTES
    }
}

/// Decodes the header blocks of one connection, in their order.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// The youngest first.
    table: VecDeque<Entry>,
    table_bytes: usize,
    limit_bytes: usize,
    /// Room for a field that comes in pieces: name and value.
    text: Vec<u8>,
    repeat: Repeat,
}

impl Decoder {
    pub fn new() -> Self {
        Self {
            table: VecDeque::new(),
            table_bytes: 0,
            limit_bytes: TABLE_BYTES,
            text: Vec::new(),
            repeat: Repeat::default(),
        }
    }

    /// Whether decoding `block` now would tell the same fields as the last block, and leave the table as it is: then
    /// there is no need to.
    #[inline]
    pub fn repeats(&self, block: &[u8]) -> bool {
        self.repeat.is_of(block)
    }

    /// Hands each field of `block` to `field`, as name and value.
    pub fn decode(
        &mut self,
        block: &[u8],
        mut field: impl FnMut(&[u8], &[u8]) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let mut rest = block;
        let (mut list_bytes, mut may_resize) = (0, true);
        self.repeat.begin(block);
        while let Some(&first) = rest.first() {
            if first & 0xe0 == 0x20 {
                // The size of the table may change at the beginning of a block only.
                let limit_bytes = integer(&mut rest, 5)?;
                if !may_resize || limit_bytes > TABLE_BYTES {
                    return Err(Malformed);
                }
                self.limit_bytes = limit_bytes;
                self.make_room(0);
                self.repeat.resized();
                continue;
            }
            may_resize = false;
            list_bytes += if first & 0x80 != 0 {
                let index = integer(&mut rest, 7)?;
                self.repeat.refers(index);
                let (name, value) = self.entry(index)?;
                field(name, value)?;
                name.len() + value.len() + ENTRY_BYTES
            } else {
                let keep = first & 0x40 != 0;
                let name_bytes = self.literal(&mut rest, if keep { 6 } else { 4 })?;
                let (name, value) = self.text.split_at(name_bytes);
                field(name, value)?;
                if keep {
                    self.insert(name_bytes);
                }
                self.text.len() + ENTRY_BYTES
            };
            if list_bytes > LIST_BYTES_MAX {
                return Err(Malformed);
            }
        }
        self.repeat.end(self.table.len());
        Ok(())
    }

    /// What the table holds, bytes.
    #[cfg(test)]
    pub const fn table_bytes(&self) -> usize {
        self.table_bytes
    }

    fn entry(&self, index: usize) -> Result<(&[u8], &[u8]), Malformed> {
        match index.checked_sub(1).ok_or(Malformed)? {
            at if at < FIELDS.len() => Ok((FIELDS[at].0.as_bytes(), FIELDS[at].1.as_bytes())),
            at => self.table.get(at - FIELDS.len()).map(Entry::field).ok_or(Malformed),
        }
    }

    /// Reads name and value into `text`; returns the length of the name.
    fn literal(&mut self, rest: &mut &[u8], prefix_bits: u32) -> Result<usize, Malformed> {
        let index = integer(rest, prefix_bits)?;
        self.repeat.refers(index);
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        if index == 0 {
            string(rest, 7, &mut text)?;
        } else {
            text.extend_from_slice(self.entry(index)?.0);
        }
        let name_bytes = text.len();
        string(rest, 7, &mut text)?;
        self.text = text;
        Ok(name_bytes)
    }

    fn insert(&mut self, name_bytes: usize) {
        self.repeat.inserts();
        let entry = Entry { text: self.text.as_slice().into(), name_bytes };
        self.make_room(entry.size());
        // One that is larger than the table empties it, and is no error.
        if entry.size() <= self.limit_bytes {
            self.table_bytes += entry.size();
            self.table.push_front(entry);
        }
    }

    fn make_room(&mut self, bytes: usize) {
        while self.table_bytes + bytes > self.limit_bytes {
            let Some(oldest) = self.table.pop_back() else { break };
            self.table_bytes -= oldest.size();
        }
    }
}

/// Reads an integer whose first bits are the lowest `prefix_bits` of the next octet (RFC 7541, 5.1).
pub(crate) fn integer(rest: &mut &[u8], prefix_bits: u32) -> Result<usize, Malformed> {
    let (&first, mut bytes) = rest.split_first().ok_or(Malformed)?;
    let most = (1_usize << prefix_bits) - 1;
    let mut value = usize::from(first) & most;
    if value == most {
        let mut shift = 0;
        loop {
            let (&byte, left) = bytes.split_first().ok_or(Malformed)?;
            bytes = left;
            value += usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            // No length or index of ours comes near 2^28.
            if shift > 21 {
                return Err(Malformed);
            }
        }
    }
    *rest = bytes;
    Ok(value)
}

/// Appends a string literal to `text` (RFC 7541, 5.2); its length has a prefix of `prefix_bits` behind the flag of the
/// code.
pub(crate) fn string(rest: &mut &[u8], prefix_bits: u32, text: &mut Vec<u8>) -> Result<(), Malformed> {
    let is_coded = rest.first().ok_or(Malformed)? >> prefix_bits & 1 != 0;
    let length = integer(rest, prefix_bits)?;
    let (bytes, left) = rest.split_at_checked(length).ok_or(Malformed)?;
    *rest = left;
    if is_coded {
        return huffman::decode(bytes, text);
    }
    text.extend_from_slice(bytes);
    Ok(())
}

/// Appends an integer; `first` holds the bits before its prefix.
pub(crate) fn put_integer(first: u8, prefix_bits: u32, value: usize, block: &mut Vec<u8>) {
    let most = (1_usize << prefix_bits) - 1;
    if value < most {
        return block.push(first | value as u8);
    }
    block.push(first | most as u8);
    let mut left = value - most;
    while left >= 0x80 {
        block.push(left as u8 | 0x80);
        left >>= 7;
    }
    block.push(left as u8);
}

/// Appends a string, in the code where that is shorter; `first` holds the bits before the flag that says so, which is
/// followed by a prefix of `prefix_bits`.
pub(crate) fn put_string(first: u8, prefix_bits: u32, text: &[u8], block: &mut Vec<u8>) {
    let mut coded = Vec::new();
    huffman::encode(text, &mut coded);
    if coded.len() < text.len() {
        put_integer(first | 1 << prefix_bits, prefix_bits, coded.len(), block);
        block.extend_from_slice(&coded);
    } else {
        put_integer(first, prefix_bits, text.len(), block);
        block.extend_from_slice(text);
    }
}

/// How a field of a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexing {
    /// The peer keeps it in its dynamic table.
    Keep,
    /// It is sent in full each time.
    Plain,
}

/// Appends a field whose whole is not in the static table, or its index where it is.
pub(crate) fn put_field(name: &str, value: &str, indexing: Indexing, block: &mut Vec<u8>) {
    if let Some(index) = static_index(name, value) {
        return put_integer(0x80, 7, index, block);
    }
    let (first, prefix_bits) = match indexing {
        Indexing::Keep => (0x40, 6),
        Indexing::Plain => (0x00, 4),
    };
    let named = FIELDS.iter().position(|field| field.0 == name).map_or(0, |at| at + 1);
    put_integer(first, prefix_bits, named, block);
    if named == 0 {
        put_string(0, 7, name.as_bytes(), block);
    }
    put_string(0, 7, value.as_bytes(), block);
}

/// Where the static table has the whole field.
pub(crate) fn static_index(name: &str, value: &str) -> Option<usize> {
    FIELDS.iter().position(|field| *field == (name, value)).map(|at| at + 1)
}

/// What a field takes in a dynamic table, bytes.
pub(crate) const fn entry_bytes(name: &str, value: &str) -> usize {
    name.len() + value.len() + ENTRY_BYTES
}

#[cfg(test)]
mod tests;
