//! Expressions that somebody wrote to do harm: they end, with an error.

use proptest::prelude::*;

use serde_json::json;

use super::{Before, Fault, Meter, Program, Structure, Subject, truth};

fn fails(text: &str) -> String {
    truth(text).err().unwrap_or_else(|| panic!("it should not end well: {text:.100}"))
}

/// Appendix E: what nests too deep is refused, however it nests.
#[test]
fn deep_expressions_are_refused() {
    let deep = |open: &str, inner: &str, close: &str, times: usize| {
        format!("{}{inner}{}", open.repeat(times), close.repeat(times))
    };
    for text in [
        deep("(", "true", ")", 1_000),
        deep("[", "1", "]", 1_000),
        deep("!", "true", "", 1_000),
        deep("-", "x", "", 1_000),
        deep("{1:", "1", "}", 1_000),
        deep("true ? true : ", "true", "", 1_000),
        deep("", "self", ".spec", 1_000),
        deep("", "1", " + 1", 1_000),
        deep("size(", "[]", ")", 1_000),
        deep("(", "self", ".a.a.a.a.a.a.a.a.a.a)", 90),
        deep("[1].all(x, ", "true", ")", 1_000),
    ] {
        let why = fails(&text);
        assert!(why.contains("nests deeper than"), "{why}");
    }
    let wide = vec!["true"; 5_000].join(" && ");
    assert_eq!(truth(&wide), Ok(true));
    assert!(fails(&" ".repeat(70_000)).contains("longer than"));
}

/// Appendix E: the deepest that is accepted can also be checked and evaluated.
#[test]
fn the_deepest_expressions_are_evaluated() {
    for (open, inner, close) in [
        ("(true && ", "true", ")"),
        ("true ? true : (", "true", ")"),
        ("[true].all(x, x && ", "true", ")"),
        ("[1].map(x, true).exists(y, ", "true", ")"),
        ("dyn(", "true", ")"),
    ] {
        let at = |times: usize| format!("{}{inner}{}", open.repeat(times), close.repeat(times));
        let deepest = (1..200).take_while(|times| Program::read(&at(*times)).is_ok()).last();
        let deepest = deepest.unwrap_or_else(|| panic!("{open} is refused"));
        assert!((10..200).contains(&deepest), "{open} nests {deepest} times");
        assert!(truth(&at(deepest)).is_ok(), "{open}: {:?}", truth(&at(deepest)));
    }
}

/// Appendix E: what takes too long ends.
#[test]
fn long_evaluations_end() {
    let list = format!("[{}]", vec!["1"; 200].join(", "));
    let nested = format!("{list}.all(a, {list}.all(b, {list}.all(c, a + b + c > 0)))");
    let doubled = format!("{}'aaaaaaaaaa'{}", "[".repeat(40), "].map(x, x + x)[0]".repeat(40));
    for text in [
        nested.as_str(),
        &format!("{doubled}.size() > 0"),
        &format!("[{doubled}].map(s, s.replace('', s)) == []"),
        "lists.range(9223372036854775807).size() > 0",
        "lists.range(100000).distinct().size() > 0",
        "lists.range(200000).map(x, lists.range(100000)).size() > 0",
        "lists.range(5000).all(a, !lists.range(5000).exists(b, b == -1))",
    ] {
        assert_eq!(fails(text), "exhausted", "{text:.80}");
    }
}

/// Appendix E: large values cost nothing to mention, and something to look at.
#[test]
fn large_values_are_not_copied_for_nothing() {
    let big = "a".repeat(2_000_000);
    let object = json!({"text": big, "key": big, "map": {&big: 1}, "wait": "1s".repeat(1_000_000)});
    let structure = Structure::read(&json!({"type": "object", "properties": {
        "text": {"type": "string"}, "key": {"type": "string", "format": "byte"}, "wait": {"type": "string",
        "format": "duration"}, "map": {"type": "object", "additionalProperties": {"type": "integer"}}}}));
    let judged = |body: &str| {
        let text = format!("lists.range(10000).all(i, {body})");
        let program = Program::read(&text).unwrap_or_else(|why| panic!("{why}"));
        let subject = Subject { value: &object, old: None, structure: &structure, is_resource: true };
        program.truth(subject, Before::Value, &mut Meter::default())
    };
    assert_eq!(judged("[self.text].size() == 1"), Ok(true));
    assert_eq!(judged("[self.key, self.key].size() == 2"), Ok(true));
    assert_eq!(judged("self.map.size() == 1"), Ok(true));
    for body in [
        "self.text == self.text",
        "self.key == self.key",
        "self.key.size() > 0",
        "b'' in [self.key] || true",
        "self.map[self.text] == 1",
        "self.text in self.map",
        "self.map == self.map",
        "'%s'.format([self.key]) == '' || true",
        "int(self.text) == 1 || true",
        "timestamp(0).getHours(self.text) == 1 || true",
    ] {
        assert_eq!(judged(body), Err(Fault::Exhausted), "{body}");
    }
    assert!(matches!(judged("self.wait > duration('1s')"), Err(Fault::Failed(_))));
}

/// Appendix E: patterns are matched in time that grows with the text, and very large ones are none.
#[test]
fn patterns_do_not_blow_up() {
    let text = format!("'{}'.matches('^(a+)+$')", "a".repeat(30_000) + "b");
    assert_eq!(truth(&text), Ok(false));
    assert!(fails("'a'.matches('((a{1000}){1000}){1000}')").contains("invalid matches argument"));
    let many = "lists.range(1000).map(i, 'a'.matches('((a{100}){10}){9' + string(i) + '}')) == []";
    assert!(fails(many).contains("size limit"));
    let small = "lists.range(1000).map(i, 'a'.matches('(a{100}){10}' + string(i))) == []";
    assert_eq!(fails(small), "exhausted");
    assert_eq!(truth("lists.range(1000).all(i, 'a'.matches('^' + 'a$'))"), Ok(true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Appendix E: whatever is written, reading it ends without a panic.
    #[test]
    fn reading_never_panics(text in "\\PC{0,60}") {
        let _ = Program::read(&text);
    }

    /// Appendix E: the same for what looks like expressions, and evaluating what can be read.
    #[test]
    fn evaluating_never_panics(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 1..14)) {
        let _ = truth(&words.concat());
        let _ = truth(&words.join(" "));
    }
}

const WORDS: [&str; 62] = [
    "self",
    ".spec",
    ".replicas",
    ".name",
    ".labels",
    ".numbers",
    ".missing",
    ".?",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ":",
    "?",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    ">=",
    " in ",
    "0",
    "1",
    "-1",
    "1u",
    "1.5",
    "9223372036854775807",
    "'a'",
    "''",
    "'%d'",
    "b'\\xff'",
    "null",
    "true",
    "x",
    ".all(x, ",
    ".map(x, ",
    ".exists(x, ",
    ".filter(x, ",
    ".size()",
    ".sort()",
    ".sum()",
    ".substring(",
    ".format(",
    ".split(",
    ".replace(",
    "duration('1h')",
    "timestamp(0)",
    "quantity('1Gi')",
    "ip('::1')",
    "optional.of(",
    ".orValue(",
    "has(",
    "lists.range(",
];
