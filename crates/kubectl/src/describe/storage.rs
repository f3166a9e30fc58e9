//! Classes of storage and the drivers of a node.

use gantry_json::Value;

use super::{date, name_labels_annotations, or_none};
use crate::field::{at, list, pairs, shown, text};

const IS_DEFAULT: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/// A StorageClass.
pub(crate) fn storage_class(class: &Value) -> String {
    let annotations = at(class, "/metadata/annotations");
    let is_default = IS_DEFAULT.iter().any(|key| annotations.get(*key).is_some_and(|value| value == "true"));
    let expands = match class.get("allowVolumeExpansion").and_then(Value::as_bool) {
        None => "<unset>",
        Some(true) => "True",
        Some(false) => "False",
    };
    let mut out = format!("Name:\t{}\n", text(class, "/metadata/name"));
    out += &format!("IsDefaultClass:\t{}\n", if is_default { "Yes" } else { "No" });
    out += &format!("Annotations:\t{}\n", or_none(&pairs(class, "/metadata/annotations")));
    out += &format!("Provisioner:\t{}\n", text(class, "/provisioner"));
    out += &format!("Parameters:\t{}\n", or_none(&pairs(class, "/parameters")));
    out += &format!("AllowVolumeExpansion:\t{expands}\n");
    let options = list(class, "/mountOptions");
    if options.is_empty() {
        out += "MountOptions:\t<none>\n";
    } else {
        out += "MountOptions:\n";
        out.extend(options.iter().map(|option| format!("  {}\n", shown(option))));
    }
    out += &format!("ReclaimPolicy:\t{}\n", text(class, "/reclaimPolicy"));
    out += &format!("VolumeBindingMode:\t{}\n", text(class, "/volumeBindingMode"));
    let topologies = list(class, "/allowedTopologies");
    if topologies.is_empty() {
        return out;
    }
    out += "AllowedTopologies:\t\n";
    for (nth, term) in topologies.iter().enumerate() {
        let expressions = list(term, "/matchLabelExpressions").iter();
        let expressions = expressions.map(|one| {
            let values: Vec<String> = list(one, "/values").iter().map(shown).collect();
            format!("{} in [{}]", text(one, "/key"), values.join(", "))
        });
        out += &numbered_term("  ", nth, &expressions.collect::<Vec<_>>());
    }
    out
}

/// `Term 0:` with its expressions, one a line.
pub(super) fn numbered_term(indent: &str, nth: usize, expressions: &[String]) -> String {
    match expressions {
        [] => format!("{indent}Term {nth}:\t<none>\n"),
        lines => format!("{indent}Term {nth}:\t{}\n", lines.join("\n\t")),
    }
}

/// A VolumeAttributesClass.
pub(crate) fn volume_attributes_class(class: &Value) -> String {
    let mut out = format!("Name:\t{}\n", text(class, "/metadata/name"));
    out += &format!("Annotations:\t{}\n", or_none(&pairs(class, "/metadata/annotations")));
    out += &format!("DriverName:\t{}\n", text(class, "/driverName"));
    out + &format!("Parameters:\t{}\n", or_none(&pairs(class, "/parameters")))
}

/// A CSINode.
pub(crate) fn csi_node(node: &Value) -> String {
    let mut out = name_labels_annotations(node);
    out += &format!("CreationTimestamp:\t{}\nSpec:\n", date(at(node, "/metadata/creationTimestamp")));
    let drivers = list(node, "/spec/drivers");
    if !drivers.is_empty() {
        out += "  Drivers:\n";
    }
    for driver in drivers {
        out += &format!("    {}:\n      Node ID:\t{}\n", text(driver, "/name"), text(driver, "/nodeID"));
        if let Some(count) = driver.pointer("/allocatable/count") {
            out += &format!("      Allocatables:\n        Count:\t{}\n", shown(count));
        }
        let keys: Vec<String> = list(driver, "/topologyKeys").iter().map(shown).collect();
        if !keys.is_empty() {
            out += &format!("      Topology Keys:\t[{}]\n", keys.join(" "));
        }
    }
    out
}
