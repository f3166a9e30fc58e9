//! Events about budgets and their pods, with Kubernetes' reasons and messages.

use gantry_model::{DisruptionBudget, Event, Name, Namespace, ObjectKey, Requirement, Selector};

/// The `source.component` of these events.
pub const EVENT_SOURCE: &str = "controllermanager";

pub(super) fn no_pods() -> Event {
    Event::normal("NoPods", "No matching pods found".to_owned())
}

pub(super) fn selection_failed(why: &str) -> Event {
    Event::warning("NoPods", format!("Failed to get pods: {why}"))
}

/// The scale of a pod's controller cannot be read.
pub(super) fn count_failed(why: &str) -> Event {
    Event::warning(
        "CalculateExpectedPodCountFailed",
        format!("Failed to calculate the number of expected pods: {why}"),
    )
}

/// A pod without a controller cannot be counted.
pub(super) fn unmanaged(budget: &DisruptionBudget) -> Event {
    let selector = budget.selector.as_ref().and_then(|selector| selector.as_ref().ok());
    Event::warning(
        "UnmanagedPods",
        format!(
            "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the \
             status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for \
             these pods please set \".spec.minAvailable\" field of the PDB to an integer value.",
            selector.map_or_else(|| "nil".to_owned(), go_syntax)
        ),
    )
}

/// A selector as Go prints it: scripts may match the text of the event.
fn go_syntax(selector: &Selector) -> String {
    let requirements = match selector {
        Selector::Everything => &[][..],
        Selector::All(requirements) => requirements,
    };
    let (mut labels, mut expressions) = (String::new(), String::new());
    for requirement in requirements {
        let (key, operator, values) = match requirement {
            Requirement::Equals(key, value) => {
                labels = format!("{labels}{key}: {value},");
                continue;
            }
            Requirement::In(key, values) => (key, "In", values.join(" ")),
            Requirement::NotIn(key, values) => (key, "NotIn", values.join(" ")),
            Requirement::Exists(key) => (key, "Exists", String::new()),
            Requirement::DoesNotExist(key) => (key, "DoesNotExist", String::new()),
        };
        expressions = format!(
            "{expressions}LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},"
        );
    }
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},\
         MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}

/// An evicted pod still exists. Kubernetes writes the namespace where the name of the budget is meant.
pub(super) fn not_deleted(namespace: &Namespace) -> Event {
    let message = format!("Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't");
    Event::warning("NotDeleted", message)
}

pub(super) fn several_budgets(pod: &ObjectKey, chosen: &Name) -> Event {
    Event::warning(
        "MultiplePodDisruptionBudgets",
        format!(
            "Pod {:?}/{:?} matches multiple PodDisruptionBudgets.  Chose {:?} arbitrarily.",
            pod.namespace.as_str(),
            pod.name.as_str(),
            chosen.as_str()
        ),
    )
}
