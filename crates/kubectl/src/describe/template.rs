//! The pod template of a workload (K3.3).

use gantry_json::Value;

use super::container::{self, ContainerSource, Indent};
use super::labels_annotations::{annotations, labels, multiline};
use super::volume;
use crate::field::{list, members, number, selector, shown, text};

/// The template with its title, cells ended by tabs.
pub(crate) fn described(template: &Value) -> String {
    let mut out = String::from("Pod Template:\n");
    out.push_str(&labels("Labels:", "  ", template, "/metadata/labels"));
    if !members(template, "/metadata/annotations").is_empty() {
        out.push_str(&annotations("Annotations:", "  ", template, "/metadata/annotations"));
    }
    let account = text(template, "/spec/serviceAccountName");
    if !account.is_empty() {
        out.push_str(&format!("  Service Account:\t{account}\n"));
    }
    let indent = Indent { title: "  ", name: "   " };
    if !list(template, "/spec/initContainers").is_empty() {
        out.push_str(&container::all(
            "Init Containers:",
            indent,
            list(template, "/spec/initContainers"),
            ContainerSource::Template,
        ));
    }
    out.push_str(&container::all(
        "Containers:",
        indent,
        list(template, "/spec/containers"),
        ContainerSource::Template,
    ));
    out.push_str(&volume::all(list(template, "/spec/volumes"), indent));
    let class = text(template, "/spec/priorityClassName");
    if !class.is_empty() {
        out.push_str(&format!("  Priority Class Name:\t{class}\n"));
    }
    out.push_str(&placement("  ", &template["spec"]));
    out
}

/// Where the pods may run.
pub(super) fn placement(indent: &str, spec: &Value) -> String {
    let mut out = labels("Node-Selectors:", indent, spec, "/nodeSelector");
    let mut tolerations: Vec<&Value> = list(spec, "/tolerations").iter().collect();
    tolerations.sort_by_key(|one| text(one, "/key"));
    let tolerations: Vec<String> = tolerations.into_iter().map(toleration).collect();
    out.push_str(&multiline("Tolerations:", indent, &tolerations));
    let mut constraints: Vec<&Value> = list(spec, "/topologySpreadConstraints").iter().collect();
    if !constraints.is_empty() {
        constraints.sort_by_key(|one| text(one, "/topologyKey"));
        let constraints: Vec<String> = constraints.into_iter().map(spread).collect();
        out.push_str(&multiline("Topology Spread Constraints:", indent, &constraints));
    }
    out
}

/// `zone:DoNotSchedule when max skew 1 is exceeded for selector app=web`.
fn spread(constraint: &Value) -> String {
    let (key, skew) = (text(constraint, "/topologyKey"), number(constraint, "/maxSkew"));
    let otherwise = text(constraint, "/whenUnsatisfiable");
    let of = match constraint.get("labelSelector") {
        Some(_) => format!(" for selector {}", selector(constraint, "/labelSelector")),
        None => String::new(),
    };
    format!("{key}:{otherwise} when max skew {skew} is exceeded{of}")
}

fn toleration(toleration: &Value) -> String {
    let (key, value, effect) =
        (text(toleration, "/key"), text(toleration, "/value"), text(toleration, "/effect"));
    let mut out = key.to_owned();
    if !value.is_empty() {
        out.push_str(&format!("={value}"));
    }
    if !effect.is_empty() {
        out.push_str(&format!(":{effect}"));
    }
    if text(toleration, "/operator") == "Exists" && value.is_empty() {
        out.push_str(if key.is_empty() && effect.is_empty() { "op=Exists" } else { " op=Exists" });
    }
    if let Some(seconds) = toleration.get("tolerationSeconds") {
        out.push_str(&format!(" for {}s", shown(seconds)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K6.1: the cells of a template end in tabs.
    #[test]
    fn a_template_is_shown_in_cells() {
        let template = json!({"metadata": {"labels": {"app": "nginx", "pod-template-hash": "1"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx:1.16.1", "ports": [{"containerPort": 80}]}]}});
        assert_eq!(
            described(&template),
            "Pod Template:\n  Labels:\tapp=nginx\n\tpod-template-hash=1\n  Containers:\n   nginx:\n    Image:\tnginx:1.16.1\n    \
             Port:\t80/TCP\n    Host Port:\t0/TCP\n    Environment:\t<none>\n    Mounts:\t<none>\n  Volumes:\t<none>\n  \
             Node-Selectors:\t<none>\n  Tolerations:\t<none>\n"
        );
    }

    #[test]
    fn tolerations_are_shown_in_short() {
        let render = |value| toleration(&value);
        assert_eq!(
            render(
                json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
            ),
            "node.kubernetes.io/not-ready:NoExecute op=Exists for 300s"
        );
        assert_eq!(render(json!({"key": "a", "value": "b", "effect": "NoSchedule"})), "a=b:NoSchedule");
        assert_eq!(render(json!({"operator": "Exists"})), "op=Exists");
    }
}
