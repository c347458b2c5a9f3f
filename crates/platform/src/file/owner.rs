//! Names of work folders say whose they are, so that runs that share a folder keep apart, and what a killed run left
//! behind can be told from what another one works in.
//!
//! `.bakeoff-WHAT-BOOT-NAMESPACE-PID-START-CHECK`: boot and process namespace of the machine, process and its start in
//! clock ticks, in hexadecimal digits but for the process; the check holds them together. A lock in the folder would say
//! the same across machines, but it keeps a share busy that a plan's command wants to mount again.

use std::fs;
use std::hash::Hasher;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Every folder that Bakeoff makes in a contender's folder has a name that begins so.
pub const PREFIX: &str = ".bakeoff-";

/// Whose a work folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This process's.
    Own,
    /// Another one's on this machine that still runs.
    InUse,
    /// One's on this machine that has ended.
    Over,
    /// One's of another machine or container, or before this machine was started.
    Elsewhere,
}

/// The name of a work folder of this process; `what` tells its folders apart.
pub fn folder_name(what: &str) -> String {
    let process = std::process::id();
    let (boot, namespace) = machine();
    let body = format!("{what}-{boot:016x}-{namespace:x}-{process}-{:x}", started(process).unwrap_or(0));
    format!("{PREFIX}{body}-{:08x}", hash(body.as_bytes()) as u32)
}

/// Whose the folder of this name is; None when Bakeoff did not make it.
pub fn owner_of(name: &str) -> Option<Owner> {
    let (body, check) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    if check != format!("{:08x}", hash(body.as_bytes()) as u32) {
        return None;
    }
    let parts: Vec<&str> = body.rsplitn(5, '-').collect();
    let &[start, process, namespace, boot, _] = parts.as_slice() else { return None };
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, process) = (hex(start)?, process.parse().ok()?);
    if (hex(boot)?, hex(namespace)?) != machine() {
        return Some(Owner::Elsewhere);
    }
    Some(match started(process) {
        Some(now) if now == start && process == std::process::id() => Owner::Own,
        Some(now) if now == start => Owner::InUse,
        _ => Owner::Over,
    })
}

/// This start of the machine, and the namespace in which process numbers mean something.
fn machine() -> (u64, u64) {
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::metadata("/proc/self/ns/pid").map_or(0, |facts| facts.ino());
    (hash(&boot), namespace)
}

/// When a process was started, in clock ticks since the machine was; None when there is none, or its end is only not
/// taken note of.
fn started(process: u32) -> Option<u64> {
    let text = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    // The name of the program comes first and may hold anything, blanks and brackets too.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

/// FNV-1a: the same on every machine and in every version.
fn hash(bytes: &[u8]) -> u64 {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn write(&mut self, bytes: &[u8]) {
            for &byte in bytes {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        fn finish(&self) -> u64 {
            self.0
        }
    }
    let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
    fnv.write(bytes);
    fnv.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(name: &str, place: usize, to: &str) -> String {
        let body = name.strip_prefix(PREFIX).unwrap().rsplit_once('-').unwrap().0;
        let mut parts: Vec<String> = body.rsplitn(5, '-').map(str::to_owned).collect();
        to.clone_into(&mut parts[place]);
        parts.reverse();
        let body = parts.join("-");
        format!("{PREFIX}{body}-{:08x}", hash(body.as_bytes()) as u32)
    }

    #[test]
    fn a_name_says_whose_the_folder_is() {
        let own = folder_name("mix-0123abcd");
        assert_eq!(owner_of(&own), Some(Owner::Own));
        assert_eq!(own, folder_name("mix-0123abcd"));
        assert!(own.len() < 128, "{own}");
        let parent = std::os::unix::process::parent_id();
        let of_parent = renamed(&renamed(&own, 1, &parent.to_string()), 0, &format!("{:x}", started(parent).unwrap()));
        assert_eq!(owner_of(&of_parent), Some(Owner::InUse));
        assert_eq!(owner_of(&renamed(&own, 0, "1")), Some(Owner::Over), "the number was given to another process");
        assert_eq!(owner_of(&renamed(&own, 1, "4194999")), Some(Owner::Over));
        assert_eq!(owner_of(&renamed(&own, 2, "1")), Some(Owner::Elsewhere));
        assert_eq!(owner_of(&renamed(&own, 3, "00000000000000ff")), Some(Owner::Elsewhere));
    }

    #[test]
    fn what_bakeoff_did_not_make_has_no_owner() {
        let own = folder_name("x");
        let names =
            ["", ".bakeoff-", ".bakeoff-mine", ".bakeoff-a-b-c-d-e-f", "data", &own[1..], &own[..own.len() - 1]];
        for name in names {
            assert_eq!(owner_of(name), None, "{name}");
        }
        let changed = own.replacen("-x-", "-y-", 1);
        assert_eq!(owner_of(&changed), None);
    }
}
