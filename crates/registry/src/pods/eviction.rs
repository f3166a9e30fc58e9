//! Evictions: deletes that respect disruption budgets.
//!
//! ```text
//! check ─► Free ──────────────► marked, then deleted
//!       ├► FreeAt(version) ───► the same, if the pod still has that version
//!       └► Decrements(budget) ─► decrement_disruptions_allowed ─► the same
//! ```

use gantry_json::{Value, json};

use super::condition;
use crate::Timestamp;
use crate::selector::LabelSelector;
use crate::{Cause, Details, Refusal, StatusReason};

/// The effect of an eviction on the disruption budgets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvictionCost {
    /// Nothing: no budget applies to the pod.
    Free,
    /// Nothing, if the pod still has this version; once it runs or is ready, it counts.
    FreeAt {
        /// The version that was checked.
        version: String,
        /// The budget that applies as soon as the pod is ready.
        budget: Option<String>,
    },
    /// One of the disruptions that this budget allows.
    Decrements(String),
}

/// The maximum number of evictions in a budget that its controller has not confirmed.
const UNCONFIRMED_MAX: usize = 2000;
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

/// Checks the eviction of a pod against the budgets of its namespace.
pub fn check(pod: &Value, budgets: &[Value]) -> Result<EvictionCost, Refusal> {
    let version = || pod["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
    match pod["status"]["phase"].as_str().unwrap_or_default() {
        "Pending" => return Ok(EvictionCost::FreeAt { version: version(), budget: None }),
        "Succeeded" | "Failed" => return Ok(EvictionCost::Free),
        _ if pod["metadata"]["deletionTimestamp"].is_string() => return Ok(EvictionCost::Free),
        _ => {}
    }
    let budgets_of_pod: Vec<_> = budgets.iter().filter(|budget| budgets_of_pod(budget, pod)).collect();
    let budget = match budgets_of_pod.as_slice() {
        [] => return Ok(EvictionCost::Free),
        [only] => *only,
        _ => {
            let why = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Refusal::server_error(why));
        }
    };
    let name = name(budget);
    if !is_ready(pod) && allows_unready_eviction(budget) {
        return Ok(EvictionCost::FreeAt { version: version(), budget: Some(name) });
    }
    Ok(EvictionCost::Decrements(name))
}

/// Returns the budget after one more disruption, or why it does not allow one.
pub fn decrement_disruptions_allowed(
    budget: &Value,
    pod_name: &str,
    now: Timestamp,
) -> Result<Value, Refusal> {
    let count = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    if count("observedGeneration") < budget["metadata"]["generation"].as_i64().unwrap_or(0) {
        return Err(being_processed(&name(budget)));
    }
    let allowed = count("disruptionsAllowed");
    if allowed < 0 {
        return Err(forbidden(budget, "pdb disruptions allowed is negative"));
    }
    if budget["status"]["disruptedPods"].as_object().is_some_and(|pods| pods.len() > UNCONFIRMED_MAX) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(forbidden(budget, why));
    }
    if allowed == 0 {
        let (healthy, needed, name) = (count("currentHealthy"), count("desiredHealthy"), name(budget));
        return Err(too_many(
            if healthy <= needed {
                format!(
                    "The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
                )
            } else {
                format!("The disruption budget {name} does not allow evicting pods currently")
            },
            0,
        ));
    }
    let mut spent = budget.clone();
    spent["status"]["disruptionsAllowed"] = json!(allowed - 1);
    spent["status"]["disruptedPods"][pod_name] = json!(now.to_string());
    if allowed == 1 {
        exhausted(&mut spent, now);
    }
    Ok(spent)
}

/// Returns the pod with the condition `DisruptionTarget`.
pub fn mark(pod: &Value, now: Timestamp) -> Value {
    let mut marked = pod.clone();
    let why = ("EvictionByEvictionAPI", "Eviction API: evicting");
    condition::set(&mut marked, "DisruptionTarget", "True", Some(why), now);
    marked
}

/// Returns the 429 for a budget that its controller has not processed since it, or its pod, changed.
pub fn being_processed(budget_name: &str) -> Refusal {
    too_many(format!("The disruption budget {budget_name} is still being processed by the server."), 10)
}

/// Whether a budget applies to this pod. An empty selector matches all pods, an absent one none.
fn budgets_of_pod(budget: &Value, pod: &Value) -> bool {
    let selector = &budget["spec"]["selector"];
    !selector.is_null() && LabelSelector::from_object(selector).is_ok_and(|selector| selector.matches(pod))
}

/// Whether unready pods can be evicted freely: always, or because enough others are healthy.
fn allows_unready_eviction(budget: &Value) -> bool {
    let count = |field: &str| budget["status"][field].as_i64().unwrap_or(0);
    budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        || (count("currentHealthy") >= count("desiredHealthy") && count("desiredHealthy") > 0)
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|one| one["type"] == "Ready" && one["status"] == "True")
}

/// Sets the budget's condition `DisruptionAllowed` to false.
fn exhausted(budget: &mut Value, now: Timestamp) {
    let mut condition = json!({
        "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
        "lastTransitionTime": now.to_string(),
    });
    let observed = &budget["status"]["observedGeneration"];
    if observed.as_i64().is_some_and(|observed| observed != 0) {
        condition["observedGeneration"] = observed.clone();
    }
    condition::put(&mut budget["status"]["conditions"], condition);
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

fn too_many(cause: String, retry_after_seconds: u32) -> Refusal {
    let causes = vec![Cause { reason: "DisruptionBudget", message: cause, field: String::new() }];
    let details = Details { causes, retry_after_seconds, ..Details::default() };
    Refusal::new(StatusReason::TooManyRequests, REFUSED).with(details)
}

fn forbidden(budget: &Value, why: &str) -> Refusal {
    let (name, group, kind) = (name(budget), "policy".to_owned(), "poddisruptionbudget".to_owned());
    let message = format!("{kind}.{group} \"{name}\" is forbidden: {why}");
    let details = Details { name, group, kind, ..Details::default() };
    Refusal::new(StatusReason::Forbidden, message).with(details)
}
