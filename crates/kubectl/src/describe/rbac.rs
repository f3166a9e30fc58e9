//! RBAC roles, with their rules split by resource and merged again, and role bindings.

use std::collections::BTreeMap;

use gantry_json::Value;

use super::name_labels_annotations;
use crate::field::{list, shown, text};

/// The smallest part of a rule: one resource and name, or one URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RuleTarget {
    Resource { group: String, resource: String, name: Option<String> },
    Url(String),
}

/// A Role or a ClusterRole.
pub(crate) fn role(role: &Value) -> String {
    let mut out = name_labels_annotations(role);
    out += "PolicyRule:\n  Resources\tNon-Resource URLs\tResource Names\tVerbs\n  \
            ---------\t-----------------\t--------------\t-----\n";
    let mut rules: Vec<(RuleTarget, Vec<String>)> = parts(list(role, "/rules")).into_iter().collect();
    rules.sort_by_key(|(about, verbs)| about.sorted_by(verbs));
    out.extend(rules.iter().map(|(about, verbs)| format!("  {}\t[{}]\n", about.cells(), verbs.join(" "))));
    out
}

/// A RoleBinding or a ClusterRoleBinding.
pub(crate) fn binding(binding: &Value) -> String {
    let (kind, name) = (text(binding, "/roleRef/kind"), text(binding, "/roleRef/name"));
    let mut out = name_labels_annotations(binding) + &format!("Role:\n  Kind:\t{kind}\n  Name:\t{name}\n");
    out += "Subjects:\n  Kind\tName\tNamespace\n  ----\t----\t---------\n";
    out.extend(list(binding, "/subjects").iter().map(|subject| {
        format!("  {}\t{}\t{}\n", text(subject, "/kind"), text(subject, "/name"), text(subject, "/namespace"))
    }));
    out
}

/// Splits rules into their smallest parts, with all verbs of each.
fn parts(rules: &[Value]) -> BTreeMap<RuleTarget, Vec<String>> {
    let mut all: BTreeMap<RuleTarget, Vec<String>> = BTreeMap::new();
    for rule in rules {
        for about in smallest(rule) {
            let verbs = all.entry(about).or_default();
            for verb in list(rule, "/verbs").iter().map(shown) {
                if !verbs.contains(&verb) {
                    verbs.push(verb);
                }
            }
        }
    }
    all
}

fn smallest(rule: &Value) -> Vec<RuleTarget> {
    let texts = |field: &str| list(rule, field).iter().map(shown).collect::<Vec<_>>();
    let mut names: Vec<Option<String>> = texts("/resourceNames").into_iter().map(Some).collect();
    if names.is_empty() {
        names.push(None);
    }
    let mut all = Vec::new();
    for group in texts("/apiGroups") {
        for resource in texts("/resources") {
            all.extend(names.iter().map(|name| RuleTarget::Resource {
                group: group.clone(),
                resource: resource.clone(),
                name: name.clone(),
            }));
        }
    }
    all.extend(texts("/nonResourceURLs").into_iter().map(RuleTarget::Url));
    all
}

impl RuleTarget {
    fn cells(&self) -> String {
        match self {
            Self::Resource { group, resource, name } => {
                let dot = if group.is_empty() { "" } else { "." };
                let name = name.as_deref().unwrap_or_default();
                // A subresource follows the group.
                let (resource, part) =
                    resource.find('/').map_or((resource.as_str(), ""), |at| resource.split_at(at));
                format!("{resource}{dot}{group}{part}\t[]\t[{name}]")
            }
            Self::Url(url) => format!("\t[{url}]\t[]"),
        }
    }

    /// The text by which kubectl sorts: a rule as Go prints it, verbs first.
    fn sorted_by(&self, verbs: &[String]) -> String {
        let (group, resource, name, url) = match self {
            Self::Resource { group, resource, name } => {
                (group.as_str(), resource.as_str(), name.as_deref().unwrap_or_default(), "")
            }
            Self::Url(url) => ("", "", "", url.as_str()),
        };
        format!("[{}],[{group}],[{resource}],[{name}],[{url}]", verbs.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K3: rules about the same resource are merged, and rules are sorted by their verbs.
    #[test]
    fn rules_about_the_same_resource_are_one() {
        let object = json!({"rules": [
            {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]},
            {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["get"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["web"], "verbs": ["*"]},
            {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["list", "get", "watch"]},
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]});
        let rendered = role(&object);
        let rows = rendered
            .split_once("-----\n")
            .map(|(_, rows)| rows.rsplit_once("-----\n").map_or(rows, |(_, rows)| rows));
        assert_eq!(
            rows,
            Some(
                "  deployments.apps\t[]\t[web]\t[*]\n  deployments.apps\t[]\t[]\t[get list watch]\n  \
                 pods/log\t[]\t[]\t[get list]\n  pods\t[]\t[]\t[get list]\n  \t[/metrics]\t[]\t[get]\n  \
                 deployments.apps/scale\t[]\t[]\t[get]\n"
            )
        );
    }
}
