//! Custom resources: a definition with a random structural schema, mutated objects of it, and definitions that are changed.

mod schema;

use serde_json::{Value, json};

use crate::case::{APPLY, Case, JSON_PATCH, MERGE, Request, STRATEGIC, Step, TABLE, YAML, with_query};
use crate::dice::Dice;
use crate::schemas::Schemas;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP: &str = "{ns}.example.com";

pub(super) fn case(dice: &mut Dice) -> Case {
    let spec = schema::structural(dice, 0);
    let definition = definition(dice, &spec);
    if dice.percent(35) { definition_case(dice, &definition) } else { object_case(dice, &definition, &spec) }
}

/// A definition and objects of it.
fn object_case(dice: &mut Dice, definition: &Value, spec: &Value) -> Case {
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
    let value = |dice: &mut Dice| object(json!({"spec": values.value(dice, spec, 0)}));
    let parameters = |dice: &mut Dice| {
        let mut parameters = vec![("fieldManager", dice.pick(&["m1", "m2"]).to_owned())];
        if dice.percent(30) {
            parameters.push(("fieldValidation", dice.pick(&["Strict", "Warn", "Ignore"]).to_owned()));
        }
        if dice.percent(8) {
            parameters.push(("dryRun", "All".to_owned()));
        }
        parameters
    };
    // The first objects may be refused; one that is created makes the rest worthwhile.
    for _ in 0..dice.between(1, 3) {
        steps.push(Step::Send(Request::post(with_query(&collection, &parameters(dice)), value(dice))));
    }
    for _ in 0..dice.between(1, 5) {
        let own = with_query(&path, &parameters(dice));
        let request = match dice.below(13) {
            0 => Request::put(own, value(dice)),
            1..3 => Request::patch(MERGE, own, value(dice)),
            3..6 => {
                Request::patch(APPLY, if dice.percent(50) { own + "&force=true" } else { own }, value(dice))
            }
            6 => Request::patch(dice.pick(&[JSON_PATCH, STRATEGIC]), own, operations(dice)),
            7 => {
                let status = object(
                    json!({"status": {"replicas": dice.pick(&[json!(1), json!("x")]), "note": dice.pick(&["a", ""])}}),
                );
                Request::patch(MERGE, with_query(&format!("{path}/status"), &parameters(dice)), status)
            }
            8 => scale(dice, &path),
            9 => Request::get(collection.clone()).accepting(TABLE),
            10 => Request::get(path.clone()).accepting(dice.pick(&[YAML, TABLE])),
            11 => {
                let field =
                    dice.pick(&["spec.name", "spec.color", "metadata.name", "spec.count", "spec.nope"]);
                let selector = format!("{field}={}", dice.pick(&["a", "x", "1", "web"]));
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

fn operations(dice: &mut Dice) -> Value {
    dice.pick(&[
        json!([{"op": "add", "path": "/spec/name", "value": "j"}]),
        json!([{"op": "remove", "path": "/spec"}]),
        json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]),
        json!([{"op": "replace", "path": "/spec/count", "value": 7}]),
        json!([{"op": "add", "path": "/spec/unknown", "value": {}}]),
    ])
}

fn scale(dice: &mut Dice, path: &str) -> Request {
    let path = format!("{path}/scale?fieldManager=m3");
    let replicas = dice.pick(&[json!(1), json!(5), json!(-1), json!("x")]);
    match dice.below(3) {
        0 => Request::get(path),
        1 => Request::patch(MERGE, path, json!({"spec": {"replicas": replicas}})),
        _ => Request::put(
            path,
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "x", "namespace": "{ns}"}, "spec": {"replicas": replicas}}),
        ),
    }
}

/// A definition with random changes, then changed again while it is served.
fn definition_case(dice: &mut Dice, definition: &Value) -> Case {
    let mut changed = definition.clone();
    for _ in 0..dice.between(1, 2) {
        schema::mutate_definition(dice, &mut changed);
    }
    let mut steps = vec![Step::Send(Request::post(format!("{DEFINITIONS}?fieldManager=d1"), changed))];
    let collection = format!("/apis/{GROUP}/v1/namespaces/{{ns}}/things");
    steps.push(Step::Served { definition: definition_path(), resource: collection });
    for _ in 0..dice.below(3) {
        let mut again = definition.clone();
        schema::mutate_definition(dice, &mut again);
        let path = definition_path() + "?fieldManager=d2";
        let request = match dice.below(4) {
            0 => Request::put(path, again),
            1 => Request::patch(APPLY, path + "&force=true", again),
            2 => Request::patch(MERGE, path, json!({"spec": again["spec"]})),
            _ => Request::get(definition_path()).accepting(dice.pick(&[TABLE, YAML])),
        };
        steps.push(Step::Send(request));
        steps.push(Step::Settle);
    }
    steps.push(Step::Send(Request::get(definition_path())));
    Case { kind: "definitions".to_owned(), steps }
}

fn definition(dice: &mut Dice, spec: &Value) -> Value {
    let status = json!({"type": "object", "properties": {"replicas": {"type": "integer"}, "note": {"type": "string", "minLength": 1}, "selector": {"type": "string"}}});
    let root = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    let mut version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root}});
    if dice.percent(60) {
        version["subresources"] = json!({"status": {}});
        if dice.percent(60) {
            version["subresources"]["scale"] =
                json!({"specReplicasPath": ".spec.count", "statusReplicasPath": ".status.replicas"});
            if dice.percent(50) {
                version["subresources"]["scale"]["labelSelectorPath"] = json!(".status.selector");
            }
        }
    }
    if dice.percent(40) {
        version["additionalPrinterColumns"] = json!([
            {"name": "Name", "type": "string", "jsonPath": ".spec.name"},
            {"name": "Count", "type": "integer", "jsonPath": ".spec.count", "priority": 1},
            {"name": dice.pick(&["Age", "Color"]), "type": dice.pick(&["date", "string"]), "jsonPath": dice.pick(&[".metadata.creationTimestamp", ".spec.color", ".spec.list[*].name"])},
        ]);
    }
    if dice.percent(30) && spec["properties"]["name"]["type"] == "string" {
        version["selectableFields"] = json!([{"jsonPath": ".spec.name"}]);
    }
    let mut versions = vec![version.clone()];
    if dice.percent(30) {
        let mut second = version;
        second["name"] = json!(dice.pick(&["v2", "v1beta1"]));
        second["storage"] = json!(false);
        if dice.percent(30) {
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
