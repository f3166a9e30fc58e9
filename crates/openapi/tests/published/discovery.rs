//! Groups, versions and resources of definitions.

use gantry_json::{Value, json};
use gantry_schema::kinds::{Kinds, discovery};

use crate::{widgets, with};

/// A definition of widgets in a group, in these versions.
fn group(name: &str, versions: &[&str]) -> Value {
    let mut definition = widgets(&json!({"type": "object"}));
    definition["spec"]["group"] = json!(name);
    let version = definition["spec"]["versions"][0].clone();
    let named = versions.iter().map(|name| {
        let mut version = version.clone();
        version["name"] = json!(name);
        version
    });
    definition["spec"]["versions"] = named.collect();
    definition
}

fn versions<'k>(kinds: &'k Kinds, group: &str) -> &'k [&'static str] {
    &kinds.group(group).unwrap().versions
}

/// Appendix E: groups of definitions come after all others, sorted by name, in whatever order they were defined.
#[test]
fn groups_of_definitions_are_last_and_sorted_by_name() {
    let built_in = with(&[]).groups().len();
    let defined =
        [group("zoo.example.com", &["v1"]), group("aaa.example.com", &["v1"]), group("apps", &["v7"])];
    let kinds = with(&defined);
    let names: Vec<_> = kinds.groups().iter().map(|group| group.name).collect();
    assert_eq!(names[built_in..], ["aaa.example.com", "zoo.example.com"]);
    assert_eq!(names[..2], ["", "apps"]);
    assert_eq!(versions(&kinds, "apps"), ["v1", "v7"], "a built-in group keeps its order");
    let later = with(&defined[..1]).and(defined[1..].iter().flat_map(super::defined));
    assert_eq!(later.groups(), kinds.groups());
    let listed = discovery::aggregated_groups(&kinds);
    let last = listed["items"].as_array().unwrap().last().unwrap();
    assert_eq!(last["metadata"]["name"], "zoo.example.com");
}

/// Appendix E: the most stable version of a group is preferred, whichever definition has it.
#[test]
fn the_most_stable_version_is_preferred() {
    let mut other = group("shop.example.com", &["v1beta1", "v2"]);
    other["status"]["acceptedNames"]["plural"] = json!("gadgets");
    other["status"]["acceptedNames"]["kind"] = json!("Gadget");
    let kinds = with(&[group("shop.example.com", &["v1alpha1", "foo10", "v1", "v1beta2"]), other]);
    assert_eq!(versions(&kinds, "shop.example.com"), ["v2", "v1", "v1beta2", "v1beta1", "v1alpha1", "foo10"]);
    let described = discovery::group(&kinds, "shop.example.com").unwrap();
    assert_eq!(described["preferredVersion"]["groupVersion"], "shop.example.com/v2");
}

/// Appendix E: a resource has the accepted names, its status before its scale, and no hash of the storage version.
#[test]
fn a_resource_has_the_names_that_were_accepted() {
    let kinds = with(&[widgets(&json!({"type": "object"}))]);
    let list = discovery::resource_list(&kinds, "shop.example.com", "v1").unwrap();
    let parts = ["get", "patch", "update"];
    assert_eq!(
        list["resources"],
        json!([
            {
                "name": "widgets", "singularName": "widget", "namespaced": true, "kind": "Widget",
                "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
                "shortNames": ["wd"], "categories": ["all"],
            },
            {"name": "widgets/status", "singularName": "", "namespaced": true, "kind": "Widget", "verbs": parts},
            {
                "name": "widgets/scale", "singularName": "", "namespaced": true, "kind": "Scale",
                "group": "autoscaling", "version": "v1", "verbs": parts,
            },
        ])
    );
}
