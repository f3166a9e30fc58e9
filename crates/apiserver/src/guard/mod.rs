//! What somebody may do: every request passes here before anything is looked up for it.
//!
//! ```text
//! identify ─► act as another ─► judge ─► the request goes on, with its Caller
//!    401            403           403
//! ```
//!
//! A request for something that does not exist is judged all the same: who may not ask is not told. The rules of RBAC
//! are the registry's; here they are fed with the roles and bindings of the store.

mod policies;
mod settings;

pub use settings::{Access, Anonymous, Authorization, StaticToken};

use std::sync::Arc;

use gantry_registry::Refusal;
use gantry_registry::access::{EscalationCheck, Policy, RequestAttributes, User, Verdict};
use gantry_registry::kinds::Kind;
use http::Method;
use http::request::Parts;
use serde_json::Value;

use crate::ApiServer;
use crate::catalogue::DEFINITIONS;
use crate::identity::identify;
use crate::identity::keys::Keys;
use crate::identity::pretence::Pretence;
use crate::mirror::{Mirror, Writing};
use crate::objects::failed;
use crate::query::{Query, unescape_path};

/// The group of roles and bindings.
const RBAC: &str = "rbac.authorization.k8s.io";

/// What everybody may read, whoever they are: whether the server is well, and which one it is.
const OPEN: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

/// What a server learns in order to let somebody in.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    pub(crate) keys: Keys,
    policies: Mirror<Policy>,
}

/// Who asks, and what they hold at that moment. It travels in the extensions of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) user: Arc<User>,
    pub(crate) rights: Rights,
}

/// What somebody holds.
#[derive(Clone, Debug)]
pub(crate) enum Rights {
    /// Nobody is asked.
    Everything,
    /// What these roles and bindings grant.
    Granted(Arc<Policy>),
}

/// A request that was let in. Once it is answered, what it did to roles, bindings and definitions counts.
pub(crate) struct Admitted<'a>(
    #[expect(dead_code, reason = "dropping it is what it is for")] Option<Writing<'a>>,
);

/// Whether everybody may read the path.
pub(crate) fn is_open(path: &str) -> bool {
    OPEN.contains(&path)
}

/// Lets a request in, with its [`Caller`], or says why not.
pub(crate) async fn admit<'s>(server: &'s ApiServer, parts: &mut Parts) -> Result<Admitted<'s>, Refusal> {
    let path = unescape_path(parts.uri.path());
    let user = user(server, parts, &path).await?;
    let caller = if is_open(&path) && parts.method == Method::GET {
        // Nothing is looked up for these, so that a server without its store can say how it is.
        Caller::without_rights(user)
    } else {
        Caller::new(server, user).await?.allowed(parts, &path)?
    };
    parts.extensions.insert(caller);
    let group = path.strip_prefix("/apis/").and_then(|rest| rest.split('/').next());
    Ok(Admitted(match group.filter(|_| parts.method != Method::GET) {
        Some(RBAC) => Some(server.guard.policies.writing()),
        Some(DEFINITIONS) => Some(server.objects.catalogues.writing()),
        _ => None,
    }))
}

/// Who asks, or whom they may act as.
async fn user(server: &ApiServer, parts: &Parts, path: &str) -> Result<User, Refusal> {
    let user = identify(server, parts, path).await?;
    let Some(pretence) = Pretence::read(&parts.headers)? else { return Ok(user) };
    let caller = Caller::new(server, user).await?;
    for demand in pretence.demands() {
        caller.check(&demand)?;
    }
    Ok(pretence.user())
}

impl Caller {
    async fn new(server: &ApiServer, user: User) -> Result<Self, Refusal> {
        let rights = Rights::of(server, &user).await?;
        Ok(Self { user: Arc::new(user), rights })
    }

    /// The caller of a request, which is nobody if nobody let it in.
    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get().cloned().unwrap_or_else(|| Self::without_rights(User::anonymous()))
    }

    fn without_rights(user: User) -> Self {
        Self { user: Arc::new(user), rights: Rights::Granted(Arc::default()) }
    }

    /// Itself, if it may do what the request asks for.
    fn allowed(self, parts: &Parts, path: &str) -> Result<Self, Refusal> {
        if let Rights::Granted(_) = self.rights {
            let query = Query::parse(parts.uri.query().unwrap_or_default());
            self.check(&RequestAttributes::of(parts.method.as_str(), path, &query.0))?;
        }
        Ok(self)
    }

    /// Refuses a role or binding that hands out more than the caller holds.
    pub(crate) fn check_escalation(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        path_name: Option<&str>,
        old: Option<&Value>,
        new: &Value,
    ) -> Result<(), Refusal> {
        match &self.rights {
            Rights::Everything => Ok(()),
            Rights::Granted(policy) => {
                EscalationCheck { policy, user: &self.user, kind, namespace, path_name }.check(old, new)
            }
        }
    }

    /// Refuses what the caller may not.
    pub(crate) fn check(&self, request: &RequestAttributes) -> Result<(), Refusal> {
        match self.rights.authorize(&self.user, request) {
            Verdict::Allowed(_) => Ok(()),
            Verdict::Denied(why) => Err(request.forbidden(&self.user, why.as_deref())),
        }
    }
}

impl Rights {
    /// What the user holds, as of every write that was acknowledged before.
    pub(crate) async fn of(server: &ApiServer, user: &User) -> Result<Self, Refusal> {
        if server.settings.access.authorization == Authorization::AlwaysAllow || user.is_master() {
            return Ok(Self::Everything);
        }
        let policy = server.guard.policies.current(server.objects.store.as_ref()).await;
        policy.map(Self::Granted).map_err(|error| failed(&error))
    }

    pub(crate) fn authorize(&self, user: &User, request: &RequestAttributes) -> Verdict {
        match self {
            Self::Everything => Verdict::Allowed(None),
            Self::Granted(policy) => policy.authorize(user, request),
        }
    }
}
