//! From a new connection to a share: `NEGOTIATE`, `SESSION_SETUP` by NTLM, `TREE_CONNECT` (MS-SMB2 3.2.4.2).

use super::packet::{Channel, Command, Encryption, HEADER, Keys, Request};
use super::status;
use bakeoff_engine::Rng;
use smb2::auth::ntlm::{NtlmAuthenticator, NtlmCredentials};
use smb2::crypto::encryption::{Cipher, NonceGenerator};
use smb2::crypto::kdf::{PreauthHasher, derive_session_keys};
use smb2::crypto::signing::{SigningAlgorithm, algorithm_for_dialect, verify_signature};
use smb2::msg::negotiate::{
    CIPHER_AES_128_CCM, CIPHER_AES_128_GCM, CIPHER_AES_256_CCM, CIPHER_AES_256_GCM, HASH_ALGORITHM_SHA512,
    NegotiateContext, NegotiateRequest, NegotiateResponse, SIGNING_AES_CMAC, SIGNING_AES_GMAC,
};
use smb2::msg::session_setup::{SessionFlags, SessionSetupRequest, SessionSetupRequestFlags, SessionSetupResponse};
use smb2::msg::tree_connect::{TreeConnectRequest, TreeConnectRequestFlags, TreeConnectResponse};
use smb2::pack::guid::Guid;
use smb2::pack::{Pack, ReadCursor, Unpack, WriteCursor};
use smb2::types::Dialect;
use smb2::types::flags::{Capabilities, SecurityMode};
use std::cell::RefCell;
use std::fmt;

/// What one READ or WRITE carries at most, bytes, whatever the server offers.
const TRANSFER_MAX: u32 = 1 << 20;
/// A share of files, and one whose messages are encrypted (MS-SMB2 2.2.10).
const DISK: u8 = 1;
const ENCRYPT_DATA: u32 = 0x8000;
/// Without credits for more.
const TRANSFER_SMALL: u32 = 64 << 10;

/// Who logs in, and what the connection must have.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user; "" is nobody.
    pub user: String,
    /// Never shown.
    pub password: String,
    /// "" for accounts of the server.
    pub domain: String,
    /// Dialects that are offered.
    pub dialects: Vec<Dialect>,
    /// Every message is signed, whatever the server asks.
    pub must_sign: bool,
    /// Every message is encrypted.
    pub must_encrypt: bool,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// What was agreed.
#[derive(Debug, Clone, Default)]
pub(super) struct Negotiated {
    pub dialect: String,
    pub signing: &'static str,
    pub encryption: &'static str,
    pub read: u32,
    pub write: u32,
    pub server_time: u64,
}

/// Why there is no session: the error number and a sentence.
pub(super) type Refused = (i64, String);

/// Goes all the way. `session` tells salts and identities of sessions apart.
pub(super) async fn log_in(
    channel: &Channel,
    login: &Login,
    host: &str,
    share: &str,
    session: u32,
) -> Result<Negotiated, Refused> {
    let mut hash = PreauthHasher::new();
    let (offered, cipher, gmac) = negotiate(channel, login, host, session, &mut hash).await?;
    let dialect = offered.dialect_revision;
    channel.large.set(dialect != Dialect::Smb2_0_2 && offered.capabilities.bits() & Capabilities::LARGE_MTU != 0);
    let (keys, spare) = set_up(channel, login, host, &offered, (cipher, gmac), &mut hash).await?;
    channel.keys.replace(Some(keys));
    channel.is_logging_in.set(false);
    if connect_tree(channel, host, share).await?
        && let Some(keys) = channel.keys.borrow_mut().as_mut()
        && keys.encryption.is_none()
    {
        let missing =
            || (-93, format!("{host} encrypts its share {share}, which {dialect} cannot: give another dialect"));
        keys.encryption = Some(spare.ok_or_else(missing)?);
    }
    let keys = channel.keys.borrow();
    let encryption = keys.as_ref().and_then(|keys| keys.encryption.as_ref());
    let signed = keys.as_ref().filter(|keys| keys.signs && encryption.is_none());
    let mut agreed = Negotiated {
        dialect: dialect.to_string(),
        signing: signed.map_or("none", |keys| name_of(keys.algorithm)),
        encryption: encryption.map_or("none", |how| cipher_name(how.cipher)),
        server_time: offered.system_time,
        ..Negotiated::default()
    };
    let most = if channel.large.get() { TRANSFER_MAX } else { TRANSFER_SMALL };
    (agreed.read, agreed.write) = (offered.max_read_size.min(most), offered.max_write_size.min(most));
    if agreed.read == 0 || agreed.write == 0 {
        return Err((-71, format!("{host} offers to carry no bytes")));
    }
    Ok(agreed)
}

