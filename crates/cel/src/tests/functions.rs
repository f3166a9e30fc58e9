//! The functions of the libraries.

use super::{all_fail, all_true, boolean};

/// Appendix E: functions of strings; positions are counted in characters.
#[test]
fn strings_are_searched_split_and_formatted() {
    all_true(&[
        "'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo') && !'a'.contains('b')",
        "'hello'.charAt(1) == 'e' && 'hello'.charAt(5) == '' && 'é1'.charAt(1) == '1'",
        "'hello mellow'.indexOf('ello') == 1 && 'hello mellow'.indexOf('ello', 2) == 7 && 'a'.indexOf('b') == -1",
        "'hello mellow'.lastIndexOf('ello') == 7 && 'hello mellow'.lastIndexOf('ello', 6) == 1 && 'a'.lastIndexOf('') == 1",
        "'TacoCat'.lowerAscii() == 'tacocat' && 'TacoCÆt'.upperAscii() == 'TACOCÆT'",
        "'hello hello'.replace('he', 'we') == 'wello wello' && 'hello hello'.replace('he', 'we', 1) == 'wello hello'",
        "'hello hello'.replace('he', 'we', 0) == 'hello hello' && 'ab'.replace('', '_') == '_a_b_'",
        "'a b c'.split(' ') == ['a', 'b', 'c'] && 'a b c'.split(' ', 2) == ['a', 'b c'] && 'a b'.split(' ', 0) == []",
        "'abc'.split('') == ['a', 'b', 'c'] && 'abc'.split('', 2) == ['a', 'bc'] && ''.split(',') == ['']",
        "'tacocat'.substring(4) == 'cat' && 'tacocat'.substring(0, 4) == 'taco' && 'ta©o'.substring(2, 3) == '©'",
        "'  \\ttrim\\n '.trim() == 'trim' && ['a', 'b'].join() == 'ab' && ['a', 'b'].join('-') == 'a-b' && [].join() == ''",
        "strings.quote('a\"b') == '\"a\\\\\"b\"'",
    ]);
    all_fail(&[
        ("'a'.charAt(2) == ''", "index out of range: 2"),
        ("'abc'.substring(2, 1) == ''", "invalid substring range. start: 2, end: 1"),
        ("'abc'.substring(-1) == ''", "index out of range: -1"),
        ("'abc'.substring(0, 4) == ''", "index out of range: 4"),
    ]);
}

/// Appendix E: `format` has the verbs of Go that Kubernetes allows.
#[test]
fn strings_are_formatted() {
    all_true(&[
        "'%s is %d'.format(['a', 1]) == 'a is 1' && '100%%'.format([]) == '100%'",
        "'%s %s %s'.format([[1, 2], {'k': true}, null]) == '[1, 2] {k: true} null'",
        "'%.2f %f'.format([1.256, 2.0]) == '1.26 2.000000' && '%.1e %e'.format([1234.5, 0.05]) == '1.2×10⁰³ 5.000000×10⁻⁰²'",
        "'%x %X %o %b'.format([255, 255, 8, 5]) == 'ff FF 10 101' && '%x'.format(['hi']) == '6869'",
        "'%b %d'.format([true, -5]) == '1 -5' && '%s'.format([duration('90s')]) == '90s'",
    ]);
    all_fail(&[
        ("'%s %s'.format(['a']) == ''", "index out of range"),
        ("'%d'.format(['a']) == ''", "error during formatting: %d does not take string"),
        ("'%z'.format(['a']) == ''", "unrecognized formatting clause \"z\""),
        ("'%'.format(['a']) == ''", "unexpected end of string"),
    ]);
}

