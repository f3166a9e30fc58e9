//! Warnings about pods and templates, in Kubernetes' order.

use std::collections::BTreeSet;

use gantry_json::Value;

use super::error_list::{Path, is_set, list, members, number, text};
use super::port_warnings::PortWarnings;
use super::{environment, overlap, resources};

/// Deprecated labels of nodes: the old one, the version, the new one.
const OLD_NODE_LABELS: [(&str, &str, &str); 5] = [
    ("beta.kubernetes.io/arch", "v1.14", "kubernetes.io/arch"),
    ("beta.kubernetes.io/os", "v1.14", "kubernetes.io/os"),
    ("failure-domain.beta.kubernetes.io/region", "v1.17", "topology.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", "v1.17", "topology.kubernetes.io/zone"),
    ("beta.kubernetes.io/instance-type", "v1.17", "node.kubernetes.io/instance-type"),
];
/// Deprecated and removed volume sources: the field, its name in the warning, the reason.
const OLD_VOLUMES: [(&str, &str, &str); 9] = [
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
];
/// Annotations that fields have replaced.
const OLD_ANNOTATIONS: [(&str, &str); 2] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
];
const POD_SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const USE_SECCOMP: &str = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
const USE_APP_ARMOR: &str = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Warns about a pod or template at this path.
pub(crate) fn of(warnings: &mut Vec<String>, at: &Path<'_>, pod: &Value) {
    let (spec_at, spec) = (at.child("spec"), &pod["spec"]);
    let annotations_at = at.child("metadata");
    let annotations_at = annotations_at.child("annotations");
    let annotations = &pod["metadata"]["annotations"];
    placement(warnings, &spec_at, spec);
    for (name, why) in OLD_ANNOTATIONS.into_iter().filter(|(name, _)| is_set(annotations, name)) {
        warnings.push(format!("{}: {why}", annotations_at.key(name)));
    }
    volumes(warnings, &spec_at.child("volumes"), list(spec, "volumes"));
    repeated(warnings, &spec_at.child("hostAliases"), list(spec, "hostAliases"), "ip");
    pull_secrets(warnings, &spec_at.child("imagePullSecrets"), list(spec, "imagePullSecrets"));
    if is_set(annotations, POD_SECCOMP) && !is_set(&spec["securityContext"], "seccompProfile") {
        warnings.push(format!("{}: {USE_SECCOMP}", annotations_at.key(POD_SECCOMP)));
    }
    containers(warnings, &spec_at, spec, (&annotations_at, annotations));
    if number(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        warnings.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            spec_at.child("terminationGracePeriodSeconds")
        ));
    }
    affinity_terms(warnings, &spec_at.child("affinity"), &spec["affinity"]);
}

/// Warns about deprecated labels in scheduling constraints.
fn placement(warnings: &mut Vec<String>, at: &Path<'_>, spec: &Value) {
    for (key, _) in members(spec, "nodeSelector") {
        if let Some(instead) = newer_label(key) {
            let at = at.child("nodeSelector");
            warnings.push(format!("{}: {instead}", at.key(key)));
        }
    }
    let (affinity_at, affinity) = (at.child("affinity"), &spec["affinity"]["nodeAffinity"]);
    let affinity_at = affinity_at.child("nodeAffinity");
    let required_at = affinity_at.child(REQUIRED);
    let terms = list(&affinity[REQUIRED], "nodeSelectorTerms");
    node_terms(warnings, &required_at.child("nodeSelectorTerms"), terms);
    for (index, preferred) in list(affinity, PREFERRED).iter().enumerate() {
        let at = affinity_at.child(PREFERRED);
        let at = at.index(index);
        node_term(warnings, &at.child("preference"), &preferred["preference"]);
    }
    for (index, constraint) in list(spec, "topologySpreadConstraints").iter().enumerate() {
        let at = at.child("topologySpreadConstraints");
        let (at, key) = (at.index(index), text(constraint, "topologyKey"));
        if let Some(instead) = newer_label(key) {
            warnings.push(format!("{}: {key} is {instead}", at.child("topologyKey")));
        }
        if constraint["labelSelector"].is_null() {
            warnings.push(format!("{}: {NO_SELECTOR}", at.child("labelSelector")));
        }
    }
}

/// Warns about deprecated labels in the terms of a node selector.
pub(crate) fn node_terms(warnings: &mut Vec<String>, at: &Path<'_>, terms: &[Value]) {
    for (index, term) in terms.iter().enumerate() {
        node_term(warnings, &at.index(index), term);
    }
}

