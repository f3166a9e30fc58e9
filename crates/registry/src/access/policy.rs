//! The roles and bindings of a cluster, and decisions on requests by them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gantry_json::Value;

use super::rule::AccessRule;
use super::{RequestAttributes, RequestTarget, User};

/// The most rules of one verb and one resource that a rule is split into: they are the product of its verbs, groups, resources
/// and names. A larger rule is missing as a whole, unless another rule covers it.
const ATOMS_MAX: usize = 10_000;
/// The most missing rules that are returned.
const MISSING_MAX: usize = 10_000;

/// All roles and bindings of a cluster. Clones share rules and bindings.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// ClusterRoles by name.
    cluster_roles: BTreeMap<String, Rules>,
    /// Roles by namespace, then name.
    roles: BTreeMap<String, BTreeMap<String, Rules>>,
    /// ClusterRoleBindings by name.
    cluster_bindings: BTreeMap<String, Arc<Binding>>,
    /// RoleBindings by namespace, then name.
    bindings: BTreeMap<String, BTreeMap<String, Arc<Binding>>>,
}

/// The decision on a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed, with the binding that allows it; none for members of `system:masters`.
    Allowed(Option<String>),
    /// Not allowed, with the errors while looking up roles.
    Denied(Option<String>),
}

type Rules = Arc<[AccessRule]>;

#[derive(Debug)]
struct Binding {
    name: String,
    role: RoleRef,
    subjects: Vec<Subject>,
}

#[derive(Debug)]
enum RoleRef {
    Role(String),
    ClusterRole(String),
}

#[derive(Debug)]
enum Subject {
    User(String),
    Group(String),
    ServiceAccount { namespace: String, name: String },
}

impl Policy {
    /// Adds or replaces a ClusterRole, Role, ClusterRoleBinding or RoleBinding; ignores other kinds.
    pub fn add(&mut self, object: &Value) {
        let name = text(object, "/metadata/name");
        let namespace = text(object, "/metadata/namespace");
        let rules = || object["rules"].as_array().into_iter().flatten().map(AccessRule::parse).collect();
        let binding = || Arc::new(Binding::parse(object, &namespace));
        match object["kind"].as_str() {
            Some("ClusterRole") => {
                self.cluster_roles.insert(name, rules());
            }
            Some("Role") => {
                let rules = rules();
                self.roles.entry(namespace).or_default().insert(name, rules);
            }
            Some("ClusterRoleBinding") => {
                self.cluster_bindings.insert(name, binding());
            }
            Some("RoleBinding") => {
                let binding = binding();
                self.bindings.entry(namespace).or_default().insert(name, binding);
            }
            _ => {}
        }
    }

    /// Removes an object, found by its kind, namespace and name.
    pub fn remove(&mut self, object: &Value) {
        let name = text(object, "/metadata/name");
        let namespace = text(object, "/metadata/namespace");
        match object["kind"].as_str() {
            Some("ClusterRole") => drop(self.cluster_roles.remove(&name)),
            Some("ClusterRoleBinding") => drop(self.cluster_bindings.remove(&name)),
            Some("Role") => forget(&mut self.roles, &namespace, &name),
            Some("RoleBinding") => forget(&mut self.bindings, &namespace, &name),
            _ => {}
        }
    }

    /// Decides whether a user may make a request.
    pub fn authorize(&self, user: &User, request: &RequestAttributes) -> Verdict {
        if user.is_master() {
            return Verdict::Allowed(None);
        }
        let namespace = match &request.target {
            RequestTarget::Resource { namespace, .. } => namespace.as_deref(),
            RequestTarget::Path(_) => None,
        };
        let mut dangling = BTreeSet::new();
        for grant in self.grants(user, namespace) {
            match self.rules(grant.binding, grant.namespace) {
                Ok(rules) if rules.iter().any(|rule| rule.allows(request)) => {
                    return Verdict::Allowed(Some(grant.reason()));
                }
                Ok(_) => {}
                Err(missing) => drop(dangling.insert(missing)),
            }
        }
        Verdict::Denied(explained(dangling))
    }

    /// Returns the rules that the user does not hold in this namespace, or cluster-wide if none is given.
    pub fn missing(&self, user: &User, namespace: Option<&str>, rules: &[AccessRule]) -> Vec<AccessRule> {
        if user.is_master() {
            return Vec::new();
        }
        let held: Vec<&AccessRule> = self.held(user, namespace).collect();
        let is_missing = |atom: &AccessRule| !held.iter().any(|rule| rule.covers(atom));
        let uncovered = rules.iter().filter(|rule| is_missing(rule));
        let atoms = uncovered.flat_map(|rule| {
            let is_large = rule.atom_count() > ATOMS_MAX;
            let split = (!is_large).then(|| rule.atoms());
            is_large.then(|| rule.clone()).into_iter().chain(split.into_iter().flatten())
        });
        atoms.filter(is_missing).take(MISSING_MAX).collect()
    }

