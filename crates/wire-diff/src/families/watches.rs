//! Watches with selectors, from versions, with bookmarks and initial events, over a random history of writes. What is compared
//! is the sequence of events.

use serde_json::{Value, json};

use super::lists::{labelled, labels, selectors, version};
use crate::bases::{Base, base};
use crate::case::{Case, JSON, MERGE, METADATA, Request, Step, TABLE, with_query};
use crate::dice::Dice;

const RESOURCES: [&str; 6] = ["configmaps", "pods", "secrets", "services", "deployments", "leases"];
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

pub(super) fn case(dice: &mut Dice, kinds: &[String]) -> Case {
    let base = base(super::resource(dice, &RESOURCES, kinds));
    let mut steps = Vec::new();
    for name in NAMES.iter().take(dice.between(1, 3)) {
        steps.push(Step::Send(Request::post(base.collection(), labelled(dice, &base, name))));
    }
    for _ in 0..dice.below(4) {
        steps.push(Step::Send(write(dice, &base)));
    }
    let before = steps.len();
    for _ in 0..dice.between(1, 2) {
        steps.push(Step::Watch(watch(dice, &base, before)));
    }
    for _ in 0..dice.below(5) {
        steps.push(Step::Send(write(dice, &base)));
    }
    if dice.percent(20) {
        steps.push(Step::Watch(watch(dice, &base, before)));
    }
    if dice.percent(10) {
        steps.push(Step::Watch(Request::get(with_query(
            &base.collection(),
            &[("watch", "1".to_owned()), ("timeoutSeconds", "1".to_owned())],
        ))));
        steps.push(Step::WatchEnds);
    }
    Case { kind: base.resource.to_owned(), steps }
}

fn write(dice: &mut Dice, base: &Base) -> Request {
    let name = dice.pick(&NAMES);
    let path = format!("{}/{name}", base.collection());
    match dice.below(10) {
        0..2 => Request::post(base.collection(), labelled(dice, base, name)),
        2..4 => Request::delete(path + "?gracePeriodSeconds=0"),
        4 => Request::patch(
            MERGE,
            path,
            json!({"metadata": {"finalizers": dice.pick(&[json!(["example.com/f"]), Value::Null])}}),
        ),
        5 => Request::patch(MERGE, path, json!({"metadata": {"annotations": {"a": dice.pick(&["1", "2"])}}})),
        6 => Request::put(path, labelled(dice, base, name)),
        7 => Request::delete(with_query(
            &base.collection(),
            &[("labelSelector", format!("app={}", dice.pick(&["a", "b"])))],
        )),
        _ => Request::patch(MERGE, path, json!({"metadata": {"labels": relabelled(dice)}})),
    }
}

/// Labels as a merge patch: the ones that are left out are removed.
fn relabelled(dice: &mut Dice) -> Value {
    let mut patch = json!({"app": null, "tier": null, "example.com/x": null});
    for (key, value) in labels(dice).as_object().into_iter().flatten() {
        patch[key] = value.clone();
    }
    patch
}

fn watch(dice: &mut Dice, base: &Base, before: usize) -> Request {
    let mut parameters = vec![("watch", dice.pick(&["true", "1", "true"]).to_owned())];
    parameters.extend(selectors(dice, base.resource));
    let mut version_given = false;
    if dice.percent(65) {
        version_given = true;
        parameters.push(("resourceVersion", version(dice, before)));
    }
    if dice.percent(40) {
        parameters.push(("allowWatchBookmarks", dice.pick(&["true", "true", "false", "x"]).to_owned()));
    }
    if dice.percent(35) {
        parameters.push(("sendInitialEvents", dice.pick(&["true", "true", "false", "x"]).to_owned()));
        if dice.percent(85) {
            parameters.push((
                "resourceVersionMatch",
                dice.pick(&["NotOlderThan", "NotOlderThan", "NotOlderThan", "Exact", ""]).to_owned(),
            ));
        }
    } else if dice.percent(10) && version_given {
        parameters.push(("resourceVersionMatch", dice.pick(&["NotOlderThan", "Exact"]).to_owned()));
    }
    if dice.percent(10) {
        parameters.push(("limit", "1".to_owned()));
    }
    if dice.percent(8) {
        parameters.push(("timeoutSeconds", dice.pick(&["x", "-1", "0", "300"]).to_owned()));
    }
    // One object by its name is watched by a field selector or below its own path.
    let path = if dice.percent(10) {
        format!("{}/{}", base.collection(), dice.pick(&NAMES))
    } else {
        base.collection()
    };
    Request::get(with_query(&path, &parameters)).accepting(dice.pick(&[JSON, JSON, JSON, TABLE, METADATA]))
}
