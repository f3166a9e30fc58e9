//! Hostile YAML.

use gantry_rng::Rng;

use super::objects::{self, APPLY, YAML};
use super::{BODY_BYTES_MAX, mutate, size};
use crate::case::{Case, Message};

pub(super) fn case(rng: &mut Rng, case: &mut Case) {
    for part in 0..rng.between(1, 3) {
        let name = format!("y{}-{part}", case.id.seed);
        let (collection, object) = objects::any(rng, &name);
        let mut body = body(rng, &object.to_string());
        body.truncate(BODY_BYTES_MAX + usize::from(rng.one_in(20)) * 1000);
        let strict = rng.pick(&["", "&fieldValidation=Strict", "&fieldValidation=Ignore"]);
        case.send(if rng.one_in(3) {
            let path = format!("{collection}/{name}?dryRun=All&fieldManager=m&force=true{strict}");
            Message::new("PATCH", path).with(APPLY, body)
        } else {
            Message::new("POST", format!("{collection}?dryRun=All{strict}")).with(YAML, body)
        });
    }
}

fn body(rng: &mut Rng, valid: &str) -> Vec<u8> {
    // Most hostile parts are inserted where the parser allows any value.
    let part = match rng.below(14) {
        0 => nested_aliases(rng),
        1 => wide_alias(rng),
        2 => many_anchors(rng),
        3 => deep(rng),
        4 => deep_block(rng),
        5 => format!("x: {}\n", "y".repeat(size(rng, 1, BODY_BYTES_MAX))),
        6 => format!("{}: z\n", "y".repeat(size(rng, 1, BODY_BYTES_MAX))),
        7 => format!("base: &a {{b: 1}}\nx:\n{}", "  <<: *a\n".repeat(size(rng, 1, 50_000))),
        8 => "x: &a [*a, *a]\ny: *a\nz: *missing\n".to_owned(),
        9 => tags(rng),
        10 => "---\n...\n".repeat(size(rng, 1, 100_000)),
        11 => "x: >\n".to_owned() + &"  word\n\n".repeat(size(rng, 1, 200_000)),
        12 => "? [a, {b: c}]\n: x\n? {d: e}\n: y\n".repeat(size(rng, 1, 20_000)),
        _ => String::new(),
    };
    let mut bytes = if part.is_empty() {
        let mut bytes = valid.as_bytes().to_vec();
        mutate(rng, &mut bytes);
        bytes
    } else if rng.one_in(3) {
        part.into_bytes()
    } else {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n{part}").into_bytes()
    };
    match rng.below(20) {
        0 => bytes.splice(0..0, [0xff, 0xfe]).for_each(drop),
        1 => bytes.push(0xff),
        2 => bytes.splice(0..0, *b"%YAML 9.9\n%TAG ! tag:x,2000:\n---\n").for_each(drop),
        _ => {}
    }
    bytes
}

/// Each level refers several times to the one before: 69 levels of `[&aN [×200 *a(N-1) ]×200` once stopped the server.
fn nested_aliases(rng: &mut Rng) -> String {
    let (levels, width) = (rng.between(2, 80), rng.between(1, 200));
    let brackets = rng.between(1, 200);
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..levels {
        let references = vec![format!("*a{}", level - 1); if rng.one_in(2) { width } else { 1 }].join(", ");
        let (open, close) = ("[".repeat(brackets), "]".repeat(brackets));
        text.extend([
            "a",
            &level.to_string(),
            ": &a",
            &level.to_string(),
            " ",
            &open,
            &references,
            &close,
            "\n",
        ]);
        if text.len() > BODY_BYTES_MAX {
            break;
        }
    }
    text
}

fn wide_alias(rng: &mut Rng) -> String {
    let scalar = "x".repeat(size(rng, 1, 1 << 20));
    let references = "*a, ".repeat(size(rng, 1, 400_000));
    format!("x: &a \"{scalar}\"\ny: [{references}]\n")
}

fn many_anchors(rng: &mut Rng) -> String {
    let count = size(rng, 1, 80_000);
    let anchors = (0..count).map(|index| format!("k{index}: &k{index} v"));
    let aliases = (0..count).map(|index| format!("l{index}: *k{}", count - 1 - index));
    anchors.chain(aliases).collect::<Vec<_>>().join("\n")
}

fn deep(rng: &mut Rng) -> String {
    let depth = size(rng, 1, BODY_BYTES_MAX / 4);
    let (open, close) =
        rng.pick(&[("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("!!seq [", "]"), ("&a [", "]")]);
    let closing = if rng.one_in(2) { close.repeat(depth) } else { String::new() };
    format!("x: {}y{closing}\n", open.repeat(depth))
}

fn deep_block(rng: &mut Rng) -> String {
    let levels = size(rng, 1, 2000);
    (0..levels).map(|level| " ".repeat(level) + "a:\n").collect()
}

fn tags(rng: &mut Rng) -> String {
    let tag = rng.pick(&[
        "!!binary",
        "!!float",
        "!!int",
        "!!timestamp",
        "!!set",
        "!<tag:yaml.org,2002:x>",
        "!local",
        "!!omap",
    ]);
    let value = rng.pick(&[
        ".nan",
        "-.inf",
        "0x7fffffffffffffffffff",
        "1_000",
        "0o777",
        "1e999999",
        "~",
        "\"\\xff\\u0000\"",
    ]);
    format!("x: {tag} {value}\nreplicas: {value}\n{value}: x\n")
}
