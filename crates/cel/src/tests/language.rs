//! The language without libraries.

use super::{all_fail, all_true};

/// Appendix E: literals in all notations of CEL.
#[test]
fn values_are_written_in_many_ways() {
    all_true(&[
        "1 == 0x1 && 255 == 0xFF && -9223372036854775808 < 0",
        "1u == 0x1u && 1.5 == 15e-1 && .5 == 0.5 && 1e3 == 1000.0",
        r#""a" == 'a' && """a""" == '''a''' && r"\d" == "\\d" && R'\n' == '\\n'"#,
        r"'\u00e9' == 'é' && '\x41' == 'A' && '\101' == 'A' && '\U0001F600' == '😀'",
        r"b'a\xff'.size() == 2 && b'é'.size() == 2 && 'é'.size() == 1",
        "'''two\nlines''' == 'two\\nlines'",
        "true && !false && null == null // and a comment",
        "[1, 2,] == [1, 2] && {'a': 1,} == {'a': 1}",
    ]);
}

/// Appendix E: numbers of different types compare by value; arithmetic requires one type.
#[test]
fn numbers_compare_across_types_and_add_within_one() {
    all_true(&[
        "1 < 2u && 2u > 1 && 1 < 1.5 && 2.0 >= 2 && 1u <= 1.0",
        "dyn(1) == dyn(1u) && dyn(1) == dyn(1.0) && dyn(1) != dyn(1.5)",
        "dyn(9223372036854775807) != dyn(9223372036854775808.0)",
        "7 / 2 == 3 && -7 / 2 == -3 && 7 % 4 == 3 && -7 % 4 == -3 && 7.0 / 2.0 == 3.5",
        "2 + 3 * 4 == 14 && (2 + 3) * 4 == 20 && 10 - 2 - 3 == 5",
        "-(1) == -1 && - -1 == 1 && 0.0 / 0.0 != 0.0 / 0.0",
        "dyn(1) in [1.0, 2.0] && {1: 'a'}[dyn(1.0)] == 'a'",
        "self.spec.replicas == 3 && self.spec.ratio == 2.0",
        "type(self.spec.ratio) == double && type(self.spec.replicas) == int",
        "type(self.spec.wait) == google.protobuf.Duration && type(quantity('1')) == kubernetes.Quantity",
    ]);
    all_fail(&[
        ("9223372036854775807 + 1 > 0", "integer overflow"),
        ("-9223372036854775808 / -1 > 0", "integer overflow"),
        ("-(-9223372036854775808) > 0", "integer overflow"),
        ("-9223372036854775808 % -1 == 0", "integer overflow"),
        ("0u - 1u == 0u", "unsigned integer overflow"),
        ("1 / 0 == 1", "division by zero"),
        ("1 % 0 == 1", "modulus by zero"),
    ]);
}

/// Appendix E: the error of an operand of `&&` and `||` is ignored if the other operand decides the result.
#[test]
fn and_or_ignore_the_error_of_an_irrelevant_operand() {
    all_true(&[
        "1 / 0 == 1 || true",
        "true || 1 / 0 == 1",
        "!(1 / 0 == 1 && false)",
        "!(false && 1 / 0 == 1)",
        "[0, 1].exists(x, 1 / x == 1)",
        "![0, 1].all(x, 1 / x == 2)",
        "true ? true : 1 / 0 == 1",
        "!has(self.spec.missing) || self.spec.missing == 'x'",
    ]);
    all_fail(&[
        ("1 / 0 == 1 || false", "division by zero"),
        ("true && 1 / 0 == 1", "division by zero"),
        ("[0, 1].all(x, 1 / x == 1)", "division by zero"),
        ("dyn(1) || false", "no such overload"),
        ("1 / 0 == 1 ? true : true", "division by zero"),
    ]);
}

/// Appendix E: `has` is true for set fields; absent fields have no value.
#[test]
fn presence_of_fields_is_tested() {
    all_true(&[
        "has(self.spec.name) && !has(self.spec.missing) && has(self.spec.labels.app) && !has(self.spec.labels.no)",
        "has(self.spec.nothing) && self.spec.nothing == null",
        "self.metadata.name == 'one' && !has(self.metadata.generateName) && self.kind == 'Thing'",
        "self.spec.template.metadata.name == 'inner' && self.spec.template.kind == 'Pod'",
        "self.spec.__namespace__ == 'shop' && self.spec.x__dash__prop == 'dashed'",
        "self.spec.labels['app'] == 'web' && self.spec.labels.tier == 'front' && 'app' in self.spec.labels",
        "self.spec.numbers[0] == 3 && self.spec.containers[1].name == 'log'",
    ]);
    all_fail(&[
        ("self.spec.missing == ''", "no such key: missing"),
        ("self.spec.labels.no == ''", "no such key: no"),
        ("self.spec.labels['no'] == ''", "no such key: no"),
        ("self.spec.numbers[3] == 0", "index out of bounds: 3"),
        ("self.spec.numbers[-1] == 0", "index out of bounds: -1"),
    ]);
}

