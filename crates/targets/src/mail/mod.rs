//! The mail target: SMTP or LMTP in, POP3 out, mailboxes in memory or on disk, programmable faults, exact counts.

mod pop3;
mod smtp;
mod spec;
mod store;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::clock::{Timer, now_ns, to_ns};
use crate::faults::Refusal;
use crate::listen::{is_shortage, reset_on_close};
use crate::spec::RefuseSpec;
use crate::tls;
use crate::{Running, ServeError};
use store::Store;
use wire::Wire;

pub use spec::{DeferSpec, FillSpec, MailSpec, RejectSpec};

const BACKLOG: i32 = 4096;
/// Ids listed for each fault.
const LISTED: usize = 100_000;
const SHORTAGE_WAIT: Duration = Duration::from_millis(10);

#[derive(Default)]
struct Counts {
    smtp_connections: u64,
    pop3_connections: u64,
    refused: u64,
    turned_away: u64,
    messages: u64,
    accepted: u64,
    rejected: u64,
    dropped: u64,
    logins: u64,
    in_use: u64,
    retrieved: u64,
    deleted: u64,
    lost: Vec<String>,
    duplicated: Vec<String>,
    damaged: Vec<String>,
    misdelivered: Vec<String>,
    deferred: Vec<String>,
}

struct Faults {
    refuse: Refusal,
    reject: Vec<(String, u16, Refusal)>,
    drop_after_dot: Refusal,
    lose: Refusal,
    duplicate: Refusal,
    damage: Refusal,
    misdeliver: Refusal,
    defer: Refusal,
    pop3_refusals_left: AtomicU64,
}

/// What all connections of one server have in common.
struct Shared {
    spec: MailSpec,
    store: Store,
    /// Whom the last message was for.
    last: Mutex<String>,
    tls: Option<TlsAcceptor>,
    faults: Faults,
    counts: Mutex<Counts>,
    /// Sessions that are served: POP3, SMTP.
    open: [AtomicUsize; 2],
    started_ns: u64,
    address: String,
}

impl Shared {
    /// Whether the POP3 side has died, as it was told to.
    fn pop3_is_gone(&self) -> bool {
        let Some(most) = self.spec.pop3_ends_after else { return false };
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).accepted >= most
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The code with which this command is to be rejected this time.
    fn rejects(&self, command: &str) -> Option<u16> {
        let found = self.faults.reject.iter().find(|(of, _, share)| of == command && share.hit())?;
        self.count(|counts| counts.rejected += 1);
        Some(found.1)
    }

    /// Delivers a message, or does to it what it is told to.
    fn deliver(&self, user: &str, text: &[u8]) -> io::Result<()> {
        let faults = &self.faults;
        let note = |list: fn(&mut Counts) -> &mut Vec<String>| {
            let id = format!(
                "{} to {user}",
                header(text, "x-bake-id").or_else(|| header(text, "message-id")).unwrap_or_default()
            );
            self.count(|counts| {
                let list = list(counts);
                if list.len() < LISTED {
                    list.push(id);
                }
            });
        };
        if faults.lose.hit() {
            note(|counts| &mut counts.lost);
            return Ok(());
        }
        if faults.duplicate.hit() {
            note(|counts| &mut counts.duplicated);
            self.store.deliver(user, text, 0)?;
            return self.store.deliver(user, text, 0);
        }
        if faults.damage.hit() {
            note(|counts| &mut counts.damaged);
            return self.store.deliver(user, &with_one_byte_wrong(text), 0);
        }
        let other = std::mem::replace(&mut *self.last.lock().unwrap_or_else(PoisonError::into_inner), user.to_owned());
        if faults.misdeliver.hit() && !other.is_empty() && other != user {
            note(|counts| &mut counts.misdelivered);
            return self.store.deliver(&other, text, 0);
        }
        if faults.defer.hit() {
            note(|counts| &mut counts.deferred);
            return self.store.deliver(user, text, self.spec.defer.map_or(0, |defer| to_ns(defer.for_s)));
        }
        self.store.deliver(user, text, 0)
    }
}

