//! The changes that enqueue an aggregated role: those of any role.

use gantry_decide::cluster_role_aggregation::triggers::on_role;
use gantry_model::Name;
use gantry_runtime::Queue;

use super::observe::Roles;

/// Subscribes the queue to every change.
pub(super) fn subscribe(roles: &Roles, queue: &Queue<Name>) {
    let (to, all) = (queue.clone(), roles.0.clone());
    roles.0.subscribe(move |_| {
        for role in on_role(all.read().iter().map(|role| &**role)) {
            to.add(role);
        }
    });
}