fn packed(message: &impl Pack) -> Vec<u8> {
    let mut out = WriteCursor::new();
    message.pack(&mut out);
    out.into_inner()
}

fn request(command: Command, message: &impl Pack) -> Request {
    Request { command, body: packed(message), payload: 0 }
}

async fn negotiate(
    channel: &Channel,
    login: &Login,
    host: &str,
    session: u32,
    hash: &mut PreauthHasher,
) -> Result<(NegotiateResponse, Option<Cipher>, bool), Refused> {
    let mut rng = Rng::for_thread(0x5EED, session, 0);
    let mut contexts = vec![NegotiateContext::PreauthIntegrity {
        hash_algorithms: vec![HASH_ALGORITHM_SHA512],
        salt: (0..4).flat_map(|_| rng.next_u64().to_le_bytes()).collect(),
    }];
    contexts.push(NegotiateContext::Encryption {
        ciphers: vec![CIPHER_AES_128_GCM, CIPHER_AES_128_CCM, CIPHER_AES_256_GCM, CIPHER_AES_256_CCM],
    });
    contexts.push(NegotiateContext::Signing { algorithms: vec![SIGNING_AES_GMAC, SIGNING_AES_CMAC] });
    let mode = if login.must_sign { SecurityMode::SIGNING_REQUIRED } else { SecurityMode::SIGNING_ENABLED };
    let message = NegotiateRequest {
        security_mode: SecurityMode::new(mode),
        capabilities: Capabilities::new(Capabilities::LARGE_MTU | Capabilities::ENCRYPTION),
        client_guid: Guid { data1: session, data2: 0xBACE, data3: 0x0FF0, data4: rng.next_u64().to_le_bytes() },
        negotiate_contexts: if login.dialects.contains(&Dialect::Smb3_1_1) { contexts } else { Vec::new() },
        dialects: login.dialects.clone(),
    };
    let answer = channel
        .call(request(Command::Negotiate, &message), |status, message| {
            Ok((status, NegotiateResponse::unpack(&mut ReadCursor::new(message.get(HEADER..).unwrap_or(&[]))).ok()))
        })
        .await
        .map_err(|errno| (errno, format!("{host} does not answer as a server of SMB 2 or 3")))?;
    hash_last(channel, hash, true);
    match answer {
        (status::SUCCESS, Some(offered)) if login.dialects.contains(&offered.dialect_revision) => {
            if login.must_encrypt
                && !matches!(offered.dialect_revision, Dialect::Smb3_1_1 | Dialect::Smb3_0 | Dialect::Smb3_0_2)
            {
                return Err((-93, format!("{host} speaks {}, which has no encryption", offered.dialect_revision)));
            }
            let (mut cipher, mut gmac) = (None, false);
            for context in &offered.negotiate_contexts {
                match context {
                    NegotiateContext::Encryption { ciphers } => cipher = ciphers.first().and_then(|&id| cipher_of(id)),
                    NegotiateContext::Signing { algorithms } => gmac = algorithms.first() == Some(&SIGNING_AES_GMAC),
                    _ => {}
                }
            }
            Ok((offered, cipher, gmac))
        }
        (status::SUCCESS, Some(offered)) => {
            Err((-93, format!("{host} answers with {}, which was not offered", offered.dialect_revision)))
        }
        (status, _) => {
            let dialects: Vec<String> = login.dialects.iter().map(ToString::to_string).collect();
            Err((status::errno(status), format!("{host} speaks none of {}: give another dialect", dialects.join(", "))))
        }
    }
}

/// Adds the last request, and its reply where that counts, to the hash from which keys come.
fn hash_last(channel: &Channel, hash: &mut PreauthHasher, with_reply: bool) {
    let last = channel.last.borrow();
    hash.update(&last.0);
    if with_reply {
        hash.update(&last.1);
    }
}

