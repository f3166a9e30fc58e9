//! Authorization and privilege escalation, compared with recordings of Kubernetes and by the rules.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "the recordings are files")]

use gantry_json::{Value, json};
use gantry_registry::access::{
    AccessRule, EscalationCheck, Policy, RequestAttributes, RequestTarget, User, Verdict,
};
use gantry_schema::kinds::{Scope, kinds};

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Returns the user and the request that a review is about.
fn reviewed(spec: &Value) -> (User, RequestAttributes) {
    let user = User {
        name: text(&spec["user"]).unwrap_or_default(),
        groups: texts(&spec["groups"]),
        ..User::default()
    };
    let resource = &spec["resourceAttributes"];
    let attributes = if resource.is_null() { &spec["nonResourceAttributes"] } else { resource };
    let verb = text(&attributes["verb"]).unwrap_or_default();
    let target = if resource.is_null() {
        RequestTarget::Path(text(&attributes["path"]).unwrap())
    } else {
        RequestTarget::Resource {
            group: text(&attributes["group"]).unwrap_or_default(),
            resource: text(&attributes["resource"]).unwrap_or_default(),
            subresource: text(&attributes["subresource"]),
            namespace: text(&attributes["namespace"]),
            name: text(&attributes["name"]),
        }
    };
    (user, RequestAttributes { verb, target })
}

/// A7.5, A7.9: every recorded review gets the recorded status, with the reason.
#[test]
fn recorded_reviews_get_the_recorded_responses() {
    let mut reviews = 0;
    for case in ["roles_allow", "groups_and_cluster_roles", "cluster_bindings"] {
        let path = format!("{}/tests/recorded/access.{case}.json", env!("CARGO_MANIFEST_DIR"));
        let exchanges: Vec<Value> = gantry_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut policy = Policy::default();
        for exchange in exchanges.iter().filter(|exchange| exchange["status"] == 201) {
            let sent = &exchange["send"];
            let kind = sent["kind"].as_str().unwrap_or_default();
            if !kind.ends_with("SubjectAccessReview") {
                let mut object = sent.clone();
                if !kind.starts_with("Cluster") {
                    object["metadata"]["namespace"] = json!("NS");
                }
                policy.add(&object);
                continue;
            }
            let (user, request) = reviewed(&sent["spec"]);
            let status = match policy.authorize(&user, &request) {
                Verdict::Allowed(Some(reason)) => json!({"allowed": true, "reason": reason}),
                Verdict::Allowed(None) => json!({"allowed": true}),
                Verdict::Denied(reason) => {
                    assert_eq!(reason, None, "{case}");
                    json!({"allowed": false})
                }
            };
            assert_eq!(status, exchange["body"]["status"], "{case}: {}", sent["spec"]);
            reviews += 1;
        }
    }
    assert!(reviews > 15, "{reviews}");
}

fn resource(
    group: &str,
    resource: &str,
    subresource: Option<&str>,
    namespace: Option<&str>,
    name: Option<&str>,
) -> RequestTarget {
    RequestTarget::Resource {
        group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.map(str::to_owned),
        namespace: namespace.map(str::to_owned),
        name: name.map(str::to_owned),
    }
}

/// A7.3: a refusal names the user, the verb, the resource and the namespace.
#[test]
fn refusals_name_user_verb_resource_and_namespace() {
    let bob = User { name: "bob".to_owned(), groups: vec![], ..User::default() };
    let message = |verb: &str, target| {
        RequestAttributes { verb: verb.to_owned(), target }.forbidden(&bob, None).message
    };
    assert_eq!(
        message("list", resource("", "pods", None, Some("default"), None)),
        "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\""
    );
    assert_eq!(
        message("get", resource("apps", "deployments", Some("scale"), Some("default"), Some("d"))),
        "deployments.apps \"d\" is forbidden: User \"bob\" cannot get resource \"deployments/scale\" in API group \
         \"apps\" in the namespace \"default\""
    );
    assert_eq!(
        message("list", resource("", "nodes", None, None, None)),
        "nodes is forbidden: User \"bob\" cannot list resource \"nodes\" in API group \"\" at the cluster scope"
    );
    assert_eq!(
        message("get", RequestTarget::Path("/metrics".to_owned())),
        "forbidden: User \"bob\" cannot get path \"/metrics\""
    );
}

fn rule(value: &Value) -> AccessRule {
    AccessRule::parse(value)
}

