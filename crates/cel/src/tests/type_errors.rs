//! Expressions that are not valid, or not valid for this schema.

use super::{ResultType, boolean, checked};

fn error(text: &str) -> String {
    let why = checked(text, ResultType::Bool).err().unwrap_or_else(|| panic!("{text} is accepted"));
    let first = why.lines().next().unwrap_or_default().to_owned();
    first.trim_start_matches("unfit: ").trim_start_matches("ERROR: <input>:").to_owned()
}

/// Appendix E: syntax errors have the position of the error.
#[test]
fn syntax_errors_have_a_position() {
    for (text, expected) in [
        (
            "",
            "1:1: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', \
             NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        ),
        ("self.", "1:6: Syntax error: mismatched input '<EOF>'"),
        ("(true", "1:6: Syntax error: mismatched input '<EOF>'"),
        ("true true", "1:6: Syntax error: mismatched input 'Bool(true)'"),
        ("true &&\n && true", "2:2: Syntax error: mismatched input '&&'"),
        ("'abc", "1:1: Syntax error: a text has no end"),
        ("self.spec # 1", "1:11: Syntax error: token recognition error at: '#'"),
        ("[1, 2", "1:6: Syntax error: mismatched input '<EOF>'"),
        ("9223372036854775808 > 0", "1:1: invalid int literal"),
        ("99999999999999999999 > 0", "1:1: invalid literal: 99999999999999999999"),
        (r"'\q' == ''", "1:1: invalid escape in \"\\\\q\""),
        ("namespace == 'a'", "1:1: reserved identifier: namespace"),
        ("has(self)", "1:1: invalid argument to has() macro"),
        ("[1].all(1, true)", "1:9: argument must be a simple name"),
        ("[1].all(x, x, true)", "1:12: two variables have the same name"),
        ("'a'.matches('(')", "1:13: invalid matches argument: unclosed group"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

/// Appendix E: unknown names, fields and functions, and wrong types are refused when the rule is written.
#[test]
fn undeclared_names_and_wrong_types_are_refused() {
    for (text, expected) in [
        ("other == 1", "1:1: undeclared reference to 'other' (in container '')"),
        ("self.spec.no == 1", "1:10: undefined field 'no'"),
        ("has(self.spec.no)", "1:1: undefined field 'no'"),
        ("self.spec.namespace == 'a'", "1:10: undefined field 'namespace'"),
        ("self.spec.any == self.spec.any", "1:10: undefined field 'any'"),
        ("self.metadata.labels.size() == 0", "1:14: undefined field 'labels'"),
        ("self.spec.containers.all(c, c.image != '')", "1:30: undefined field 'image'"),
        ("self.spec.replicas.x == 1", "1:19: type 'int' does not support field selection"),
        ("self.spec.name.no()", "1:18: undeclared reference to 'no' (in container '')"),
        ("fn(1) == 1", "1:1: undeclared reference to 'fn' (in container '')"),
        (
            "self.spec.replicas == 'a'",
            "1:20: found no matching overload for '_==_' applied to '(int, string)'",
        ),
        ("self.spec.ratio == 1", "1:17: found no matching overload for '_==_' applied to '(double, int)'"),
        ("self.spec.name > 1", "1:16: found no matching overload for '_>_' applied to '(string, int)'"),
        (
            "self.spec.replicas + 1.0 > 0.0",
            "1:20: found no matching overload for '_+_' applied to '(int, double)'",
        ),
        (
            "self.spec.name.startsWith(1)",
            "1:26: found no matching overload for 'startsWith' applied to '(string, int)'",
        ),
        (
            "self.spec.name in self.spec.numbers",
            "1:16: found no matching overload for '@in' applied to '(string, list(int))'",
        ),
        (
            "self.spec.numbers['a'] == 1",
            "1:18: found no matching overload for '_[_]' applied to '(list(int), string)'",
        ),
        ("!self.spec.name", "1:11: found no matching overload for '!_' applied to '(string)'"),
        ("self.spec.numbers.all(n, n)", "1:26: expected type 'bool' but found 'int'"),
        (
            "self.spec.all(x, true)",
            "1:14: expression of type 'object' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("[1, 'a'].size() == 2", "1:5: expected type 'int' but found 'string'"),
        ("{'a': 1, 'b': true}.size() == 2", "1:15: expected type 'int' but found 'bool'"),
        ("self.spec.wait > duration('1d')", "1:27: invalid duration argument"),
        ("self.spec.at > timestamp('2024-02-30T00:00:00Z')", "1:26: invalid timestamp argument"),
        ("self.spec.replicas", "result"),
        ("self.spec.name + 'a'", "result"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

/// Appendix E: an error shows the line and the position.
#[test]
fn errors_show_line_and_position() {
    let why = checked("true &&\n  self.no", ResultType::Bool).err();
    assert_eq!(
        why.as_deref(),
        Some("unfit: ERROR: <input>:2:7: undefined field 'no'\n |   self.no\n | ......^")
    );
}

/// Appendix E: a message expression must be a string.
#[test]
fn message_expressions_are_strings() {
    assert!(checked("'%d'.format([self.spec.replicas])", ResultType::String).is_ok());
    assert!(checked("self.spec.replicas", ResultType::String).is_err());
    assert!(boolean("self.spec.port").is_err());
}