async fn set_up(
    channel: &Channel,
    login: &Login,
    host: &str,
    offered: &NegotiateResponse,
    (cipher, gmac): (Option<Cipher>, bool),
    hash: &mut PreauthHasher,
) -> Result<(Keys, Option<Encryption>), Refused> {
    let mut ntlm = NtlmAuthenticator::new(NtlmCredentials {
        username: login.user.clone(),
        password: login.password.clone(),
        domain: login.domain.clone(),
    });
    let first = ntlm.negotiate();
    let (status, id, challenge) = step(channel, login, first).await.map_err(|errno| broken(host, errno))?;
    hash_last(channel, hash, true);
    if status != status::MORE_PROCESSING {
        return Err((status::errno(status), format!("{host} refuses to log in by NTLM (status {status:#010x})")));
    }
    channel.session_id.set(id);
    let second = ntlm.authenticate(&challenge.security_buffer).map_err(|_| broken(host, -71))?;
    let (status, id, last) = step(channel, login, second).await.map_err(|errno| broken(host, errno))?;
    hash_last(channel, hash, false);
    if status != status::SUCCESS {
        return Err((status::errno(status), login_refusal(host, login, status)));
    }
    channel.session_id.set(id);
    let flags = last.session_flags;
    if (flags.is_guest() || flags.is_null()) && !login.user.is_empty() {
        let user = &login.user;
        return Err((
            -13,
            format!("{host} logs {user} in as a guest: give a user that the server knows, or none (smb://host/…)"),
        ));
    }
    let session_key = ntlm.session_key().unwrap_or(&[0; 16]).to_vec();
    let dialect = offered.dialect_revision;
    let is_3 = matches!(dialect, Dialect::Smb3_0 | Dialect::Smb3_0_2 | Dialect::Smb3_1_1);
    let anonymous = flags.is_guest() || flags.is_null();
    if anonymous && (login.must_sign || login.must_encrypt) {
        return Err((-13, format!("{host} neither signs nor encrypts for nobody: give a user (smb://user@host/…)")));
    }
    let cipher = cipher.or((is_3 && dialect != Dialect::Smb3_1_1).then_some(Cipher::Aes128Ccm));
    let wide = matches!(cipher, Some(Cipher::Aes256Ccm | Cipher::Aes256Gcm));
    let derived = is_3.then(|| {
        let context = (dialect == Dialect::Smb3_1_1).then(|| *hash.value());
        derive_session_keys(&session_key, dialect, context.as_ref(), if wide { 256 } else { 128 })
    });
    let algorithm = algorithm_for_dialect(dialect, gmac);
    let mut signing = derived.as_ref().map_or(session_key, |keys| keys.signing_key.clone());
    signing.truncate(16);
    let signs = !anonymous && (login.must_sign || offered.security_mode.signing_required());
    if is_3 && !anonymous {
        let reply = channel.last.borrow().1.clone();
        prove_last(&reply, &signing, algorithm)
            .map_err(|()| (-13, format!("{host} does not prove that it knows the password of {}", login.user)))?;
    }
    let wants = login.must_encrypt || flags.encrypt_data();
    let possible = cipher.zip(derived).filter(|_| !anonymous).map(|(cipher, keys)| Encryption {
        sending: keys.encryption_key,
        receiving: keys.decryption_key,
        cipher,
        nonces: RefCell::new(NonceGenerator::new()),
    });
    if wants && possible.is_none() {
        return Err((-93, format!("{host} has no encryption: leave it out, or enable it")));
    }
    let (encryption, spare) = if wants { (possible, None) } else { (None, possible) };
    let signs_tree = !anonymous && dialect == Dialect::Smb3_1_1;
    Ok((Keys { signing, algorithm, encryption, signs, signs_tree }, spare))
}

/// The last reply of the login is signed, as the keys come from it.
fn prove_last(reply: &[u8], key: &[u8], algorithm: SigningAlgorithm) -> Result<(), ()> {
    let number = super::packet::u64_at(reply, 24).map_err(|_| ())?;
    verify_signature(reply, key, algorithm, number, false).map_err(|_| ())
}

fn broken(host: &str, errno: i64) -> Refused {
    (errno, format!("{host} breaks off the login (error {})", -errno))
}

