//! Settings of authentication and authorization.

use gantry_registry::access::User;

/// Settings of authentication and authorization.
///
/// By default everything is allowed, for tests and trusted in-process clients. Servers with a listener use
/// [`Access::rbac`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The authorization mode.
    pub authorization: Authorization,
    /// Where anonymous requests are accepted.
    pub anonymous: Anonymous,
    /// Bearer tokens without expiry.
    pub tokens: Vec<StaticToken>,
    /// The issuer of service account tokens. Tokens of another issuer are rejected.
    pub issuer: String,
    /// The audiences of service account tokens that request none. Empty means the issuer.
    pub api_audiences: Vec<String>,
}

/// The authorization mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authorization {
    /// Every request is allowed.
    AlwaysAllow,
    /// The roles and bindings in the store.
    Rbac,
}

/// Where anonymous requests are accepted; they are authorized like all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymous {
    /// Everywhere: a request without credentials is `system:anonymous`.
    Everywhere,
    /// Only for health and version; elsewhere they get 401.
    HealthAndVersion,
}

/// A bearer token and its user.
#[derive(Clone, PartialEq, Eq)]
pub struct StaticToken {
    /// The secret.
    pub token: String,
    /// The user; `system:authenticated` is added to the groups.
    pub user: User,
}

impl Access {
    /// No anonymous requests except for health and version, and authorization by RBAC.
    pub fn rbac() -> Self {
        Self { authorization: Authorization::Rbac, anonymous: Anonymous::HealthAndVersion, ..Self::default() }
    }

    /// The audiences of tokens that request none.
    pub(crate) fn audiences(&self) -> Vec<String> {
        if self.api_audiences.is_empty() { vec![self.issuer.clone()] } else { self.api_audiences.clone() }
    }
}

impl Default for Access {
    fn default() -> Self {
        Self {
            authorization: Authorization::AlwaysAllow,
            anonymous: Anonymous::Everywhere,
            tokens: Vec::new(),
            issuer: "https://kubernetes.default.svc.cluster.local".to_owned(),
            api_audiences: Vec::new(),
        }
    }
}

impl std::fmt::Debug for StaticToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StaticToken(of {:?})", self.user.name)
    }
}
