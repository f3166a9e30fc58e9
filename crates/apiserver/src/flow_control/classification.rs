//! Classification: which FlowSchema a request matches, and which flow of it the request belongs to.

use gantry_registry::access::User;
use gantry_registry::target::Target;

use super::configuration::{Distinguisher, FlowSchema, PathRule, ResourceRule, Rule, Subject};
use crate::request_info::RequestInfo;

const ANY: &str = "*";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// The properties of a request that classification depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestDigest<'a> {
    pub(super) user: &'a User,
    pub(super) target: DigestTarget<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum DigestTarget<'a> {
    Resource {
        verb: &'a str,
        group: &'a str,
        resource: &'a str,
        subresource: &'a str,
        /// Empty if there is none.
        namespace: &'a str,
    },
    Path {
        method: &'a str,
        path: &'a str,
    },
}

impl<'a> RequestDigest<'a> {
    pub(super) fn of(info: &'a RequestInfo, user: &'a User) -> Self {
        let target = match &info.target {
            Target::Objects(objects) => {
                // A Namespace counts as inside itself.
                let itself = if objects.resource == "namespaces" { objects.name.as_deref() } else { None };
                DigestTarget::Resource {
                    verb: info.verb,
                    group: &objects.group,
                    resource: &objects.resource,
                    subresource: objects.subresource().unwrap_or_default(),
                    namespace: objects.namespace.as_deref().or(itself).unwrap_or_default(),
                }
            }
            _ => DigestTarget::Path { method: info.method.as_str(), path: &info.path },
        };
        Self { user, target }
    }

    /// The part of the flow's identity that the distinguisher selects.
    pub(super) fn distinguished(&self, by: Distinguisher) -> &'a str {
        match (by, self.target) {
            (Distinguisher::User, _) => &self.user.name,
            (Distinguisher::Namespace, DigestTarget::Resource { namespace, .. }) => namespace,
            (Distinguisher::Namespace | Distinguisher::None, _) => "",
        }
    }
}

/// Returns the index of the first schema that matches; the last one, the catch-all, matches everything.
pub(super) fn classify(schemas: &[FlowSchema], request: &RequestDigest<'_>) -> usize {
    let found = schemas.iter().position(|schema| schema.rules.iter().any(|rule| rule.matches(request)));
    found.unwrap_or(schemas.len().saturating_sub(1))
}

impl Rule {
    fn matches(&self, request: &RequestDigest<'_>) -> bool {
        self.subjects.iter().any(|subject| subject.matches(request.user))
            && match request.target {
                DigestTarget::Resource { .. } => {
                    self.resources.iter().any(|rule| rule.matches(&request.target))
                }
                DigestTarget::Path { method, path } => {
                    self.paths.iter().any(|rule| rule.matches(method, path))
                }
            }
    }
}

impl Subject {
    fn matches(&self, user: &User) -> bool {
        match self {
            Self::User(name) => name == ANY || *name == user.name,
            Self::Group(name) => name == ANY || user.groups.contains(name),
            Self::ServiceAccount { namespace, name } => {
                let rest = user.name.strip_prefix(SERVICE_ACCOUNT);
                let account = rest.and_then(|rest| rest.strip_prefix(namespace.as_str()));
                account
                    .and_then(|rest| rest.strip_prefix(':'))
                    .is_some_and(|account| name == ANY || name == account)
            }
        }
    }
}

impl ResourceRule {
    fn matches(&self, target: &DigestTarget<'_>) -> bool {
        let DigestTarget::Resource { verb, group, resource, subresource, namespace } = *target else {
            return false;
        };
        contains(&self.verbs, verb)
            && self.resources.iter().any(|wanted| is_resource(wanted, resource, subresource))
            && contains(&self.groups, group)
            && if namespace.is_empty() {
                self.is_cluster_scoped
            } else {
                contains(&self.namespaces, namespace)
            }
    }
}

impl PathRule {
    fn matches(&self, method: &str, path: &str) -> bool {
        self.verbs.iter().any(|verb| verb == ANY || verb.eq_ignore_ascii_case(method))
            && self.paths.iter().any(|wanted| is_path(wanted, path))
    }
}

/// Whether the list has the word or the wildcard.
fn contains(list: &[String], word: &str) -> bool {
    list.iter().any(|one| one == word || one == ANY)
}

/// Whether `wanted` is the wildcard, the resource, or `resource/subresource`.
fn is_resource(wanted: &str, resource: &str, subresource: &str) -> bool {
    wanted == ANY
        || match (wanted.split_once('/'), subresource) {
            (None, "") => wanted == resource,
            (Some((of, part)), subresource) => of == resource && part == subresource,
            (None, _) => false,
        }
}

