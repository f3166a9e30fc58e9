//! RBAC as a pure function of roles, bindings and the attributes of a request.
//!
//! A [`Policy`] holds the roles and bindings; [`Policy::authorize`] decides on a request, and always allows members of
//! `system:masters`. [`RequestAttributes::for_objects`] and [`RequestAttributes::for_path`] make the attributes,
//! [`RequestAttributes::forbidden`] is the 403 for them.
//! [`EscalationCheck::check`] refuses roles and bindings that grant more than their writer holds.
//!
//! Not here: authentication, which results in a [`User`], and the aggregation of ClusterRoles, which a controller does.

mod escalation;
pub mod node;
mod policy;
mod request_attributes;
mod rule;
mod user;

pub use escalation::EscalationCheck;
pub use policy::{Policy, Verdict};
pub use request_attributes::{RequestAttributes, RequestTarget, verb};
pub use rule::AccessRule;
pub use user::User;

/// The group whose members are allowed everything.
pub const MASTERS: &str = "system:masters";
/// The group of all authenticated users.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of unauthenticated users.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The name of unauthenticated users.
pub const ANONYMOUS: &str = "system:anonymous";

/// The API group of roles and bindings.
const GROUP: &str = "rbac.authorization.k8s.io";
