//! Definitions with CEL rules whose evaluation would not end in any reasonable time, and objects for them.

use gantry_json::{Value, json};
use gantry_rng::Rng;

use super::objects::{self, DEFINITIONS};
use super::size;
use crate::case::{Case, Message, Step};

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    let name = format!("r{}", case.id.seed);
    let rules: Vec<Value> =
        (0..rng.between(1, 5)).map(|_| json!({"rule": rule(rng), "message": "no"})).collect();
    // With bounds, more rules pass the estimate of their cost, so that they are evaluated.
    let bound = rng.pick(&[10, 100, 1000]);
    let schema = json!({
        "type": "object", "x-kubernetes-validations": rules,
        "properties": {
            "l": {"type": "array", "maxItems": bound, "items": {"type": "string", "maxLength": bound}},
            "m": {"type": "object", "maxProperties": bound, "additionalProperties": {"type": "integer"}},
            "s": {"type": "string", "maxLength": bound}, "n": {"type": "integer"},
        },
    });
    let definition = objects::definition(&name, &schema, &[]);
    case.create(DEFINITIONS, &format!("widgets.{}", objects::group(&name)), &definition);
    let widgets = objects::widgets(&name);
    case.steps.push(Step::Until(Message::get(widgets.clone())));
    for index in 0..rng.between(1, 3) {
        let count = size(rng, 1, 1000);
        let spec = json!({
            "l": vec!["a".repeat(count.min(100)); count], "s": "a".repeat(count), "n": i64::MAX,
            "m": Value::Object((0..count).map(|index| (format!("k{index}"), json!(index))).collect()),
        });
        let object = format!("w{index}");
        case.create(&widgets, &object, &objects::widget(&name, &object, &spec));
    }
    case.created.reverse();
}

fn rule(rng: &mut Rng) -> String {
    let list = "self.l";
    match rng.below(12) {
        0 => {
            let depth = rng.between(1, 8);
            let (open, close) = ((0..depth).map(|level| format!("{list}.all(v{level}, ")), ")".repeat(depth));
            format!("{}v0 == v{}{close}", open.collect::<String>(), depth - 1)
        }
        1 => format!("{list}.map(x, {list}.map(y, {list}.map(z, x + y + z))).size() > 0"),
        2 => {
            (0..rng.between(1, 14)).fold("self.s".to_owned(), |inner, _| format!("({inner} + {inner})"))
                + ".size() > 0"
        }
        3 => format!(
            "self.s.matches('{}')",
            rng.pick(&["(a+)+$", "(a|aa)+b", "(((a{0,100}){0,100}){0,100})", "[", "^(a?){1000}a{1000}$"])
        ),
        4 => format!("{}true{}", "(".repeat(size(rng, 1, 2000)), ")".repeat(size(rng, 1, 2000))),
        5 => "!".repeat(size(rng, 1, 20_000)) + "true",
        6 => "-".repeat(size(rng, 1, 5000)) + "self.n < 0",
        7 => rng
            .pick(&[
                "self.n + 1 > 0",
                "self.n / 0 == 1",
                "self.n * self.n > 0",
                "-(self.n) - 2 < 0",
                "self.n % 0 == 0",
            ])
            .to_owned(),
        8 => "true && ".repeat(size(rng, 1, 5000)) + "true",
        9 => format!("[{}1].size() > 0", "1,".repeat(size(rng, 1, 20_000))),
        10 => rng
            .pick(&[
                "self.s.replace('a', self.s).replace('a', self.s).size() > 0",
                "self.l.join(self.s).split('').size() > 0",
                "self.s.split('').map(c, self.s).join(',').find('a.*') != ''",
            ])
            .to_owned(),
        _ => {
            let bytes = rng.bytes(60);
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }
}
