//! Lists with label and field selectors, in pages, at versions, in all layouts, valid and invalid; and deletions of
//! collections.

use gantry_json::{Value, json};

use crate::bases::{Base, base};
use crate::case::{Body, Case, JSON, Request, Step, TABLE, YAML, with_query};
use gantry_rng::Rng;

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

pub(super) fn case(rng: &mut Rng, kinds: &[String]) -> Case {
    let base = base(super::resource(rng, &RESOURCES, kinds));
    let mut steps: Vec<Step> = (0..rng.between(2, NAMES.len()))
        .map(|index| Step::Send(Request::post(base.collection(), labelled(rng, &base, NAMES[index]))))
        .collect();
    let objects = steps.len();
    for index in 0..rng.between(2, 5) {
        steps.push(Step::Send(list(rng, &base, objects, objects + index)));
    }
    if rng.percent(25) {
        let parameters = selectors(rng, base.resource);
        let mut delete = Request::delete(with_query(&base.collection(), &parameters));
        if rng.percent(50) {
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": rng.pick(&["Background", "Orphan", "Foreground", "No"])});
            delete = Request { content_type: JSON, body: Body::Json(options), ..delete };
        }
        steps.push(Step::Send(delete));
        steps.push(Step::Send(Request::get(base.collection())));
    }
    Case { kind: base.resource.to_owned(), steps }
}

/// Returns an object whose labels and selectable fields vary.
pub(super) fn labelled(rng: &mut Rng, base: &Base, name: &str) -> Value {
    let mut object = base.named(name, labels(rng));
    match base.resource {
        "pods" => {
            if rng.percent(40) {
                object["spec"]["nodeName"] = json!(rng.pick(&["n1", "n2"]));
            }
            object["spec"]["restartPolicy"] = json!(rng.pick(&["Always", "Never"]));
        }
        "secrets" => object["type"] = json!(rng.pick(&["Opaque", "example.com/x"])),
        "services" if rng.percent(50) => object["spec"]["clusterIP"] = json!("None"),
        _ => {}
    }
    object
}

pub(super) fn labels(rng: &mut Rng) -> Value {
    let mut labels = json!({});
    for key in ["app", "tier", "example.com/x"] {
        if rng.percent(60) {
            labels[key] = json!(rng.pick(&["a", "b", "", "1"]));
        }
    }
    labels
}

fn list(rng: &mut Rng, base: &Base, objects: usize, next: usize) -> Request {
    let mut parameters = selectors(rng, base.resource);
    if rng.percent(40) {
        parameters.push(("limit", rng.pick(&["1", "2", "3", "0", "500", "-1", "x", ""]).to_owned()));
    }
    if next > objects && rng.percent(40) {
        parameters.push(("continue", format!("{{continue.{}}}", next - 1)));
    } else if rng.percent(5) {
        parameters.push(("continue", "nonsense".to_owned()));
    }
    if rng.percent(40) {
        parameters.push(("resourceVersion", version(rng, objects)));
    }
    if rng.percent(30) {
        parameters
            .push(("resourceVersionMatch", rng.pick(&["NotOlderThan", "Exact", "Newest", ""]).to_owned()));
    }
    if rng.percent(5) {
        parameters.push((
            rng.pick(&["sendInitialEvents", "pretty", "timeoutSeconds", "unknown"]),
            rng.pick(&["true", "x", "5"]).to_owned(),
        ));
    }
    let accept = rng.pick(&[JSON, JSON, JSON, TABLE, METADATA_LIST, YAML]);
    Request::get(with_query(&base.collection(), &parameters)).accepting(accept)
}

/// Returns a version: of one of the first objects, any, or an invalid one.
pub(super) fn version(rng: &mut Rng, objects: usize) -> String {
    match rng.index(8) {
        0 => "0".to_owned(),
        1 => rng.pick(&["x", "-1", "", "1.5", "99999999999999999999", "9000000000000000"]).to_owned(),
        _ => format!("{{rv.{}}}", rng.index(objects)),
    }
}

/// Returns none, one or both selectors.
pub(super) fn selectors(rng: &mut Rng, resource: &str) -> Vec<(&'static str, String)> {
    let mut parameters = Vec::new();
    if rng.percent(50) {
        let count = rng.pick(&[1, 1, 2]);
        let terms: Vec<&str> = (0..count).map(|_| label_term(rng)).collect();
        parameters.push(("labelSelector", terms.join(",")));
    }
    if rng.percent(40) {
        let count = rng.pick(&[1, 1, 2]);
        let terms: Vec<String> = (0..count).map(|_| field_term(rng, resource)).collect();
        parameters.push(("fieldSelector", terms.join(",")));
    }
    parameters
}

fn label_term(rng: &mut Rng) -> &'static str {
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
    if rng.percent(70) { rng.pick(&good) } else { rng.pick(&bad) }
}

fn field_term(rng: &mut Rng, resource: &str) -> String {
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
    let field = match rng.index(10) {
        0..5 => rng.pick(own),
        5..8 => rng.pick(&["metadata.name", "metadata.namespace"]),
        _ => rng.pick(&["spec.replicas", "metadata.labels", "metadata.uid", "x", "", "status.phase "]),
    };
    let value = rng.pick(&[
        "a", "b", "{ns}", "n1", "Pending", "Always", "Opaque", "0", "", "None", "false", "x\\,y", "x\\y",
        "default", "a=b",
    ]);
    let operator = rng.pick(&["=", "=", "==", "!=", "", " in "]);
    format!("{field}{operator}{value}")
}
