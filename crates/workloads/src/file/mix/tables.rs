//! The measured office mix as numbers, for one cycle of one client: 3,553 operations, of which 64 % move no data.
//!
//! Measured: the number of each operation, the shares that fail, operations, reads, writes, opens, queries of
//! names, removals and flushes per application, and the sizes of transfers. Assumed: how the operations that were
//! not counted per application (searches, queries of handles and of the file system, renames, locks), and the
//! sizes, are spread over the applications so that all sums come out.

/// Names of the operations, in the order of [`Operation`].
pub const OPERATIONS: [&str; 14] = [
    "read",
    "open",
    "query_path",
    "close",
    "write",
    "find",
    "unlink",
    "query_fs",
    "query_file",
    "set_file",
    "flush",
    "rename",
    "lock",
    "unlock",
];

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    Read,
    Open,
    QueryPath,
    Close,
    Write,
    Find,
    Unlink,
    QueryFs,
    QueryFile,
    SetFile,
    Flush,
    Rename,
    Lock,
    Unlock,
}

/// Operations of one cycle, in the order of [`OPERATIONS`].
#[cfg(test)]
pub const CYCLE: [u32; 14] = [963, 614, 557, 451, 306, 215, 124, 102, 98, 50, 43, 26, 2, 2];
/// Mean length of an application's run of operations before another one goes on.
pub const RUN_MEAN: f64 = 458_344.0 / 42_219.0;
/// Transfers after the first on a handle that go on where the last one ended, percent.
pub const READS_SEQUENTIAL: u64 = 65;
pub const WRITES_SEQUENTIAL: u64 = 36;
/// Largest transfer, bytes.
pub const TRANSFER_MAX: usize = 65_536;

/// Sizes of reads, bytes: single values, or evenly spread between two.
pub const READ_SIZES: [(u32, u32); 6] =
    [(61_440, 61_440), (16_384, 16_384), (8_192, 8_192), (4_096, 4_096), (2_048, 2_048), (1, 4_433)];
/// Sizes of writes, bytes.
pub const WRITE_SIZES: [(u32, u32); 7] =
    [(65_536, 65_536), (32_769, 51_231), (1, 25_799), (8_192, 8_192), (4_096, 4_096), (2_048, 2_048), (1, 1)];

/// One application's part of a cycle.
#[derive(Debug, Clone, Copy)]
pub struct Application {
    pub folder: &'static str,
    /// Reads by size, see [`READ_SIZES`].
    pub reads: [u16; 6],
    /// Writes by size, see [`WRITE_SIZES`].
    pub writes: [u16; 7],
    /// Files opened, and names that are not there.
    pub opens: (u16, u16),
    /// Queries of names that are there, and that are not.
    pub queries: (u16, u16),
    /// Searches that find something, and that do not.
    pub finds: (u16, u16),
    pub unlinks: u16,
    pub flushes: u16,
    pub renames: u16,
    pub query_fs: u16,
    pub query_file: u16,
    pub set_file: u16,
    pub locks: u16,
}

macro_rules! application {
    ($folder:literal, $reads:expr, $writes:expr, $opens:expr, $queries:expr, $finds:expr,
     $unlinks:literal, $flushes:literal, $renames:literal, $fs:literal, $file:literal, $set:literal, $locks:literal) => {
        Application {
            folder: $folder,
            reads: $reads,
            writes: $writes,
            opens: $opens,
            queries: $queries,
            finds: $finds,
            unlinks: $unlinks,
            flushes: $flushes,
            renames: $renames,
            query_fs: $fs,
            query_file: $file,
            set_file: $set,
            locks: $locks,
        }
    };
}

/// Eight applications and the copying of files.
pub const APPLICATIONS: [Application; 9] = [
    application!(
        "PARADOX",
        [0, 4, 1, 124, 1, 0],
        [0, 0, 0, 9, 43, 0, 18],
        (177, 35),
        (137, 70),
        (31, 33),
        17,
        6,
        4,
        30,
        29,
        15,
        1
    ),
    application!(
        "WORDPRO",
        [0, 0, 3, 139, 33, 96],
        [23, 0, 2, 0, 0, 13, 0],
        (40, 8),
        (44, 23),
        (19, 20),
        15,
        5,
        4,
        19,
        18,
        9,
        0
    ),
    application!("SEED", [129, 7, 0, 184, 0, 0], [56, 0, 2, 0, 0, 0, 0], (21, 0), (1, 0), (0, 0), 0, 0, 0, 0, 0, 0, 0),
    application!(
        "PWRPNT",
        [0, 0, 0, 82, 0, 0],
        [8, 0, 0, 0, 22, 0, 18],
        (56, 12),
        (18, 9),
        (13, 14),
        12,
        24,
        4,
        13,
        12,
        6,
        0
    ),
    application!(
        "EXCEL",
        [0, 0, 0, 69, 0, 0],
        [4, 12, 21, 0, 0, 0, 3],
        (32, 8),
        (41, 21),
        (11, 12),
        16,
        4,
        4,
        11,
        10,
        5,
        0
    ),
    application!("PM", [0, 0, 0, 9, 0, 0], [4, 1, 0, 0, 0, 0, 1], (49, 80), (41, 21), (11, 12), 37, 0, 4, 11, 10, 5, 0),
    application!("WORD", [0, 1, 0, 26, 2, 6], [2, 0, 0, 0, 0, 0, 17], (28, 7), (41, 21), (8, 9), 9, 0, 3, 8, 8, 4, 0),
    application!(
        "COREL",
        [0, 2, 32, 11, 0, 0],
        [1, 0, 2, 0, 11, 0, 0],
        (36, 10),
        (34, 18),
        (8, 8),
        11,
        0,
        2,
        7,
        8,
        4,
        0
    ),
    application!("ACCESS", [0, 1, 0, 1, 0, 0], [0, 0, 11, 0, 1, 0, 1], (12, 3), (11, 6), (3, 3), 7, 4, 1, 3, 3, 2, 1),
];
/// Index of the copying of files.
pub const SEED: usize = 2;

/// The workspace that the sizes below are for, bytes; another one scales them.
pub const WORKSPACE: u64 = 20_000_000;

/// Lasting files of a client: application and size in bytes.
///
/// 134 files of 23.9 MB; with what a cycle makes and removes the data set is the measured one.
pub fn files() -> Vec<(usize, u64)> {
    let mut files = vec![(SEED, 327_680), (SEED, 1_048_576), (SEED, 1_866_465)];
    files.extend(std::iter::repeat_n((SEED, 1_048_576), 5));
    let offices = || (0..APPLICATIONS.len()).filter(|&application| application != SEED);
    for application in offices() {
        files.extend(std::iter::repeat_n((application, 260_096), 6));
        files.extend(std::iter::repeat_n((application, 4_096), 2));
    }
    // Small ones from 12 bytes on, and two large ones: 62 in all, of 2.9 MB.
    let mut size = 12.0_f64;
    for index in 0..60 {
        files.push((offices().nth(index % 8).unwrap_or(0), size as u64));
        size = (size * 1.195).min(120_000.0);
    }
    files.extend([(0, 650_000), (3, 650_000)]);
    files
}