fn header(text: &[u8], name: &str) -> Option<String> {
    for line in text.split(|byte| *byte == b'\n').take(50) {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() {
            return None;
        }
        if let Some((key, value)) = line.split_once(':')
            && key.eq_ignore_ascii_case(name)
        {
            return Some(value.trim().to_owned());
        }
    }
    None
}

/// A letter near the end of the body, so that the id in front stays readable.
fn with_one_byte_wrong(text: &[u8]) -> Vec<u8> {
    let mut wrong = text.to_vec();
    let place = wrong.iter().rposition(u8::is_ascii_alphanumeric);
    if let Some(place) = place {
        wrong[place] = if wrong[place] == b'x' { b'y' } else { b'x' };
    }
    wrong
}

/// User and password of a base64 `AUTH PLAIN` token.
fn plain_login(token: &str) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let (mut word, mut bits) = (0_u32, 0);
    for letter in token.trim().trim_end_matches('=').bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    let mut parts = text.split('\0').skip(1);
    Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
}

struct MailServer {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

fn listen(host: std::net::IpAddr, port: u16) -> Result<std::net::TcpListener, ServeError> {
    let wanted = SocketAddr::new(host, port);
    let bind = || -> io::Result<std::net::TcpListener> {
        let socket = socket2::Socket::new(socket2::Domain::for_address(wanted), socket2::Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_tcp_nodelay(true)?;
        socket.bind(&wanted.into())?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    bind().map_err(|e| ServeError::Start(format!("cannot listen on {wanted}: {e}; choose another address or port")))
}

/// Binds, and starts the worker threads; each accepts from both listeners.
pub fn start(spec: MailSpec) -> Result<impl Running + use<>, ServeError> {
    let doors = [listen(spec.host, spec.smtp_port)?, listen(spec.host, spec.pop3_port)?];
    let place = |door: &std::net::TcpListener| door.local_addr().map(|address| address.to_string()).unwrap_or_default();
    let side = if spec.lmtp { "lmtp" } else { "smtp" };
    let address = format!("{side}={},pop3={}", place(&doors[0]), place(&doors[1]));
    let share = |share: Option<RefuseSpec>| Refusal::new(share);
    let faults = Faults {
        refuse: share(spec.refuse),
        reject: spec
            .reject
            .iter()
            .map(|reject| {
                let group = RefuseSpec { count: reject.count, of: reject.of };
                (reject.command.clone(), reject.code, share(Some(group)))
            })
            .collect(),
        drop_after_dot: share(spec.drop_after_dot),
        lose: share(spec.lose),
        duplicate: share(spec.duplicate),
        damage: share(spec.damage),
        misdeliver: share(spec.misdeliver),
        defer: share(spec.defer.map(|defer| RefuseSpec { count: defer.count, of: defer.of })),
        pop3_refusals_left: AtomicU64::new(spec.pop3_refuse_first),
    };
    let shared = Arc::new(Shared {
        store: Store::new(spec.users_file.as_deref(), spec.maildir.as_deref(), spec.fill)?,
        last: Mutex::default(),
        tls: spec.tls.as_ref().map(|spec| tls::acceptor(spec, &[])).transpose()?,
        faults,
        counts: Mutex::default(),
        open: Default::default(),
        started_ns: now_ns(),
        address,
        spec,
    });
    let (stop, stopped) = watch::channel(false);
    let mut server = MailServer { shared: Arc::clone(&shared), stop, threads: Vec::new() };
    for number in 0..shared.spec.threads {
        let broken = |e: io::Error| ServeError::Start(format!("cannot start a worker: {e}"));
        let doors = [doors[0].try_clone().map_err(broken)?, doors[1].try_clone().map_err(broken)?];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
        let timer = {
            let _inside = runtime.enter();
            Timer::new().map_err(broken)?
        };
        let (shared, mut stopped) = (Arc::clone(&shared), stopped.clone());
        let work = move || {
            runtime.block_on(async move {
                tokio::spawn(Arc::clone(&timer).drive());
                for (door, sends) in doors.into_iter().zip([true, false]) {
                    if let Ok(door) = TcpListener::from_std(door) {
                        tokio::spawn(accept(Arc::clone(&shared), door, sends, Arc::clone(&timer)));
                    }
                }
                // An error means that the server is gone: an end as well.
                let _ = stopped.wait_for(|stopped| *stopped).await;
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name(format!("target-mail-{number}")).spawn(work).map_err(broken)?;
        server.threads.push(thread);
    }
    Ok(server)
}

async fn accept(shared: Arc<Shared>, door: TcpListener, sends: bool, timer: Arc<Timer>) {
    loop {
        match door.accept().await {
            Ok((stream, _)) => admit(&shared, stream, sends, Arc::clone(&timer)),
            Err(e) if is_shortage(&e) => tokio::time::sleep(SHORTAGE_WAIT).await,
            // That connection ended before it was accepted; the next one may be good.
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

fn admit(shared: &Arc<Shared>, stream: TcpStream, sends: bool, timer: Arc<Timer>) {
    let left = &shared.faults.pop3_refusals_left;
    let first = !sends && left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
    shared.count(|counts| if sends { counts.smtp_connections += 1 } else { counts.pop3_connections += 1 });
    if first || !sends && shared.pop3_is_gone() || shared.faults.refuse.hit() {
        reset_on_close(stream.as_fd());
        return shared.count(|counts| counts.refused += 1);
    }
    let most = shared.spec.max_sessions.unwrap_or(usize::MAX);
    let more = |open: usize| (open < most).then_some(open + 1);
    let busy = shared.open[usize::from(sends)].fetch_update(Relaxed, Relaxed, more).is_err();
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let mut wire = Wire::new(stream, timer, &shared.spec);
        // An error is the client's going away.
        let _ = serve(&shared, &mut wire, sends, busy).await;
        wire.close().await;
        if !busy {
            shared.open[usize::from(sends)].fetch_sub(1, Relaxed);
        }
    });
}

async fn serve(shared: &Arc<Shared>, wire: &mut Wire, sends: bool, busy: bool) -> io::Result<()> {
    if busy {
        shared.count(|counts| counts.turned_away += 1);
        wire.say(if sends { "421 too many sessions" } else { "-ERR [SYS/TEMP] too many sessions" });
        return wire.answer().await;
    }
    if shared.spec.implicit_tls
        && let Some(acceptor) = &shared.tls
    {
        wire.secure(acceptor).await?;
    }
    if sends { smtp::serve(shared, wire).await } else { pop3::serve(shared, wire).await }
}

impl Running for MailServer {
    fn address(&self) -> String {
        self.shared.address.clone()
    }

    fn counts(&self) -> Value {
        let counts = self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "kind": "mail", "address": self.shared.address,
            "elapsed_s": (now_ns() - self.shared.started_ns) as f64 / 1e9,
            "connections": counts.smtp_connections + counts.pop3_connections,
            "requests": counts.messages + counts.retrieved,
            "smtp_connections": counts.smtp_connections, "pop3_connections": counts.pop3_connections,
            "refused": counts.refused, "turned_away": counts.turned_away, "messages": counts.messages,
            "accepted": counts.accepted, "rejected": counts.rejected, "dropped": counts.dropped,
            "logins": counts.logins, "in_use": counts.in_use, "retrieved": counts.retrieved,
            "deleted": counts.deleted, "lost": counts.lost, "duplicated": counts.duplicated,
            "damaged": counts.damaged, "misdelivered": counts.misdelivered, "deferred": counts.deferred,
        })
    }

    fn stop(&mut self) {
        // Without receivers the workers have ended already.
        let _ = self.stop.send(true);
        for thread in self.threads.drain(..) {
            // A worker that panicked has ended too.
            let _ = thread.join();
        }
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.stop();
    }
}
