//! Aggregated ClusterRoles, such as `admin`, `edit` and `view`: keeps their rules those of the roles that they select.

mod apply;
mod observe;
mod triggers;

use gantry_decide::Wake;
use gantry_decide::cluster_role_aggregation::WORKERS;
use gantry_decide::queue::RetryPolicy;
use gantry_model::{Name, Refusal};

use crate::context::{Assembly, Context, Reconciler};
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
    let roles = Roles(assembly.informer());
    let queue = assembly.queue("cluster_role_aggregator");
    triggers::subscribe(&roles, &queue);
    let controller = Aggregation { context, roles };
    assembly.work(&queue, (WORKERS, RetryPolicy::CLUSTER_ROLE_AGGREGATION), controller);
}

impl Reconciler<Name> for Aggregation {
    async fn sync(&self, role: &Name) -> Result<Wake, Refusal> {
        let rules = self.roles.step(role).map_err(|invalid| Refusal::other(invalid.to_string()))?;
        if let Some(rules) = rules {
            self.apply(role, &rules).await?;
        }
        Ok(Wake::OnChange)
    }
}
