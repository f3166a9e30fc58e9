//! Malicious expressions: their evaluation ends with an error.

use proptest::prelude::*;

use gantry_json::json;

use super::super::library::function_names;
use super::{
    CostMeter, EvaluationError, Input, OldSelf, PlainSchema, Program, ResultType, boolean, object, schema,
};

fn fails(text: &str) -> String {
    boolean(text).err().unwrap_or_else(|| panic!("it does not fail: {text:.100}"))
}

/// Appendix E: expressions that nest too deeply are refused, whatever they consist of.
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
    assert_eq!(boolean(&wide), Ok(true));
    assert!(fails(&" ".repeat(70_000)).contains("longer than"));
}

/// Appendix E: the deepest accepted expressions can also be checked and evaluated.
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
        let deepest = (1..200).take_while(|times| Program::parse(&at(*times)).is_ok()).last();
        let deepest = deepest.unwrap_or_else(|| panic!("{open} is refused"));
        assert!((10..200).contains(&deepest), "{open} nests {deepest} times");
        assert!(boolean(&at(deepest)).is_ok(), "{open}: {:?}", boolean(&at(deepest)));
    }
}

/// Appendix E: long evaluations are aborted.
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

/// Appendix E: mentioning a large value costs nothing, and reading it does.
#[test]
fn large_values_are_not_copied_for_nothing() {
    let big = "a".repeat(2_000_000);
    let object = json!({"text": big, "key": big, "map": {(&big): 1}, "wait": "1s".repeat(1_000_000)});
    let structure = PlainSchema::read(&json!({"type": "object", "properties": {
        "text": {"type": "string"}, "key": {"type": "string", "format": "byte"}, "wait": {"type": "string",
        "format": "duration"}, "map": {"type": "object", "additionalProperties": {"type": "integer"}}}}));
    let evaluated = |body: &str| {
        let text = format!("lists.range(10000).all(i, {body})");
        let program = Program::parse(&text).unwrap_or_else(|why| panic!("{why}"));
        let subject = Input { value: &object, old: None, schema: &structure, is_resource: true };
        program.evaluate_bool(subject, OldSelf::Required, &mut CostMeter::default())
    };
    assert_eq!(evaluated("[self.text].size() == 1"), Ok(true));
    assert_eq!(evaluated("[self.key, self.key].size() == 2"), Ok(true));
    assert_eq!(evaluated("self.map.size() == 1"), Ok(true));
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
        assert_eq!(evaluated(body), Err(EvaluationError::CostExceeded), "{body}");
    }
    assert!(matches!(evaluated("self.wait > duration('1s')"), Err(EvaluationError::Failed(_))));
}

