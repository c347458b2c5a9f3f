//! A few words with one server of mail, for checks before timing: said step by step, read by the readers of the load.

use super::plan::endpoint;
use super::pop3::{CAPABILITIES_BYTES_MAX, Responses, stat};
use super::smtp::Replies;
use super::spec::{Pop3Spec, Protocol, Security, SmtpSpec};
use bakeoff_engine::{Endpoint, ErrorClass, SpecError};
use memchr::memchr;
use serde::Deserialize;
use std::collections::VecDeque;

/// So much of an answer shows what it is, bytes.
const SHOWN_BYTES: usize = 256;

/// One side of a server.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Side {
    /// Where it takes mail.
    Smtp(SmtpSpec),
    /// Where it gives it.
    Pop3(Pop3Spec),
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// These words are to be sent.
    Say(String),
    /// The connection is to be encrypted.
    Secure,
    /// All was said, or one step refused.
    Over,
}

/// Why a session does not begin, or does not go on, with the first line of what the server said.
#[derive(Debug, PartialEq, Eq)]
pub enum MailFault {
    /// No answer of this protocol, or one that is too long.
    Malformed(Vec<u8>),
    /// It takes no client.
    Denied(Vec<u8>),
    /// It does not turn to TLS.
    Plain(Vec<u8>),
    /// It says more before TLS begins.
    Early,
}

#[derive(Debug)]
enum Reader {
    Smtp(Replies),
    Pop3(Responses),
}

/// A session, which is opened as the load opens one.
#[derive(Debug)]
pub struct MailProbe {
    endpoint: Endpoint,
    reader: Reader,
    words: VecDeque<String>,
    /// Answers of the opening that are still to come.
    opening: usize,
    /// What is being answered; nothing at the beginning.
    asked: String,
    /// What has come and was not read.
    pending: Vec<u8>,
    /// Of the answer that is being read: its first line, and the list behind it.
    line: Vec<u8>,
    listed: Vec<u8>,
    /// What the server told of itself: what it offers by SMTP, its banner by POP3.
    pub greeting: Vec<u8>,
    /// What it said to each step.
    pub answers: Vec<Vec<u8>>,
    /// What it said to the step behind these, which it did not take.
    pub refusal: Option<Vec<u8>>,
}

impl MailProbe {
    /// With this side of a server, as it stands in the specification of a trial. `steps` are said one after the other,
    /// until one is refused.
    ///
    /// # Errors
    /// `side` is not that.
    pub fn new(side: &str, steps: Vec<String>) -> Result<Self, SpecError> {
        let (endpoint, reader, opening) = match serde_json::from_str(side)? {
            Side::Smtp(smtp) => (
                endpoint(&smtp.addresses, &smtp.server_name, smtp.tls.as_ref(), smtp.security, smtp.close_with_reset),
                Reader::Smtp(Replies::default()),
                smtp_opening(&smtp),
            ),
            Side::Pop3(pop3) => (
                endpoint(&pop3.addresses, &pop3.server_name, pop3.tls.as_ref(), pop3.security, pop3.close_with_reset),
                Reader::Pop3(Responses::default()),
                if pop3.security == Security::StartTls { vec!["STLS".to_owned()] } else { Vec::new() },
            ),
        };
        Ok(Self {
            endpoint,
            reader,
            opening: 1 + opening.len(),
            words: opening.into_iter().chain(steps).collect(),
            asked: String::new(),
            pending: Vec::new(),
            line: Vec::new(),
            listed: Vec::new(),
            greeting: Vec::new(),
            answers: Vec::new(),
            refusal: None,
        })
    }

