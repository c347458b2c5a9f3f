//! NFS version 3 (RFC 1813) over TCP: a connection and an identity for each session.

mod procedures;
mod rpc;
mod session;
#[cfg(test)]
mod tests;
mod xdr;

use self::procedures::Sizes;
use self::rpc::{LAST_FRAGMENT, MOUNT, NFS, Rpc};
use self::session::{Session, call_refusal, mount_refusal};
use super::wire::{Framing, Tasks};
use bakeoff_engine::{CONNECTING, FileCall, FileClient, FileServer};
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

const PORTMAP_PORT: u16 = 111;
/// What one READ or WRITE carries at most, bytes, whatever the server offers.
const TRANSFER_MAX: u32 = 1 << 20;
/// What a server that tells nothing is trusted to carry, bytes.
const TRANSFER_MIN: u32 = 8 << 10;
const FRAMING: Framing = Framing { length_mask: !LAST_FRAGMENT, limit: (TRANSFER_MAX as usize) + (64 << 10) };
/// Who speaks where the address does not say it: nobody.
const NOBODY: u32 = 65_534;

/// A server and its export: `nfs://host[:port]/export[?mountport=…&uid=…&gid=…]`. A port makes the port mapper
/// unnecessary; it is that of the mount protocol as well, unless `mountport` names another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsServer {
    address: String,
    host: String,
    export: String,
    ports: Option<Ports>,
    uid: u32,
    gid: u32,
    /// What the first session found out: the others go to the server at once.
    mounted: Arc<OnceLock<Mounted>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Mounted {
    ports: Ports,
    root: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Ports {
    mount: u16,
    nfs: u16,
}

impl NfsServer {
    /// Reads an address; the error is a sentence.
    pub fn of(address: &str) -> Result<Self, String> {
        let refuse = |why: &str| format!("{address}: {why}: write nfs://host/export");
        let rest = address.strip_prefix("nfs://").ok_or_else(|| refuse("this is no NFS address"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').ok_or_else(|| refuse("the export is missing"))?;
        if authority.contains('@') {
            return Err(refuse("NFS 3 has no users with passwords; ?uid=…&gid=… says who speaks"));
        }
        let (host, port) = super::authority::split_port(authority).map_err(refuse)?;
        if host.is_empty() || path.is_empty() {
            return Err(refuse("host or export is missing"));
        }
        let mut server = Self {
            address: address.to_owned(),
            host: host.to_owned(),
            export: format!("/{}", super::authority::decoded(path.trim_end_matches('/')).map_err(refuse)?),
            ports: port.map(|nfs| Ports { mount: nfs, nfs }),
            uid: NOBODY,
            gid: NOBODY,
            mounted: Arc::default(),
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let number = value.parse::<u32>().map_err(|_| refuse("after ? numbers are expected"))?;
            let port_of = |number: u32| u16::try_from(number).map_err(|_| refuse("a port is at most 65535"));
            match (key, &mut server.ports) {
                ("uid", _) => server.uid = number,
                ("gid", _) => server.gid = number,
                ("mountport", Some(ports)) => ports.mount = port_of(number)?,
                ("mountport", None) => return Err(refuse("mountport belongs to a port after the host")),
                _ => return Err(refuse("after ? only mountport, uid and gid are known")),
            }
        }
        Ok(server)
    }
}

impl FileServer for NfsServer {
    fn address(&self) -> &str {
        &self.address
    }

    fn host(&self) -> &str {
        &self.host
    }

    /// Most servers refuse calls of `AUTH_SYS` from other ports.
    fn wants_reserved_port(&self) -> bool {
        true
    }

    fn client(&self, folder: &str, depth: u32, session: u32) -> Box<dyn FileClient> {
        let tasks = Tasks::new(FRAMING, depth);
        let rpc = Rpc::new(Rc::clone(&tasks.wire), self.uid, self.gid, session);
        let state = Rc::new(State {
            stage: Cell::new(match (self.mounted.get(), self.ports) {
                (Some(_), _) => Stage::Nfs,
                (None, Some(_)) => Stage::Mount,
                (None, None) => Stage::Portmap,
            }),
            ports: Cell::new(self.mounted.get().map(|mounted| mounted.ports).or(self.ports).unwrap_or_default()),
            refusal: RefCell::default(),
        });
        let session = Rc::new(Session::new(rpc, depth));
        session.root.replace(self.mounted.get().map(|mounted| mounted.root.as_slice().into()));
        Box::new(NfsClient { server: self.clone(), folder: folder.to_owned(), tasks, session, state, sent: Vec::new() })
    }
}

/// What a new connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Portmap,
    Mount,
    Nfs,
    Ready,
}

#[derive(Debug)]
struct State {
    stage: Cell<Stage>,
    ports: Cell<Ports>,
    refusal: RefCell<Option<String>>,
}

/// A session of NFS.
#[derive(Debug)]
struct NfsClient {
    server: NfsServer,
    /// The folder below the export that names are relative to.
    folder: String,
    tasks: Tasks,
    session: Rc<Session>,
    state: Rc<State>,
    sent: Vec<u8>,
}

impl FileClient for NfsClient {
    fn port(&self) -> Option<u16> {
        match self.state.stage.get() {
            Stage::Portmap => Some(PORTMAP_PORT),
            Stage::Mount => Some(self.state.ports.get().mount),
            Stage::Nfs => Some(self.state.ports.get().nfs),
            Stage::Ready => None,
        }
    }

    fn connected(&mut self) {
        self.tasks.connected();
        self.session.rpc.connected();
        let (session, state) = (Rc::clone(&self.session), Rc::clone(&self.state));
        let (server, folder) = (self.server.clone(), self.folder.clone());
        self.tasks.begin(CONNECTING, async move {
            match prepare(&session, &state, &server, &folder).await {
                Ok(()) => 0,
                Err((errno, refusal)) => {
                    state.refusal.replace(Some(refusal));
                    errno
                }
            }
        });
    }

    fn begin(&mut self, slot: u32, call: &FileCall, names: [&CStr; 2], data: &[u8]) {
        let session = Rc::clone(&self.session);
        let (call, names, data) = (*call, names.map(CStr::to_owned), data.to_vec());
        self.tasks.begin(slot, session.execute(slot, call, names, data));
    }

    fn outgoing(&mut self) -> &mut Vec<u8> {
        std::mem::swap(&mut self.sent, &mut self.tasks.wire.out.borrow_mut());
        &mut self.sent
    }

    fn space(&mut self) -> &mut [u8] {
        self.tasks.space()
    }

    fn received(&mut self, count: usize) -> Result<(), String> {
        let rpc = &self.session.rpc;
        self.tasks.received(count, |header, fragment| rpc.record(header, fragment, FRAMING.limit))
    }

    fn finished(&mut self) -> Option<(u32, i64)> {
        self.tasks.finished()
    }

    fn data(&self, slot: u32, to: &mut [u8]) -> usize {
        let data = self.session.data.borrow();
        let read = &data[slot as usize];
        let count = read.len().min(to.len());
        to[..count].copy_from_slice(&read[..count]);
        count
    }

    fn lost(&mut self, errno: i32) {
        self.tasks.lost(errno);
        if self.state.stage.get() == Stage::Ready {
            self.state.stage.set(Stage::Nfs);
        }
    }

    fn refusal(&self) -> Option<String> {
        self.state.refusal.borrow().clone()
    }

    fn facts(&self) -> Value {
        let Sizes { read, write } = self.session.sizes.get();
        json!({
            "protocol": "NFS 3", "uid": self.server.uid, "gid": self.server.gid,
            "read_bytes_max": read, "write_bytes_max": write, "locks": false,
        })
    }
}

/// Goes through the stage that the new connection is for.
async fn prepare(session: &Session, state: &State, server: &NfsServer, folder: &str) -> Result<(), (i64, String)> {
    let host = &server.host;
    match state.stage.get() {
        Stage::Portmap => {
            let refuse =
                |errno: i64| (errno, format!("{host}: the port mapper does not answer calls (error {})", -errno));
            let mount = session.rpc.port_of(MOUNT).await.map_err(refuse)?;
            let nfs = session.rpc.port_of(NFS).await.map_err(refuse)?;
            let (Ok(mount), Ok(nfs)) = (u16::try_from(mount), u16::try_from(nfs)) else { return Err(refuse(-5)) };
            if mount == 0 || nfs == 0 {
                return Err((-93, format!("{host} offers no NFS version 3 over TCP: enable it")));
            }
            state.ports.set(Ports { mount, nfs });
            state.stage.set(Stage::Mount);
        }
        Stage::Mount => {
            let root = session.rpc.mount(server.export.as_bytes()).await;
            let root = root.map_err(|errno| (errno, mount_refusal(&server.export, host, errno)))?;
            // Whoever was first has put the same there.
            _ = server.mounted.set(Mounted { ports: state.ports.get(), root: root.to_vec() });
            session.root.replace(Some(root));
            state.stage.set(Stage::Nfs);
        }
        Stage::Nfs | Stage::Ready => {
            if session.sizes.get().read == 0 {
                let refuse = |errno: i64| (errno, call_refusal(&server.export, host, errno));
                enter(session, folder).await.map_err(refuse)?;
            }
            state.stage.set(Stage::Ready);
        }
    }
    Ok(())
}

/// Asks for the server's sizes and goes to the folder that names are relative to.
async fn enter(session: &Session, folder: &str) -> Result<(), i64> {
    let mut at = session.root.borrow().clone().ok_or(-5_i64)?;
    let offered = session.rpc.fsinfo(&at).await?;
    for part in folder.split('/').filter(|part| !part.is_empty()) {
        at = session.rpc.lookup(&at, part.as_bytes()).await?.0;
    }
    session.root.replace(Some(at));
    let bounded = |size: u32| if size == 0 { TRANSFER_MIN } else { size.min(TRANSFER_MAX) };
    session.sizes.set(Sizes { read: bounded(offered.read), write: bounded(offered.write) });
    Ok(())
}
