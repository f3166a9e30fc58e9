//! The usage of an object, by the resource names of quotas.

use std::collections::BTreeMap;

use gantry_json::{Map, SmolStr, Value, json};

use crate::kinds::Kind;
use crate::strategies;
use gantry_formats::quantity::Quantity;

/// Amounts by name: `pods`, `requests.cpu`, `count/jobs.batch`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage(BTreeMap<String, Quantity>);

/// Resources that quotas count without `count/`.
const COUNTED: [&str; 7] = [
    "pods",
    "services",
    "configmaps",
    "secrets",
    "replicationcontrollers",
    "resourcequotas",
    "persistentvolumeclaims",
];
/// Names that mean requests when a quota uses them without a prefix.
const PLAIN_REQUESTS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

impl Usage {
    /// Returns the usage of an object.
    pub fn of(kind: &Kind, object: &Value) -> Self {
        let mut usage = Self::default();
        usage.count(&format!("count/{}", kind.group_resource()));
        (strategies::of(kind).quota.usage)(&mut usage, object);
        usage
    }

    /// Parses a map of quantities; ignores invalid ones.
    pub(super) fn parse(amounts: &Value) -> Self {
        let amounts = amounts.as_object().into_iter().flatten();
        let read = |(name, amount): (&SmolStr, &Value)| {
            Quantity::parse(amount.as_str()?).ok().map(|amount| (name.to_string(), amount))
        };
        Self(amounts.filter_map(read).collect())
    }

    pub(super) fn render(&self) -> Value {
        let amounts = self.0.iter().map(|(name, amount)| (name.clone(), json!(amount.to_string())));
        Value::Object(amounts.collect::<Map>())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns an amount in billionths.
    pub(super) fn amount(&self, name: &str) -> i128 {
        self.0.get(name).copied().unwrap_or(Quantity::ZERO).billionths()
    }

    /// Keeps the amounts that are limited.
    pub(super) fn within(mut self, limits: &Self) -> Self {
        self.0.retain(|name, _| limits.has(name));
        self
    }

    /// Adds zero for everything that is limited and not used.
    pub(super) fn filled(&self, limits: &Self) -> Self {
        let amounts = limits.names().map(|name| (name.to_owned(), self.0.get(name).copied()));
        Self(amounts.map(|(name, amount)| (name, amount.unwrap_or(Quantity::ZERO))).collect())
    }

    /// Returns the sum.
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        for (name, amount) in &other.0 {
            sum.add(name, *amount);
        }
        sum
    }

    /// Returns the difference without zeros.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        for (name, amount) in &other.0 {
            difference.add(name, amount.negated());
        }
        difference.0.retain(|_, amount| amount.billionths() != 0);
        difference
    }

    /// Returns the rest of these limits: zero where more is used.
    pub(super) fn left_by(&self, used: &Self) -> Self {
        let mut left = self.minus(used);
        left.0.retain(|_, amount| amount.billionths() > 0);
        left.filled(self)
    }

    /// Formats the amounts of these names
    pub(super) fn shown(&self, names: &[&str]) -> String {
        let amount = |name: &&str| self.0.get(*name).copied().unwrap_or(Quantity::ZERO);
        let shown: Vec<_> = names.iter().map(|name| format!("{name}={}", amount(name))).collect();
        shown.join(",")
    }

    fn add(&mut self, name: &str, amount: Quantity) {
        let before = self.0.get(name).copied().unwrap_or(Quantity::ZERO);
        self.0.insert(name.to_owned(), before.plus(amount));
    }

    /// Adds one object.
    pub(crate) fn count(&mut self, name: &str) {
        self.add(name, Quantity::ONE);
    }

    /// Adds a pod, unless it has terminated, and its requests.
    pub(crate) fn add_pod(&mut self, pod: &Value) {
        if has_terminated(pod) {
            return;
        }
        let spec = &pod["spec"];
        self.count("pods");
        for (list, prefix) in [("requests", "requests."), ("limits", "limits.")] {
            for (resource, amount) in needed(spec, list) {
                if list == "requests" && PLAIN_REQUESTS.contains(&resource.as_str()) {
                    self.add(&resource, amount);
                }
                self.add(&format!("{prefix}{resource}"), amount);
            }
        }
    }

    /// Adds a Service and the ports and load balancers that it uses.
    pub(crate) fn add_service(&mut self, spec: &Value) {
        self.count("services");
        let ports = spec["ports"].as_array().map_or(0, Vec::len);
        let opens_ports = match spec["type"].as_str() {
            Some("NodePort") => true,
            Some("LoadBalancer") => {
                self.count("services.loadbalancers");
                spec["allocateLoadBalancerNodePorts"] != json!(false)
            }
            _ => false,
        };
        if opens_ports {
            (0..ports).for_each(|_| self.count("services.nodeports"));
        }
    }

    /// Adds a PersistentVolumeClaim and the storage that it requests.
    pub(crate) fn add_claim(&mut self, claim: &Value) {
        self.count("persistentvolumeclaims");
        let spec = &claim["spec"];
        let storage = quantity(&spec["resources"]["requests"]["storage"]).unwrap_or(Quantity::ZERO);
        self.add("requests.storage", storage);
        let class = spec["storageClassName"].as_str().unwrap_or_default();
        if !class.is_empty() {
            self.add(&format!("{class}.storageclass.storage.k8s.io/persistentvolumeclaims"), Quantity::ONE);
            self.add(&format!("{class}.storageclass.storage.k8s.io/requests.storage"), storage);
        }
    }
}

