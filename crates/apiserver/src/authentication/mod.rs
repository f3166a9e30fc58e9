//! Authentication: client certificates (verified by the listener), static tokens, bootstrap tokens and service account tokens.
//!
//! ```text
//! AuthenticatedUser ─┐
//! static token ──────┤
//! bootstrap token ───┤
//! service account ───┼─► User ─► impersonation ─► authorization
//! no credentials ────┘ anonymous where that is allowed, 401 elsewhere
//! ```
//!
//! Not here: permissions and TLS.

mod bootstrap_token;
pub(crate) mod impersonation;
pub(crate) mod jwt;
pub(crate) mod service_account;
pub(crate) mod signing_key;

use aws_lc_rs::constant_time;
use gantry_registry::access::{AUTHENTICATED, UNAUTHENTICATED, User};
use http::Method;
use http::header::AUTHORIZATION;

use crate::ApiServer;
use crate::authorization::{Anonymous, is_public};
use crate::error::ApiError;
use crate::request_info::RequestInfo;
use service_account::BadToken;

/// A user who was authenticated before the request arrived here: by a client certificate, or a client in this process.
///
/// It is an extension of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticatedUser(pub User);

/// Marks a request whose client certificate was not verified: unknown authority, or expired.
///
/// It is an extension of the request. Without a valid token, such a request gets 401 and is not anonymous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnverifiedCertificate;

/// The user and the audiences of a token.
#[derive(Clone, Debug)]
pub(crate) struct TokenUser {
    pub(crate) user: User,
    pub(crate) audiences: Vec<String>,
}

/// Returns the user of a request, or 401.
pub(crate) async fn authenticate(server: &ApiServer, info: &RequestInfo) -> Result<User, ApiError> {
    if let Some(AuthenticatedUser(user)) = info.extensions.get() {
        return Ok(with_authenticated_group(user.clone()));
    }
    match bearer_token(info.header(AUTHORIZATION)) {
        Some(token) => match authenticate_token(server, token, &server.settings.access.audiences()).await {
            Ok(found) => Ok(found.user),
            Err(BadToken::Unreadable(refusal)) => Err(refusal),
            Err(BadToken::Unknown | BadToken::Invalid(_)) => Err(ApiError::Unauthorized),
        },
        None if info.extensions.get::<UnverifiedCertificate>().is_some() => Err(ApiError::Unauthorized),
        None => match server.settings.access.anonymous {
            Anonymous::Everywhere => Ok(User::anonymous()),
            Anonymous::HealthAndVersion if is_public(&info.path) || is_cluster_info(info) => {
                Ok(User::anonymous())
            }
            Anonymous::HealthAndVersion => Err(ApiError::Unauthorized),
        },
    }
}

/// Whether a request reads the ConfigMap from which nodes that join get the CA of the cluster. A role determines
/// whether requests without credentials may read it.
fn is_cluster_info(info: &RequestInfo) -> bool {
    info.method == Method::GET && info.path == "/api/v1/namespaces/kube-public/configmaps/cluster-info"
}

/// Returns the user of a token that is valid for one of the audiences.
pub(crate) async fn authenticate_token(
    server: &ApiServer,
    token: &str,
    audiences: &[String],
) -> Result<TokenUser, BadToken> {
    let same =
        |known: &str| constant_time::verify_slices_are_equal(known.as_bytes(), token.as_bytes()).is_ok();
    if let Some(known) = server.settings.access.tokens.iter().find(|known| same(&known.token)) {
        // Static tokens have no audience restriction.
        return Ok(TokenUser {
            user: with_authenticated_group(known.user.clone()),
            audiences: audiences.to_vec(),
        });
    }
    let found = match bootstrap_token::authenticate(server, token, audiences).await {
        Err(BadToken::Unknown) => service_account::authenticate(server, token, audiences).await?,
        found => found?,
    };
    Ok(TokenUser { user: with_authenticated_group(found.user), ..found })
}

/// Returns the token of an `Authorization: Bearer` header; `None` for other schemes.
fn bearer_token(header: &str) -> Option<&str> {
    let (kind, rest) = header.trim().split_once(' ')?;
    let token = rest.split(' ').next().unwrap_or_default();
    (kind.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Adds the group `system:authenticated`.
fn with_authenticated_group(mut user: User) -> User {
    let has_group = user.groups.iter().any(|group| group == AUTHENTICATED || group == UNAUTHENTICATED);
    if !has_group {
        user.groups.push(AUTHENTICATED.to_owned());
    }
    user
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A7.1, A7.2: only a bearer token is read from the header.
    #[test]
    fn only_bearer_tokens_are_tokens() {
        assert_eq!(bearer_token("Bearer abc"), Some("abc"));
        assert_eq!(bearer_token("bearer  abc"), None, "an empty token is no token");
        assert_eq!(bearer_token("Bearer abc def"), Some("abc"));
        assert_eq!(bearer_token("Bearer "), None);
        assert_eq!(bearer_token("Basic abc"), None);
    }
}
