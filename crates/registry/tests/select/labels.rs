//! Label selectors.

use gantry_json::{Value, json};
use gantry_registry::selector::LabelSelector;
use proptest::prelude::*;

use crate::recording::recorded;

fn named(name: &str, labels: &Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}})
}

fn refused(text: &str) -> String {
    LabelSelector::parse(text).unwrap_err().message
}

fn printed(text: &str) -> String {
    LabelSelector::parse(text).unwrap().to_string()
}

/// A4.7: every operator selects the same objects as Kubernetes.
#[test]
fn recorded_selectors_select_the_same() {
    let objects = [
        named("a", &json!({"app": "web", "tier": "1"})),
        named("b", &json!({"app": "web", "tier": "2"})),
        named("c", &json!({"app": "db", "tier": "10"})),
        named("d", &json!({"app": ""})),
        named("e", &Value::Null),
    ];
    let exchanges = recorded!("lists.label_selectors");
    assert_eq!(exchanges.len(), 19);
    for exchange in exchanges {
        let text = exchange.parameter("labelSelector");
        let selector = LabelSelector::parse(text).unwrap();
        let chosen = objects.iter().filter(|object| selector.matches(object));
        let names: Value = chosen.map(|object| object["metadata"]["name"].clone()).collect();
        assert_eq!(names, exchange.body, "{text}");
    }
}

/// A4.7: invalid selectors are refused with the recorded Status.
#[test]
fn invalid_selectors_are_refused_with_the_recorded_messages() {
    for exchange in recorded!("lists.label_selector_errors") {
        let text = exchange.parameter("labelSelector");
        let refusal = LabelSelector::parse(text).unwrap_err();
        assert_eq!(refusal.status(), exchange.body, "{text}");
    }
}

/// A4.7: missing values are empty ones.
#[test]
fn missing_values_are_empty() {
    assert_eq!(printed("k in (,a)"), "k in (,a)");
    assert_eq!(printed("k in (a,)"), "k in (,a)");
    assert_eq!(printed("k in (b,,a)"), "k in (,a,b)");
    assert_eq!(printed("k notin ()"), "k notin ()");
    assert_eq!(printed("k=,l"), "k=,l");
}

/// A4.7: words that are operators can be keys and values.
#[test]
fn operators_can_be_keys_and_values() {
    assert_eq!(printed("in in (in, notin)"), "in in (in,notin)");
    assert_eq!(printed("notin=in"), "notin=in");
    assert_eq!(printed("!in"), "!in");
}

/// A4.7: the message depends on the position of the error.
#[test]
fn the_message_depends_on_the_position() {
    assert_eq!(refused("a=b,"), "found '', expected: identifier after ','");
    assert_eq!(refused("!a=b"), "found '=', expected: ',' or 'end of string'");
    assert_eq!(refused("a=("), "unable to parse requirement: found '(', expected: identifier");
    assert_eq!(refused("a in (b c)"), "unable to parse requirement: found 'c', expected: ',' or ')'");
    assert_eq!(refused("a in (b,="), "unable to parse requirement: found '=', expected: ',', or identifier");
    assert_eq!(
        refused("a in (=)"),
        "unable to parse requirement: found '=', expected: ',', ')' or identifier"
    );
}

/// A4.7: values must be valid label values, and each error is reported.
#[test]
fn values_must_be_possible_labels() {
    let one = refused("a=-b");
    assert!(
        one.starts_with("unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label"),
        "{one}"
    );
    let two = refused("a in (x,-b,-c)");
    assert!(two.starts_with("unable to parse requirement: [values[0][a]: Invalid value: \"-b\""), "{two}");
    assert!(two.contains(", values[1][a]: Invalid value: \"-c\"") && two.ends_with(']'), "{two}");
    let both = refused("a>x@");
    assert!(both.contains("[values[0]: Invalid value: \"x@\": for 'Gt', 'Lt' operators"), "{both}");
}

/// Appendix C: selectors of objects print by key, values in order.
#[test]
fn objects_lead_to_the_canonical_form() {
    let selector = json!({
        "matchLabels": {"app": "web"},
        "matchExpressions": [
            {"key": "x", "operator": "NotIn", "values": ["b", "a"]},
            {"key": "app", "operator": "Exists"},
            {"key": "gone", "operator": "DoesNotExist"},
            {"key": "one", "operator": "In", "values": ["v"]},
        ],
    });
    let selector = LabelSelector::from_object(&selector).unwrap();
    assert_eq!(selector.to_string(), "app=web,app,!gone,one in (v),x notin (a,b)");
    assert_eq!(LabelSelector::from_labels(&json!({"b": "2", "a": "1"})).unwrap().to_string(), "a=1,b=2");
    assert!(LabelSelector::from_object(&Value::Null).unwrap().is_everything());
}

#[test]
fn invalid_selector_objects_are_refused() {
    for expression in [
        json!({"key": "a", "operator": "Foo"}),
        json!({"key": "a", "operator": "In"}),
        json!({"key": "-a", "operator": "Exists"}),
        json!({"key": "a", "operator": "In", "values": ["-"]}),
    ] {
        assert!(
            LabelSelector::from_object(&json!({"matchExpressions": [expression]})).is_err(),
            "{expression}"
        );
    }
    assert!(LabelSelector::from_labels(&json!({"a": "b c"})).is_err());
}

fn requirement() -> impl Strategy<Value = String> {
    let key = prop_oneof!["[a-z]{1,3}", r"example\.com/[a-z]{1,3}", Just("in".to_owned())];
    let value = "[a-z0-9]{0,3}";
    let values = prop::collection::vec(value, 0..4).prop_map(|values| values.join(","));
    (key, value, values, 0..1000_i64, 0..9).prop_map(|(key, value, values, number, form)| match form {
        0 => format!("{key}={value}"),
        1 => format!("{key} == {value}"),
        2 => format!("{key}!={value}"),
        3 => format!("{key} in ({values})"),
        4 => format!("{key} notin ({values})"),
        5 => key,
        6 => format!("!{key}"),
        7 => format!("{key}>{number}"),
        _ => format!("{key}<{number}"),
    })
}

proptest! {
    /// A4.7: a printed selector parses to the same selector.
    #[test]
    fn a_printed_selector_is_the_same_selector(parts in prop::collection::vec(requirement(), 0..6)) {
        let selector = LabelSelector::parse(&parts.join(",")).unwrap();
        prop_assert_eq!(LabelSelector::parse(&selector.to_string()).unwrap(), selector);
    }

    /// A4.7: no input makes the parser panic, and a valid selector prints and parses to itself.
    #[test]
    fn any_text_is_parsed_or_refused(text in "[-a-z0-9=!<>(), é\\PC]{0,20}") {
        if let Ok(selector) = LabelSelector::parse(&text) {
            prop_assert_eq!(LabelSelector::parse(&selector.to_string()).unwrap(), selector);
        }
    }
}
