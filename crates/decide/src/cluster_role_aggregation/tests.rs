//! Which rules an aggregated role gets, in which order, and when nothing is written.

use gantry_model::{ClusterRole, Labels, PolicyRule, Requirement, Selector};

use super::{decide, triggers};

/// Returns a rule that permits a verb on pods.
fn may(verb: &str) -> PolicyRule {
    PolicyRule {
        verbs: vec![verb.to_owned()],
        api_groups: vec![String::new()],
        resources: vec!["pods".to_owned()],
        ..PolicyRule::default()
    }
}

fn role(name: &str, label: &str, verbs: &[&str]) -> ClusterRole {
    ClusterRole {
        name: name.into(),
        uid: name.into(),
        resource_version: "1".into(),
        labels: Labels::from([("to".to_owned(), label.to_owned())]),
        rules: verbs.iter().map(|verb| may(verb)).collect(),
        aggregates: None,
    }
}

fn selecting(name: &str, labels: &[&str]) -> ClusterRole {
    let selectors = labels
        .iter()
        .map(|label| Ok(Selector::All(vec![Requirement::Equals("to".to_owned(), (*label).to_owned())])));
    ClusterRole { aggregates: Some(selectors.collect()), ..role(name, "", &[]) }
}

fn verbs(rules: &[PolicyRule]) -> Vec<&str> {
    rules.iter().map(|rule| rule.verbs[0].as_str()).collect()
}

/// A7.9: rules are copied in the order of the selectors, then of the names, each rule once.
#[test]
fn rules_are_copied_in_the_order_of_selectors_and_names() {
    let view = selecting("view", &["b", "a"]);
    let all = [
        role("third", "a", &["list", "watch", "watch"]),
        role("second", "a", &["create"]),
        role("first", "b", &["get", "list"]),
        role("other", "c", &["delete"]),
        view.clone(),
    ];
    let all: Vec<_> = all.iter().collect();
    let rules = decide(&view, &all).unwrap().unwrap();
    assert_eq!(verbs(&rules), ["get", "list", "create", "watch"]);
    assert_eq!(decide(&ClusterRole { rules, ..view }, &all), Ok(None), "nothing remains to be done");
}

/// A7.9: a role that selects no roles any more loses its rules.
#[test]
fn a_role_that_selects_nothing_loses_its_rules() {
    let view = ClusterRole { rules: vec![may("get")], ..selecting("view", &["a"]) };
    assert_eq!(decide(&view, &[&view]), Ok(Some(Vec::new())));
}

#[test]
fn a_role_does_not_copy_from_itself() {
    let itself = ClusterRole { rules: vec![may("get")], ..selecting("view", &[""]) };
    assert_eq!(decide(&itself, &[&itself]), Ok(Some(Vec::new())));
}

#[test]
fn a_role_with_rules_of_its_own_keeps_them() {
    let own = role("own", "a", &["get"]);
    assert_eq!(decide(&own, &[&own, &role("other", "a", &["list"])]), Ok(None));
}

/// `edit` selects what `view` selects, so that one change enqueues both.
#[test]
fn every_change_wakes_all_aggregated_roles_and_no_other() {
    let all = [selecting("edit", &["b"]), role("plain", "b", &["get"]), selecting("view", &["a"])];
    assert_eq!(triggers::on_role(&all), ["edit".into(), "view".into()]);
}
