//! The snapshot: a role, and all roles that it may select.

use gantry_decide::cluster_role_aggregation::decide;
use gantry_model::{ClusterRole, InvalidSelector, Name, ObjectKey, PolicyRule};
use gantry_runtime::Informer;
use k8s_openapi::api::rbac::v1 as wire;

/// The cache that the controller reads.
#[derive(Clone, Debug)]
pub(super) struct Roles(pub(super) Informer<ClusterRole>);

impl Roles {
    /// The rules to write into a role, if they differ.
    pub(super) fn step(&self, role: &Name) -> Result<Option<Vec<PolicyRule>>, InvalidSelector> {
        let all = self.0.read();
        let Some(role) = all.get(&ObjectKey::new("", role.clone())) else { return Ok(None) };
        let roles: Vec<&ClusterRole> = all.iter().map(|role| &**role).collect();
        decide(role, &roles)
    }
}

/// Whether the aggregated roles that every cluster has from its start on, such as `admin`, have their rules.
pub fn are_bootstrap_roles_aggregated(roles: impl IntoIterator<Item = wire::ClusterRole>) -> bool {
    let roles: Vec<_> = roles.into_iter().filter_map(|role| ClusterRole::parse(role).ok()).collect();
    let is_bootstrap = |role: &&ClusterRole| role.labels.contains_key("kubernetes.io/bootstrapping");
    let all: Vec<&ClusterRole> = roles.iter().collect();
    roles.iter().filter(is_bootstrap).all(|role| decide(role, &all).is_ok_and(|rules| rules.is_none()))
}
