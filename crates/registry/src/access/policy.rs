//! Roles and bindings together.

use std::collections::BTreeMap;

use serde_json::Value;

use super::request::{Request, Target, User};
use super::rule::Rule;

/// All roles and bindings of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// ClusterRoles by name.
    cluster_roles: BTreeMap<String, Vec<Rule>>,
    /// Roles by namespace and name.
    roles: BTreeMap<(String, String), Vec<Rule>>,
    cluster_bindings: Vec<Binding>,
    /// RoleBindings by namespace.
    bindings: BTreeMap<String, Vec<Binding>>,
}

/// What a policy says of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes, and by which binding; nothing is said of masters.
    Allowed(Option<String>),
    /// Nothing allows it.
    Denied,
}

#[derive(Clone, Debug)]
struct Binding {
    name: String,
    role: RoleRef,
    subjects: Vec<Subject>,
}

#[derive(Clone, Debug)]
enum RoleRef {
    Role(String),
    ClusterRole(String),
}

#[derive(Clone, Debug)]
enum Subject {
    User(String),
    Group(String),
    ServiceAccount { namespace: String, name: String },
}

impl Policy {
    /// Takes in a ClusterRole, Role, ClusterRoleBinding or RoleBinding; anything else is left out.
    pub fn add(&mut self, object: &Value) {
        let name = text(object, "/metadata/name");
        let namespace = text(object, "/metadata/namespace");
        let rules = || object["rules"].as_array().into_iter().flatten().map(Rule::parse).collect();
        match object["kind"].as_str() {
            Some("ClusterRole") => {
                self.cluster_roles.insert(name, rules());
            }
            Some("Role") => {
                self.roles.insert((namespace, name), rules());
            }
            Some("ClusterRoleBinding") => self.cluster_bindings.push(Binding::parse(object)),
            Some("RoleBinding") => self.bindings.entry(namespace).or_default().push(Binding::parse(object)),
            _ => {}
        }
    }

    /// Whether the user may do that.
    pub fn judge(&self, user: &User, request: &Request) -> Verdict {
        if user.is_master() {
            return Verdict::Allowed(None);
        }
        let namespace = match &request.target {
            Target::Resource { namespace, .. } => namespace.as_deref(),
            Target::Path(_) => None,
        };
        let mut grants = self.grants(user, namespace);
        let found = grants.find(|grant| grant.rules.iter().any(|rule| rule.allows(request)));
        found.map_or(Verdict::Denied, |grant| Verdict::Allowed(Some(grant.reason())))
    }

    /// Those of the rules that the user does not hold in this namespace, or anywhere if none is given.
    ///
    /// Who grants rights must hold them, so that nobody can raise themselves.
    pub fn missing(&self, user: &User, namespace: Option<&str>, rules: &[Rule]) -> Vec<Rule> {
        if user.is_master() {
            return Vec::new();
        }
        let held: Vec<&Rule> = self.grants(user, namespace).flat_map(|grant| grant.rules).collect();
        let is_missing = |atom: &Rule| !held.iter().any(|rule| rule.covers(atom));
        rules.iter().flat_map(Rule::atoms).filter(is_missing).collect()
    }

    /// The rules of a role that a binding in this namespace refers to, or of a ClusterRole.
    pub fn rules_of(&self, kind: &str, name: &str, namespace: &str) -> Option<&[Rule]> {
        match kind {
            "ClusterRole" => self.cluster_roles.get(name),
            _ => self.roles.get(&(namespace.to_owned(), name.to_owned())),
        }
        .map(Vec::as_slice)
    }

    /// All that is granted to the user in a namespace: through the cluster first, then through the namespace.
    fn grants<'a>(&'a self, user: &'a User, namespace: Option<&'a str>) -> impl Iterator<Item = Grant<'a>> {
        let cluster = self.cluster_bindings.iter().map(|binding| (binding, None));
        let local = namespace.and_then(|namespace| self.bindings.get(namespace));
        let local = local.into_iter().flatten().map(move |binding| (binding, namespace));
        cluster.chain(local).filter_map(move |(binding, namespace)| {
            let subject = binding.subjects.iter().find(|subject| subject.is(user))?;
            let rules = match &binding.role {
                RoleRef::ClusterRole(name) => self.cluster_roles.get(name)?,
                RoleRef::Role(name) => self.roles.get(&(namespace?.to_owned(), name.clone()))?,
            };
            Some(Grant { binding, namespace, subject, rules })
        })
    }
}

/// What one binding gives to one user.
struct Grant<'a> {
    binding: &'a Binding,
    namespace: Option<&'a str>,
    subject: &'a Subject,
    rules: &'a [Rule],
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
    fn parse(object: &Value) -> Self {
        let role = text(object, "/roleRef/name");
        let is_cluster_role = object.pointer("/roleRef/kind").and_then(Value::as_str) == Some("ClusterRole");
        let subjects = object["subjects"].as_array().into_iter().flatten();
        Self {
            name: text(object, "/metadata/name"),
            role: if is_cluster_role { RoleRef::ClusterRole(role) } else { RoleRef::Role(role) },
            subjects: subjects.filter_map(Subject::parse).collect(),
        }
    }
}

impl Subject {
    fn parse(subject: &Value) -> Option<Self> {
        let name = text(subject, "/name");
        match subject["kind"].as_str()? {
            "User" => Some(Self::User(name)),
            "Group" => Some(Self::Group(name)),
            "ServiceAccount" => Some(Self::ServiceAccount { namespace: text(subject, "/namespace"), name }),
            _ => None,
        }
    }

    fn is(&self, user: &User) -> bool {
        match self {
            Self::User(name) => *name == user.name,
            Self::Group(name) => user.groups.contains(name),
            Self::ServiceAccount { namespace, name } => {
                user.name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'))
                    == Some((namespace, name))
            }
        }
    }
}

fn text(object: &Value, pointer: &str) -> String {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
