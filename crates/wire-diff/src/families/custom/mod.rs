//! Custom resources: a definition with a random structural schema, mutated objects of it, and definitions that are changed.

mod schema;

use gantry_json::{Value, json};

use crate::case::{APPLY, Case, JSON_PATCH, MERGE, Request, STRATEGIC, Step, TABLE, YAML, with_query};
use crate::schemas::Schemas;
use gantry_rng::Rng;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP: &str = "{ns}.example.com";

pub(super) fn case(rng: &mut Rng) -> Case {
    let spec = schema::structural(rng, 0);
    let definition = definition(rng, &spec);
    if rng.percent(35) { definition_case(rng, &definition) } else { object_case(rng, &definition, &spec) }
}

/// A definition and objects of it.
fn object_case(rng: &mut Rng, definition: &Value, spec: &Value) -> Case {
    let version = "v1";
    let collection = format!("/apis/{GROUP}/{version}/namespaces/{{ns}}/things");
    let path = format!("{collection}/x");
    let mut steps = created(definition, &collection);
    let object = |fields: Value| {
        let mut object =
            json!({"apiVersion": format!("{GROUP}/{version}"), "kind": "Thing", "metadata": {"name": "x"}});
        for (key, value) in fields.as_object().into_iter().flatten() {
            object[key] = value.clone();
        }
        object
    };
    let values = Schemas::default();
    let value = |rng: &mut Rng| object(json!({"spec": values.value(rng, spec, 0)}));
    let parameters = |rng: &mut Rng| {
        let mut parameters = vec![("fieldManager", rng.pick(&["m1", "m2"]).to_owned())];
        if rng.percent(30) {
            parameters.push(("fieldValidation", rng.pick(&["Strict", "Warn", "Ignore"]).to_owned()));
        }
        if rng.percent(8) {
            parameters.push(("dryRun", "All".to_owned()));
        }
        parameters
    };
    // The first objects may be refused; a created one makes the further steps meaningful.
    for _ in 0..rng.between(1, 3) {
        steps.push(Step::Send(Request::post(with_query(&collection, &parameters(rng)), value(rng))));
    }
    for _ in 0..rng.between(1, 5) {
        let own = with_query(&path, &parameters(rng));
        let request = match rng.index(13) {
            0 => Request::put(own, value(rng)),
            1..3 => Request::patch(MERGE, own, value(rng)),
            3..6 => {
                Request::patch(APPLY, if rng.percent(50) { own + "&force=true" } else { own }, value(rng))
            }
            6 => Request::patch(rng.pick(&[JSON_PATCH, STRATEGIC]), own, operations(rng)),
            7 => {
                let status = object(
                    json!({"status": {"replicas": rng.pick(&[json!(1), json!("x")]), "note": rng.pick(&["a", ""])}}),
                );
                Request::patch(MERGE, with_query(&format!("{path}/status"), &parameters(rng)), status)
            }
            8 => scale(rng, &path),
            9 => Request::get(collection.clone()).accepting(TABLE),
            10 => Request::get(path.clone()).accepting(rng.pick(&[YAML, TABLE])),
            11 => {
                let field =
                    rng.pick(&["spec.name", "spec.color", "metadata.name", "spec.count", "spec.nope"]);
                let selector = format!("{field}={}", rng.pick(&["a", "x", "1", "web"]));
                Request::get(with_query(&collection, &[("fieldSelector", selector)]))
            }
            _ => Request::get(format!("/apis/{GROUP}/v2/namespaces/{{ns}}/things/x")),
        };
        steps.push(Step::Send(request));
    }
    steps.push(Step::Send(Request::get(path)));
    Case { kind: "objects".to_owned(), steps }
}

fn created(definition: &Value, collection: &str) -> Vec<Step> {
    vec![
        Step::Send(Request::post(format!("{DEFINITIONS}?fieldManager=d1"), definition.clone())),
        Step::Served { definition: definition_path(), resource: collection.to_owned() },
    ]
}

