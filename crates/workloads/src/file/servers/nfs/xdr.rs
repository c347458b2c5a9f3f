//! XDR (RFC 4506): what is read lies in the message, and no length is believed beyond its end.

use super::super::wire::{EIO, Errno};

/// Reads a message; a field that is not there is an input/output error of the server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Xdr<'a> {
    bytes: &'a [u8],
}

impl<'a> Xdr<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Errno> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(EIO)?;
        self.bytes = rest;
        Ok(taken)
    }

    pub fn u32(&mut self) -> Result<u32, Errno> {
        self.take(4)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)).ok_or(EIO)
    }

    pub fn u64(&mut self) -> Result<u64, Errno> {
        self.take(8)?.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)).ok_or(EIO)
    }

    pub fn flag(&mut self) -> Result<bool, Errno> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(EIO),
        }
    }

    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Errno> {
        self.take(N)?.first_chunk().copied().ok_or(EIO)
    }

    /// Bytes of a length of their own, `most` at most.
    pub fn opaque(&mut self, most: usize) -> Result<&'a [u8], Errno> {
        let length = self.u32()? as usize;
        if length > most {
            return Err(EIO);
        }
        let bytes = self.take(length)?;
        self.take(padding(length))?;
        Ok(bytes)
    }

    pub fn skip(&mut self, count: usize) -> Result<(), Errno> {
        self.take(count).map(drop)
    }
}

const fn padding(length: usize) -> usize {
    length.wrapping_neg() % 4
}

/// Writes fields at the end of the bytes to be sent.
pub(super) trait XdrWrite {
    fn u32(&mut self, value: u32) -> &mut Self;
    fn u64(&mut self, value: u64) -> &mut Self;
    fn opaque(&mut self, bytes: &[u8]) -> &mut Self;
}

impl XdrWrite for Vec<u8> {
    fn u32(&mut self, value: u32) -> &mut Self {
        self.extend_from_slice(&value.to_be_bytes());
        self
    }

    fn u64(&mut self, value: u64) -> &mut Self {
        self.extend_from_slice(&value.to_be_bytes());
        self
    }

    fn opaque(&mut self, bytes: &[u8]) -> &mut Self {
        self.u32(bytes.len() as u32);
        self.extend_from_slice(bytes);
        self.extend_from_slice(&[0; 4][..padding(bytes.len())]);
        self
    }
}
