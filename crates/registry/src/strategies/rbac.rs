//! Roles, ClusterRoles and their bindings.

use super::Strategy;
use crate::defaults;
use crate::table::{Rows, cluster};
use crate::validation::rbac;

pub(super) const ROLE: Strategy =
    Strategy { validate: |errors, kind, _, new| rbac::role(errors, kind.scope, new), ..Strategy::DEFAULT };

pub(super) const BINDING: Strategy = Strategy {
    defaults: defaults::cluster::role_binding,
    validate: |errors, kind, old, new| match old {
        None => rbac::binding(errors, kind.scope, new),
        Some(old) => rbac::changed_binding(errors, kind.scope, old, new),
    },
    rows: Rows::new(cluster::ROLE_BINDING, cluster::role_binding),
    ..Strategy::DEFAULT
};
