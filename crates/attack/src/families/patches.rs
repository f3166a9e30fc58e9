//! Hostile patches: patches that grow the object, take long, nest or contradict themselves.

use gantry_json::{Value, json};
use gantry_rng::Rng;

use super::objects::{self, APPLY, JSON_PATCH, MERGE, STRATEGIC, collection};
use super::{BODY_BYTES_MAX, mutate, size};
use crate::case::{Case, Message};

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    let name = format!("p{}", case.id.seed);
    let deployments = collection("apps/v1", "deployments");
    let mut deployment = objects::deployment(&name);
    let count = size(rng, 1, 3000);
    deployment["spec"]["template"]["spec"]["containers"][0]["env"] =
        (0..count).map(|index| json!({"name": format!("E{index}"), "value": "x"})).collect();
    case.create(&deployments, &name, &deployment);
    let target = format!("{deployments}/{name}");
    for _ in 0..rng.between(1, 4) {
        let dry_run = if rng.one_in(4) { "" } else { "&dryRun=All" };
        let (content_type, patch) = match rng.below(4) {
            0 => (JSON_PATCH, json_patch(rng)),
            1 => (MERGE, merge(rng)),
            2 => (STRATEGIC, strategic(rng)),
            _ => (APPLY, apply(rng, &name)),
        };
        let mut body = patch.to_string().into_bytes();
        if rng.one_in(5) {
            mutate(rng, &mut body);
        }
        body.truncate(BODY_BYTES_MAX);
        let query = format!("?fieldManager=m{}&force=true{dry_run}", rng.below(3));
        // `force` is only valid for applies.
        let query = if content_type == APPLY { query } else { query.replace("&force=true", "") };
        case.send(Message::new("PATCH", format!("{target}{query}")).with(content_type, body));
    }
}

const ENV: &str = "/spec/template/spec/containers/0/env";

fn json_patch(rng: &mut Rng) -> Value {
    let count = size(rng, 1, 10_000);
    let value = json!({"name": "A", "value": "b"});
    match rng.below(7) {
        0 => (0..count).map(|_| json!({"op": "add", "path": format!("{ENV}/0"), "value": value})).collect(),
        1 => (0..count).map(|_| json!({"op": "remove", "path": format!("{ENV}/0")})).collect(),
        // Each copy doubles the object.
        2 => (0..count.min(2000))
            .map(|_| json!({"op": "copy", "from": "/metadata", "path": "/metadata/annotations"}))
            .collect(),
        3 => (0..count.min(200))
            .map(|index| json!({"op": "copy", "from": "", "path": format!("/x{index}")}))
            .collect(),
        4 => (0..count)
            .map(|_| json!({"op": "move", "from": format!("{ENV}/0"), "path": format!("{ENV}/-")}))
            .collect(),
        5 => (0..count).map(|_| json!({"op": "test", "path": "", "value": {}})).collect(),
        _ => {
            let path = rng.pick(&[
                "",
                "/",
                "/~1",
                "/~0~2",
                "/spec/-1",
                "/metadata/managedFields/99999999999999999999",
                "//a",
            ]);
            let op = rng.pick(&["add", "remove", "replace", "move", "copy", "test", "", "ADD"]);
            json!([{"op": op, "path": path, "from": path, "value": objects::nested(rng, 100, json!(1))}])
        }
    }
}

fn merge(rng: &mut Rng) -> Value {
    let depth = size(rng, 1, 5000);
    match rng.below(4) {
        0 => json!({"metadata": {"annotations": objects::nested(rng, depth, Value::Null)}}),
        1 => objects::nested(rng, depth, json!(1)),
        2 => {
            let labels = (0..depth * 4).map(|index| (format!("l{index}"), json!("x"))).collect();
            json!({"metadata": {"labels": Value::Object(labels)}})
        }
        _ => {
            let mut patch = objects::deployment("other");
            objects::disfigure(rng, &mut patch);
            patch
        }
    }
}

fn strategic(rng: &mut Rng) -> Value {
    let count = size(rng, 1, 5000);
    let in_containers =
        |containers: Value| json!({"spec": {"template": {"spec": {"containers": containers}}}});
    match rng.below(6) {
        0 => in_containers(
            (0..count).map(|index| json!({"name": format!("c{index}"), "image": "a"})).collect(),
        ),
        1 => in_containers((0..count).map(|_| json!({"$patch": "delete", "name": "web"})).collect()),
        2 => json!({"spec": {"template": {"spec": {
            "$setElementOrder/containers": (0..count).map(|index| json!({"name": format!("c{index}")})).collect::<Vec<_>>(),
            "containers": [{"name": "web", "$setElementOrder/env": (0..count).map(|index| json!({"name": format!("E{index}")})).collect::<Vec<_>>(),
                "env": [{"name": "E0", "value": "y"}]}],
        }}}}),
        3 => {
            json!({"$patch": rng.pick(&["replace", "delete", "merge", "x"]), "$retainKeys": ["spec", 1, null], "spec": null})
        }
        4 => {
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": vec!["a/b"; count], "finalizers": vec!["a/b"; count]}})
        }
        _ => {
            let mut patch =
                in_containers(json!([{"name": "web", "env": [{"name": "E0", "$patch": "replace"}]}]));
            objects::disfigure(rng, &mut patch);
            patch
        }
    }
}

fn apply(rng: &mut Rng, name: &str) -> Value {
    let mut object = objects::deployment(name);
    let count = size(rng, 1, 4000);
    let env = &mut object["spec"]["template"]["spec"]["containers"][0]["env"];
    match rng.below(4) {
        0 => *env = (0..count).map(|index| json!({"name": format!("E{index}"), "value": "z"})).collect(),
        1 => *env = (0..count).map(|_| json!({"name": "E0"})).collect(),
        2 => {
            object["metadata"]["managedFields"] =
                json!([{"fieldsType": "FieldsV1", "fieldsV1": objects::nested(rng, 100, json!({}))}]);
        }
        _ => objects::disfigure(rng, &mut object),
    }
    object
}
