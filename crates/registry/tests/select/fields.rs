//! Field selectors.

use gantry_json::{Value, json};
use gantry_registry::selector::{FieldSelector, Selectable, fields::Terms};
use gantry_schema::custom::FieldPath;
use gantry_schema::kinds::Scope;
use proptest::prelude::*;

use crate::recording::{Exchange, recorded};

fn replay(exchanges: Vec<Exchange>, objects: &dyn Fn(&Exchange) -> Vec<Value>) {
    for exchange in exchanges {
        let text = exchange.parameter("fieldSelector");
        let (group, kind) = exchange.kind();
        match FieldSelector::parse(text, Selectable::of(group, kind)) {
            Err(refusal) => assert_eq!(refusal.status(), exchange.body, "{text}"),
            Ok(selector) => {
                let objects = objects(&exchange);
                let chosen = objects.iter().filter(|object| selector.matches(object));
                let names: Value = chosen.map(|object| object["metadata"]["name"].clone()).collect();
                assert_eq!(names, exchange.body, "{text}");
            }
        }
    }
}

fn object(name: &str, rest: Value) -> Value {
    let mut object = rest;
    object["metadata"] = json!({"name": name, "namespace": "NS"});
    object
}

/// A4.8: the name and namespace of any kind.
#[test]
fn everything_has_a_name_and_a_namespace() {
    replay(recorded!("lists.field_selectors_everywhere"), &|_| {
        vec![object("a", json!({})), object("b", json!({}))]
    });
}

/// A4.8: the fields of Pods.
#[test]
fn pods_have_fields_of_their_own() {
    let pods = [
        object(
            "a",
            json!({
                "spec": {"restartPolicy": "Always", "schedulerName": "default-scheduler", "serviceAccountName": "default"},
                "status": {"phase": "Pending", "nominatedNodeName": "n2"},
            }),
        ),
        object(
            "b",
            json!({
                "spec": {
                    "nodeName": "n1", "restartPolicy": "Never", "schedulerName": "mine", "hostNetwork": true,
                    "serviceAccountName": "default",
                },
                "status": {"phase": "Running", "podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]},
            }),
        ),
    ];
    replay(recorded!("lists.field_selectors_of_pods"), &|_| pods.to_vec());
    let select = |text| FieldSelector::parse(text, Selectable::of("", "Pod")).unwrap();
    assert!(select("status.podIPs=").matches(&pods[1]));
    assert!(!select("status.podIPs=10.9.9.9").matches(&pods[1]));
}

/// A4.8: the fields of other kinds.
#[test]
fn some_other_kinds_have_fields_of_their_own() {
    replay(recorded!("lists.field_selectors_of_others"), &|exchange| match exchange.kind().1 {
        "Secret" => {
            vec![object("a", json!({"type": "Opaque"})), object("b", json!({"type": "example.com/x"}))]
        }
        "Service" => vec![
            object("a", json!({"spec": {"clusterIP": "None", "type": "ClusterIP"}})),
            object("b", json!({"spec": {"clusterIP": "10.0.0.7", "type": "NodePort"}})),
        ],
        "Job" => vec![object("a", json!({}))],
        _ => vec![object("NS-n1", json!({"spec": {"unschedulable": true}}))],
    });
    let phase = FieldSelector::parse("status.phase=Active", Selectable::of("", "Namespace")).unwrap();
    assert!(phase.matches(&json!({"status": {"phase": "Active"}})));
    let replicas =
        FieldSelector::parse("status.replicas=3", Selectable::of("", "ReplicationController")).unwrap();
    assert!(replicas.matches(&json!({"status": {"replicas": 3}})) && !replicas.matches(&json!({})));
}

/// A4.8: the fields of Events have the names of the requested group.
#[test]
fn events_are_selected_by_the_names_of_their_group() {
    replay(recorded!("events.selectors"), &|exchange| {
        let regarded = if exchange.kind().0.is_empty() { "involvedObject" } else { "regarding" };
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": "NS", "resourceVersion": "5",
            "uid": "00000000-0000-0000-0000-00000000000a", "fieldPath": "spec.containers{c}",
        });
        let mut a = json!({"reason": "Started", "type": "Normal", "source": {"component": "kubelet"}});
        let mut b = json!({"reason": "Killing", "type": "Warning", "source": {"component": "node"}});
        a[regarded] = pod;
        b[regarded] = json!({"kind": "Node", "name": "n", "namespace": "NS"});
        vec![object("a", a), object("b", b)]
    });
    let source = FieldSelector::parse("source=scheduler", Selectable::of("", "Event")).unwrap();
    assert!(source.matches(&json!({"source": {}, "reportingComponent": "scheduler"})));
}

