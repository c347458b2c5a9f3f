//! The mail target: SMTP or LMTP in, POP3 out, mailboxes in memory or on disk, programmable faults, exact counts.

#[cfg(feature = "cli")]
mod arguments;
mod pop3;
mod shared;
mod smtp;
mod spec;
mod store;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::ServeError;
use crate::server::clock::{Timer, now_ns};
use crate::server::listen::{is_shortage, reset_on_close};
use crate::server::running::Running;
#[cfg(feature = "cli")]
pub use arguments::Arguments;
use shared::Shared;
pub use spec::MailSpec as Spec;
use wire::Wire;

const BACKLOG: i32 = 4096;
const SHORTAGE_WAIT: Duration = Duration::from_millis(10);

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
pub fn start(spec: &Spec) -> Result<impl Running + use<>, ServeError> {
    let listeners = [listen(spec.host, spec.smtp_port)?, listen(spec.host, spec.pop3_port)?];
    let place =
        |listener: &std::net::TcpListener| listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    let side = if spec.lmtp { "lmtp" } else { "smtp" };
    let address = format!("{side}={},pop3={}", place(&listeners[0]), place(&listeners[1]));
    let shared = Arc::new(Shared::new(spec.clone(), address)?);
    let (stop, stopped) = watch::channel(false);
    let mut server = MailServer { shared: Arc::clone(&shared), stop, threads: Vec::new() };
    for number in 0..shared.spec.threads {
        let broken = |e: io::Error| ServeError::Start(format!("cannot start a worker: {e}"));
        let listeners = [listeners[0].try_clone().map_err(broken)?, listeners[1].try_clone().map_err(broken)?];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
        let timer = {
            let _inside = runtime.enter();
            Timer::new().map_err(broken)?
        };
        let (shared, mut stopped) = (Arc::clone(&shared), stopped.clone());
        let work = move || {
            runtime.block_on(async move {
                tokio::spawn(Arc::clone(&timer).drive());
                for (listener, sends) in listeners.into_iter().zip([true, false]) {
                    if let Ok(listener) = TcpListener::from_std(listener) {
                        tokio::spawn(accept(Arc::clone(&shared), listener, sends, Arc::clone(&timer)));
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

async fn accept(shared: Arc<Shared>, listener: TcpListener, sends: bool, timer: Arc<Timer>) {
    loop {
        match listener.accept().await {
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
    let max = shared.spec.max_sessions.unwrap_or(usize::MAX);
    let more = |open: usize| (open < max).then_some(open + 1);
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
        shared.count(|counts| counts.connections_refused += 1);
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
            "refused": counts.refused, "connections_refused": counts.connections_refused, "messages": counts.messages,
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