    /// Where the server is.
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Takes what came; `None` when more is needed.
    ///
    /// # Errors
    /// The session does not go on.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<Next>, MailFault> {
        self.pending.extend_from_slice(bytes);
        self.keep_line();
        let read = self.read().map_err(|_| MailFault::Malformed(self.first_line()))?;
        let Some((is_positive, text)) = read else { return Ok(None) };
        let line = self.first_line();
        if self.opening == 0 {
            return Ok(Some(self.answered(is_positive, text, line)));
        }
        self.opening -= 1;
        match (is_positive, matches!(self.asked.as_str(), "STARTTLS" | "STLS")) {
            (true, true) if self.pending.is_empty() => Ok(Some(Next::Secure)),
            (true, true) => Err(MailFault::Early),
            (false, true) => Err(MailFault::Plain(line)),
            (false, false) => Err(MailFault::Denied(line)),
            (true, false) => {
                self.greeting = text;
                Ok(Some(self.proceed()))
            }
        }
    }

    /// What follows an answer, or the handshake.
    pub fn proceed(&mut self) -> Next {
        let Some(words) = self.words.pop_front() else { return Next::Over };
        self.asked.clone_from(&words);
        Next::Say(words + "\r\n")
    }

    fn answered(&mut self, is_positive: bool, text: Vec<u8>, line: Vec<u8>) -> Next {
        if is_positive {
            self.answers.push(text);
            return self.proceed();
        }
        self.refusal = Some(line);
        Next::Over
    }

    /// The next answer: whether it is positive, and its text.
    fn read(&mut self) -> Result<Option<(bool, Vec<u8>)>, ErrorClass> {
        let mut rest = &self.pending[..];
        let lists = self.asked == "CAPA";
        let answer = match &mut self.reader {
            Reader::Smtp(replies) => {
                replies.next(&mut rest, true)?.map(|reply| (goes_on(&self.asked, reply.code), reply.text.into_bytes()))
            }
            Reader::Pop3(responses) => {
                let positive = responses.next(&mut rest, lists, &mut |part| self.listed.extend_from_slice(part))?;
                if self.listed.len() > CAPABILITIES_BYTES_MAX {
                    return Err(ErrorClass::Protocol);
                }
                if positive == Some(true) && self.asked == "STAT" && stat(responses.status()).is_none() {
                    return Err(ErrorClass::Protocol);
                }
                positive.map(|positive| {
                    let status = responses.status().trim_ascii();
                    (positive, if lists { std::mem::take(&mut self.listed) } else { status.to_vec() })
                })
            }
        };
        let taken = self.pending.len() - rest.len();
        self.pending.drain(..taken);
        Ok(answer)
    }

    fn keep_line(&mut self) {
        if self.line.last() != Some(&b'\n') {
            let end = memchr(b'\n', &self.pending).map_or(self.pending.len(), |at| at + 1);
            let room = SHOWN_BYTES.saturating_sub(self.line.len());
            self.line.extend_from_slice(&self.pending[..end.min(room)]);
        }
    }

    fn first_line(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line).trim_ascii_end().to_vec()
    }
}

/// Whether the load goes on after this reply by SMTP: nothing was asked before the first one.
fn goes_on(asked: &str, code: u16) -> bool {
    match asked.split(' ').next() {
        Some("" | "STARTTLS") => code == 220,
        Some("EHLO" | "LHLO") => code == 250,
        _ => code < 300,
    }
}

