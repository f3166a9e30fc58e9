//! Bootstrap tokens: an id, a dot and a secret, with which nodes join.

use std::fmt;

/// The group of all users of bootstrap tokens.
pub const GROUP: &str = "system:bootstrappers";
/// How many characters an id has.
pub const ID_CHARACTERS: usize = 6;
/// How many characters a secret has.
pub const SECRET_CHARACTERS: usize = 16;

/// A bootstrap token. `Debug` shows the id only, so that the secret is not printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct BootstrapToken {
    id: String,
    secret: String,
}

impl BootstrapToken {
    /// Parses `id.secret`; `None` if it has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.split_once('.')?;
        let is_token = is_id(id) && secret.len() == SECRET_CHARACTERS && secret.bytes().all(is_character);
        is_token.then(|| Self { id: id.to_owned(), secret: secret.to_owned() })
    }

    /// Makes a token from random bytes; all characters are equally likely.
    pub fn from_random(mut byte: impl FnMut() -> u8) -> Self {
        const CHARACTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut character = || loop {
            // 252 is the largest multiple of 36 that fits.
            let byte = byte();
            if byte < 252 {
                return char::from(CHARACTERS[usize::from(byte % 36)]);
            }
        };
        let id = (0..ID_CHARACTERS).map(|_| character()).collect();
        Self { id, secret: (0..SECRET_CHARACTERS).map(|_| character()).collect() }
    }

    /// The public part.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The part that is not public.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// The name of the Secret that holds it.
    pub fn secret_name(&self) -> String {
        secret_name(&self.id)
    }

    /// The token as it is given to nodes.
    pub fn whole(&self) -> String {
        format!("{}.{}", self.id, self.secret)
    }
}

/// The name of the Secret that holds the token with this id.
pub fn secret_name(id: &str) -> String {
    format!("bootstrap-token-{id}")
}

/// Whether a text is the id of a token.
pub fn is_id(text: &str) -> bool {
    text.len() == ID_CHARACTERS && text.bytes().all(is_character)
}

/// Whether users of tokens may have this group: a group whose name begins with [`GROUP`] and a colon.
pub fn is_group(text: &str) -> bool {
    let Some(name) = text.strip_prefix(GROUP).and_then(|rest| rest.strip_prefix(':')) else { return false };
    let allowed = |byte: u8| is_character(byte) || matches!(byte, b':' | b'-');
    (1..=256).contains(&name.len())
        && name.bytes().all(allowed)
        && name.bytes().last().is_some_and(is_character)
}

fn is_character(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

impl fmt::Debug for BootstrapToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BootstrapToken").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_an_id_and_a_secret() {
        let token = BootstrapToken::parse("07401b.f395accd246ae52d").unwrap();
        assert_eq!((token.id(), token.secret()), ("07401b", "f395accd246ae52d"));
        assert_eq!(token.secret_name(), "bootstrap-token-07401b");
        assert_eq!(format!("{token:?}"), "BootstrapToken { id: \"07401b\", .. }");
        for other in ["", "07401b", "07401b.short", "07401B.f395accd246ae52d", "07401b.f395accd246ae52d.x"] {
            assert_eq!(BootstrapToken::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_random_token_is_a_token() {
        let mut next = 0u8;
        let token = BootstrapToken::from_random(|| {
            next = next.wrapping_add(7);
            next
        });
        assert_eq!(BootstrapToken::parse(&token.whole()), Some(token));
    }

    #[test]
    fn groups_are_below_that_of_all_tokens() {
        assert!(is_group("system:bootstrappers:kubeadm:default-node-token"));
        for other in
            ["system:masters", "system:bootstrappers", "system:bootstrappers:", "system:bootstrappers:a-"]
        {
            assert!(!is_group(other), "{other}");
        }
    }
}
