//! Definitions whose printer columns descend recursively, and large objects for them.

use gantry_json::{Value, json};
use gantry_rng::Rng;

use super::objects::{self, DEFINITIONS, TABLE};
use super::size;
use crate::case::{Case, Message, Step};

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    let name = format!("c{}", case.id.seed);
    let columns: Vec<Value> = (0..rng.between(1, 30))
        .map(|index| {
            let kind = rng.pick(&["string", "integer", "number", "boolean", "date"]);
            json!({"name": format!("C{index}"), "type": kind, "jsonPath": path(rng)})
        })
        .collect();
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = objects::definition(&name, &schema, &columns);
    case.create(DEFINITIONS, &format!("widgets.{}", objects::group(&name)), &definition);
    let widgets = objects::widgets(&name);
    case.steps.push(Step::Until(Message::get(widgets.clone())));
    for index in 0..rng.between(1, 4) {
        let object = format!("w{index}");
        let spec = spec(rng);
        case.create(&widgets, &object, &objects::widget(&name, &object, &spec));
    }
    for _ in 0..rng.between(1, 3) {
        case.send(Message::get(widgets.clone()).header("accept", TABLE));
    }
    // Objects are deleted before their definition.
    case.created.reverse();
}

fn path(rng: &mut Rng) -> String {
    let parts = [
        "..",
        "..*",
        "[*]",
        ".*",
        "..a",
        ".spec",
        ".a",
        "[0:]",
        "[-1]",
        "[::1]",
        "['a','b']",
        "[?(@.a)]",
        "[?(@.a==@..a)]",
    ];
    match rng.below(4) {
        0 => "..".repeat(rng.between(1, 100)),
        1 => "..*".repeat(rng.between(1, 12)),
        2 => format!(".spec{}", "[*]".repeat(rng.between(1, 50))),
        _ => (0..rng.between(1, 8)).map(|_| rng.pick(&parts)).collect(),
    }
}

fn spec(rng: &mut Rng) -> Value {
    let count = size(rng, 1, 100_000);
    match rng.below(3) {
        0 => json!({"a": vec![json!({"a": 1}); count]}),
        1 => {
            let depth = rng.between(1, 100);
            let width = (count / depth).max(1);
            (0..depth).fold(json!({}), |inner, _| json!({"a": inner, "b": vec![0; width]}))
        }
        _ => Value::Object((0..count).map(|index| (format!("k{index}"), json!({"a": "x"}))).collect()),
    }
}