/// A7.9: wildcards, subresources, and names.
#[test]
fn rules_match_by_verb_group_resource_and_name() {
    let scale = rule(&json!({"verbs": ["get"], "apiGroups": ["*"], "resources": ["*/scale", "pods/*"]}));
    let get = |target| RequestAttributes { verb: "get".to_owned(), target };
    assert!(scale.allows(&get(resource("apps", "deployments", Some("scale"), None, None))));
    assert!(!scale.allows(&get(resource("apps", "deployments", None, None, None))));
    assert!(
        !scale.allows(&get(resource("", "pods", Some("log"), None, None))),
        "pods/* has no special meaning"
    );
    let everything = rule(&json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
    assert!(everything.allows(&get(resource("", "pods", Some("log"), None, None))));
    let named =
        rule(&json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}));
    assert!(named.allows(&get(resource("", "pods", None, None, Some("a")))));
    assert!(!named.allows(&get(resource("", "pods", None, None, None))), "a collection has no name");
    let paths = rule(&json!({"verbs": ["get"], "nonResourceURLs": ["/logs/*", "/version"]}));
    assert!(paths.allows(&get(RequestTarget::Path("/logs/x".to_owned()))));
    assert!(!paths.allows(&get(RequestTarget::Path("/versions".to_owned()))));
}

/// A7.9: a user must hold the rules of a role that the user writes; each missing rule is returned.
#[test]
fn permissions_cannot_be_granted_without_holding_them() {
    let mut policy = Policy::default();
    let held = json!({"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]});
    policy.add(&json!({"kind": "Role", "metadata": {"name": "r", "namespace": "n"}, "rules": [held]}));
    let mallory = json!({"kind": "User", "name": "mallory"});
    let reference = json!({"kind": "Role", "name": "r"});
    policy.add(&json!({"kind": "RoleBinding", "metadata": {"name": "b", "namespace": "n"}, "roleRef": reference, "subjects": [mallory]}));
    let mallory = User { name: "mallory".to_owned(), groups: vec![], ..User::default() };
    let missing =
        |namespace: &str, wanted: &Value| policy.missing(&mallory, Some(namespace), &[rule(wanted)]).len();
    assert_eq!(missing("n", &held), 0);
    assert_eq!(missing("other", &held), 2, "rules of one namespace do not apply in another");
    assert_eq!(
        missing(
            "n",
            &json!({"verbs": ["get", "delete"], "apiGroups": [""], "resources": ["pods", "secrets"]})
        ),
        3
    );
    assert_eq!(
        missing("n", &json!({"verbs": ["*"], "apiGroups": [""], "resources": ["pods"]})),
        1,
        "`*` requires all verbs"
    );
    let named = json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]});
    assert_eq!(missing("n", &named), 0, "a rule for all pods covers one pod");
    let master =
        User { name: "admin".to_owned(), groups: vec!["system:masters".to_owned()], ..User::default() };
    assert_eq!(policy.missing(&master, None, &[rule(&held)]), []);
}

/// A7.1: a service account is a user with a name of its namespace and name.
#[test]
fn service_accounts_are_bound_by_namespace_and_name() {
    let mut policy = Policy::default();
    policy.add(&json!({"kind": "ClusterRole", "metadata": {"name": "view"}, "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]}));
    policy.add(&json!({
        "kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "n", "name": "sa"}],
    }));
    let verdict = |name: &str| {
        let user = User { name: name.to_owned(), groups: vec![], ..User::default() };
        policy.authorize(
            &user,
            &RequestAttributes {
                verb: "get".to_owned(),
                target: resource("", "pods", None, Some("x"), None),
            },
        )
    };
    let reason =
        "RBAC: allowed by ClusterRoleBinding \"b\" of ClusterRole \"view\" to ServiceAccount \"sa/n\"";
    assert_eq!(verdict("system:serviceaccount:n:sa"), Verdict::Allowed(Some(reason.to_owned())));
    assert_eq!(verdict("system:serviceaccount:other:sa"), Verdict::Denied(None));
}

fn bind(policy: &mut Policy, user: &str, rules: &[Value]) {
    policy.add(&json!({"kind": "ClusterRole", "metadata": {"name": user}, "rules": rules}));
    policy.add(&json!({
        "kind": "ClusterRoleBinding", "metadata": {"name": user}, "roleRef": {"kind": "ClusterRole", "name": user},
        "subjects": [{"kind": "User", "name": user}],
    }));
}

fn named(name: &str) -> User {
    User { name: name.to_owned(), groups: vec!["system:authenticated".to_owned()], ..User::default() }
}

/// Returns the refusal of a write by this user, if it is refused.
fn escalation(
    policy: &Policy,
    user: &str,
    resource: &str,
    old: Option<&Value>,
    new: &Value,
) -> Option<String> {
    let kind = kinds().resource("rbac.authorization.k8s.io", "v1", resource).unwrap();
    let (user, namespace) = (named(user), (kind.scope == Scope::Namespaced).then_some("n"));
    let escalation = EscalationCheck { policy, user: &user, kind, namespace, path_name: None };
    escalation.check(old, new).err().map(|refusal| format!("{} {}", refusal.reason.code(), refusal.message))
}

/// A7.9: missing rules are reported with the verbs of one resource together.
#[test]
fn a_role_with_missing_permissions_is_refused_with_the_missing_rules() {
    let mut policy = Policy::default();
    bind(&mut policy, "eve", &[json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]})]);
    let rules = json!([
        {"verbs": ["get", "list", "watch"], "apiGroups": [""], "resources": ["pods", "secrets"]},
        {"verbs": ["get"], "nonResourceURLs": ["/logs"]},
    ]);
    let role = json!({"metadata": {"name": "r"}, "rules": rules});
    let message = "403 clusterroles.rbac.authorization.k8s.io \"r\" is forbidden: user \"eve\" (groups=[\"system:authenticated\"]) is \
                attempting to grant RBAC permissions not currently held:\n\
                {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"watch\"]}\n\
                {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"list\" \"watch\"]}\n\
                {NonResourceURLs:[\"/logs\"], Verbs:[\"get\"]}";
    assert_eq!(escalation(&policy, "eve", "clusterroles", None, &role).unwrap(), message);
    let fewer = json!({"metadata": {"name": "r"}, "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]});
    assert_eq!(escalation(&policy, "eve", "clusterroles", None, &fewer), None);
    let mut owned = role.clone();
    owned["metadata"]["finalizers"] = json!(["f"]);
    assert_eq!(
        escalation(&policy, "eve", "clusterroles", Some(&role), &owned),
        None,
        "finalizers grant nothing"
    );
    owned["metadata"]["labels"] = json!({"a": "b"});
    assert!(escalation(&policy, "eve", "clusterroles", Some(&role), &owned).is_some());
}

/// A7.9: an aggregation can collect any rule, so it requires all rights.
#[test]
fn only_users_with_all_permissions_may_aggregate() {
    let mut policy = Policy::default();
    bind(&mut policy, "eve", &[json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]})]);
    let role = json!({"metadata": {"name": "r"}, "aggregationRule": {"clusterRoleSelectors": []}});
    let message = "403 clusterroles.rbac.authorization.k8s.io \"r\" is forbidden: must have cluster-admin privileges to use an \
                aggregationRule";
    assert!(escalation(&policy, "eve", "clusterroles", None, &role).is_none(), "`*` includes escalate");
    let all = json!({"verbs": ["get"], "apiGroups": ["*"], "resources": ["*"]});
    bind(&mut policy, "eve", &[all]);
    assert_eq!(escalation(&policy, "eve", "clusterroles", None, &role).unwrap(), message);
}