/// What is said before anything else.
fn smtp_opening(smtp: &SmtpSpec) -> Vec<String> {
    let verb = if smtp.protocol == Protocol::Lmtp { "LHLO" } else { "EHLO" };
    let hello = format!("{verb} {}", smtp.hello);
    if smtp.security == Security::StartTls { vec![hello.clone(), "STARTTLS".to_owned(), hello] } else { vec![hello] }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMTP: &str = r#"{"addresses": ["127.0.0.1:25"], "security": "starttls", "protocol": "smtp"}"#;
    const POP3: &str = r#"{"addresses": ["127.0.0.1:110"], "login": "user"}"#;

    /// What is said to a server that sends these portions, however it is asked.
    fn said(side: &str, steps: &[&str], portions: &[&[u8]]) -> (Vec<String>, Result<MailProbe, MailFault>) {
        let mut probe = MailProbe::new(side, steps.iter().map(|step| (*step).to_owned()).collect()).unwrap();
        let mut said = Vec::new();
        for portion in portions {
            let mut part = *portion;
            loop {
                let next = match probe.take(std::mem::take(&mut part)) {
                    Ok(Some(Next::Secure)) => probe.proceed(),
                    Ok(Some(next)) => next,
                    Ok(None) => break,
                    Err(fault) => return (said, Err(fault)),
                };
                match next {
                    Next::Say(words) => said.push(words),
                    _ => return (said, Ok(probe)),
                }
            }
        }
        (said, Ok(probe))
    }

    #[test]
    fn a_session_is_opened_and_the_steps_are_said_until_one_is_refused() {
        let hello = b"250-mx\r\n250-SIZE 9\r\n250 PIPELINING\r\n";
        let replies: [&[u8]; 6] =
            [b"220 mx\r\n", b"250 mx\r\n", b"220 go\r\n", hello, b"250 ok\r\n", b"550 5.1.1 no\r\n"];
        let (words, probe) = said(SMTP, &["MAIL FROM:<a@b>", "RCPT TO:<c@d>", "DATA"], &replies);
        let hello = "EHLO bakeoff.invalid\r\n";
        assert_eq!(words, [hello, "STARTTLS\r\n", hello, "MAIL FROM:<a@b>\r\n", "RCPT TO:<c@d>\r\n"]);
        let probe = probe.unwrap();
        assert_eq!(probe.greeting, b"mx\nSIZE 9\nPIPELINING");
        assert_eq!((probe.answers.len(), probe.refusal.as_deref()), (1, Some(&b"550 5.1.1 no"[..])));
    }

    #[test]
    fn answers_are_the_same_however_they_are_cut() {
        let wire = b"+OK pop\r\n+OK\r\n+OK in\r\n+OK 2 320\r\n+OK\r\nUSER\r\nSASL PLAIN\r\n.\r\n";
        let steps = ["USER u", "PASS p", "STAT", "CAPA"];
        for cut in 0..wire.len() {
            let (words, probe) = said(POP3, &steps, &[&wire[..cut], &wire[cut..]]);
            let probe = probe.unwrap();
            assert_eq!((words.len(), probe.answers.len(), probe.refusal), (4, 4, None), "cut at {cut}");
            assert_eq!((&probe.greeting[..], &probe.answers[3][..]), (&b"+OK pop"[..], &b"USER\r\nSASL PLAIN\r\n"[..]));
        }
    }

    #[test]
    fn what_does_not_go_on_is_named_with_its_line() {
        let fault = |side, portions: &[&[u8]]| said(side, &["STAT"], portions).1.unwrap_err();
        let line = |text: &[u8]| text.to_vec();
        assert_eq!(fault(POP3, &[b"220 mx\r\n"]), MailFault::Malformed(line(b"220 mx")));
        assert_eq!(fault(SMTP, &[b"+OK pop\r\n"]), MailFault::Malformed(line(b"+OK pop")));
        assert_eq!(fault(SMTP, &[&b"220-more\r\n".repeat(20_000)]), MailFault::Malformed(line(b"220-more")));
        assert_eq!(fault(POP3, &[b"-ERR busy\r\n"]), MailFault::Denied(line(b"-ERR busy")));
        assert_eq!(fault(POP3, &[b"+OK\r\n+OK many\r\n"]), MailFault::Malformed(line(b"+OK many")));
        assert_eq!(fault(SMTP, &[b"220 mx\r\n250 mx\r\n500 what\r\n"]), MailFault::Plain(line(b"500 what")));
        assert_eq!(fault(SMTP, &[b"220 mx\r\n250 mx\r\n220 go\r\n250 mx\r\n"]), MailFault::Early);
        for (wire, at_fault) in [("250 mx\r\n", "250 mx"), ("220 mx\r\n251 mx\r\n", "251 mx")] {
            assert_eq!(
                fault(SMTP, &[wire.as_bytes()]),
                MailFault::Denied(line(at_fault.as_bytes())),
                "as the load has it"
            );
        }
        let mut rng = bakeoff_engine::Rng::for_thread(13, 0, 0);
        for _ in 0..10_000 {
            let mut wire = b"+OK pop\r\n+OK 1 2\r\n220 mx\r\n250-mx\r\n250 x\r\n".to_vec();
            let at = rng.below(wire.len() as u64) as usize;
            wire[at] = rng.below(256) as u8;
            let _ = (said(POP3, &["STAT"], &[&wire]), said(SMTP, &["STAT"], &[&wire[18..]]));
        }
    }
}
