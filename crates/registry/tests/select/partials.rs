//! Objects and lists reduced to their metadata.

use gantry_json::{Value, json};
use gantry_registry::table::{Version, is_a_list, not_a_list, partial, partial_list};

use crate::recording::recorded;

/// A5.6: an object and a list, reduced to their metadata.
#[test]
fn objects_are_reduced_to_their_metadata() {
    let exchanges = recorded!("tables.partial_objects");
    let object = &exchanges[0].body;
    assert_eq!(partial(object, Version::V1), exchanges[1].body);
    let metadata = &exchanges[2].body["metadata"];
    assert_eq!(partial_list(metadata, [object], Version::V1), exchanges[2].body);
    let empty = partial_list(metadata, [], Version::V1);
    assert_eq!(empty["kind"], exchanges[3].body[0]);
    assert_eq!(
        empty["items"],
        Value::Null,
        "Kubernetes returns null, which the recording does not distinguish from []"
    );
}

/// A5.6: bookmarks and objects of other kinds are reduced as well.
#[test]
fn anything_with_metadata_is_reduced() {
    for event in &recorded!("watches.partial")[0].events {
        let whole = json!({"kind": "Lease", "metadata": event["object"]["metadata"], "spec": {"holderIdentity": "x"}});
        assert_eq!(partial(&whole, Version::V1), event["object"]);
    }
}

/// A5.6: an object has no list form, and a list no object form.
#[test]
fn a_list_is_not_an_object() {
    let exchanges = recorded!("tables.partial_mismatches");
    assert_eq!(not_a_list("", "ConfigMap").status(), exchanges[1].body);
    assert_eq!(is_a_list("", "ConfigMap").status(), exchanges[2].body);
    assert!(not_a_list("rbac.authorization.k8s.io", "Role").message.ends_with("(*rbac.Role)"));
    assert!(is_a_list("events.k8s.io", "Event").message.ends_with("(*core.EventList)"));
}