/// A7.9: the verbs `escalate` and `bind` replace holding the rules.
#[test]
fn escalate_and_bind_replace_holding_the_rules() {
    let mut policy = Policy::default();
    policy.add(&json!({"kind": "ClusterRole", "metadata": {"name": "strong"}, "rules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]}));
    let rbac = "rbac.authorization.k8s.io";
    bind(&mut policy, "eve", &[json!({"verbs": ["escalate"], "apiGroups": [rbac], "resources": ["roles"]})]);
    let bound = json!({"verbs": ["bind"], "apiGroups": [rbac], "resources": ["clusterroles"], "resourceNames": ["strong"]});
    bind(&mut policy, "ann", &[bound]);
    let role = json!({"metadata": {"name": "r"}, "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"]}]});
    assert_eq!(escalation(&policy, "eve", "roles", None, &role), None);
    assert!(escalation(&policy, "ann", "roles", None, &role).is_some());
    let binding =
        |role: &str| json!({"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": role}});
    assert_eq!(escalation(&policy, "ann", "rolebindings", None, &binding("strong")), None);
    let message = escalation(&policy, "eve", "rolebindings", None, &binding("strong")).unwrap();
    assert!(
        message.starts_with("403 rolebindings.rbac.authorization.k8s.io \"b\" is forbidden: user \"eve\""),
        "{message}"
    );
    let message = escalation(&policy, "eve", "rolebindings", None, &binding("nowhere")).unwrap();
    assert_eq!(message, "404 clusterroles.rbac.authorization.k8s.io \"nowhere\" not found");
}

/// A7.3, A7.9: a binding to a role that does not exist allows nothing, and the refusal has that reason.
#[test]
fn a_binding_to_a_missing_role_is_the_reason_of_a_refusal() {
    let mut policy = Policy::default();
    bind(&mut policy, "bob", &[]);
    let request =
        RequestAttributes { verb: "list".to_owned(), target: resource("", "pods", None, Some("n"), None) };
    assert_eq!(policy.authorize(&named("bob"), &request), Verdict::Denied(None));
    policy.remove(&json!({"kind": "ClusterRole", "metadata": {"name": "bob"}}));
    let reason = "RBAC: clusterrole.rbac.authorization.k8s.io \"bob\" not found";
    let verdict = policy.authorize(&named("bob"), &request);
    assert_eq!(verdict, Verdict::Denied(Some(reason.to_owned())));
    let message = request.forbidden(&named("bob"), Some(reason)).message;
    assert!(
        message.ends_with(
            "in the namespace \"n\": RBAC: clusterrole.rbac.authorization.k8s.io \"bob\" not found"
        )
    );
    policy.remove(&json!({"kind": "ClusterRoleBinding", "metadata": {"name": "bob"}}));
    assert_eq!(policy.authorize(&named("bob"), &request), Verdict::Denied(None));
}