fn definition_path() -> String {
    format!("{DEFINITIONS}/things.{GROUP}")
}

fn operations(rng: &mut Rng) -> Value {
    rng.pick(&[
        json!([{"op": "add", "path": "/spec/name", "value": "j"}]),
        json!([{"op": "remove", "path": "/spec"}]),
        json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]),
        json!([{"op": "replace", "path": "/spec/count", "value": 7}]),
        json!([{"op": "add", "path": "/spec/unknown", "value": {}}]),
    ])
}

fn scale(rng: &mut Rng, path: &str) -> Request {
    let path = format!("{path}/scale?fieldManager=m3");
    let replicas = rng.pick(&[json!(1), json!(5), json!(-1), json!("x")]);
    match rng.index(3) {
        0 => Request::get(path),
        1 => Request::patch(MERGE, path, json!({"spec": {"replicas": replicas}})),
        _ => Request::put(
            path,
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "x", "namespace": "{ns}"}, "spec": {"replicas": replicas}}),
        ),
    }
}

/// A definition with random changes, then changed again while it is served.
fn definition_case(rng: &mut Rng, definition: &Value) -> Case {
    let mut changed = definition.clone();
    for _ in 0..rng.between(1, 2) {
        schema::mutate_definition(rng, &mut changed);
    }
    let mut steps = vec![Step::Send(Request::post(format!("{DEFINITIONS}?fieldManager=d1"), changed))];
    let collection = format!("/apis/{GROUP}/v1/namespaces/{{ns}}/things");
    steps.push(Step::Served { definition: definition_path(), resource: collection });
    for _ in 0..rng.index(3) {
        let mut again = definition.clone();
        schema::mutate_definition(rng, &mut again);
        let path = definition_path() + "?fieldManager=d2";
        let request = match rng.index(4) {
            0 => Request::put(path, again),
            1 => Request::patch(APPLY, path + "&force=true", again),
            2 => Request::patch(MERGE, path, json!({"spec": again["spec"]})),
            _ => Request::get(definition_path()).accepting(rng.pick(&[TABLE, YAML])),
        };
        steps.push(Step::Send(request));
        steps.push(Step::Settle);
    }
    steps.push(Step::Send(Request::get(definition_path())));
    Case { kind: "definitions".to_owned(), steps }
}

fn definition(rng: &mut Rng, spec: &Value) -> Value {
    let status = json!({"type": "object", "properties": {"replicas": {"type": "integer"}, "note": {"type": "string", "minLength": 1}, "selector": {"type": "string"}}});
    let root = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    let mut version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root}});
    if rng.percent(60) {
        version["subresources"] = json!({"status": {}});
        if rng.percent(60) {
            version["subresources"]["scale"] =
                json!({"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.replicas"});
            if rng.percent(50) {
                version["subresources"]["scale"]["labelSelectorPath"] = json!(".status.selector");
            }
        }
    }
    if rng.percent(40) {
        version["additionalPrinterColumns"] = json!([
            {"name": "Name", "type": "string", "jsonPath": ".spec.name"},
            {"name": "Count", "type": "integer", "jsonPath": ".spec.count", "priority": 1},
            {"name": rng.pick(&["Age", "Color"]), "type": rng.pick(&["date", "string"]), "jsonPath": rng.pick(&[".metadata.creationTimestamp", ".spec.color", ".spec.list[*].name"])},
        ]);
    }
    if rng.percent(30) && spec["properties"]["name"]["type"] == "string" {
        version["selectableFields"] = json!([{"jsonPath": ".spec.name"}]);
    }
    let mut versions = vec![version.clone()];
    if rng.percent(30) {
        let mut second = version;
        second["name"] = json!(rng.pick(&["v2", "v1beta1"]));
        second["storage"] = json!(false);
        if rng.percent(30) {
            second["deprecated"] = json!(true);
        }
        versions.push(second);
    }
    let names = json!({"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList", "shortNames": ["th"]});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("things.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions},
    })
}