/// Appendix E: functions of lists and sets.
#[test]
fn lists_are_summed_ordered_and_searched() {
    all_true(&[
        "[1, 2, 2].isSorted() && !['b', 'a'].isSorted() && [].isSorted()",
        "[1, 2].sum() == 3 && [1.5, 2.0].sum() == 3.5 && [].sum() == 0 && [duration('1m'), duration('1s')].sum() == duration('61s')",
        "[3, 1, 2].min() == 1 && ['a', 'c', 'b'].max() == 'c'",
        "[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(5) == -1",
        "[1, 2].includes(2) && 'a'.includes('a') && ![1].includes(2)",
        "[1, 2, 3, 4].slice(1, 3) == [2, 3] && [[1], [2, 3]].flatten() == [1, 2, 3] && [dyn([1, dyn([2])])].flatten(2) == [1, 2]",
        "[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sort() == ['a', 'b'] && [1, 2, 1].distinct() == [1, 2]",
        "[1, 2].reverse() == [2, 1] && lists.range(3) == [0, 1, 2] && [1.5, 0.0 / 0.0, 1.0].sort()[0] == 1.0",
        "sets.contains([1, 2, 3], [2, 1]) && !sets.contains([1], [2]) && sets.equivalent([1, 2, 2], [2, 1])",
        "sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2])",
    ]);
    all_fail(&[
        ("[].min() == 0", "min called on empty list"),
        ("[dyn(1), dyn('a')].isSorted()", "no such overload"),
        ("[dyn(1), dyn('a')].sort() == []", "no such overload"),
        ("[1].slice(0, 2) == []", "cannot slice(0, 2), list is length 1"),
        ("[1].slice(1, 0) == []", "cannot slice(1, 0), start index must be less than or equal to end index"),
        ("[1].slice(-1, 0) == []", "cannot slice(-1, 0), negative indexes not supported"),
    ]);
}

/// Appendix E: patterns have Go's syntax.
#[test]
fn patterns_match_find_and_find_all() {
    all_true(&[
        "'abc'.matches('^[a-c]+$') && matches('abc', 'b') && !'abc'.matches('^b')",
        "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('x') == ''",
        "'12 ab 34'.findAll('[0-9]+') == ['12', '34'] && '12 ab 34'.findAll('[0-9]+', 1) == ['12']",
        "'a'.matches('a' + '') && self.spec.percent.matches(r'^\\d+%$')",
    ]);
    all_fail(&[("'a'.matches('(' + '')", "error parsing regexp: unclosed group")]);
}

/// Appendix E: conversions between types fail if a value does not fit.
#[test]
fn types_are_converted() {
    all_true(&[
        "int('12') == 12 && int(3.9) == 3 && int(-3.9) == -3 && int(5u) == 5 && uint(5) == 5u && uint('7') == 7u",
        "double('1.5') == 1.5 && double(2) == 2.0 && string(12) == '12' && string(1.5) == '1.5' && string(true) == 'true'",
        "bool('true') && !bool('0') && bytes('é').size() == 2 && string(b'a') == 'a'",
        "duration('1.5h') == duration('90m') && string(duration('1500ms')) == '1.5s' && duration('-1s') < duration('0')",
        "string(timestamp('2024-02-29T12:00:00.250+01:00')) == '2024-02-29T11:00:00.25Z'",
        "timestamp(0) == timestamp('1970-01-01T00:00:00Z') && int(timestamp('1970-01-01T00:01:00Z')) == 60",
        "int(duration('1us')) == 1000 && duration(1000) == duration('1us')",
        "type(1) == int && type('a') == string && type(1u) == uint && type([]) == list && type({}) == map && type(type(1)) == type",
        "int(self.spec.percent.replace('%', '')) == 50",
    ]);
    all_fail(&[
        ("int('x') == 0", "type conversion error from 'string' to 'int': x"),
        ("int(1e30) == 0", "range error"),
        ("uint(-1) == 0u", "range error"),
        ("duration('1' + 'x') == duration('0')", "type conversion error from 'string' to 'duration': 1x"),
        (
            "timestamp('2024-02-30' + 'T00:00:00Z') == timestamp(0)",
            "type conversion error from 'string' to 'timestamp': 2024-02-30T00:00:00Z",
        ),
        ("timestamp(9223372036854775807) == timestamp(0)", "range error"),
    ]);
}

/// Appendix E: timestamps and durations have parts, and can be added.
#[test]
fn timestamps_have_parts() {
    let timestamp = "timestamp('2024-02-29T13:14:15.016Z')";
    for (part, value) in [
        ("getFullYear", 2024),
        ("getMonth", 1),
        ("getDate", 29),
        ("getDayOfMonth", 28),
        ("getDayOfWeek", 4),
        ("getDayOfYear", 59),
        ("getHours", 13),
        ("getMinutes", 14),
        ("getSeconds", 15),
        ("getMilliseconds", 16),
    ] {
        assert_eq!(boolean(&format!("{timestamp}.{part}() == {value}")), Ok(true), "{part}");
    }
    all_true(&[
        "timestamp('2024-01-01T23:30:00Z').getDate('+01:00') == 2 && timestamp('2024-01-01T00:30:00Z').getHours('-01:00') == 23",
        "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
        "timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == duration('24h')",
        "duration('1h') - duration('1m') == duration('59m') && duration('3730s').getMinutes() == 62",
    ]);
    all_fail(&[
        ("timestamp('9999-12-31T00:00:00Z') + duration('48h') > timestamp(0)", "timestamp overflow"),
        ("timestamp(0).getHours('Mars/Base') == 0", "unknown time zone Mars/Base"),
    ]);
}

