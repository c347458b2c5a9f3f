//! Errors of operations are data: each belongs to one class and is counted there.
//!
//! The classes are those of every protocol. Their names are stored in run files and stay; the words that a report has for one
//! are the kind's own (`error_words` of its part for comparisons: `-OOM` for `wrong_status`, say).

use serde::{Deserialize, Serialize};

macro_rules! error_classes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// Why an operation failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(usize)]
        pub enum ErrorClass { $($(#[doc = $doc])+ $variant,)+ }

        impl ErrorClass {
            /// All classes, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
            /// The name used in results, in `snake_case`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

error_classes! {
    /// The connection was refused (RST in answer to SYN).
    Refused = "refused",
    /// The connection was reset, or a write failed, before the first byte of the reply.
    ResetBeforeFirstByte = "reset_before_first_byte",
    /// The connection was reset after the first byte of the reply.
    ResetAfterFirstByte = "reset_after_first_byte",
    /// The server gave up the stream of the request, or put the request back again and again; the connection stood.
    StreamReset = "stream_reset",
    /// The connection was closed in order, before the first byte of the reply.
    ClosedEarly = "closed_early",
    /// No connection within the connect time-out.
    ConnectTimeout = "connect_timeout",
    /// No complete reply within the reply time-out.
    ReplyTimeout = "reply_timeout",
    /// The operation was still open when the trial ended, long after operations of its kind end.
    Unfinished = "unfinished",
    /// The reply ended before its announced length.
    ShortBody = "short_body",
    /// Length or hash of the reply differ from what was agreed.
    WrongContent = "wrong_content",
    /// The server answered in order, and not as the plan expects: an HTTP status, an SMTP 5xx, `-ERR` or `-OOM`.
    WrongStatus = "wrong_status",
    /// The server said that it cannot do this now, as its protocol allows and its users bear (SMTP 4xx, POP3 `[IN-USE]`).
    PutOff = "put_off",
    /// The server broke the protocol.
    Protocol = "protocol",
    /// The TLS handshake or a TLS record failed.
    Tls = "tls",
    /// No route to the host or network.
    Unreachable = "unreachable",
    /// The generator ran out of local ports (`EADDRNOTAVAIL`): voids the trial.
    PortsExhausted = "ports_exhausted",
    /// The generator ran out of file descriptors: voids the trial.
    TooManyFiles = "too_many_files",
    /// The file system is full, or a quota is used up.
    NoSpace = "no_space",
    /// The file system or the folder may not be written to.
    ReadOnly = "read_only",
    /// A file may not grow that far (`RLIMIT_FSIZE` or the file system's own limit).
    FileTooLarge = "file_too_large",
    /// The file or folder was not there.
    NotFound = "not_found",
    /// The file or folder was there already.
    Exists = "exists",
    /// The share or disk is gone.
    Vanished = "vanished",
    /// The disk or the server reported a failed transfer.
    InputOutput = "input_output",
    /// A transfer moved fewer bytes than asked for.
    ShortTransfer = "short_transfer",
    /// Anything else.
    Other = "other",
}

impl ErrorClass {
    /// How many classes there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The class of a failed file call, by its Linux error number.
    pub const fn of_errno(errno: i32) -> Self {
        match errno {
            2 => Self::NotFound,
            5 | 121 => Self::InputOutput,
            1 | 13 | 30 => Self::ReadOnly,
            6 | 19 | 103 | 104 | 107 | 108 | 112 | 113 | 116 | 123 => Self::Vanished,
            17 => Self::Exists,
            23 | 24 => Self::TooManyFiles,
            27 => Self::FileTooLarge,
            28 | 122 => Self::NoSpace,
            110 => Self::ReplyTimeout,
            _ => Self::Other,
        }
    }

    /// Whether the fault is the generator's own, so that the trial says nothing about the contender.
    pub const fn voids_trial(self) -> bool {
        matches!(self, Self::PortsExhausted | Self::TooManyFiles)
    }
}
