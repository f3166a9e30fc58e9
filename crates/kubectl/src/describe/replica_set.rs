//! A ReplicaSet, with its pods counted (K3, section 3.2).

use serde_json::Value;

use super::marks::{annotations, labels};
use super::{conditions, controller, template};
use crate::field::{number, selector, text};

/// A ReplicaSet; `pods` are those that it controls.
pub(crate) fn replica_set(set: &Value, pods: &[Value]) -> String {
    let mut out =
        format!("Name:\t{}\nNamespace:\t{}\n", text(set, "/metadata/name"), text(set, "/metadata/namespace"));
    out += &format!("Selector:\t{}\n", selector(set, "/spec/selector"));
    out += &labels("Labels:", "", set, "/metadata/labels");
    out += &annotations("Annotations:", "", set, "/metadata/annotations");
    if let Some(controller) = controller(set) {
        out += &format!("Controlled By:\t{controller}\n");
    }
    out += &format!(
        "Replicas:\t{} current / {} desired\n",
        number(set, "/status/replicas"),
        number(set, "/spec/replicas")
    );
    let count = |phase: &str| pods.iter().filter(|pod| text(pod, "/status/phase") == phase).count();
    out += &format!(
        "Pods Status:\t{} Running / {} Waiting / {} Succeeded / {} Failed\n",
        count("Running"),
        count("Pending"),
        count("Succeeded"),
        count("Failed")
    );
    out += &template::described(&set["spec"]["template"]);
    out + &conditions(set)
}