/// Appendix E: the time of matching is linear in the text, and very large patterns are refused.
#[test]
fn patterns_are_matched_in_linear_time() {
    let text = format!("'{}'.matches('^(a+)+$')", "a".repeat(30_000) + "b");
    assert_eq!(boolean(&text), Ok(false));
    assert!(fails("'a'.matches('((a{1000}){1000}){1000}')").contains("invalid matches argument"));
    let many = "lists.range(1000).map(i, 'a'.matches('((a{100}){10}){9' + string(i) + '}')) == []";
    assert!(fails(many).contains("size limit"));
    let small = "lists.range(1000).map(i, 'a'.matches('(a{100}){10}' + string(i))) == []";
    assert_eq!(fails(small), "exhausted");
    assert_eq!(boolean("lists.range(1000).all(i, 'a'.matches('^' + 'a$'))"), Ok(true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Appendix E: parsing panics for no input.
    #[test]
    fn parsing_never_panics(text in "\\PC{0,60}") {
        let _ = Program::parse(&text);
    }

    /// Appendix E: the same for input that consists of parts of expressions.
    #[test]
    fn parsing_parts_of_expressions_never_panics(words in prop::collection::vec(prop::sample::select(words()), 1..14)) {
        let _ = boolean(&words.concat());
        let _ = boolean(&words.join(" "));
    }

    /// Appendix E: evaluating any parsed expression does not panic, even if its types are wrong.
    #[test]
    fn evaluating_never_panics(text in expression()) {
        let (structure, object) = (PlainSchema::read(&schema()), object());
        let program = Program::parse(&text).unwrap_or_else(|why| panic!("{why}"));
        let subject = Input { value: &object, old: Some(&object), schema: &structure, is_resource: true };
        let _ = program.check(&text, (&structure, true), OldSelf::Required, ResultType::Bool);
        let _ = program.evaluate_bool(subject, OldSelf::Optional, &mut CostMeter::default());
        let _ = program.evaluate_string(subject, OldSelf::Required, &mut CostMeter::default());
    }
}

/// Expressions that can be parsed.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(LEAVES.to_vec()).prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 3, |inner| {
        let one = |words: &[&'static str]| prop::sample::select(words.to_vec());
        prop_oneof![
            (inner.clone(), one(&OPERATORS), inner.clone()).prop_map(|(a, by, b)| format!("({a} {by} {b})")),
            (inner.clone(), one(&function_names(true)), prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(of, name, args)| format!("{of}.{name}({})", args.join(", "))),
            (one(&[function_names(false), vec!["-"]].concat()), inner.clone())
                .prop_map(|(name, arg)| format!("{name}({arg})")),
            (inner.clone(), one(&LOOPS), inner.clone())
                .prop_map(|(of, name, body)| format!("{of}.{name}, {body})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (inner.clone(), inner.clone()).prop_map(|(of, by)| format!("{of}[{by}]")),
            (inner.clone(), inner.clone()).prop_map(|(of, by)| format!("{of}[?{by}]")),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|all| format!("[{}]", all.join(", "))),
            (inner.clone(), inner).prop_map(|(key, value)| format!("{{{key}: {value}}}")),
        ]
    })
}

const LEAVES: [&str; 36] = [
    "self",
    "oldSelf",
    "self.spec.numbers",
    "self.spec.labels",
    "self.spec.containers",
    "self.spec.tags",
    "self.spec.key",
    "self.spec.wait",
    "self.spec.at",
    "self.spec.?missing",
    "self.spec.any",
    "x",
    "y",
    "0",
    "1",
    "(-1)",
    "2u",
    "1.5",
    "1e308",
    "9223372036854775807",
    "-9223372036854775808",
    "'aé'",
    "''",
    "'%d %s'",
    "b'a\\xff'",
    "null",
    "true",
    "[]",
    "{}",
    "int",
    "duration('-1h')",
    "timestamp('9999-12-31T23:59:59Z')",
    "quantity('-9e99')",
    "cidr('10.0.0.0/8')",
    "url('http://a:1/b?c=%2')",
    "semver('1.2.3-a.1')",
];
const OPERATORS: [&str; 14] = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "in", "&&", "||"];
const LOOPS: [&str; 9] = [
    "all(x",
    "exists(x, y",
    "exists_one(x",
    "filter(x",
    "map(x",
    "transformList(x, y",
    "transformMap(x, y",
    "transformMapEntry(x, y",
    "sortBy(x",
];
/// Parts of expressions, in addition to [`LEAVES`] and the functions of the libraries.
const TOKENS: &str = ".spec .replicas .name .labels .numbers .containers .tags .missing .key .wait .at .port .? [ ] [? ( ) { } , : ? \
                      && || ! - + * / % == != < >= in -1 1u 0.0 b'\\xff' .all(x, .map(x, .exists(x,y, .filter(x, .transformMap(x,y, \
                      .sortBy(x, .optMap(x, has(";

/// Parts that expressions consist of, complete or not.
fn words() -> Vec<String> {
    let calls = function_names(false).into_iter().map(|name| format!("{name}("));
    let methods = function_names(true).into_iter().map(|name| format!(".{name}("));
    let others = TOKENS.split(' ').chain(LEAVES).map(str::to_owned);
    others.chain(calls).chain(methods).collect()
}