/// A4.8: commas, equals signs and backslashes are escaped.
#[test]
fn values_may_be_escaped() {
    replay(recorded!("lists.escaped_field_values"), &|_| vec![object("a", json!({}))]);
    for (text, value) in
        [(r"type=a\,b", "a,b"), (r"type=a\=b", "a=b"), (r"type=a\\", r"a\"), (r"type=\\\,x", r"\,x")]
    {
        let selector = FieldSelector::parse(text, Selectable::of("", "Secret")).unwrap();
        assert!(selector.matches(&json!({"type": value})), "{text}");
    }
    let refused = |text| Terms::parse(text).unwrap_err().message;
    assert_eq!(refused(r"a=b\"), r"invalid field selector: invalid escape sequence: \");
    assert_eq!(refused("a=b=c"), "invalid field selector: unescaped character in value: 61");
}

/// A4.8: the deletion of a collection refuses the same fields.
#[test]
fn a_kind_with_its_own_fields_has_other_messages() {
    for exchange in recorded!("deletion.collection_bad_options") {
        if !exchange.parameter("fieldSelector").is_empty() {
            replay(vec![exchange], &|_| Vec::new());
        }
    }
}

/// A4.8, Appendix E: objects of a custom kind are selected by the fields of its definition, as strings.
#[test]
fn custom_kinds_have_the_fields_of_their_definition() {
    let version = json!({"selectableFields": [
        {"jsonPath": ".spec.color"}, {"jsonPath": ".spec.deep.size"}, {"jsonPath": ".spec.on"},
    ]});
    let fields = FieldPath::selectable(&version);
    let select = |text: &str, scope| FieldSelector::parse(text, Selectable::custom(&fields, scope));
    let object = json!({
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {"color": "blue", "deep": {"size": 3}, "on": true},
    });
    let bare = json!({"metadata": {"name": "b", "namespace": "n"}, "spec": {"deep": null}});
    let cases = [
        ("spec.color=blue", true, false),
        ("spec.color!=blue", false, true),
        ("spec.color=", false, true),
        ("spec.deep.size=3", true, false),
        ("spec.deep.size==03", false, false),
        ("spec.deep.size=", false, true),
        ("spec.on=true,spec.color=blue", true, false),
        ("spec.on!=true", false, true),
        ("metadata.name=a", true, false),
        ("metadata.namespace=n,spec.on=", false, true),
    ];
    for (text, matches, matches_bare) in cases {
        let selector = select(text, Scope::Namespaced).unwrap();
        assert_eq!((selector.matches(&object), selector.matches(&bare)), (matches, matches_bare), "{text}");
    }
    let refused = [
        ("spec.size=3", Scope::Namespaced, "field label not supported: spec.size"),
        (".spec.color=blue", Scope::Namespaced, "field label not supported: .spec.color"),
        ("metadata.uid=u", Scope::Namespaced, "field label not supported: metadata.uid"),
        ("metadata.namespace=n", Scope::Cluster, "field label not supported: metadata.namespace"),
    ];
    for (text, scope, message) in refused {
        let refusal = select(text, scope).unwrap_err();
        assert_eq!(
            (refusal.reason.code(), refusal.reason.name(), refusal.message.as_str()),
            (400, "BadRequest", message)
        );
    }
    assert!(select("spec.color=blue,metadata.name=a", Scope::Cluster).unwrap().matches(&object));
    assert_eq!(FieldPath::selectable(&json!({})), []);
}

/// A0.7: the name that is authorized.
#[test]
fn a_required_name_is_known() {
    let selector =
        FieldSelector::parse("metadata.name!=a,metadata.name=b", Selectable::of("apps", "Deployment"))
            .unwrap();
    assert_eq!(selector.required("metadata.name"), Some("b"));
    assert_eq!(selector.required("metadata.namespace"), None);
    assert_eq!(FieldSelector::for_name("b").required("metadata.name"), Some("b"));
}

/// A4.8: of several invalid terms the first in alphabetical order is refused.
#[test]
fn of_several_wrong_terms_the_first_in_alphabetical_order_is_refused() {
    let refused = |text: &str, kind: &str| {
        FieldSelector::parse(text, Selectable::of("", kind)).map_err(|refusal| refusal.message).unwrap_err()
    };
    assert_eq!(
        refused("zebra,aardvark", "Pod"),
        "invalid selector: 'zebra,aardvark'; can't understand 'aardvark'"
    );
    assert_eq!(refused("b=x=y,a", "Pod"), "invalid selector: 'b=x=y,a'; can't understand 'a'");
    assert_eq!(refused("z=1,x=1", "Pod"), "field label not supported: x");
}

/// A4.8: a term without field and value selects everything; a value without a field is refused.
#[test]
fn an_empty_term_selects_everything() {
    for text in ["=", "==", "!=", ",", "=,metadata.namespace=NS"] {
        let selector = FieldSelector::parse(text, Selectable::of("", "Pod")).unwrap();
        assert!(selector.matches(&object("a", json!({}))), "{text}");
    }
    let refused = FieldSelector::parse("=a", Selectable::of("", "Pod")).unwrap_err();
    assert_eq!(refused.message, "field label not supported: ");
}

/// A4.8: the error about a field of Jobs has another message.
#[test]
fn errors_about_fields_of_jobs_name_the_kind() {
    let refused = FieldSelector::parse("x=1", Selectable::of("batch", "Job")).unwrap_err();
    assert_eq!(refused.message, "field label \"x\" not supported for Job");
}

fn escaped(value: &str) -> String {
    value
        .chars()
        .flat_map(|c| [r"\".to_owned(), c.to_string()].into_iter().skip(usize::from(!r"\,=".contains(c))))
        .collect()
}

proptest! {
    /// A4.8: any value can be escaped in a selector.
    #[test]
    fn any_value_can_be_escaped(value in r"[a\\,=é ]{0,8}") {
        let selector = FieldSelector::parse(&format!("type={}", escaped(&value)), Selectable::of("", "Secret")).unwrap();
        let secret = json!({"type": value});
        prop_assert!(selector.matches(&secret));
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in r"[a\\,=!é\PC]{0,12}") {
        let _ = FieldSelector::parse(&text, Selectable::of("", "Pod"));
    }
}