fn node_term(warnings: &mut Vec<String>, at: &Path<'_>, term: &Value) {
    for (index, expression) in list(term, "matchExpressions").iter().enumerate() {
        let key = text(expression, "key");
        if let Some(instead) = newer_label(key) {
            let at = at.child("matchExpressions");
            warnings.push(format!("{}: {key} is {instead}", at.index(index).child("key")));
        }
    }
}

/// Returns the warning about a deprecated label of nodes.
pub(crate) fn newer_label(key: &str) -> Option<String> {
    let (_, since, instead) = OLD_NODE_LABELS.iter().find(|(old, _, _)| *old == key)?;
    Some(format!("deprecated since {since}; use \"{instead}\" instead"))
}

fn volumes(warnings: &mut Vec<String>, at: &Path<'_>, volumes: &[Value]) {
    for (index, volume) in volumes.iter().enumerate() {
        let at = at.index(index);
        for (field, shown, why) in OLD_VOLUMES {
            if is_set(volume, field) {
                warnings.push(format!("{}: {why}", at.child(shown)));
            }
        }
        let claim_at = at.child("ephemeral");
        let claim_at = claim_at.child("volumeClaimTemplate");
        let claim_at = claim_at.child("spec");
        let claim = &volume["ephemeral"]["volumeClaimTemplate"]["spec"];
        resources::fractions(warnings, &claim_at.child("resources"), &claim["resources"]);
    }
    for volume in volumes {
        overlap::paths(warnings, volume);
    }
}

/// Warns about elements of a list with the same value as an earlier one.
fn repeated(warnings: &mut Vec<String>, at: &Path<'_>, elements: &[Value], field: &str) {
    let mut seen = BTreeSet::new();
    for (index, element) in elements.iter().enumerate() {
        let name = text(element, field);
        if !seen.insert(name) {
            warnings.push(format!("{}: duplicate {field} {name:?}", at.index(index).child(field)));
        }
    }
}

fn pull_secrets(warnings: &mut Vec<String>, at: &Path<'_>, secrets: &[Value]) {
    repeated(warnings, at, secrets, "name");
    for (index, _) in secrets.iter().enumerate().filter(|(_, secret)| text(secret, "name").is_empty()) {
        warnings.push(format!("{}: invalid empty name \"\"", at.index(index).child("name")));
    }
}

fn containers(
    warnings: &mut Vec<String>,
    spec_at: &Path<'_>,
    spec: &Value,
    (annotations_at, annotations): (&Path<'_>, &Value),
) {
    let has_profile = |container: &Value, field: &str| {
        is_set(&container["securityContext"], field) || is_set(&spec["securityContext"], field)
    };
    for field in ["initContainers", "containers"] {
        let containers = list(spec, field);
        let list_at = spec_at.child(field);
        let mut ports = PortWarnings::new(&list_at);
        for (index, container) in containers.iter().enumerate() {
            let at = list_at.index(index);
            for (prefix, profile, why) in
                [(SECCOMP, "seccompProfile", USE_SECCOMP), (APP_ARMOR, "appArmorProfile", USE_APP_ARMOR)]
            {
                let name = format!("{prefix}{}", text(container, "name"));
                if is_set(annotations, &name) && !has_profile(container, profile) {
                    warnings.push(format!("{}: {why}", annotations_at.key(&name)));
                }
            }
            resources::fractions(warnings, &at.child("resources"), &container["resources"]);
            environment::hidden(warnings, &at, container);
            if field == "initContainers" {
                // They run one after another.
                ports.forget();
            }
            ports.add(warnings, index, list(container, "ports"));
        }
    }
}

/// Warns about pod affinity terms without a label selector.
fn affinity_terms(warnings: &mut Vec<String>, at: &Path<'_>, affinity: &Value) {
    for field in ["podAffinity", "podAntiAffinity"] {
        let (at, terms) = (at.child(field), &affinity[field]);
        for (index, term) in list(terms, REQUIRED).iter().enumerate() {
            if term["labelSelector"].is_null() {
                let at = at.child(REQUIRED);
                warnings.push(format!("{}: {NO_SELECTOR}", at.index(index).child("labelSelector")));
            }
        }
        for (index, weighted) in list(terms, PREFERRED).iter().enumerate() {
            if weighted["podAffinityTerm"]["labelSelector"].is_null() {
                let at = at.child(PREFERRED);
                let at = at.index(index);
                let at = at.child("podAffinityTerm");
                warnings.push(format!("{}: {NO_SELECTOR}", at.child("labelSelector")));
            }
        }
    }
}
