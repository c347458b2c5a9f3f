//! File work: sessions that ask for file calls.

pub mod blocks;
pub mod cache;
mod cell;
pub mod content;
pub mod evidence;
pub mod matrix;
pub mod mix;
pub mod pattern;
pub mod servers;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod simulated_clients;

/// One clear sentence about a file call that failed for good; `what` names the work.
pub fn fault_text(what: &str, errno: i32) -> String {
    match errno {
        28 | 122 => format!("{what}: the file system is full, or a quota is used up: free some space"),
        30 | 13 | 1 => format!("{what}: the folder may not be written to any more: is it mounted read-only?"),
        27 => format!(
            "{what}: a file may not grow that far: raise the file-size limit (`ulimit -f`) or use smaller files"
        ),
        2 | 6 | 19 | 103 | 104 | 107 | 108 | 112 | 113 | 116 | 123 => {
            format!("{what}: the share or its files have vanished: is it still mounted?")
        }
        5 | 121 => format!("{what}: the disk or the server reports a failed transfer (input/output error)"),
        23 | 24 => format!("{what}: too many open files: raise `ulimit -n`"),
        22 => format!(
            "{what}: the file system refuses the call (invalid argument): leave out direct, or use larger records"
        ),
        95 => format!("{what}: the file system does not know this call"),
        other => format!("{what}: failed with error {other} ({})", std::io::Error::from_raw_os_error(other)),
    }
}
