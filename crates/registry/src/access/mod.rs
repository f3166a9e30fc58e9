//! Who may do what: RBAC as a pure function of roles, bindings and one request.
//!
//! [`Policy`] is made from the objects and asked with [`Policy::judge`]. Members of `system:masters` are never asked. What is
//! refused is refused in Kubernetes' words by [`Request::forbidden`]. Nobody may hand out rights that they do not have:
//! [`Policy::missing`] says which rules a person lacks.
//!
//! Not here: who somebody is. Certificates, tokens and impersonation end in a [`User`] elsewhere.

mod policy;
mod request;
mod rule;

pub use policy::{Policy, Verdict};
pub use request::{Request, Target, User};
pub use rule::Rule;

/// The group whose members may do everything.
pub const MASTERS: &str = "system:masters";