    /// Returns all rules that are granted to the user in this namespace, or cluster-wide if none is given.
    pub fn held<'a>(
        &'a self,
        user: &'a User,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = &'a AccessRule> {
        let grants = self.grants(user, namespace);
        grants.filter_map(|grant| self.rules(grant.binding, grant.namespace).ok()).flatten()
    }

    /// Returns the rules of a ClusterRole, or of a Role in this namespace.
    pub fn rules_of(&self, kind: &str, name: &str, namespace: &str) -> Option<&[AccessRule]> {
        match kind {
            "ClusterRole" => self.cluster_roles.get(name),
            _ => self.roles.get(namespace)?.get(name),
        }
        .map(AsRef::as_ref)
    }

    /// Returns the rules of a bound role, or an error that names the missing role.
    fn rules(&self, binding: &Binding, namespace: Option<&str>) -> Result<&[AccessRule], String> {
        let (kind, name) = match &binding.role {
            RoleRef::ClusterRole(name) => ("ClusterRole", name),
            RoleRef::Role(name) => ("Role", name),
        };
        self.rules_of(kind, name, namespace.unwrap_or_default())
            .ok_or_else(|| format!("{}.{} \"{name}\" not found", kind.to_lowercase(), super::GROUP))
    }

    /// Returns the rules granted to the user: by ClusterRoleBindings first, then by RoleBindings of the namespace.
    fn grants<'a>(&'a self, user: &'a User, namespace: Option<&'a str>) -> impl Iterator<Item = Grant<'a>> {
        let cluster = self.cluster_bindings.values().map(|binding| (binding, None));
        let local = namespace.and_then(|namespace| self.bindings.get(namespace));
        let local = local.into_iter().flat_map(BTreeMap::values).map(move |binding| (binding, namespace));
        cluster.chain(local).filter_map(move |(binding, namespace)| {
            let subject = binding.subjects.iter().find(|subject| subject.is(user))?;
            Some(Grant { binding, namespace, subject })
        })
    }
}

fn forget<T>(map: &mut BTreeMap<String, BTreeMap<String, T>>, namespace: &str, name: &str) {
    if let Some(inner) = map.get_mut(namespace) {
        inner.remove(name);
        if inner.is_empty() {
            map.remove(namespace);
        }
    }
}

fn explained(problems: BTreeSet<String>) -> Option<String> {
    let problems: Vec<_> = problems.into_iter().collect();
    match problems.as_slice() {
        [] => None,
        [only] => Some(format!("RBAC: {only}")),
        many => Some(format!("RBAC: [{}]", many.join(", "))),
    }
}

/// A binding that applies to a user.
struct Grant<'a> {
    binding: &'a Binding,
    namespace: Option<&'a str>,
    subject: &'a Subject,
}

impl Grant<'_> {
    fn reason(&self) -> String {
        let binding = match self.namespace {
            Some(namespace) => format!("RoleBinding \"{}/{namespace}\"", self.binding.name),
            None => format!("ClusterRoleBinding \"{}\"", self.binding.name),
        };
        let role = match &self.binding.role {
            RoleRef::Role(name) => format!("Role \"{name}\""),
            RoleRef::ClusterRole(name) => format!("ClusterRole \"{name}\""),
        };
        let subject = match self.subject {
            Subject::User(name) => format!("User \"{name}\""),
            Subject::Group(name) => format!("Group \"{name}\""),
            Subject::ServiceAccount { namespace, name } => format!("ServiceAccount \"{name}/{namespace}\""),
        };
        format!("RBAC: allowed by {binding} of {role} to {subject}")
    }
}

impl Binding {
    fn parse(object: &Value, namespace: &str) -> Self {
        let role = text(object, "/roleRef/name");
        let is_cluster_role = object.pointer("/roleRef/kind").and_then(Value::as_str) == Some("ClusterRole");
        let subjects = object["subjects"].as_array().into_iter().flatten();
        Self {
            name: text(object, "/metadata/name"),
            role: if is_cluster_role { RoleRef::ClusterRole(role) } else { RoleRef::Role(role) },
            subjects: subjects.filter_map(|subject| Subject::parse(subject, namespace)).collect(),
        }
    }
}

impl Subject {
    /// Parses a subject. A ServiceAccount without a namespace is in the namespace of the binding.
    fn parse(subject: &Value, bound_in: &str) -> Option<Self> {
        let name = text(subject, "/name");
        match subject["kind"].as_str()? {
            "User" => Some(Self::User(name)),
            "Group" => Some(Self::Group(name)),
            "ServiceAccount" => {
                let named = text(subject, "/namespace");
                let namespace = if named.is_empty() { bound_in.to_owned() } else { named };
                Some(Self::ServiceAccount { namespace, name })
            }
            _ => None,
        }
    }

    fn is(&self, user: &User) -> bool {
        match self {
            Self::User(name) => *name == user.name,
            Self::Group(name) => user.groups.contains(name),
            Self::ServiceAccount { namespace, name } => user.service_account() == Some((namespace, name)),
        }
    }
}

fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
