//! Watches with selectors, from versions, with bookmarks and initial events, over a random history of writes. The
//! sequences of events are compared.

use gantry_json::{Value, json};

use super::lists::{labelled, labels, selectors, version};
use crate::bases::{Base, base};
use crate::case::{Case, JSON, MERGE, METADATA, Request, Step, TABLE, with_query};
use gantry_rng::Rng;

const RESOURCES: [&str; 6] = ["configmaps", "pods", "secrets", "services", "deployments", "leases"];
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

pub(super) fn case(rng: &mut Rng, kinds: &[String]) -> Case {
    let base = base(super::resource(rng, &RESOURCES, kinds));
    let mut steps = Vec::new();
    for name in NAMES.iter().take(rng.between(1, 3)) {
        steps.push(Step::Send(Request::post(base.collection(), labelled(rng, &base, name))));
    }
    for _ in 0..rng.index(4) {
        steps.push(Step::Send(write(rng, &base)));
    }
    let before = steps.len();
    for _ in 0..rng.between(1, 2) {
        steps.push(Step::Watch(watch(rng, &base, before)));
    }
    for _ in 0..rng.index(5) {
        steps.push(Step::Send(write(rng, &base)));
    }
    if rng.percent(20) {
        steps.push(Step::Watch(watch(rng, &base, before)));
    }
    if rng.percent(10) {
        steps.push(Step::Watch(Request::get(with_query(
            &base.collection(),
            &[("watch", "1".to_owned()), ("timeoutSeconds", "1".to_owned())],
        ))));
        steps.push(Step::WatchEnds);
    }
    Case { kind: base.resource.to_owned(), steps }
}

fn write(rng: &mut Rng, base: &Base) -> Request {
    let name = rng.pick(&NAMES);
    let path = format!("{}/{name}", base.collection());
    match rng.index(10) {
        0..2 => Request::post(base.collection(), labelled(rng, base, name)),
        2..4 => Request::delete(path + "?gracePeriodSeconds=0"),
        4 => Request::patch(
            MERGE,
            path,
            json!({"metadata": {"finalizers": rng.pick(&[json!(["example.com/f"]), Value::Null])}}),
        ),
        5 => Request::patch(MERGE, path, json!({"metadata": {"annotations": {"a": rng.pick(&["1", "2"])}}})),
        6 => Request::put(path, labelled(rng, base, name)),
        7 => Request::delete(with_query(
            &base.collection(),
            &[("labelSelector", format!("app={}", rng.pick(&["a", "b"])))],
        )),
        _ => Request::patch(MERGE, path, json!({"metadata": {"labels": relabelled(rng)}})),
    }
}

/// Labels as a merge patch, which removes absent ones.
fn relabelled(rng: &mut Rng) -> Value {
    let mut patch = json!({"app": null, "tier": null, "example.com/x": null});
    for (key, value) in labels(rng).as_object().into_iter().flatten() {
        patch[key] = value.clone();
    }
    patch
}

fn watch(rng: &mut Rng, base: &Base, before: usize) -> Request {
    let mut parameters = vec![("watch", rng.pick(&["true", "1", "true"]).to_owned())];
    parameters.extend(selectors(rng, base.resource));
    let mut version_given = false;
    if rng.percent(65) {
        version_given = true;
        parameters.push(("resourceVersion", version(rng, before)));
    }
    if rng.percent(40) {
        parameters.push(("allowWatchBookmarks", rng.pick(&["true", "true", "false", "x"]).to_owned()));
    }
    if rng.percent(35) {
        parameters.push(("sendInitialEvents", rng.pick(&["true", "true", "false", "x"]).to_owned()));
        if rng.percent(85) {
            parameters.push((
                "resourceVersionMatch",
                rng.pick(&["NotOlderThan", "NotOlderThan", "NotOlderThan", "Exact", ""]).to_owned(),
            ));
        }
    } else if rng.percent(10) && version_given {
        parameters.push(("resourceVersionMatch", rng.pick(&["NotOlderThan", "Exact"]).to_owned()));
    }
    if rng.percent(10) {
        parameters.push(("limit", "1".to_owned()));
    }
    if rng.percent(8) {
        parameters.push(("timeoutSeconds", rng.pick(&["x", "-1", "0", "300"]).to_owned()));
    }
    // A single object is watched by a field selector or at its own path.
    let path = if rng.percent(10) {
        format!("{}/{}", base.collection(), rng.pick(&NAMES))
    } else {
        base.collection()
    };
    Request::get(with_query(&path, &parameters)).accepting(rng.pick(&[JSON, JSON, JSON, TABLE, METADATA]))
}
