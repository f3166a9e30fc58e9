//! Describes PodDisruptionBudgets and PriorityClasses.

use gantry_json::Value;

use super::or_none;
use crate::field::{at, number, pairs, selector, shown, text};

/// A PodDisruptionBudget.
pub(crate) fn disruption_budget(budget: &Value) -> String {
    let mut out = format!(
        "Name:\t{}\nNamespace:\t{}\n",
        text(budget, "/metadata/name"),
        text(budget, "/metadata/namespace")
    );
    if let Some(least) = budget.pointer("/spec/minAvailable") {
        out += &format!("Min available:\t{}\n", shown(least));
    } else if let Some(most) = budget.pointer("/spec/maxUnavailable") {
        out += &format!("Max unavailable:\t{}\n", shown(most));
    }
    let selected = match at(budget, "/spec/selector") {
        Value::Null => "<unset>".to_owned(),
        _ => selector(budget, "/spec/selector"),
    };
    out += &format!("Selector:\t{selected}\nStatus:\n");
    for (title, field) in [
        ("Allowed disruptions", "disruptionsAllowed"),
        ("Current", "currentHealthy"),
        ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ] {
        out += &format!("    {title}:\t{}\n", number(budget, &format!("/status/{field}")));
    }
    out
}

/// A PriorityClass.
pub(crate) fn priority_class(class: &Value) -> String {
    let is_default = class.get("globalDefault").is_some_and(|it| it == true);
    let mut out = format!("Name:\t{}\n", text(class, "/metadata/name"));
    out += &format!("Value:\t{}\nGlobalDefault:\t{is_default}\n", number(class, "/value"));
    out += &format!("PreemptionPolicy:\t{}\n", text(class, "/preemptionPolicy"));
    out += &format!("Description:\t{}\n", text(class, "/description"));
    out + &format!("Annotations:\t{}\n", or_none(&pairs(class, "/metadata/annotations")))
}
