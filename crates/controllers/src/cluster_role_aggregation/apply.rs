//! Writes the rules of a role.

use gantry_json::{Value, json};
use gantry_model::{ClusterRole, Name, PolicyRule};
use gantry_runtime::informer::Typed as _;
use gantry_runtime::{RequestError, ResourcePath};

use super::Aggregation;

impl Aggregation {
    /// Applies the rules and nothing else; if the role has none any more, the rules applied before are removed.
    pub(super) async fn apply(&self, role: &Name, rules: &[PolicyRule]) -> Result<(), RequestError> {
        let resource = ClusterRole::resource();
        let mut object = json!({
            "apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": role.as_str()},
        });
        if !rules.is_empty() {
            object["rules"] = rules.iter().map(|rule| json!(rule.render())).collect();
        }
        tracing::debug!(%role, rules = rules.len(), "aggregated");
        let target = ResourcePath::object(&resource, None, role);
        self.context.api.apply::<Value>(&target, &object).await.map(drop)
    }
}
