//! The tests of the matrix.

use super::walk::Order;
use serde::Deserialize;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_write_begins_with_a_new_file() {
        assert!(Test::Write.is_fresh());
        assert!([Test::Rewrite, Test::Fwrite, Test::Pwrite].iter().all(|test| !test.is_fresh()));
    }
}
