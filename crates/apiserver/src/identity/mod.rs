//! Who asks: certificates and clients in this process were told from others before, bearer tokens are read here.
//!
//! ```text
//! Identified ──┐
//! static token ┼─► User ─► (acting as another?) ─► guard
//! account JWT ─┤
//! nothing ─────┘ anonymous, where that is allowed; 401 elsewhere
//! ```
//!
//! Not here: what somebody may do. TLS is a listener's business.

pub(crate) mod jwt;
pub(crate) mod keys;
pub(crate) mod pretence;
pub(crate) mod service_account;

use aws_lc_rs::constant_time;
use gantry_registry::Refusal;
use gantry_registry::access::{AUTHENTICATED, UNAUTHENTICATED, User};
use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::ApiServer;
use crate::guard::{Anonymous, is_open};
use service_account::BadToken;

/// Somebody who was identified before the request came here: by a client certificate, or by being in this process.
///
/// It travels in the extensions of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identified(pub User);

/// Somebody showed a client certificate that says nothing here: of another authority, or out of its time.
///
/// It travels in the extensions of a request. A token may still say who it is; without one it is nobody at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unverified;

/// Whom a token stands for, and for which audiences.
#[derive(Clone, Debug)]
pub(crate) struct Bearer {
    pub(crate) user: User,
    pub(crate) audiences: Vec<String>,
}

/// The user who sent the request for this path, or 401.
pub(crate) async fn identify(server: &ApiServer, parts: &Parts, path: &str) -> Result<User, Refusal> {
    if let Some(Identified(user)) = parts.extensions.get() {
        return Ok(somebody(user.clone()));
    }
    let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    match header.and_then(bearer_token) {
        Some(token) => match bearer(server, token, &server.settings.access.audiences()).await {
            Ok(bearer) => Ok(bearer.user),
            Err(BadToken::Unreadable(refusal)) => Err(refusal),
            Err(BadToken::Unknown | BadToken::Invalid(_)) => Err(unauthorized()),
        },
        None if parts.extensions.get::<Unverified>().is_some() => Err(unauthorized()),
        None => match server.settings.access.anonymous {
            Anonymous::Everywhere => Ok(User::anonymous()),
            Anonymous::HealthAndVersion if is_open(path) => Ok(User::anonymous()),
            Anonymous::HealthAndVersion => Err(unauthorized()),
        },
    }
}

/// Whom a token stands for, if it is for one of the audiences.
pub(crate) async fn bearer(
    server: &ApiServer,
    token: &str,
    audiences: &[String],
) -> Result<Bearer, BadToken> {
    let same =
        |known: &str| constant_time::verify_slices_are_equal(known.as_bytes(), token.as_bytes()).is_ok();
    if let Some(known) = server.settings.access.tokens.iter().find(|known| same(&known.token)) {
        // A static token says nothing of audiences: it is good for all.
        return Ok(Bearer { user: somebody(known.user.clone()), audiences: audiences.to_vec() });
    }
    let bearer = service_account::authenticate(server, token, audiences).await?;
    Ok(Bearer { user: somebody(bearer.user), ..bearer })
}

/// The token of an `Authorization` header, if it is of that kind; other kinds are as good as none.
fn bearer_token(header: &str) -> Option<&str> {
    let (kind, rest) = header.trim().split_once(' ')?;
    let token = rest.split(' ').next().unwrap_or_default();
    (kind.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Adds the group of everybody who is somebody.
fn somebody(mut user: User) -> User {
    let is_placed = user.groups.iter().any(|group| group == AUTHENTICATED || group == UNAUTHENTICATED);
    if !is_placed {
        user.groups.push(AUTHENTICATED.to_owned());
    }
    user
}

/// What nobody is told.
fn unauthorized() -> Refusal {
    Refusal { code: 401, reason: "Unauthorized", message: "Unauthorized".to_owned(), details: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A7.1, A7.2: only a bearer token is read from the header.
    #[test]
    fn only_bearer_tokens_are_tokens() {
        assert_eq!(bearer_token("Bearer abc"), Some("abc"));
        assert_eq!(bearer_token("bearer  abc"), None, "an empty word is no token");
        assert_eq!(bearer_token("Bearer abc def"), Some("abc"));
        assert_eq!(bearer_token("Bearer "), None);
        assert_eq!(bearer_token("Basic abc"), None);
    }
}
