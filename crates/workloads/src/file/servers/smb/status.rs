//! What a status of the server (MS-ERREF 2.3) comes to.

use super::super::wire::Errno;

pub(super) const SUCCESS: u32 = 0;
pub(super) const PENDING: u32 = 0x0000_0103;
pub(super) const MORE_PROCESSING: u32 = 0xC000_0016;
pub(super) const NO_MORE_FILES: u32 = 0x8000_0006;
pub(super) const END_OF_FILE: u32 = 0xC000_0011;
pub(super) const LOGON_FAILURE: u32 = 0xC000_006D;
pub(super) const BAD_NETWORK_NAME: u32 = 0xC000_00CC;
pub(super) const ACCESS_DENIED: u32 = 0xC000_0022;
pub(super) const NOT_SUPPORTED: u32 = 0xC000_00BB;

/// The negative error number of a status that says that a call failed.
pub(super) const fn errno(status: u32) -> Errno {
    let number = match status {
        // Name, path or syntax of it not found.
        0xC000_0034 | 0xC000_003A | 0xC000_0033 | 0xC000_000F | 0xC000_000E => 2,
        0xC000_0035 => 17,
        ACCESS_DENIED | 0xC000_0061 | 0xC000_0121 | LOGON_FAILURE | 0xC000_006E | 0xC000_0072 | 0xC000_015B => 13,
        0xC000_011F => 24,
        0xC000_007F => 28,
        0xC000_0044 => 122,
        0xC000_0043 => 16,
        0xC000_0103 => 20,
        0xC000_00BA => 21,
        0xC000_0101 => 39,
        // Bad handle, file closed.
        0xC000_0008 | 0xC000_0128 => 9,
        // Network name deleted, session deleted or expired, connection gone.
        0xC000_00C9 | 0xC000_0203 | 0xC000_035C | 0xC000_020C | 0xC000_020D => 104,
        0xC000_009A | 0xC000_0205 => 12,
        0xC000_000D => 22,
        0xC000_00A2 => 30,
        0xC000_0106 => 36,
        0xC000_0056 => 116,
        0xC000_0054 | 0xC000_0055 => 11,
        0xC000_00B5 => 110,
        NOT_SUPPORTED | 0xC000_0002 | 0xC000_0010 => 95,
        _ => 5,
    };
    -(number as Errno)
}
