//! The subresources of pods: binding, eviction, logs, ephemeral containers, resize.
//!
//! Pure functions: the caller looks up budgets and stored objects.

pub mod binding;
mod condition;
pub mod eviction;
pub mod logs;
pub(crate) mod parts;
pub(crate) mod status;

use std::fmt::Write;

use gantry_json::Value;

use crate::Refusal;

/// Returns the container that a request names, or the only one.
pub fn container<'p>(pod: &'p Value, requested: &'p str) -> Result<&'p str, Refusal> {
    let names = |list: &str| -> Vec<&'p str> {
        let containers = pod["spec"][list].as_array();
        containers.into_iter().flatten().filter_map(|container| container["name"].as_str()).collect()
    };
    let pod_name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let (ordinary, first) = (names("containers"), names("initContainers"));
    if !requested.is_empty() {
        let is_there = ordinary.contains(&requested)
            || first.contains(&requested)
            || names("ephemeralContainers").contains(&requested);
        return if is_there {
            Ok(requested)
        } else {
            Err(Refusal::bad_request(format!("container {requested} is not valid for pod {pod_name}")))
        };
    }
    if let [only] = ordinary.as_slice() {
        return Ok(only);
    }
    let mut message = format!("a container name must be specified for pod {pod_name}");
    let many = [(", choose one of", ordinary), (" or one of the init containers", first)];
    for (words, names) in many.into_iter().filter(|(_, names)| !names.is_empty()) {
        let _ = write!(message, "{words}: [{}]", names.join(" "));
    }
    Err(Refusal::bad_request(message))
}

/// The node that a pod is bound to.
pub fn node(pod: &Value) -> Option<&str> {
    pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty())
}
