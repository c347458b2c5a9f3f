//! The tests of the matrix and the order in which each visits the records of a file.

use serde::Deserialize;
use std::sync::Arc;

/// One column of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// A new file, from its start to its end.
    Write,
    /// The same file once more.
    Rewrite,
    /// From start to end.
    Read,
    /// The same once more.
    Reread,
    /// Each record once, in a fixed random order.
    RandomRead,
    /// Each record once, in the same order.
    RandomWrite,
    /// From the last record to the first.
    BackwardRead,
    /// The record at offset 0, as often as the file has records.
    RecordRewrite,
    /// Every 17th record, then from the second one on, until each was read once.
    StrideRead,
    /// From start to end through a stream of the C library, over the file that is there.
    Fwrite,
    /// The same file once more.
    Refwrite,
    /// From start to end through a stream.
    Fread,
    /// The same once more.
    Refread,
    /// Some clients read, the others write, both at random.
    Mixed,
    /// Like rewrite, by `pwrite`.
    Pwrite,
    /// The same once more.
    Repwrite,
    /// Like read, by `pread`.
    Pread,
    /// Like reread, by `pread`.
    Repread,
}

/// In which order records are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Rising.
    Forward,
    /// Falling.
    Backward,
    /// By a permutation.
    Random,
    /// The first record each time.
    First,
    /// Leaps of the stride.
    Stride,
}

impl Test {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Read => "read",
            Self::Reread => "reread",
            Self::RandomRead => "random_read",
            Self::RandomWrite => "random_write",
            Self::BackwardRead => "backward_read",
            Self::RecordRewrite => "record_rewrite",
            Self::StrideRead => "stride_read",
            Self::Fwrite => "fwrite",
            Self::Refwrite => "refwrite",
            Self::Fread => "fread",
            Self::Refread => "refread",
            Self::Mixed => "mixed",
            Self::Pwrite => "pwrite",
            Self::Repwrite => "repwrite",
            Self::Pread => "pread",
            Self::Repread => "repread",
        }
    }

    /// Whether it reads; of `mixed`, each client is told apart.
    pub const fn reads(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Reread
                | Self::RandomRead
                | Self::BackwardRead
                | Self::StrideRead
                | Self::Fread
                | Self::Refread
                | Self::Pread
                | Self::Repread
        )
    }

    /// Whether it begins with a file that does not exist.
    pub const fn is_fresh(self) -> bool {
        matches!(self, Self::Write)
    }

    /// Whether it goes through a C stream.
    pub const fn is_stream(self) -> bool {
        matches!(self, Self::Fwrite | Self::Refwrite | Self::Fread | Self::Refread)
    }

    /// Whether it names its offsets in each call.
    pub const fn is_positional(self) -> bool {
        !matches!(self, Self::Write | Self::Rewrite | Self::Read | Self::Reread) && !self.is_stream()
    }

    /// In which order it visits the records.
    pub const fn order(self) -> Order {
        match self {
            Self::RandomRead | Self::RandomWrite | Self::Mixed => Order::Random,
            Self::BackwardRead => Order::Backward,
            Self::RecordRewrite => Order::First,
            Self::StrideRead => Order::Stride,
            _ => Order::Forward,
        }
    }
}

/// Walks over the records of a file, each index below `records`, `records` steps.
#[derive(Debug, Clone)]
pub struct Walk {
    order: Order,
    records: u64,
    step: u64,
    stride: u64,
    base: u64,
    at: u64,
    permutation: Arc<[u32]>,
}

impl Walk {
    /// `permutation` is used by [`Order::Random`] alone and has one entry for each record then.
    pub fn new(order: Order, records: u64, stride: u64, permutation: Arc<[u32]>) -> Self {
        Self { order, records, step: 0, stride: stride.max(1), base: 0, at: 0, permutation }
    }

    /// Steps left.
    pub fn len_left(&self) -> u64 {
        self.records - self.step
    }
}

impl Iterator for Walk {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.step >= self.records {
            return None;
        }
        let step = self.step;
        self.step += 1;
        Some(match self.order {
            Order::Forward => step,
            Order::Backward => self.records - 1 - step,
            Order::First => 0,
            Order::Random => u64::from(self.permutation[step as usize]),
            Order::Stride => {
                let at = self.at;
                self.at += self.stride;
                if self.at >= self.records {
                    self.base += 1;
                    self.at = self.base;
                }
                at
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(order: Order, records: u64) -> Vec<u64> {
        let permutation = (0..records as u32).rev().collect::<Vec<_>>().into();
        Walk::new(order, records, 17, permutation).collect()
    }

    #[test]
    fn every_order_but_the_hot_spot_visits_each_record_once() {
        for records in [1, 2, 16, 17, 18, 34, 35, 1000] {
            for order in [Order::Forward, Order::Backward, Order::Random, Order::Stride] {
                let mut visited = walk(order, records);
                visited.sort_unstable();
                assert_eq!(visited, (0..records).collect::<Vec<_>>(), "{order:?} {records}");
            }
            assert_eq!(walk(Order::First, records), vec![0; records as usize]);
        }
    }

    #[test]
    fn only_write_begins_with_a_new_file() {
        assert!(Test::Write.is_fresh());
        assert!([Test::Rewrite, Test::Fwrite, Test::Pwrite].iter().all(|test| !test.is_fresh()));
    }

    #[test]
    fn orders_are_those_of_the_definition() {
        assert_eq!(walk(Order::Stride, 40)[..6], [0, 17, 34, 1, 18, 35]);
        assert_eq!(walk(Order::Stride, 40)[9..11], [3, 20]);
        assert_eq!(walk(Order::Backward, 4), [3, 2, 1, 0]);
    }
}