/// Appendix E: URLs, quantities, versions.
#[test]
fn urls_quantities_and_versions_are_read() {
    all_true(&[
        "url('https://user:pw@example.com:80/a b?k=1&k=2&x=%20#f').getHost() == 'example.com:80'",
        "url('https://[::1]:80/').getHostname() == '::1' && url('https://[::1]:80/').getPort() == '80'",
        "url('https://example.com/path with').getEscapedPath() == '/path%20with' && url('/p').getScheme() == ''",
        "url('https://e.com/p?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
        "isURL('https://a.b/c') && isURL('/abs') && !isURL('https://a:b:c/') && !isURL('../rel') && !isURL('')",
        "quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('50Mi').isGreaterThan(quantity('50M'))",
        "quantity('50k').add(20) == quantity('50020') && quantity('50k').sub(quantity('20k')).asInteger() == 30000",
        "isQuantity('1.3Gi') && !isQuantity('1,3G') && !isQuantity('200K') && quantity('-1').sign() == -1",
        "quantity('-9e99').add(quantity('-9e99')).sub(quantity('-9e99').add(quantity('-9e99'))).sign() <= 1",
        "!quantity('1.5').isInteger() && quantity('1500m').asApproximateFloat() == 1.5 && quantity('1').isLessThan(quantity('2'))",
        "semver('1.2.3').major() == 1 && semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-rc.1').compareTo(semver('1.0.0')) == -1",
        "isSemver('1.2.3-a+b') && !isSemver('v1.0') && isSemver('v1.0', true) && semver('01.01.01', true) == semver('1.1.1')",
    ]);
    all_fail(&[
        (
            "url('../rel').getHost() == ''",
            "URL parse error during conversion from string: invalid URI for request: \"../rel\"",
        ),
        ("quantity('1.5').asInteger() == 0", "cannot convert value to integer"),
        ("quantity('200K') == quantity('1')", "unable to parse quantity's suffix"),
    ]);
}

/// Appendix E: addresses, networks and named formats.
#[test]
fn addresses_networks_and_formats_are_known() {
    all_true(&[
        "isIP('127.0.0.1') && isIP('::1') && !isIP('127.0.0.256') && !isIP('::ffff:1.2.3.4') && !isIP('01.2.3.4')",
        "ip('127.0.0.1').family() == 4 && ip('::1').isLoopback() && ip('0.0.0.0').isUnspecified()",
        "ip('224.0.0.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()",
        "ip('169.254.1.1').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast() && ip('10.0.0.1').isGlobalUnicast()",
        "!ip('255.255.255.255').isGlobalUnicast() && ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')",
        "cidr('192.168.0.0/24').containsIP('192.168.0.1') && !cidr('192.168.0.0/24').containsIP(ip('192.168.1.1'))",
        "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('192.168.1.0/24').containsCIDR(cidr('192.168.0.0/16'))",
        "cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24') && cidr('::1/128').prefixLength() == 128",
        "cidr('192.168.0.1/24').ip() == ip('192.168.0.1') && string(cidr('10.0.0.0/8')) == '10.0.0.0/8' && cidr('0.0.0.0/0').containsIP('8.8.8.8')",
        "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0')",
        "!format.dns1123Label().validate('my-name').hasValue() && format.dns1123Label().validate('My').hasValue()",
        "format.named('uuid').hasValue() && !format.named('no').hasValue() && format.date().validate('2024-02-30').hasValue()",
        "!format.dns1123LabelPrefix().validate('pre-').hasValue() && !format.uri().validate('http://a').hasValue()",
    ]);
    all_fail(&[(
        "ip('1.2.3') == ip('::')",
        "IP Address \"1.2.3\" parse error during conversion from string: unable to parse IP",
    )]);
}
