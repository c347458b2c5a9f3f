//! Listening sockets, accepted streams, and the little that must be asked of the system around them.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, Type};

use crate::ServeError;
use crate::spec::place::Place;

const BACKLOG: i32 = 4096;

/// A bound, listening, non-blocking socket. A unix socket's file goes with it.
pub struct Listener {
    socket: Kind,
    /// `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`.
    pub address: String,
    file: Option<PathBuf>,
}

enum Kind {
    Tcp(std::net::TcpListener),
    Unix(UnixListener),
}

/// An accepted, non-blocking connection.
pub enum Stream {
    Tcp(std::net::TcpStream),
    Unix(UnixStream),
}

impl Listener {
    pub fn bind(place: &Place) -> Result<Self, ServeError> {
        if let Some(path) = &place.unix {
            return Self::bind_unix(path).map_err(|e| {
                ServeError::Start(format!("cannot listen on unix:{}: {e}; choose another path", path.display()))
            });
        }
        let wanted = SocketAddr::new(place.host, place.port);
        Self::bind_tcp(wanted)
            .map_err(|e| ServeError::Start(format!("cannot listen on {wanted}: {e}; choose another address or port")))
    }

    fn bind_tcp(wanted: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(wanted), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        // Accepted connections inherit it.
        socket.set_tcp_nodelay(true)?;
        socket.bind(&wanted.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let listener: std::net::TcpListener = socket.into();
        let address = listener.local_addr()?.to_string();
        Ok(Self { socket: Kind::Tcp(listener), address, file: None })
    }

    fn bind_unix(path: &Path) -> io::Result<Self> {
        if let Ok(facts) = std::fs::symlink_metadata(path) {
            let stale = facts.file_type().is_socket() && UnixStream::connect(path).is_err();
            if !stale {
                return Err(io::Error::new(io::ErrorKind::AddrInUse, "the path is in use"));
            }
            std::fs::remove_file(path)?;
        }
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&socket2::SockAddr::unix(path)?)?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let address = format!("unix:{}", path.display());
        Ok(Self { socket: Kind::Unix(socket.into()), address, file: Some(path.to_owned()) })
    }

    pub fn accept(&self) -> io::Result<Stream> {
        match &self.socket {
            Kind::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Stream::Tcp(stream))
            }
            Kind::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok(Stream::Unix(stream))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Kind::Tcp(listener) => listener.as_fd(),
            Kind::Unix(listener) => listener.as_fd(),
        }
    }
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.file {
            // Gone already is as good.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Makes the coming close of a TCP connection a reset. Unix sockets have none: there unread data does the same.
pub fn reset_on_close(fd: BorrowedFd<'_>) {
    // Fails on a unix socket or a connection that is gone: nothing is left to reset then.
    let _ = SockRef::from(&fd).set_linger(Some(Duration::ZERO));
}

/// Whether accepting failed for want of descriptors or memory, which passes when connections end.
pub fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM))
}

/// As many open files as the system allows this process. Failure only means fewer connections.
pub fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a live rlimit.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Keeps the calling thread on the core that is its turn in `cores`.
pub fn pin_thread(cores: Option<&[usize]>, worker: usize) -> Result<(), String> {
    let Some(cores) = cores.filter(|cores| !cores.is_empty()) else { return Ok(()) };
    let core = cores[worker % cores.len()];
    if core >= libc::CPU_SETSIZE as usize {
        return Err(format!("pin: there is no core {core}"));
    }
    // SAFETY: cpu_set_t is plain bits, the core is inside it, and the size passed is its own.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if result == 0 {
        Ok(())
    } else {
        Err(format!(
            "pin: core {core} cannot be used: {}; leave pin out or choose another core",
            io::Error::last_os_error()
        ))
    }
}
