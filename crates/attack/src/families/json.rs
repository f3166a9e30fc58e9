//! Hostile JSON: deep, long, repeated, and objects with very many elements.

use gantry_json::{Value, json};
use gantry_rng::Rng;

use super::objects::{self, JSON, collection};
use super::{BODY_BYTES_MAX, mutate, size};
use crate::case::{Case, Message};

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    let name = format!("j{}", case.id.seed);
    if rng.one_in(2) {
        let (path, object) = populous(rng, &name);
        let mut body = object.to_string().into_bytes();
        body.truncate(BODY_BYTES_MAX + 1000);
        let strict = rng.pick(&["", "&fieldValidation=Strict"]);
        case.send(Message::new("POST", format!("{path}?dryRun=All{strict}")).with(JSON, body));
        return;
    }
    for part in 0..rng.between(1, 4) {
        let (path, mut object) = objects::any(rng, &format!("{name}-{part}"));
        let body = match rng.below(4) {
            0 => text(rng, &object),
            1 => {
                let mut bytes = object.to_string().into_bytes();
                mutate(rng, &mut bytes);
                bytes
            }
            _ => {
                (0..rng.between(1, 5)).for_each(|_| objects::disfigure(rng, &mut object));
                object.to_string().into_bytes()
            }
        };
        case.send(Message::new("POST", format!("{path}?dryRun=All")).with(JSON, body));
    }
}

/// Returns an element of a list by its index and name.
type Element = fn(usize, &str) -> Value;

/// Lists in a Pod: the object that has it, its name, and an element.
const POD_LISTS: &[(&str, &str, Element)] = &[
    ("/spec/containers/0", "ports", |index, name| json!({"containerPort": index % 65_536, "name": name})),
    ("/spec/containers/0", "env", |_, name| json!({"name": name, "value": "$(A)"})),
    ("/spec/containers/0", "env", |index, _| json!({(format!("unknown{index}")): 1})),
    ("/spec/containers/0", "envFrom", |_, _| json!({"prefix": "9", "configMapRef": {}})),
    ("/spec/containers/0", "volumeMounts", |_, name| json!({"name": "v", "mountPath": format!("/{name}")})),
    ("/spec", "containers", |_, name| json!({"name": name, "image": "a"})),
    ("/spec", "volumes", |_, name| json!({"name": name, "emptyDir": {}})),
    ("/spec", "tolerations", |_, name| json!({"key": name, "operator": "Exists"})),
    ("/spec", "hostAliases", |_, name| json!({"ip": "1.2.3.4", "hostnames": [name]})),
    (
        "/spec",
        "topologySpreadConstraints",
        |_, name| json!({"topologyKey": name, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}),
    ),
    ("/spec", "imagePullSecrets", |_, name| json!({"name": name})),
    ("/spec", "schedulingGates", |_, name| json!({"name": name})),
    ("/metadata", "finalizers", |_, name| json!(format!("a.b/{name}"))),
    (
        "/metadata",
        "ownerReferences",
        |_, name| json!({"apiVersion": "v1", "kind": "A", "name": name, "uid": name}),
    ),
    ("/metadata", "managedFields", |_, name| {
        let fields = json!({"f:spec": {"f:a": {}}});
        json!({"manager": name, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }),
];

/// Returns an object with very many elements of one list or map.
fn populous(rng: &mut Rng, name: &str) -> (String, Value) {
    let count = size(rng, 100, 60_000);
    let are_same = rng.one_in(2);
    let list = |element: Element| -> Value {
        let name = |index: usize| if are_same { "same".to_owned() } else { format!("n{index}") };
        (0..count).map(|index| element(index, &name(index))).collect()
    };
    let map = || Value::Object((0..count).map(|index| (format!("k{index}"), json!("v"))).collect());
    let metadata = json!({"name": name});
    match rng.below(14) {
        0 => {
            let ports = list(|index, name| json!({"port": index % 70_000, "name": name}));
            (collection("v1", "services"), json!({"metadata": metadata, "spec": {"ports": ports}}))
        }
        1 => {
            let rules = list(|_, name| json!({"apiGroups": [""], "resources": [name], "verbs": ["*"]}));
            let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
            (path.to_owned(), json!({"metadata": metadata, "rules": rules}))
        }
        2 => (collection("v1", "configmaps"), json!({"metadata": metadata, "data": map()})),
        3 => {
            let mut deployment = objects::deployment(name);
            let expressions = list(|_, name| json!({"key": name, "operator": "NotIn", "values": ["a"]}));
            deployment["spec"]["selector"] = json!({"matchExpressions": expressions});
            (collection("apps/v1", "deployments"), deployment)
        }
        4 => {
            let endpoints = list(
                |index, _| json!({"addresses": [format!("10.0.{}.{}", index / 256 % 256, index % 256)]}),
            );
            (
                collection("discovery.k8s.io/v1", "endpointslices"),
                json!({"metadata": metadata, "addressType": "IPv4", "endpoints": endpoints, "ports": []}),
            )
        }
        5 => (collection("v1", "pods"), map()),
        choice => {
            let mut pod = objects::pod(name);
            match choice {
                6 => pod["metadata"]["labels"] = map(),
                7 => pod["metadata"]["annotations"] = map(),
                _ => {
                    let (owner, field, element) = rng.pick(POD_LISTS);
                    if let Some(owner) = pod.pointer_mut(owner) {
                        owner[field] = list(element);
                    }
                }
            }
            (collection("v1", "pods"), pod)
        }
    }
}

/// Returns text that is valid or almost valid JSON in an unusual form.
fn text(rng: &mut Rng, object: &Value) -> Vec<u8> {
    let count = size(rng, 1, 500_000);
    let part = match rng.below(10) {
        0 => "[".repeat(count),
        1 => r#"{"a":"#.repeat(count) + "1" + &"}".repeat(count),
        2 => format!("[{}0]", "0,".repeat(count)),
        3 => format!("[{}{{}}]", "{},".repeat(count)),
        4 => "9".repeat(count),
        5 => format!("-0.{}e-{}", "1".repeat(count), "9".repeat(rng.between(1, 400))),
        6 => format!("\"{}\"", "\\u0000\\ud800".repeat(count / 4)),
        7 => format!("{{{}\"a\":1}}", "\"a\":1,".repeat(count)),
        8 => format!("\"{}\"", "\\\"".repeat(count)),
        _ => format!("{{\"{}\":1}}", "k".repeat(size(rng, 1, BODY_BYTES_MAX))),
    };
    let mut object = object.clone();
    if rng.one_in(2) {
        // The handling of an invalid object covers all of its text.
        object["metadata"]["labels"] = json!({"!": "", "a b": "c"});
    }
    let text = object.to_string();
    let joined = match rng.below(3) {
        0 => part,
        1 => format!("{},\"spec\":{part}}}", text.trim_end_matches('}')),
        _ => format!("{{\"spec\":{part},{}", &text[1..]),
    };
    let mut bytes = joined.into_bytes();
    bytes.truncate(BODY_BYTES_MAX);
    bytes
}
