//! Prevents privilege escalation: to write a role, a user must hold its rules; to bind a role, the rules of that role.

use std::collections::{BTreeMap, BTreeSet};

use gantry_json::Value;

use super::{AccessRule, GROUP, Policy, RequestAttributes, RequestTarget, User, Verdict};
use crate::kinds::Kind;
use crate::{Details, Refusal, StatusReason};
use gantry_primitives::refusal::quoted;

/// A write of a role or a binding by a user.
#[derive(Clone, Copy, Debug)]
pub struct EscalationCheck<'a> {
    /// All roles and bindings before the write.
    pub policy: &'a Policy,
    /// The user that writes.
    pub user: &'a User,
    /// The kind that is written; only roles and bindings are checked.
    pub kind: &'a Kind,
    /// The namespace; none for the whole cluster.
    pub namespace: Option<&'a str>,
    /// The name in the path; none for a POST to a collection.
    pub path_name: Option<&'a str>,
}

impl EscalationCheck<'_> {
    /// Returns 403 if the write grants rules that the user does not hold.
    pub fn check(&self, old: Option<&Value>, new: &Value) -> Result<(), Refusal> {
        if self.kind.group != GROUP || self.user.is_master() {
            return Ok(());
        }
        if old.is_some_and(|old| differ_in_owners_and_finalizers_only(old, new)) {
            return Ok(());
        }
        let name = new["metadata"]["name"].as_str().unwrap_or_default();
        let checked = match self.kind.kind {
            "Role" | "ClusterRole" => self.check_role(old, new),
            "RoleBinding" | "ClusterRoleBinding" => self.check_binding(new)?,
            _ => Ok(()),
        };
        checked.map_err(|why| {
            let details = Details {
                name: name.to_owned(),
                group: GROUP.to_owned(),
                kind: self.kind.resource.to_owned(),
                ..Details::default()
            };
            let message = format!("{}.{GROUP} \"{name}\" is forbidden: {why}", self.kind.resource);
            Refusal::new(StatusReason::Forbidden, message).with(details)
        })
    }

    fn check_role(&self, old: Option<&Value>, new: &Value) -> Result<(), String> {
        if self.may("escalate", self.kind.resource, self.path_name) {
            return Ok(());
        }
        let rules: Vec<_> = new["rules"].as_array().into_iter().flatten().map(AccessRule::parse).collect();
        self.check_rules(&rules)?;
        // An aggregation may select any rule, and restores removed ones: it requires all rules.
        let aggregates = |role: &Value| !role["aggregationRule"].is_null();
        if (aggregates(new) || old.is_some_and(aggregates)) && self.check_rules(&everything()).is_err() {
            return Err("must have cluster-admin privileges to use an aggregationRule".to_owned());
        }
        Ok(())
    }

    /// Checks a binding. The outer error is about the bound role, the inner one about the binding.
    fn check_binding(&self, new: &Value) -> Result<Result<(), String>, Refusal> {
        let text = |field: &str| new["roleRef"][field].as_str().unwrap_or_default();
        let (kind, name) = (text("kind"), text("name"));
        let resource = if kind == "ClusterRole" { "clusterroles" } else { "roles" };
        if self.may("bind", resource, Some(name)) {
            return Ok(Ok(()));
        }
        let rules = self.policy.rules_of(kind, name, self.namespace.unwrap_or_default());
        let rules = rules.ok_or_else(|| {
            let details = Details {
                name: name.to_owned(),
                group: GROUP.to_owned(),
                kind: resource.to_owned(),
                ..Details::default()
            };
            let message = format!("{resource}.{GROUP} \"{name}\" not found");
            Refusal::new(StatusReason::NotFound, message).with(details)
        })?;
        Ok(self.check_rules(rules))
    }

    fn check_rules(&self, rules: &[AccessRule]) -> Result<(), String> {
        let missing = self.policy.missing(self.user, self.namespace, rules);
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!(
            "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
            quoted(&self.user.name),
            listed(&self.user.groups),
            formatted(&missing).join("\n")
        ))
    }

    fn may(&self, verb: &str, resource: &str, name: Option<&str>) -> bool {
        let target = RequestTarget::Resource {
            group: GROUP.to_owned(),
            resource: resource.to_owned(),
            subresource: None,
            namespace: self.namespace.map(str::to_owned),
            name: name.map(str::to_owned),
        };
        let request = RequestAttributes { verb: verb.to_owned(), target };
        matches!(self.policy.authorize(self.user, &request), Verdict::Allowed(_))
    }
}

/// Whether only owners and finalizers change, as by the garbage collector.
fn differ_in_owners_and_finalizers_only(old: &Value, new: &Value) -> bool {
    let rest = |object: &Value| {
        let mut object = object.clone();
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            for field in ["ownerReferences", "finalizers", "managedFields", "resourceVersion"] {
                metadata.remove(field);
            }
        }
        object
    };
    rest(old) == rest(new)
}

/// All verbs on all resources and paths.
fn everything() -> [AccessRule; 2] {
    let all = || vec!["*".to_owned()];
    [
        AccessRule { verbs: all(), groups: all(), resources: all(), ..AccessRule::default() },
        AccessRule { verbs: all(), paths: all(), ..AccessRule::default() },
    ]
}

/// Formats rules for the message: verbs on one resource together, sorted.
fn formatted(atoms: &[AccessRule]) -> Vec<String> {
    // Verbs by group, resource and name.
    let mut resources: BTreeMap<[&[String]; 3], Vec<String>> = BTreeMap::new();
    let mut formatted = BTreeSet::new();
    for atom in atoms {
        if atom.paths.is_empty() {
            let key = [&atom.groups[..], &atom.resources[..], &atom.names[..]];
            resources.entry(key).or_default().extend(atom.verbs.iter().cloned());
        } else {
            formatted.insert(described(&[], &[], &atom.paths, &[], &atom.verbs));
        }
    }
    formatted.extend(
        resources.iter().map(|([groups, what, names], verbs)| described(groups, what, &[], names, verbs)),
    );
    formatted.into_iter().collect()
}

fn described(
    groups: &[String],
    resources: &[String],
    paths: &[String],
    names: &[String],
    verbs: &[String],
) -> String {
    let parts = [
        ("APIGroups", groups),
        ("Resources", resources),
        ("NonResourceURLs", paths),
        ("ResourceNames", names),
        ("Verbs", verbs),
    ];
    let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
    let parts: Vec<_> = parts.map(|(label, list)| format!("{label}:{}", listed(list))).collect();
    format!("{{{}}}", parts.join(", "))
}

/// `["a" "b"]`.
fn listed(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(" "))
}
