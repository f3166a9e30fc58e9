//! Who may do what: RBAC as a pure function of roles, bindings and one request.
//!
//! [`Policy`] is made from the objects and asked with [`Policy::authorize`]. Members of `system:masters` are never asked. What is
//! refused is refused in Kubernetes' words by [`RequestAttributes::forbidden`]. What a request asks for is read from its path by
//! [`RequestAttributes::of`]. Nobody may hand out rights that they do not have: [`EscalationCheck::check`] refuses such roles and bindings.
//!
//! Not here: who somebody is. Certificates, tokens and impersonation end in a [`User`] elsewhere. Nor how ClusterRoles
//! with an `aggregationRule` get their rules: a controller writes them, and here they are rules like any other.

mod escalation;
mod policy;
mod request_attributes;
mod rule;
mod user;

pub use escalation::EscalationCheck;
pub use policy::{Policy, Verdict};
pub use request_attributes::{RequestAttributes, RequestTarget};
pub use rule::Rule;
pub use user::User;

/// The group whose members may do everything.
pub const MASTERS: &str = "system:masters";
/// The group of everybody who is somebody.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of everybody who is nobody.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The name of everybody who is nobody.
pub const ANONYMOUS: &str = "system:anonymous";

/// The group of roles and bindings.
const GROUP: &str = "rbac.authorization.k8s.io";
