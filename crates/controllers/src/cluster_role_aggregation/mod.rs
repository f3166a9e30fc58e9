//! Aggregated ClusterRoles, such as `admin`, `edit` and `view`: keeps their rules those of the roles that they select.

mod apply;
mod observe;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::cluster_role_aggregation::WORKERS;
use gantry_decide::queue::{Outcome, RetryPolicy};
use gantry_model::Name;
use gantry_runtime::Queue;

use crate::context::{Assembly, Context};
use observe::Roles;

pub use observe::are_bootstrap_roles_aggregated;

/// The controller.
#[derive(Clone, Debug)]
struct Aggregation {
    context: Context,
    roles: Roles,
}

/// Adds the controller to a process.
pub(crate) fn assemble(assembly: &mut Assembly<'_>) {
    let context = assembly.context.clone();
    let roles = Roles(assembly.informers.of());
    let queue = Queue::new("cluster_role_aggregator", context.clock.clone(), &context.metrics);
    triggers::subscribe(&roles, &queue);
    let controller = Aggregation { context, roles };
    let synced = {
        let roles = controller.roles.clone();
        async move { roles.0.synced().await }
    };
    let policy = RetryPolicy::CLUSTER_ROLE_AGGREGATION;
    assembly.work(&queue, (WORKERS, policy), synced, move |role| {
        let controller = controller.clone();
        async move { controller.sync(&role).await }
    });
}

impl Aggregation {
    /// Syncs one role.
    async fn sync(&self, role: &Name) -> (Outcome, Wake) {
        match self.roles.step(role) {
            Ok(None) => (Outcome::Success, Wake::OnChange),
            Ok(Some(rules)) => match self.apply(role, &rules).await {
                Ok(()) => (Outcome::Success, Wake::OnChange),
                Err(failure) => {
                    tracing::debug!(%role, %failure, "the rules could not be written");
                    (Outcome::Failure, Wake::OnChange)
                }
            },
            Err(invalid) => {
                tracing::debug!(%role, %invalid, "the role selects roles by an invalid selector");
                (Outcome::Failure, Wake::OnChange)
            }
        }
    }
}
