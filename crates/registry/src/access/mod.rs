//! Who may do what: RBAC as a pure function of roles, bindings and one request.
//!
//! [`Policy`] is made from the objects and asked with [`Policy::judge`]. Members of `system:masters` are never asked. What is
//! refused is refused in Kubernetes' words by [`Request::forbidden`]. The attributes of a request are made by
//! [`Request::for_objects`] and [`Request::for_path`]. Nobody may hand out rights that they do not have: [`Handout::check`] refuses such roles and bindings.
//!
//! Not here: who somebody is. Certificates, tokens and impersonation end in a [`User`] elsewhere. Nor how ClusterRoles
//! with an `aggregationRule` get their rules: a controller writes them, and here they are rules like any other.

mod asked;
mod handout;
mod policy;
mod request;
mod rule;

pub use asked::verb;
pub use handout::Handout;
pub use policy::{Policy, Verdict};
pub use request::{Request, Target, User};
pub use rule::Rule;

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
