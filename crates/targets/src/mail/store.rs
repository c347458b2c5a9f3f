//! Mailboxes in memory or as Maildir folders.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::spec::FillSpec;
use crate::ServeError;
use crate::server::clock::now_ns;

/// A stored message.
#[derive(Clone)]
pub struct Stored {
    pub uid: String,
    pub bytes: u64,
    content: Content,
    visible_ns: u64,
}

#[derive(Clone)]
enum Content {
    Memory(Arc<[u8]>),
    File(PathBuf),
}

impl Stored {
    pub fn read(&self) -> io::Result<Arc<[u8]>> {
        match &self.content {
            Content::Memory(bytes) => Ok(Arc::clone(bytes)),
            Content::File(path) => std::fs::read(path).map(Into::into),
        }
    }
}

#[derive(Default)]
struct Inner {
    boxes: HashMap<String, Vec<Stored>>,
    locked: HashSet<String>,
    next_uid: u64,
}

/// All mailboxes of a server.
pub struct Store {
    /// Password by name; `None` lets everybody in.
    users: Option<HashMap<String, String>>,
    /// Domain by the part of an address before it; `None` where several have it.
    short: HashMap<String, Option<String>>,
    maildir: Option<PathBuf>,
    /// What every mailbox holds from the start.
    fill: Vec<Arc<[u8]>>,
    endless: bool,
    inner: Mutex<Inner>,
}

impl Store {
    pub fn new(users_file: Option<&Path>, maildir: Option<&Path>, fill: Option<FillSpec>) -> Result<Self, ServeError> {
        let endless = fill.is_some_and(|fill| fill.endless);
        let users = users_file.map(read_users).transpose()?;
        if let Some(folder) = maildir {
            std::fs::create_dir_all(folder).map_err(|e| {
                ServeError::Start(format!("cannot make {}: {e}; choose another folder", folder.display()))
            })?;
        }
        let fill = fill.map(|fill| (0..fill.messages).map(|number| filling(fill, number)).collect());
        let mut short = HashMap::new();
        for (name, domain) in users.iter().flat_map(HashMap::keys).filter_map(|address| address.split_once('@')) {
            let known = short.contains_key(name);
            short.insert(name.to_owned(), (!known).then(|| domain.to_owned()));
        }
        Ok(Self {
            users,
            short,
            maildir: maildir.map(Path::to_owned),
            fill: fill.unwrap_or_default(),
            endless,
            inner: Mutex::default(),
        })
    }

