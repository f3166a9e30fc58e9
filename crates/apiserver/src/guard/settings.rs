//! What whoever runs the server decides about access.

use gantry_registry::access::User;

/// Who is let in, and how far.
///
/// By default everybody may do everything: whoever holds the server in process is trusted, and so are tests. A listener
/// that others reach is given [`Access::rbac`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What decides what somebody may do.
    pub authorization: Authorization,
    /// Where no credentials are needed.
    pub anonymous: Anonymous,
    /// Bearer tokens that do not end.
    pub tokens: Vec<StaticToken>,
    /// Who service account tokens are from. It is part of every token: with another issuer, they no longer hold.
    pub issuer: String,
    /// For whom service account tokens are that name no audience. Empty stands for the issuer alone.
    pub api_audiences: Vec<String>,
}

/// What decides what somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authorization {
    /// Nothing: everybody may do everything.
    AlwaysAllow,
    /// The roles and bindings in the store.
    Rbac,
}

/// Where no credentials are needed. What somebody may do without them is decided as for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymous {
    /// Everywhere: whoever shows none is `system:anonymous`.
    Everywhere,
    /// Only to see whether the server is well, and which one it is; elsewhere it is 401.
    HealthAndVersion,
}

/// A bearer token and whom it stands for.
#[derive(Clone, PartialEq, Eq)]
pub struct StaticToken {
    /// The secret.
    pub token: String,
    /// Whom it stands for; `system:authenticated` is added to the groups.
    pub user: User,
}

impl Access {
    /// Nobody without credentials, and everybody as far as roles and bindings go.
    pub fn rbac() -> Self {
        Self { authorization: Authorization::Rbac, anonymous: Anonymous::HealthAndVersion, ..Self::default() }
    }

    /// For whom tokens are, if nothing is said.
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