/// Appendix E: the type of a value depends on its schema.
#[test]
fn the_type_of_a_value_depends_on_its_schema() {
    all_true(&[
        "type(self.spec.port) == int && type(self.spec.percent) == string",
        "self.spec.wait == duration('90m') && self.spec.wait.getMinutes() == 90",
        "self.spec.day == timestamp('2024-02-29T00:00:00Z')",
        "self.spec.at.getMilliseconds() == 500 && self.spec.at > timestamp('2024-02-29T12:00:00Z')",
        "self.spec.key == b'hi' && string(self.spec.key) == 'hi'",
        "self.spec.tags == ['b', 'a'] && self.spec.tags + ['b', 'c'] == ['a', 'b', 'c']",
        "self.spec.numbers != [1, 2, 3] && self.spec.numbers + [3] == [3, 1, 2, 3]",
        "(self.spec.containers + self.spec.containers).size() == 2",
        "self.spec.containers == self.spec.containers && self.spec == self.spec && self == self",
    ]);
    all_fail(&[
        ("self.spec.percent < 5", "no such overload"),
        ("self.spec.port.matches('a')", "no such overload"),
    ]);
}

/// Appendix E: the macros of CEL, and those with two variables.
#[test]
fn macros_repeat_an_expression() {
    all_true(&[
        "self.spec.numbers.all(n, n > 0) && !self.spec.numbers.all(n, n > 1) && [].all(x, false)",
        "self.spec.numbers.exists(n, n == 2) && ![].exists(x, true)",
        "self.spec.numbers.exists_one(n, n > 2) && !self.spec.numbers.exists_one(n, n > 1)",
        "self.spec.numbers.filter(n, n > 1) == [3, 2]",
        "self.spec.numbers.map(n, n * 2) == [6, 2, 4] && self.spec.numbers.map(n, n > 1, n * 2) == [6, 4]",
        "self.spec.labels.all(k, k in ['app', 'tier']) && self.spec.labels.map(k, self.spec.labels[k]) == ['web', 'front']",
        "self.spec.containers.all(c, !has(c.port) || c.port == 80)",
        "self.spec.numbers.all(i, n, i < 3 && n > 0) && self.spec.labels.exists(k, v, k == 'app' && v == 'web')",
        "self.spec.labels.existsOne(k, v, v.startsWith('f'))",
        "self.spec.numbers.transformList(i, n, i + n) == [3, 2, 4]",
        "self.spec.numbers.transformList(i, n, i > 0, n) == [1, 2]",
        "self.spec.labels.transformMap(k, v, k + v) == {'app': 'appweb', 'tier': 'tierfront'}",
        "self.spec.labels.transformMapEntry(k, v, {v: k}) == {'web': 'app', 'front': 'tier'}",
        "[1, 2].all(x, [3, 4].all(y, x < y)) && [1].all(x, [2].all(x, x == 2))",
        "self.spec.containers.sortBy(c, c.name)[0].name == 'log'",
    ]);
    all_fail(&[
        ("[0, 1].map(x, 1 / x) == [1]", "division by zero"),
        ("['a', 'a'].transformMapEntry(i, v, {v: i}) == {}", "insert failed: key a already exists"),
        ("dyn(1).all(x, true)", "no such overload"),
    ]);
}

/// Appendix E: optional values are accessed with a question mark.
#[test]
fn optional_values_are_present_or_absent() {
    all_true(&[
        "self.spec.?missing.orValue('x') == 'x' && self.spec.?name.orValue('x') == 'abc'",
        "!self.?spec.missing.hasValue() && self.?spec.name.value() == 'abc'",
        "self.spec.labels[?'no'].orValue('x') == 'x' && self.spec.labels[?'app'] == optional.of('web')",
        "self.spec.numbers[?7].orValue(0) == 0 && [1][?0].hasValue()",
        "[?self.spec.?missing, 'a'] == ['a'] && {?'k': self.spec.?name} == {'k': 'abc'}",
        "self.spec.?name.optMap(n, n.size()) == optional.of(3) && !self.spec.?missing.optMap(n, n.size()).hasValue()",
        "self.spec.?name.optFlatMap(n, optional.of(n + n)).value() == 'abcabc'",
        "optional.none().or(optional.of(1)).value() == 1 && optional.of(2).or(optional.of(1)).value() == 2",
        "!optional.ofNonZeroValue('').hasValue() && optional.ofNonZeroValue('a').hasValue()",
        "self.spec.?missing == optional.none() && optional.of(1) != optional.of(2)",
        "[optional.of(1), optional.none()].unwrapOpt() == [1] && [1, 2].last().value() == 2",
    ]);
    all_fail(&[("self.spec.?missing.value() == ''", "optional.none() dereference")]);
}

/// Appendix E: strings, bytes, lists and maps.
#[test]
fn collections_are_joined_searched_and_compared() {
    all_true(&[
        "'a' + 'b' == 'ab' && b'a' + b'b' == b'ab' && [1] + [2] == [1, 2]",
        "'a' < 'b' && 'a' < 'aa' && b'a' < b'b' && false < true",
        "1 in [1, 2] && !(3 in [1, 2]) && 'a' in {'a': 1} && !('b' in {'a': 1})",
        "{'a': 1, 'b': 2} == {'b': 2, 'a': 1} && {'a': 1} != {'a': 2} && [1, 2] != [2, 1]",
        "[[1], [2]] == [[1], [2]] && dyn('1') != dyn(1)",
        "size([1, 2]) == 2 && {'a': 1}.size() == 1 && size('héé') == 3",
        "{true: 1}[true] == 1 && {'a': {'b': 1}}.a.b == 1",
    ]);
    all_fail(&[("{'a': 1, 'a': 2} == {}", "repeated key: a"), ("{[1]: 2} == {}", "unsupported key type")]);
}
