//! SMB 2 and 3 (MS-SMB2) over TCP: a connection and a login for each session.

mod login;
mod packet;
mod session;
mod status;
#[cfg(test)]
mod tests;

use self::login::{Login, log_in};
use self::packet::Channel;
use self::session::Session;
use super::wire::{Framing, Tasks};
use bakeoff_engine::{CONNECTING, FileCall, FileClient, FileServer};
use serde_json::{Value, json};
use smb2::types::Dialect;
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;

const PORT: u16 = 445;
/// The longest message: a transfer of 1 MiB and what is around it.
const FRAMING: Framing = Framing { length_mask: 0x00FF_FFFF, limit: (1 << 20) + (64 << 10) };

/// A server and its share: `smb://[user@]host[:port]/share[/folder][?dialect=…&signing=required&encryption=required&domain=…]`.
#[derive(Debug, Clone)]
pub struct SmbServer {
    address: String,
    host: String,
    port: u16,
    share: String,
    folder: String,
    login: Login,
}

impl SmbServer {
    /// Reads an address; the error is a sentence. `password` is that of its user.
    pub fn of(address: &str, password: &str) -> Result<Self, String> {
        let refuse = |why: &str| format!("{address}: {why}: write smb://user@host/share/folder");
        let rest = address.strip_prefix("smb://").ok_or_else(|| refuse("this is no SMB address"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.split_once('/').ok_or_else(|| refuse("the share is missing"))?;
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if user.contains(':') {
            return Err("an address holds no password: set BAKEOFF_SMB_PASSWORD, and leave it out".to_owned());
        }
        let (host, port) = super::authority::split_port(host).map_err(refuse)?;
        let named = |text: &str| super::authority::decoded(text).map_err(refuse);
        let (user, path) = (&*named(user)?, &*named(path)?);
        let (share, folder) = path.split_once('/').unwrap_or((path, ""));
        if host.is_empty() || share.is_empty() {
            return Err(refuse("host or share is missing"));
        }
        let forbidden = ['\\', ':', '*', '?', '"', '<', '>', '|'];
        if path.contains(forbidden) {
            return Err(refuse("SMB forbids the characters \\ : * ? \" < > | in names"));
        }
        let mut login = Login {
            user: user.to_owned(),
            password: if user.is_empty() { String::new() } else { password.to_owned() },
            domain: String::new(),
            dialects: Dialect::ALL.to_vec(),
            must_sign: false,
            must_encrypt: false,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("domain", domain) => domain.clone_into(&mut login.domain),
                ("signing", "required") => login.must_sign = true,
                ("encryption", "required") => login.must_encrypt = true,
                ("dialect", wanted) => {
                    let named = |dialect: &&Dialect| dialect.to_string() == format!("SMB {wanted}");
                    let dialect = Dialect::ALL.iter().find(named);
                    login.dialects =
                        vec![*dialect.ok_or_else(|| refuse("dialects are 2.0.2, 2.1, 3.0, 3.0.2 and 3.1.1"))?];
                }
                _ => {
                    return Err(refuse(
                        "after ? only dialect, signing=required, encryption=required and domain are known",
                    ));
                }
            }
        }
        Ok(Self {
            address: address.to_owned(),
            host: host.to_owned(),
            port: port.unwrap_or(PORT),
            share: share.to_owned(),
            folder: folder.trim_matches('/').to_owned(),
            login,
        })
    }
}

impl FileServer for SmbServer {
    fn address(&self) -> &str {
        &self.address
    }

    fn host(&self) -> &str {
        &self.host
    }

    fn client(&self, folder: &str, depth: u32, session: u32) -> Box<dyn FileClient> {
        let tasks = Tasks::new(FRAMING, depth);
        let base = [self.folder.as_str(), folder].map(|part| part.replace('/', "\\"));
        let base = base.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\\");
        let session_state = Rc::new(Session::new(Channel::new(Rc::clone(&tasks.wire)), base, depth));
        Box::new(SmbClient {
            server: self.clone(),
            number: session,
            tasks,
            session: session_state,
            state: Rc::new(State { ready: Cell::new(false), refusal: RefCell::default() }),
            sent: Vec::new(),
        })
    }
}

#[derive(Debug)]
struct State {
    ready: Cell<bool>,
    refusal: RefCell<Option<String>>,
}

/// A session of SMB.
#[derive(Debug)]
struct SmbClient {
    server: SmbServer,
    number: u32,
    tasks: Tasks,
    session: Rc<Session>,
    state: Rc<State>,
    sent: Vec<u8>,
}

impl FileClient for SmbClient {
    fn port(&self) -> Option<u16> {
        (!self.state.ready.get()).then_some(self.server.port)
    }

    fn connected(&mut self) {
        self.tasks.connected();
        self.session.channel.connected();
        self.session.forget_files();
        let (session, state) = (Rc::clone(&self.session), Rc::clone(&self.state));
        let (server, number) = (self.server.clone(), self.number);
        self.tasks.begin(CONNECTING, async move {
            match log_in(&session.channel, &server.login, &server.host, &server.share, number).await {
                Ok(agreed) => {
                    session.agreed.replace(agreed);
                    state.ready.set(true);
                    state.refusal.take();
                    0
                }
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
        let channel = &self.session.channel;
        self.tasks.received(count, |_, message| channel.read(message))?;
        let starved = channel.starved.take();
        starved.into_iter().for_each(|slot| self.tasks.poll(slot));
        Ok(())
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
        self.state.ready.set(false);
    }

    fn refusal(&self) -> Option<String> {
        self.state.refusal.borrow().clone()
    }

    fn facts(&self) -> Value {
        let agreed = self.session.agreed.borrow();
        let login = &self.server.login;
        json!({
            "protocol": agreed.dialect, "signing": agreed.signing, "encryption": agreed.encryption,
            "user": if login.user.is_empty() { "nobody" } else { &login.user },
            "credits": self.session.channel.credits(), "oplocks": "none",
            "read_bytes_max": agreed.read, "write_bytes_max": agreed.write,
        })
    }
}
