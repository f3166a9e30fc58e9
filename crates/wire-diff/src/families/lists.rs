//! Lists with label and field selectors, in pages, at versions, in all layouts, good and bad; and deletions of collections.

use serde_json::{Value, json};

use crate::bases::{Base, base};
use crate::case::{Body, Case, JSON, Request, Step, TABLE, YAML, with_query};
use crate::dice::Dice;

const RESOURCES: [&str; 10] = [
    "pods",
    "pods",
    "configmaps",
    "secrets",
    "services",
    "replicationcontrollers",
    "jobs",
    "deployments",
    "replicasets",
    "leases",
];
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

pub(super) fn case(dice: &mut Dice, kinds: &[String]) -> Case {
    let base = base(super::resource(dice, &RESOURCES, kinds));
    let mut steps: Vec<Step> = (0..dice.between(2, NAMES.len()))
        .map(|index| Step::Send(Request::post(base.collection(), labelled(dice, &base, NAMES[index]))))
        .collect();
    let objects = steps.len();
    for index in 0..dice.between(2, 5) {
        steps.push(Step::Send(list(dice, &base, objects, objects + index)));
    }
    if dice.percent(25) {
        let parameters = selectors(dice, base.resource);
        let mut delete = Request::delete(with_query(&base.collection(), &parameters));
        if dice.percent(50) {
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": dice.pick(&["Background", "Orphan", "Foreground", "No"])});
            delete = Request { content_type: JSON, body: Body::Json(options), ..delete };
        }
        steps.push(Step::Send(delete));
        steps.push(Step::Send(Request::get(base.collection())));
    }
    Case { kind: base.resource.to_owned(), steps }
}

/// Returns an object whose labels and selectable fields vary.
pub(super) fn labelled(dice: &mut Dice, base: &Base, name: &str) -> Value {
    let mut object = base.named(name, labels(dice));
    match base.resource {
        "pods" => {
            if dice.percent(40) {
                object["spec"]["nodeName"] = json!(dice.pick(&["n1", "n2"]));
            }
            object["spec"]["restartPolicy"] = json!(dice.pick(&["Always", "Never"]));
        }
        "secrets" => object["type"] = json!(dice.pick(&["Opaque", "example.com/x"])),
        "services" if dice.percent(50) => object["spec"]["clusterIP"] = json!("None"),
        _ => {}
    }
    object
}

pub(super) fn labels(dice: &mut Dice) -> Value {
    let mut labels = json!({});
    for key in ["app", "tier", "example.com/x"] {
        if dice.percent(60) {
            labels[key] = json!(dice.pick(&["a", "b", "", "1"]));
        }
    }
    labels
}

fn list(dice: &mut Dice, base: &Base, objects: usize, next: usize) -> Request {
    let mut parameters = selectors(dice, base.resource);
    if dice.percent(40) {
        parameters.push(("limit", dice.pick(&["1", "2", "3", "0", "500", "-1", "x", ""]).to_owned()));
    }
    if next > objects && dice.percent(40) {
        parameters.push(("continue", format!("{{continue.{}}}", next - 1)));
    } else if dice.percent(5) {
        parameters.push(("continue", "nonsense".to_owned()));
    }
    if dice.percent(40) {
        parameters.push(("resourceVersion", version(dice, objects)));
    }
    if dice.percent(30) {
        parameters
            .push(("resourceVersionMatch", dice.pick(&["NotOlderThan", "Exact", "Newest", ""]).to_owned()));
    }
    if dice.percent(5) {
        parameters.push((
            dice.pick(&["sendInitialEvents", "pretty", "timeoutSeconds", "unknown"]),
            dice.pick(&["true", "x", "5"]).to_owned(),
        ));
    }
    let accept = dice.pick(&[JSON, JSON, JSON, TABLE, METADATA_LIST, YAML]);
    Request::get(with_query(&base.collection(), &parameters)).accepting(accept)
}

/// Returns a version: of one of the first objects, any, or none that there could be.
pub(super) fn version(dice: &mut Dice, objects: usize) -> String {
    match dice.below(8) {
        0 => "0".to_owned(),
        1 => dice.pick(&["x", "-1", "", "1.5", "99999999999999999999", "9000000000000000"]).to_owned(),
        _ => format!("{{rv.{}}}", dice.below(objects)),
    }
}

/// Returns none, one or both selectors.
pub(super) fn selectors(dice: &mut Dice, resource: &str) -> Vec<(&'static str, String)> {
    let mut parameters = Vec::new();
    if dice.percent(50) {
        let count = dice.pick(&[1, 1, 2]);
        let terms: Vec<&str> = (0..count).map(|_| label_term(dice)).collect();
        parameters.push(("labelSelector", terms.join(",")));
    }
    if dice.percent(40) {
        let count = dice.pick(&[1, 1, 2]);
        let terms: Vec<String> = (0..count).map(|_| field_term(dice, resource)).collect();
        parameters.push(("fieldSelector", terms.join(",")));
    }
    parameters
}

fn label_term(dice: &mut Dice) -> &'static str {
    let good = [
        "app=a",
        "app==b",
        "app!=a",
        "app",
        "!app",
        "app in (a,b)",
        "app notin (a)",
        "tier=",
        "app in (a, b)",
        "tier in ()",
        "example.com/x=1",
        " app = a ",
        "app in (b,)",
        "tier>0",
        "tier<2",
        "tier>x",
        "app in (a,a)",
    ];
    let bad = [
        "app=a=b",
        "=a",
        "app in",
        "app in (a",
        "app=,",
        "!app=a",
        "a b",
        "-x=1",
        "app=-",
        "app=é",
        "x/y/z=1",
        ",",
        "app in a",
        "app notin",
        "!",
        "app>",
        "app=a,,",
        "(",
        "app=a b",
        "/x",
        "A_b/c",
    ];
    if dice.percent(70) { dice.pick(&good) } else { dice.pick(&bad) }
}

fn field_term(dice: &mut Dice, resource: &str) -> String {
    let own: &[&str] = match resource {
        "pods" => &[
            "spec.nodeName",
            "status.phase",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.podIP",
            "spec.hostNetwork",
            "status.nominatedNodeName",
        ],
        "secrets" => &["type"],
        "services" => &["spec.clusterIP", "spec.type"],
        "jobs" => &["status.successful"],
        "replicationcontrollers" | "replicasets" => &["status.replicas"],
        _ => &["spec.replicas", "data.a"],
    };
    let field = match dice.below(10) {
        0..5 => dice.pick(own),
        5..8 => dice.pick(&["metadata.name", "metadata.namespace"]),
        _ => dice.pick(&["spec.replicas", "metadata.labels", "metadata.uid", "x", "", "status.phase "]),
    };
    let value = dice.pick(&[
        "a", "b", "{ns}", "n1", "Pending", "Always", "Opaque", "0", "", "None", "false", "x\\,y", "x\\y",
        "default", "a=b",
    ]);
    let operator = dice.pick(&["=", "=", "==", "!=", "", " in "]);
    format!("{field}{operator}{value}")
}
