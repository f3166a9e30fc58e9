//! Authorization: every request is authenticated and authorized before anything is looked up for it.
//!
//! ```text
//! authenticate ─► impersonate ─► flow control ─► authorize ─► the handler, with the Caller
//!     401            403              429           403
//! ```
//!
//! Requests for resources that do not exist are authorized, too: a 404 would disclose that they do not exist. The rules
//! of RBAC and of nodes are in the registry; the roles, the bindings and the pods of nodes are cached from the store.

mod node;
mod policies;
mod settings;

pub(crate) use node::NodeWrite;
pub use settings::{Access, Anonymous, Authorization, StaticToken};

use std::sync::{Arc, LazyLock};

use gantry_json::Value;
use gantry_registry::access::node::NodeReferences;
use gantry_registry::access::{EscalationCheck, Policy, RequestAttributes, User, Verdict};
use gantry_registry::target::Target;
use gantry_schema::kinds::Kind;
use http::Method;

use crate::ApiServer;
use crate::admission::SCHEDULING;
use crate::authentication::authenticate;
use crate::authentication::impersonation::Impersonation;
use crate::catalogue::DEFINITIONS;
use crate::error::ApiError;
use crate::request_info::RequestInfo;
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
    /// The permissions of roles and bindings, and the permissions of a node.
    Node { policy: Arc<Policy>, references: NodeReferences },
}

/// Whether every user may read the path.
pub(crate) fn is_public(path: &str) -> bool {
    PUBLIC_PATHS.contains(&path)
}

/// Authorizes a request of this user, and sets its [`Caller`].
pub(crate) async fn authorize(
    server: &ApiServer,
    info: &mut RequestInfo,
    user: User,
) -> Result<(), ApiError> {
    info.caller = if is_public(&info.path) && info.method == Method::GET {
        // These paths need no store access, so that they can be served while the store is unavailable.
        Caller::without_permissions(user)
    } else {
        let caller = Caller::new(server, user).await?;
        let request = match caller.permissions {
            Permissions::All => None,
            Permissions::Rbac(_) | Permissions::Node { .. } => Some(info.access_request()),
        };
        if let Some(request) = request {
            let selected_node = caller.node().and_then(|_| node::selected_node(info));
            caller.check_selecting(&request, selected_node.as_deref())?;
        }
        caller
    };
    Ok(())
}

/// Records that a write to roles, bindings, definitions or priority classes is pending, until the result is dropped;
/// caches include it afterwards.
pub(crate) fn pending_write<'s>(server: &'s ApiServer, info: &RequestInfo) -> Option<PendingWrite<'s>> {
    match &info.target {
        Target::Objects(objects) if info.method != Method::GET => match objects.group.as_str() {
            RBAC => Some(server.policies.pending_write()),
            DEFINITIONS => Some(server.objects.catalogues.pending_write()),
            SCHEDULING => Some(server.priority_classes.pending_write()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the authenticated or impersonated user.
pub(crate) async fn user(server: &ApiServer, info: &RequestInfo) -> Result<User, ApiError> {
    let user = authenticate(server, info).await?;
    let Some(impersonation) = Impersonation::read(&info.headers)? else { return Ok(user) };
    let caller = Caller::new(server, user).await?;
    for permission in impersonation.required_permissions() {
        caller.check(&permission)?;
    }
    Ok(impersonation.user())
}

impl Caller {
    async fn new(server: &ApiServer, user: User) -> Result<Self, ApiError> {
        let permissions = Permissions::of(server, &user).await?;
        Ok(Self { user: Arc::new(user), permissions })
    }

    /// An anonymous caller without permissions.
    pub(crate) fn anonymous() -> Self {
        static ANONYMOUS: LazyLock<Caller> = LazyLock::new(|| Caller::without_permissions(User::anonymous()));
        ANONYMOUS.clone()
    }

    fn without_permissions(user: User) -> Self {
        Self { user: Arc::new(user), permissions: Permissions::Rbac(Arc::default()) }
    }

    /// Returns 403 for a role or binding that grants more than the caller has.
    pub(crate) fn check_escalation(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        path_name: Option<&str>,
        old: Option<&Value>,
        new: &Value,
    ) -> Result<(), ApiError> {
        match &self.permissions {
            Permissions::All => Ok(()),
            Permissions::Rbac(policy) | Permissions::Node { policy, .. } => {
                Ok(EscalationCheck { policy, user: &self.user, kind, namespace, path_name }
                    .check(old, new)?)
            }
        }
    }

    /// Returns 403 if the caller may not make this request.
    pub(crate) fn check(&self, request: &RequestAttributes) -> Result<(), ApiError> {
        self.check_selecting(request, None)
    }

    /// Returns 403 if the caller may not make this request, whose field selector requires this node.
    fn check_selecting(
        &self,
        request: &RequestAttributes,
        selected_node: Option<&str>,
    ) -> Result<(), ApiError> {
        match self.permissions.authorize_selecting(&self.user, request, selected_node) {
            Verdict::Allowed(_) => Ok(()),
            Verdict::Denied(why) => Err(request.forbidden(&self.user, why.as_deref()).into()),
        }
    }
}

impl Permissions {
    /// The permissions of the user, including all writes acknowledged so far.
    pub(crate) async fn of(server: &ApiServer, user: &User) -> Result<Self, ApiError> {
        if server.settings.access.authorization == Authorization::AlwaysAllow || user.is_master() {
            return Ok(Self::All);
        }
        let policy = server.policies.current(server.objects.store.as_ref()).await?;
        let Some(node) = user.node() else { return Ok(Self::Rbac(policy)) };
        let graph = server.node_graph.current(server.objects.store.as_ref()).await?;
        Ok(Self::Node { policy, references: graph.references_of(node) })
    }

    pub(crate) fn authorize(&self, user: &User, request: &RequestAttributes) -> Verdict {
        self.authorize_selecting(user, request, None)
    }

    fn authorize_selecting(
        &self,
        user: &User,
        request: &RequestAttributes,
        selected_node: Option<&str>,
    ) -> Verdict {
        match self {
            Self::All => Verdict::Allowed(None),
            Self::Rbac(policy) => policy.authorize(user, request),
            Self::Node { policy, references } => {
                let name = user.node().unwrap_or_default();
                let by_node = node::authorize(name, references, request, selected_node);
                let Verdict::Denied(why) = by_node else { return by_node };
                match policy.authorize(user, request) {
                    Verdict::Denied(other) => {
                        let reasons: Vec<String> = why.into_iter().chain(other).collect();
                        Verdict::Denied((!reasons.is_empty()).then(|| reasons.join("\n")))
                    }
                    allowed @ Verdict::Allowed(_) => allowed,
                }
            }
        }
    }
}
