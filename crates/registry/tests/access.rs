//! Who may do what: against what Kubernetes answered, and by the rules.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should say so and stop")]
#![allow(clippy::disallowed_methods, reason = "the recordings are files")]

use gantry_registry::access::{Policy, Request, Rule, Target, User, Verdict};
use serde_json::{Value, json};

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A review's question, as the request it speaks of.
fn question(spec: &Value) -> (User, Request) {
    let user = User { name: text(&spec["user"]).unwrap_or_default(), groups: texts(&spec["groups"]) };
    let resource = &spec["resourceAttributes"];
    let attributes = if resource.is_null() { &spec["nonResourceAttributes"] } else { resource };
    let verb = text(&attributes["verb"]).unwrap_or_default();
    let target = if resource.is_null() {
        Target::Path(text(&attributes["path"]).unwrap())
    } else {
        Target::Resource {
            group: text(&attributes["group"]).unwrap_or_default(),
            resource: text(&attributes["resource"]).unwrap_or_default(),
            subresource: text(&attributes["subresource"]),
            namespace: text(&attributes["namespace"]),
            name: text(&attributes["name"]),
        }
    };
    (user, Request { verb, target })
}

/// A7.5, A7.9: every recorded review gets the recorded answer, with the reason.
#[test]
fn recorded_reviews_are_answered_as_kubernetes_did() {
    let mut reviews = 0;
    for case in ["roles_allow", "groups_and_cluster_roles", "cluster_bindings"] {
        let path = format!("{}/tests/recorded/access.{case}.json", env!("CARGO_MANIFEST_DIR"));
        let exchanges: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
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
            let (user, request) = question(&sent["spec"]);
            let answer = match policy.judge(&user, &request) {
                Verdict::Allowed(Some(reason)) => json!({"allowed": true, "reason": reason}),
                Verdict::Allowed(None) => json!({"allowed": true}),
                Verdict::Denied => json!({"allowed": false}),
            };
            assert_eq!(answer, exchange["body"]["status"], "{case}: {}", sent["spec"]);
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
) -> Target {
    Target::Resource {
        group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.map(str::to_owned),
        namespace: namespace.map(str::to_owned),
        name: name.map(str::to_owned),
    }
}

/// A7.3: what a refusal says.
#[test]
fn refusals_say_who_may_not_do_what_where() {
    let bob = User { name: "bob".to_owned(), groups: vec![] };
    let says = |verb: &str, target| Request { verb: verb.to_owned(), target }.forbidden(&bob).message;
    assert_eq!(
        says("list", resource("", "pods", None, Some("default"), None)),
        "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\""
    );
    assert_eq!(
        says("get", resource("apps", "deployments", Some("scale"), Some("default"), Some("d"))),
        "deployments.apps \"d\" is forbidden: User \"bob\" cannot get resource \"deployments/scale\" in API group \
         \"apps\" in the namespace \"default\""
    );
    assert_eq!(
        says("list", resource("", "nodes", None, None, None)),
        "nodes is forbidden: User \"bob\" cannot list resource \"nodes\" in API group \"\" at the cluster scope"
    );
    assert_eq!(
        says("get", Target::Path("/metrics".to_owned())),
        "forbidden: User \"bob\" cannot get path \"/metrics\""
    );
}

fn rule(value: &Value) -> Rule {
    Rule::parse(value)
}

/// A7.9: wildcards, parts of resources, names.
#[test]
fn rules_match_by_verb_group_resource_and_name() {
    let scale = rule(&json!({"verbs": ["get"], "apiGroups": ["*"], "resources": ["*/scale", "pods/*"]}));
    let get = |target| Request { verb: "get".to_owned(), target };
    assert!(scale.allows(&get(resource("apps", "deployments", Some("scale"), None, None))));
    assert!(!scale.allows(&get(resource("apps", "deployments", None, None, None))));
    assert!(!scale.allows(&get(resource("", "pods", Some("log"), None, None))), "pods/* is nothing special");
    let everything = rule(&json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
    assert!(everything.allows(&get(resource("", "pods", Some("log"), None, None))));
    let named =
        rule(&json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}));
    assert!(named.allows(&get(resource("", "pods", None, None, Some("a")))));
    assert!(!named.allows(&get(resource("", "pods", None, None, None))), "a collection has no name");
    let paths = rule(&json!({"verbs": ["get"], "nonResourceURLs": ["/logs/*", "/version"]}));
    assert!(paths.allows(&get(Target::Path("/logs/x".to_owned()))));
    assert!(!paths.allows(&get(Target::Path("/versions".to_owned()))));
}

/// A7.9: who grants rights must hold them; what is missing is named one by one.
#[test]
fn nobody_hands_out_what_they_do_not_have() {
    let mut policy = Policy::default();
    let held = json!({"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]});
    policy.add(&json!({"kind": "Role", "metadata": {"name": "r", "namespace": "n"}, "rules": [held]}));
    let mallory = json!({"kind": "User", "name": "mallory"});
    let reference = json!({"kind": "Role", "name": "r"});
    policy.add(&json!({"kind": "RoleBinding", "metadata": {"name": "b", "namespace": "n"}, "roleRef": reference, "subjects": [mallory]}));
    let mallory = User { name: "mallory".to_owned(), groups: vec![] };
    let missing =
        |namespace: &str, wanted: &Value| policy.missing(&mallory, Some(namespace), &[rule(wanted)]).len();
    assert_eq!(missing("n", &held), 0);
    assert_eq!(missing("other", &held), 2, "rights of one namespace are none in another");
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
        "all verbs are more than two"
    );
    let named = json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]});
    assert_eq!(missing("n", &named), 0, "one pod is less than all pods");
    let master = User { name: "admin".to_owned(), groups: vec!["system:masters".to_owned()] };
    assert_eq!(policy.missing(&master, None, &[rule(&held)]), []);
}

/// A7.1: service accounts are users of a certain name.
#[test]
fn service_accounts_are_bound_by_namespace_and_name() {
    let mut policy = Policy::default();
    policy.add(&json!({"kind": "ClusterRole", "metadata": {"name": "view"}, "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]}));
    policy.add(&json!({
        "kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "n", "name": "sa"}],
    }));
    let judge = |name: &str| {
        let user = User { name: name.to_owned(), groups: vec![] };
        policy.judge(
            &user,
            &Request { verb: "get".to_owned(), target: resource("", "pods", None, Some("x"), None) },
        )
    };
    let reason =
        "RBAC: allowed by ClusterRoleBinding \"b\" of ClusterRole \"view\" to ServiceAccount \"sa/n\"";
    assert_eq!(judge("system:serviceaccount:n:sa"), Verdict::Allowed(Some(reason.to_owned())));
    assert_eq!(judge("system:serviceaccount:other:sa"), Verdict::Denied);
}
