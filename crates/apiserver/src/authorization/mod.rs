//! Authorization: every request is authenticated and authorized before anything is looked up for it.
//!
//! ```text
//! authenticate ─► impersonate ─► authorize ─► the handler, with the Caller
//!     401            403           403
//! ```
//!
//! Requests for resources that do not exist are authorized, too: a 404 would disclose that they do not exist. The RBAC
//! rules are in the registry; the roles and bindings are cached from the store.

mod policies;
mod settings;

pub use settings::{Access, Anonymous, Authorization, StaticToken};

use std::sync::Arc;

use gantry_registry::Refusal;
use gantry_registry::access::{Handout, Policy, Request, User, Verdict};
use gantry_registry::kinds::Kind;
use http::Method;
use http::request::Parts;
use serde_json::Value;

use crate::ApiServer;
use crate::authentication::authenticate;
use crate::authentication::impersonation::Impersonation;
use crate::catalogue::DEFINITIONS;
use crate::objects::failed;
use crate::query::{Query, unescape_path};
use crate::store_cache::PendingWrite;

/// The API group of roles and bindings.
const RBAC: &str = "rbac.authorization.k8s.io";

/// Paths that every user may read: health and version.
const PUBLIC_PATHS: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// The user of a request and their permissions.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) user: Arc<User>,
    pub(crate) permissions: Permissions,
}

/// The permissions of a user.
#[derive(Clone, Debug)]
pub(crate) enum Permissions {
    /// Everything is allowed.
    All,
    /// The permissions that these roles and bindings grant.
    Rbac(Arc<Policy>),
}

/// An authorized request. While it exists, a write to roles, bindings or definitions is pending; caches include it
/// afterwards.
pub(crate) struct Admitted<'a>(
    #[expect(dead_code, reason = "dropping it is what it is for")] Option<PendingWrite<'a>>,
);

/// Whether every user may read the path.
pub(crate) fn is_public(path: &str) -> bool {
    PUBLIC_PATHS.contains(&path)
}

/// Authenticates and authorizes a request, and attaches its [`Caller`].
pub(crate) async fn admit<'s>(server: &'s ApiServer, parts: &mut Parts) -> Result<Admitted<'s>, Refusal> {
    let path = unescape_path(parts.uri.path());
    let user = user(server, parts, &path).await?;
    let caller = if is_public(&path) && parts.method == Method::GET {
        // These paths need no store access, so that they respond while the store is down.
        Caller::without_rights(user)
    } else {
        Caller::new(server, user).await?.allowed(parts, &path)?
    };
    parts.extensions.insert(caller);
    let group = path.strip_prefix("/apis/").and_then(|rest| rest.split('/').next());
    Ok(Admitted(match group.filter(|_| parts.method != Method::GET) {
        Some(RBAC) => Some(server.policies.pending_write()),
        Some(DEFINITIONS) => Some(server.objects.catalogues.pending_write()),
        _ => None,
    }))
}

/// Returns the authenticated or impersonated user.
async fn user(server: &ApiServer, parts: &Parts, path: &str) -> Result<User, Refusal> {
    let user = authenticate(server, parts, path).await?;
    let Some(impersonation) = Impersonation::read(&parts.headers)? else { return Ok(user) };
    let caller = Caller::new(server, user).await?;
    for permission in impersonation.required_permissions() {
        caller.check(&permission)?;
    }
    Ok(impersonation.user())
}

impl Caller {
    async fn new(server: &ApiServer, user: User) -> Result<Self, Refusal> {
        let permissions = Permissions::of(server, &user).await?;
        Ok(Self { user: Arc::new(user), permissions })
    }

    /// Returns the caller of a request; anonymous without permissions if none is attached.
    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get().cloned().unwrap_or_else(|| Self::without_rights(User::anonymous()))
    }

    fn without_rights(user: User) -> Self {
        Self { user: Arc::new(user), permissions: Permissions::Rbac(Arc::default()) }
    }

    /// Returns 403 if the request is not allowed.
    fn allowed(self, parts: &Parts, path: &str) -> Result<Self, Refusal> {
        if let Permissions::Rbac(_) = self.permissions {
            let query = Query::parse(parts.uri.query().unwrap_or_default());
            self.check(&Request::of(parts.method.as_str(), path, &query.0))?;
        }
        Ok(self)
    }

    /// Returns 403 for a role or binding that grants more than the caller has.
    pub(crate) fn check_escalation(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        path_name: Option<&str>,
        old: Option<&Value>,
        new: &Value,
    ) -> Result<(), Refusal> {
        match &self.permissions {
            Permissions::All => Ok(()),
            Permissions::Rbac(policy) => {
                Handout { policy, user: &self.user, kind, namespace, path_name }.check(old, new)
            }
        }
    }

    /// Returns 403 if the caller may not make this request.
    pub(crate) fn check(&self, request: &Request) -> Result<(), Refusal> {
        match self.permissions.authorize(&self.user, request) {
            Verdict::Allowed(_) => Ok(()),
            Verdict::Denied(why) => Err(request.forbidden(&self.user, why.as_deref())),
        }
    }
}

impl Permissions {
    /// The permissions of the user, including all writes acknowledged so far.
    pub(crate) async fn of(server: &ApiServer, user: &User) -> Result<Self, Refusal> {
        if server.settings.access.authorization == Authorization::AlwaysAllow || user.is_master() {
            return Ok(Self::All);
        }
        let policy = server.policies.current(server.objects.store.as_ref()).await;
        policy.map(Self::Rbac).map_err(|error| failed(&error))
    }

    pub(crate) fn authorize(&self, user: &User, request: &Request) -> Verdict {
        match self {
            Self::All => Verdict::Allowed(None),
            Self::Rbac(policy) => policy.judge(user, request),
        }
    }
}