/// Whether the path is the wanted one or below it.
fn is_path(wanted: &str, path: &str) -> bool {
    let prefix = wanted.trim_end_matches('*').trim_end_matches('/');
    let is_below = || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
    wanted == ANY || wanted == path || is_below()
}

#[cfg(test)]
mod tests {
    use gantry_registry::flow_control::{suggested_levels, suggested_schemas};

    use super::super::configuration::FlowObjects;
    use super::*;
    use crate::store_cache::Projection as _;

    /// The FlowSchema of a request to a new cluster.
    fn schema_of(user: &str, groups: &[&str], target: DigestTarget<'_>) -> String {
        let mut objects = FlowObjects::default();
        for object in suggested_levels().iter().chain(&suggested_schemas()) {
            objects.add(object);
        }
        let schemas = objects.parse().schemas;
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        let user = User { name: user.to_owned(), groups, ..User::default() };
        schemas[classify(&schemas, &RequestDigest { user: &user, target })].name.clone()
    }

    fn resource<'a>(
        verb: &'a str,
        group: &'a str,
        resource: &'a str,
        namespace: &'a str,
    ) -> DigestTarget<'a> {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        DigestTarget::Resource { verb, group, resource, subresource, namespace }
    }

    const ALL: &str = "system:authenticated";

    /// The default FlowSchemas assign requests by group, user, account, verb and path, as in Kubernetes 1.37.
    #[test]
    fn requests_match_the_default_schemas_as_in_kubernetes() {
        let leases = |verb| resource(verb, "coordination.k8s.io", "leases", "kube-system");
        let pods = resource("list", "", "pods", "shop");
        let path = |method, path| DigestTarget::Path { method, path };
        let account = "system:serviceaccount:kube-system:deployment-controller";
        let accounts: &[&str] = &["system:serviceaccounts", "system:serviceaccounts:kube-system", ALL];
        let nodes: &[&str] = &["system:nodes", ALL];
        for (user, groups, target, expected) in [
            ("admin", &["system:masters", ALL][..], pods, "exempt"),
            ("admin", &["system:masters", ALL], path("GET", "/metrics"), "exempt"),
            ("system:anonymous", &["system:unauthenticated"], path("GET", "/livez/etcd"), "probes"),
            ("system:anonymous", &["system:unauthenticated"], path("GET", "/livezz"), "global-default"),
            ("alice", &[ALL], path("POST", "/livez"), "global-default"),
            ("system:kube-scheduler", &[ALL], leases("update"), "system-leader-election"),
            ("system:kube-scheduler", &[ALL], leases("list"), "kube-scheduler"),
            ("system:kube-controller-manager", &[ALL], pods, "kube-controller-manager"),
            (account, accounts, leases("get"), "system-leader-election"),
            (account, accounts, pods, "kube-system-service-accounts"),
            ("system:serviceaccount:kube-system2:x", accounts, pods, "service-accounts"),
            ("system:node:n1", nodes, resource("patch", "", "nodes/status", ""), "system-node-high"),
            ("system:node:n1", nodes, leases("update"), "system-node-high"),
            ("system:node:n1", nodes, resource("get", "", "nodes/proxy", ""), "system-nodes"),
            ("alice", &[ALL], pods, "global-default"),
            ("nobody", &[], pods, "catch-all"),
        ] {
            assert_eq!(schema_of(user, groups, target), expected, "{user} {target:?}");
        }
    }

    /// A rule without `clusterScope` does not match requests beyond namespaces.
    #[test]
    fn rules_match_namespaces_or_the_cluster() {
        let mut rule = ResourceRule {
            verbs: vec!["list".to_owned()],
            groups: vec![String::new()],
            resources: vec!["pods".to_owned()],
            namespaces: vec!["shop".to_owned()],
            is_cluster_scoped: false,
        };
        assert!(rule.matches(&resource("list", "", "pods", "shop")));
        assert!(!rule.matches(&resource("list", "", "pods", "other")));
        assert!(!rule.matches(&resource("list", "", "pods/log", "shop")));
        assert!(!rule.matches(&resource("list", "", "pods", "")));
        rule.is_cluster_scoped = true;
        assert!(rule.matches(&resource("list", "", "pods", "")));
    }

    #[test]
    fn flows_are_distinguished_by_user_or_namespace() {
        let user = User { name: "alice".to_owned(), ..User::default() };
        let request = RequestDigest { user: &user, target: resource("get", "", "pods", "shop") };
        assert_eq!(request.distinguished(Distinguisher::User), "alice");
        assert_eq!(request.distinguished(Distinguisher::Namespace), "shop");
        assert_eq!(request.distinguished(Distinguisher::None), "");
    }
}
