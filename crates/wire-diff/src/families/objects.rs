//! Objects of all kinds with a few fields added, changed or removed, and the requests for them: create, replace, patch,
//! read in all layouts, delete.

use gantry_json::{Value, json};

use crate::bases::{self, Base};
use crate::case::{APPLY, Case, JSON_PATCH, MERGE, Request, STRATEGIC, Step, TABLE, YAML, with_query};
use crate::schemas::Schemas;
use gantry_rng::Rng;

const FIRST: [&str; 8] = ["create", "create", "replace", "merge", "strategic", "json", "apply", "strict"];
const LATER: [&str; 7] = ["table", "list", "merge", "apply", "json", "delete", "yaml"];
const JSON_PATHS: [&str; 8] = [
    "/spec",
    "/metadata/labels",
    "/metadata/annotations/a",
    "/spec/replicas",
    "/data/a",
    "/x",
    "/spec/template/spec/containers/0/image",
    "/spec/containers/-",
];

pub(super) fn case(schemas: &Schemas, rng: &mut Rng, kinds: &[String]) -> Case {
    let bases: Vec<Base> = bases::all()
        .into_iter()
        .filter(|base| kinds.is_empty() || kinds.iter().any(|kind| kind == base.resource))
        .collect();
    let base = if bases.is_empty() { bases::base("configmaps") } else { rng.pick(&bases) };
    let changed = changed(schemas, rng, &base);
    let partial = partial(schemas, rng, &base);
    let operations = operations(schemas, rng);
    let first = rng.pick(&FIRST);
    let mut plan = vec![first];
    let more = rng.index(3);
    plan.extend(rng.sample(&LATER, more));
    let mut steps = Vec::new();
    if !["create", "strict"].contains(&first) {
        steps.push(Step::Send(Request::post(
            with_query(&base.collection(), &[("fieldManager", "base".to_owned())]),
            base.object.clone(),
        )));
    }
    steps.extend(
        plan.iter().map(|action| Step::Send(request(action, &base, &changed, &partial, &operations))),
    );
    Case { kind: base.resource.to_owned(), steps }
}

fn request(action: &str, base: &Base, changed: &Value, partial: &Value, operations: &Value) -> Request {
    let own = |path: String| format!("{path}?fieldManager=m0");
    match action {
        "create" => Request::post(own(base.collection()), changed.clone()),
        "strict" => {
            Request::post(own(base.collection()) + "&dryRun=All&fieldValidation=Strict", changed.clone())
        }
        "replace" => Request::put(own(base.path()), changed.clone()),
        "merge" => Request::patch(MERGE, own(base.path()), partial.clone()),
        "strategic" => Request::patch(STRATEGIC, own(base.path()), partial.clone()),
        "json" => Request::patch(JSON_PATCH, own(base.path()), operations.clone()),
        "apply" => Request::patch(APPLY, base.path() + "?fieldManager=m1&force=true", partial.clone()),
        "table" => Request::get(only_own(base)).accepting(TABLE),
        "list" => Request::get(with_query(&only_own(base), &[("limit", "5".to_owned())])),
        "yaml" => Request::get(base.path()).accepting(YAML),
        _ => Request::delete(base.path() + "?gracePeriodSeconds=0"),
    }
}

/// The collection; of cluster-wide kinds only the object of the play, because there are others.
fn only_own(base: &Base) -> String {
    if base.is_namespaced() {
        return base.collection();
    }
    with_query(&base.collection(), &[("fieldSelector", format!("metadata.name={}", base.name()))])
}

fn changed(schemas: &Schemas, rng: &mut Rng, base: &Base) -> Value {
    let schema = schemas.kind(base.api_version(), base.kind());
    let mut changed = base.object.clone();
    for _ in 0..rng.pick(&[1, 1, 2, 3]) {
        schemas.mutate(rng, &mut changed, schema, true);
    }
    renamed(&mut changed, base);
    changed
}

/// Returns an object with a few random fields and nothing else, as a patch or for apply.
pub(super) fn partial(schemas: &Schemas, rng: &mut Rng, base: &Base) -> Value {
    let schema = schemas.kind(base.api_version(), base.kind());
    let mut partial = json!({"apiVersion": base.api_version(), "kind": base.kind(), "metadata": {}});
    for _ in 0..rng.between(1, 2) {
        schemas.mutate(rng, &mut partial, schema, false);
    }
    renamed(&mut partial, base);
    partial
}

fn renamed(object: &mut Value, base: &Base) {
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    object["metadata"]["name"] = json!(base.name());
}

fn operations(schemas: &Schemas, rng: &mut Rng) -> Value {
    let operation = |rng: &mut Rng| {
        let kind = rng.pick(&["string", "integer", "object"]);
        json!({
            "op": rng.pick(&["add", "replace", "remove", "test", "copy", "move"]),
            "path": rng.pick(&JSON_PATHS),
            "value": schemas.value(rng, &json!({"type": kind}), 0),
            "from": "/metadata/name",
        })
    };
    (0..rng.between(1, 2)).map(|_| operation(rng)).collect()
}
