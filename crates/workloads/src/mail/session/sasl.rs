//! Logging in by SASL.

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The initial response of `AUTH PLAIN` (RFC 4616).
pub(crate) fn plain_token(user: &str, password: &str) -> String {
    let clear: Vec<u8> = [b"\0", user.as_bytes(), b"\0", password.as_bytes()].concat();
    let mut token = String::with_capacity(clear.len() * 4 / 3 + 4);
    for chunk in clear.chunks(3) {
        let word = chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = BASE64[(word >> (18 - 6 * at) & 63) as usize];
            token.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    token
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_that_of_the_rfc() {
        assert_eq!(plain_token("tim", "tanstaaftanstaaf"), "AHRpbQB0YW5zdGFhZnRhbnN0YWFm");
        assert_eq!(plain_token("a", "b"), "AGEAYg==");
        assert_eq!(plain_token("a", "bc"), "AGEAYmM=");
    }
}