fn login_refusal(host: &str, login: &Login, status: u32) -> String {
    let user = if login.user.is_empty() { "nobody" } else { &login.user };
    match status {
        status::LOGON_FAILURE | 0xC000_006A | 0xC000_0064 => {
            format!("{host} does not know {user} by this password: set BAKEOFF_SMB_PASSWORD")
        }
        0xC000_0072 | 0xC000_006E | 0xC000_0234 => format!("{host}: the account {user} is disabled or locked"),
        0xC000_0071 | 0xC000_0224 => format!("{host}: the password of {user} has expired"),
        0xC000_015B => format!("{host} does not let {user} log in over the network"),
        status::ACCESS_DENIED => format!("{host} refuses {user}: does it want signing or encryption?"),
        _ => format!("{host} refuses to log {user} in (status {status:#010x})"),
    }
}

async fn step(channel: &Channel, login: &Login, token: Vec<u8>) -> Result<(u32, u64, SessionSetupResponse), i64> {
    let mode = if login.must_sign { SecurityMode::SIGNING_REQUIRED } else { SecurityMode::SIGNING_ENABLED };
    let message = SessionSetupRequest {
        flags: SessionSetupRequestFlags(0),
        security_mode: SecurityMode::new(mode),
        capabilities: Capabilities::default(),
        channel: 0,
        previous_session_id: 0,
        security_buffer: token,
    };
    channel
        .call(request(Command::SessionSetup, &message), |status, message| {
            let id = super::packet::u64_at(message, 40)?;
            let body = message.get(HEADER..).unwrap_or(&[]);
            let none = SessionSetupResponse { session_flags: SessionFlags(0), security_buffer: Vec::new() };
            let fits = matches!(status, status::SUCCESS | status::MORE_PROCESSING);
            let answer =
                if fits { SessionSetupResponse::unpack(&mut ReadCursor::new(body)).map_err(|_| -71)? } else { none };
            Ok((status, id, answer))
        })
        .await
}

/// Whether the share wants all messages encrypted.
async fn connect_tree(channel: &Channel, host: &str, share: &str) -> Result<bool, Refused> {
    let message = TreeConnectRequest { flags: TreeConnectRequestFlags(0), path: format!("\\\\{host}\\{share}") };
    let (status, tree, found) = channel
        .call(request(Command::TreeConnect, &message), |status, message| {
            let tree = super::packet::u32_at(message, 36)?;
            let body = message.get(HEADER..).unwrap_or(&[]);
            let answer = TreeConnectResponse::unpack(&mut ReadCursor::new(body)).ok();
            Ok((status, tree, answer.map(|answer| (answer.share_type as u8, answer.share_flags.bits()))))
        })
        .await
        .map_err(|errno| broken(host, errno))?;
    if let (status::SUCCESS, Some((DISK, flags))) = (status, found) {
        channel.tree_id.set(tree);
        return Ok(flags & ENCRYPT_DATA != 0);
    }
    match status {
        status::SUCCESS => Err((-20, format!("{host}: {share} is no share of files"))),
        status::BAD_NETWORK_NAME => Err((-2, format!("{host} has no share {share}: look at `smbclient -L {host}`"))),
        status::ACCESS_DENIED => Err((-13, format!("{host} does not open its share {share} to this user"))),
        _ => Err((status::errno(status), format!("{host} refuses its share {share} (status {status:#010x})"))),
    }
}

fn cipher_of(id: u16) -> Option<Cipher> {
    match id {
        CIPHER_AES_128_CCM => Some(Cipher::Aes128Ccm),
        CIPHER_AES_128_GCM => Some(Cipher::Aes128Gcm),
        CIPHER_AES_256_CCM => Some(Cipher::Aes256Ccm),
        CIPHER_AES_256_GCM => Some(Cipher::Aes256Gcm),
        _ => None,
    }
}

const fn cipher_name(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Aes128Ccm => "AES-128-CCM",
        Cipher::Aes128Gcm => "AES-128-GCM",
        Cipher::Aes256Ccm => "AES-256-CCM",
        Cipher::Aes256Gcm => "AES-256-GCM",
    }
}

const fn name_of(algorithm: SigningAlgorithm) -> &'static str {
    match algorithm {
        SigningAlgorithm::HmacSha256 => "HMAC-SHA256",
        SigningAlgorithm::AesCmac => "AES-128-CMAC",
        SigningAlgorithm::AesGmac => "AES-128-GMAC",
    }
}
