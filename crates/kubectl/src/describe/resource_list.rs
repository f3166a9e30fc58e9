//! Requests and limits of pods and containers, compared with the capacity of a node.

use std::collections::BTreeMap;

use gantry_formats::quantity::Quantity;
use gantry_json::Value;

use crate::field::{at, list, members, shown, text};

/// Quantities by resource name.
#[derive(Clone, Debug, Default)]
pub(super) struct ResourceList(BTreeMap<String, Quantity>);

/// Requests and limits.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestsAndLimits {
    pub(super) requests: ResourceList,
    pub(super) limits: ResourceList,
}

const BILLION: i128 = 1_000_000_000;

impl ResourceList {
    /// The amounts at a JSON pointer.
    pub(super) fn read(object: &Value, pointer: &str) -> Self {
        let amounts = members(object, pointer).into_iter();
        let parsed = amounts
            .filter_map(|(name, amount)| Some((name.to_owned(), Quantity::parse(&shown(amount)).ok()?)));
        Self(parsed.collect())
    }

    /// The quantity of a resource; 0 if missing.
    pub(super) fn of(&self, name: &str) -> String {
        self.0.get(name).map_or_else(|| "0".to_owned(), ToString::to_string)
    }

    /// `100m (1%)`: an amount and its percentage of the allocatable amount.
    pub(super) fn part(&self, name: &str, there_is: &Self) -> String {
        let counted = |all: &Self| all.0.get(name).map_or(0, |amount| in_steps(*amount, name));
        let percent = match counted(there_is) {
            0 => 0,
            whole => counted(self) * 100 / whole,
        };
        format!("{} ({percent}%)", self.of(name))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn add(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let sum = self.0.get(name).map_or(*amount, |before| before.plus(*amount));
            self.0.insert(name.clone(), sum);
        }
    }

    /// Raises each quantity to at least that of the other list.
    fn raise(&mut self, other: &Self) {
        for (name, amount) in &other.0 {
            let is_more = self.0.get(name).is_none_or(|before| before.billionths() < amount.billionths());
            if is_more {
                self.0.insert(name.clone(), *amount);
            }
        }
    }
}

impl RequestsAndLimits {
    /// The requests and limits of a pod: the sum of its containers, or the largest init container if that is more.
    pub(super) fn of_pod(pod: &Value) -> Self {
        let mut all = Self::default();
        for container in list(pod, "/spec/containers") {
            all.add(&Self::of_container(container));
        }
        let (mut sidecars, mut before) = (Self::default(), Self::default());
        for container in list(pod, "/spec/initContainers") {
            let mut own = Self::of_container(container);
            if text(container, "/restartPolicy") == "Always" {
                all.add(&own);
                sidecars.add(&own);
                own = sidecars.clone();
            } else {
                own.add(&sidecars);
            }
            before.requests.raise(&own.requests);
            before.limits.raise(&own.limits);
        }
        all.requests.raise(&before.requests);
        all.limits.raise(&before.limits);
        let overhead = ResourceList::read(pod, "/spec/overhead");
        all.requests.add(&overhead);
        // Resources without a limit stay unlimited.
        let limited = overhead.0.into_iter().filter(|(name, _)| all.limits.0.contains_key(name));
        let limited = ResourceList(limited.collect());
        all.limits.add(&limited);
        all
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.requests.add(&other.requests);
        self.limits.add(&other.limits);
    }

    fn of_container(container: &Value) -> Self {
        Self {
            requests: ResourceList::read(container, "/resources/requests"),
            limits: ResourceList::read(container, "/resources/limits"),
        }
    }
}

/// The value that a variable gets from its container's resources; empty if there is no such resource.
pub(super) fn resource_value(container: &Value, reference: &Value) -> String {
    let resource = text(reference, "/resource");
    let (list, name) = resource.split_once('.').unwrap_or(("", resource));
    if !matches!((list, name), ("limits" | "requests", _)) {
        return String::new();
    }
    let amounts = ResourceList::read(at(container, "/resources"), &format!("/{list}"));
    let amount = amounts.0.get(name).map_or(0, |amount| amount.billionths());
    let divisor = Quantity::parse(&shown(at(reference, "/divisor"))).map_or(0, Quantity::billionths);
    let divisor = if divisor == 0 { BILLION } else { divisor };
    let value = rounded_up(amount, divisor);
    match resource {
        "limits.cpu" | "limits.memory" if value == 0 => "node allocatable".to_owned(),
        _ => value.to_string(),
    }
}

/// The quantity in thousandths for CPU, in ones for everything else, rounded up.
fn in_steps(amount: Quantity, name: &str) -> i128 {
    rounded_up(amount.billionths(), if name == "cpu" { BILLION / 1000 } else { BILLION })
}

fn rounded_up(amount: i128, step: i128) -> i128 {
    amount.div_euclid(step) + i128::from(amount.rem_euclid(step) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn pod_requests_are_the_sum_of_containers_or_the_largest_init_container() {
        let wants =
            |cpu: &str, memory: &str| json!({"resources": {"requests": {"cpu": cpu, "memory": memory}}});
        let pod = json!({"spec": {
            "containers": [wants("100m", "64Mi"), wants("250m", "64Mi")],
            "initContainers": [wants("1", "1Mi")],
            "overhead": {"cpu": "10m"}}});
        let node = ResourceList::read(&json!({"a": {"cpu": "8", "memory": "1Gi"}}), "/a");
        let all = RequestsAndLimits::of_pod(&pod);
        assert_eq!(all.requests.part("cpu", &node), "1010m (12%)");
        assert_eq!(all.requests.part("memory", &node), "128Mi (12%)");
        assert_eq!(all.limits.part("cpu", &node), "0 (0%)");
    }

    #[test]
    fn a_sidecar_is_counted_with_the_containers() {
        let pod = json!({"spec": {
            "containers": [{"resources": {"requests": {"cpu": "1"}}}],
            "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}}]}});
        assert_eq!(RequestsAndLimits::of_pod(&pod).requests.of("cpu"), "1500m");
    }

    #[test]
    fn a_variable_gets_whole_numbers_of_a_divisor() {
        let container = json!({"resources": {"limits": {"cpu": "1500m", "memory": "64Mi"}}});
        let value = |reference: Value| resource_value(&container, &reference);
        assert_eq!(value(json!({"resource": "limits.cpu"})), "2");
        assert_eq!(value(json!({"resource": "limits.cpu", "divisor": "1m"})), "1500");
        assert_eq!(value(json!({"resource": "limits.memory", "divisor": "1Mi"})), "64");
        assert_eq!(value(json!({"resource": "requests.cpu"})), "0");
        assert_eq!(resource_value(&json!({}), &json!({"resource": "limits.cpu"})), "node allocatable");
    }
}