    fn inner<R>(&self, run: impl FnOnce(&mut Inner) -> R) -> R {
        run(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether mail for this address is taken.
    pub fn knows(&self, user: &str) -> bool {
        self.users.as_ref().is_none_or(|users| users.contains_key(user))
    }

    /// The address of whoever logs in without the domain, where one user alone is called so; else the name as it is.
    pub fn address_of(&self, name: &str) -> String {
        let short = self.short.get(name).and_then(Option::as_ref);
        short.map_or_else(|| name.to_owned(), |domain| format!("{name}@{domain}"))
    }

    pub fn lets_in(&self, user: &str, password: &str) -> bool {
        self.users.as_ref().is_none_or(|users| users.get(user).is_some_and(|right| right == password))
    }

    /// Delivers a message that is to be seen after `delay_ns`.
    pub fn deliver(&self, user: &str, message: &[u8], delay_ns: u64) -> io::Result<()> {
        let uid = self.inner(|inner| {
            inner.next_uid += 1;
            format!("{:016x}", inner.next_uid)
        });
        let content = match &self.maildir {
            None => Content::Memory(message.into()),
            Some(folder) => Content::File(write_maildir(&folder.join(safe(user)), &uid, message)?),
        };
        let stored = Stored { uid, bytes: message.len() as u64, content, visible_ns: now_ns() + delay_ns };
        self.inner(|inner| inner.boxes.entry(user.to_owned()).or_default().push(stored));
        Ok(())
    }

    /// What a mailbox shows now.
    pub fn list(&self, user: &str) -> Vec<Stored> {
        let now = now_ns();
        self.inner(|inner| {
            if self.endless {
                let first = inner.next_uid + 1;
                inner.next_uid += self.fill.len() as u64;
                return self.filled(|number| format!("{:016x}", first + number));
            }
            if !self.fill.is_empty() && !inner.boxes.contains_key(user) {
                inner.boxes.insert(user.to_owned(), self.filled(|number| format!("fill{number:08}")));
            }
            let all = inner.boxes.get(user).map(Vec::as_slice).unwrap_or_default();
            all.iter().filter(|stored| stored.visible_ns <= now).cloned().collect()
        })
    }

    fn filled(&self, uid: impl Fn(u64) -> String) -> Vec<Stored> {
        let one = |(number, text): (u64, &Arc<[u8]>)| Stored {
            uid: uid(number),
            bytes: text.len() as u64,
            content: Content::Memory(Arc::clone(text)),
            visible_ns: 0,
        };
        (0..).zip(&self.fill).map(one).collect()
    }

    /// Locks a mailbox; `false` when it is locked already.
    pub fn lock(&self, user: &str) -> bool {
        self.inner(|inner| inner.locked.insert(user.to_owned()))
    }

    pub fn unlock(&self, user: &str) {
        self.inner(|inner| inner.locked.remove(user));
    }

    /// Removes messages for good.
    pub fn remove(&self, user: &str, uids: &HashSet<String>) {
        let gone = self.inner(|inner| {
            let Some(all) = inner.boxes.get_mut(user) else { return Vec::new() };
            let (gone, kept) = std::mem::take(all).into_iter().partition(|stored| uids.contains(&stored.uid));
            *all = kept;
            gone
        });
        for stored in gone {
            if let Content::File(path) = stored.content {
                // Gone already is as good.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

/// One of the messages that are there from the start.
fn filling(fill: FillSpec, number: usize) -> Arc<[u8]> {
    let mark = format!("ffffffffffffffff.0.0.{number}\r\n");
    let mut text = b"Subject: filling\r\n".to_vec();
    if fill.endless {
        text.extend_from_slice(format!("X-Bake-Id: {mark}X-Bake-SHA256: {:064}\r\n", 0).as_bytes());
    }
    text.extend_from_slice(b"\r\n");
    while text.len() + 78 <= fill.bytes {
        text.extend_from_slice(&[b'x'; 76]);
        text.extend_from_slice(b"\r\n");
    }
    text.into()
}

/// A user's name as the name of a folder.
fn safe(user: &str) -> String {
    let good = |c: char| if c.is_ascii_alphanumeric() || "@._+-".contains(c) { c } else { '_' };
    let name: String = user.chars().map(good).collect();
    if name.starts_with('.') { format!("_{name}") } else { name }
}

/// `tmp`, then a rename into `new`, as Maildir asks.
fn write_maildir(folder: &Path, uid: &str, message: &[u8]) -> io::Result<PathBuf> {
    for part in ["tmp", "new", "cur"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    let name = format!("{uid}.bakeoff");
    let (part, whole) = (folder.join("tmp").join(&name), folder.join("new").join(&name));
    std::fs::write(&part, message)?;
    std::fs::rename(&part, &whole)?;
    Ok(whole)
}

fn wrong_line(path: &Path, number: usize) -> ServeError {
    ServeError::Spec(format!("{} line {}: write user,password,domain", path.display(), number + 1))
}

/// Lines `user,password,domain`, or `user@domain,password`, with a header line; a user is known by its full address.
fn read_users(path: &Path) -> Result<HashMap<String, String>, ServeError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| ServeError::Start(format!("cannot read the users file {}: {e}", path.display())))?;
    let mut users = HashMap::new();
    for (number, line) in text.lines().enumerate() {
        if number == 0 && line.trim() == "user,password,domain" || line.trim().is_empty() {
            continue;
        }
        let mut parts = line.split(',').map(str::trim);
        let (Some(user), Some(password), domain) = (parts.next(), parts.next(), parts.next()) else {
            return Err(wrong_line(path, number));
        };
        let address = match domain {
            _ if user.contains('@') => user.to_owned(),
            Some(domain) => format!("{user}@{domain}"),
            None => return Err(wrong_line(path, number)),
        };
        users.insert(address, password.to_owned());
    }
    Ok(users)
}