/// Whether objects of the kind use the resource of this name.
pub(super) fn is_of(name: &str, kind: &Kind) -> bool {
    if let Some(counted) = name.strip_prefix("count/") {
        return counted == kind.group_resource();
    }
    let owner = match name {
        "requests.storage" => "persistentvolumeclaims",
        _ if name.contains(".storageclass.storage.k8s.io/") => "persistentvolumeclaims",
        "services.nodeports" | "services.loadbalancers" => "services",
        _ if COUNTED.contains(&name) => name,
        _ => "pods",
    };
    kind.group.is_empty() && kind.resource == owner
}

/// Returns the limited resources that containers of a pod do not specify, with the names of those containers.
pub(super) fn unspecified_resources(pod: &Value, limits: &Usage) -> BTreeMap<String, Vec<String>> {
    let mut silent = BTreeMap::<String, Vec<String>>::new();
    if has_terminated(pod) {
        return silent;
    }
    let containers = ["containers", "initContainers"];
    let containers = containers.iter().filter_map(|list| pod["spec"][*list].as_array()).flatten();
    for container in containers {
        for limited in limits.names() {
            let (list, resource) = match limited.split_once('.') {
                Some((list @ ("requests" | "limits"), resource)) if resource != "storage" => (list, resource),
                None if PLAIN_REQUESTS.contains(&limited) => ("requests", limited),
                _ => continue,
            };
            // Only CPU, memory and ephemeral storage must be specified.
            if !PLAIN_REQUESTS.contains(&resource) || !container["resources"][list][resource].is_null() {
                continue;
            }
            let name = container["name"].as_str().unwrap_or_default().to_owned();
            silent.entry(limited.to_owned()).or_default().push(name);
        }
    }
    for names in silent.values_mut() {
        names.sort();
    }
    silent
}

pub(super) fn has_terminated(pod: &Value) -> bool {
    matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"))
}

/// Returns the resources of a pod: the sum of its containers, or the maximum of its init containers if that is more.
fn needed(spec: &Value, list: &str) -> BTreeMap<String, Quantity> {
    let amounts = |container: &Value| -> Vec<(String, Quantity)> {
        let amounts = container["resources"][list].as_object().into_iter().flatten();
        amounts.filter_map(|(name, amount)| Some((name.to_string(), quantity(amount)?))).collect()
    };
    let of = |list: &str| spec[list].as_array().map_or(&[][..], Vec::as_slice);
    let mut together = Usage::default();
    let mut before = BTreeMap::<String, Quantity>::new();
    let mut beside = Usage::default();
    for container in of("containers") {
        for (name, amount) in amounts(container) {
            together.add(&name, amount);
        }
    }
    for container in of("initContainers") {
        let stays = container["restartPolicy"] == json!("Always");
        for (name, amount) in amounts(container) {
            let running = beside.0.get(&name).copied().unwrap_or(Quantity::ZERO);
            let at_that_time = running.plus(amount);
            if stays {
                beside.add(&name, amount);
                together.add(&name, amount);
            }
            let most = before.entry(name).or_insert(Quantity::ZERO);
            if at_that_time.billionths() > most.billionths() {
                *most = at_that_time;
            }
        }
    }
    let mut needed = together.0;
    for (name, amount) in before {
        let most = needed.entry(name).or_insert(Quantity::ZERO);
        if amount.billionths() > most.billionths() {
            *most = amount;
        }
    }
    for (name, amount) in spec["overhead"].as_object().into_iter().flatten() {
        if let (Some(amount), Some(sum)) = (quantity(amount), needed.get(name.as_str())) {
            needed.insert(name.to_string(), sum.plus(amount));
        }
    }
    needed
}

fn quantity(amount: &Value) -> Option<Quantity> {
    Quantity::parse(amount.as_str()?).ok()
}
