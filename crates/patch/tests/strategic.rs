//! Strategic merge patches: directives, lists that merge, their order, and which patches are refused.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use gantry_json::{Value, json};
use gantry_patch::{self as patch, PatchKind};
use gantry_primitives::Refusal;
use gantry_schema::schema::schema;

fn apply(message: &str, current: &Value, body: &Value) -> Result<Value, Refusal> {
    patch::apply(PatchKind::Strategic, current, &schema().find(message).unwrap().into(), body)
}

#[track_caller]
fn becomes(message: &str, current: &Value, body: &Value, wanted: &Value) {
    assert_eq!(apply(message, current, body).as_ref(), Ok(wanted), "{current} with {body}");
}

/// Returns code, reason and message of the refusal of a patch of a pod's spec.
fn refusal(current: &Value, body: &Value) -> (u16, &'static str, String) {
    let refusal = apply("core/v1.PodSpec", current, body).unwrap_err();
    (refusal.reason.code(), refusal.reason.name(), refusal.message)
}

fn server_error(message: &str) -> (u16, &'static str, String) {
    (500, "", message.to_owned())
}

fn bad_request(message: &str) -> (u16, &'static str, String) {
    (400, "BadRequest", message.to_owned())
}

/// Containers by their names, one letter each.
fn containers(names: &str) -> Value {
    names.chars().map(|name| json!({"name": name.to_string()})).collect()
}

fn names(pod_spec: &Value) -> String {
    pod_spec["containers"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

/// A3.9: elements of the patch have its order, others keep theirs, and new ones come first.
#[test]
fn a_merged_list_has_the_order_of_both() {
    for (original, patch, merged) in [
        ("abc", "db", "dabc"),
        ("abc", "d", "dabc"),
        ("abc", "cd", "abcd"),
        ("abc", "ca", "bca"),
        ("abc", "cdb", "acdb"),
        ("abc", "cba", "cba"),
        ("abc", "", "abc"),
        ("", "ba", "ba"),
        ("abcdef", "fxb", "acdefxb"),
    ] {
        let current = json!({"containers": containers(original)});
        let merged_spec =
            apply("core/v1.PodSpec", &current, &json!({"containers": containers(patch)})).unwrap();
        assert_eq!(names(&merged_spec), merged, "{original} patched with {patch}");
    }
}

/// A3.9: `$setElementOrder` sorts elements, also ones that the patch does not change.
#[test]
fn an_order_can_be_requested() {
    for (original, order, patch, merged) in [
        ("abc", "ca", None, "bca"),
        ("abc", "cba", None, "cba"),
        ("abc", "cba", Some("b"), "cba"),
        ("abc", "da", Some("d"), "dabc"),
        ("abc", "dzb", Some("d"), "dabc"),
        ("abc", "", None, "abc"),
        ("abc", "ad", Some("d"), "adbc"),
        ("", "ab", Some("ab"), "ab"),
    ] {
        let mut body = json!({"$setElementOrder/containers": containers(order)});
        if let Some(patch) = patch {
            body["containers"] = containers(patch);
        }
        let merged_spec =
            apply("core/v1.PodSpec", &json!({"containers": containers(original)}), &body).unwrap();
        assert_eq!(names(&merged_spec), merged, "{original} ordered {order} with {patch:?}");
    }
    let body = json!({"$setElementOrder/containers": containers("ab")});
    becomes("core/v1.PodSpec", &json!({}), &body, &json!({}));
}

/// A3.9: values of a list of primitives that merges are added at the front, and deleted by a directive.
#[test]
fn plain_values_are_added_and_deleted() {
    let finalizers = |values: &[&str]| json!({"finalizers": values});
    becomes("meta/v1.ObjectMeta", &finalizers(&["y"]), &finalizers(&["z"]), &finalizers(&["z", "y"]));
    becomes("meta/v1.ObjectMeta", &finalizers(&["x", "y"]), &finalizers(&["y"]), &finalizers(&["x", "y"]));
    let body = json!({
        "$deleteFromPrimitiveList/finalizers": ["x", "none"],
        "$setElementOrder/finalizers": ["z", "y"],
        "finalizers": ["z"],
    });
    becomes("meta/v1.ObjectMeta", &finalizers(&["x", "y"]), &body, &finalizers(&["z", "y"]));
    let body = json!({"$deleteFromPrimitiveList/args": ["a"]});
    becomes("core/v1.Container", &json!({"args": ["a", "b", "a"]}), &body, &json!({"args": ["b"]}));
    becomes("core/v1.Container", &json!({}), &body, &json!({}));
}

/// A3.8: elements merge by the merge key of the field; any other list is replaced.
#[test]
fn lists_merge_by_their_key_or_are_replaced() {
    let current =
        json!({"ports": [{"containerPort": 80, "name": "http", "protocol": "TCP"}], "args": ["a", "b"]});
    let body = json!({"ports": [{"containerPort": 80, "protocol": "UDP"}], "args": ["c"]});
    let wanted = json!({"ports": [{"containerPort": 80, "name": "http", "protocol": "UDP"}], "args": ["c"]});
    becomes("core/v1.Container", &current, &body, &wanted);
    let same_port = json!({"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]});
    let body = json!({"ports": [{"port": 53, "name": "dns"}]});
    let wanted =
        json!({"ports": [{"port": 53, "protocol": "UDP", "name": "dns"}, {"port": 53, "protocol": "TCP"}]});
    becomes("core/v1.ServiceSpec", &same_port, &body, &wanted);
    let current = json!({"tolerations": [{"key": "a"}], "imagePullSecrets": [{"name": "s"}]});
    let body = json!({"tolerations": [{"key": "b"}], "imagePullSecrets": [{"name": "t"}]});
    let wanted = json!({"tolerations": [{"key": "b"}], "imagePullSecrets": [{"name": "t"}, {"name": "s"}]});
    becomes("core/v1.PodSpec", &current, &body, &wanted);
}

/// A3.8: of two elements of a patch with the same key, the second merges into the result of the first.
#[test]
fn an_element_can_be_patched_twice() {
    let body = json!({"containers": [{"name": "a", "image": "x:1"}, {"name": "a", "tty": true}]});
    let wanted = json!({"containers": [{"name": "a", "image": "x:1", "tty": true}, {"name": "b"}]});
    becomes("core/v1.PodSpec", &json!({"containers": [{"name": "b"}]}), &body, &wanted);
}

/// A3.8: an element without its merge key is refused, in the object and in the patch.
#[test]
fn an_element_needs_its_merge_key() {
    let current = json!({"containers": [{"name": "a"}], "imagePullSecrets": [{}]});
    assert_eq!(
        refusal(&current, &json!({"containers": [{"image": "nginx:2"}]})),
        server_error("map: map[image:nginx:2] does not contain declared merge key: name")
    );
    assert_eq!(
        refusal(&current, &json!({"containers": [{"$patch": "delete", "image": "x"}]})),
        server_error("map: map[$patch:delete image:x] does not contain declared merge key: name")
    );
    assert_eq!(
        refusal(&current, &json!({"imagePullSecrets": [{"name": "s"}]})),
        server_error("map: map[] does not contain declared merge key: name")
    );
}

/// A3.7: `$patch: replace` replaces a map or a list with the patch; `delete` empties a map.
#[test]
fn maps_and_lists_can_be_replaced_and_emptied() {
    let current = json!({"nodeSelector": {"a": "1"}, "containers": containers("ab"), "securityContext": {"runAsUser": 1}});
    let body = json!({
        "nodeSelector": {"$patch": "replace", "c": "3", "d": null},
        "containers": [{"name": "z"}, {"$patch": "replace"}, {"name": "a", "$patch": "delete"}],
        "securityContext": {"$patch": "delete", "fsGroup": 1},
    });
    let wanted = json!({"nodeSelector": {"c": "3"}, "containers": [{"name": "z"}], "securityContext": {}});
    becomes("core/v1.PodSpec", &current, &body, &wanted);
    becomes(
        "core/v1.PodSpec",
        &current,
        &json!({"$patch": "replace", "hostname": "h"}),
        &json!({"hostname": "h"}),
    );
}

/// A3.7: all matching elements are deleted; without a match nothing changes.
#[test]
fn elements_can_be_deleted() {
    let current =
        json!({"ports": [{"port": 53, "protocol": "UDP"}, {"port": 80}, {"port": 53, "protocol": "TCP"}]});
    let body = json!({"ports": [{"$patch": "delete", "port": 53}, {"$patch": "delete", "port": 1}]});
    becomes("core/v1.ServiceSpec", &current, &body, &json!({"ports": [{"port": 80}]}));
}

/// A3.7: `merge` and other values are unknown directives; lists have another message.
#[test]
fn unknown_directives_are_refused() {
    let current = json!({"nodeSelector": {"a": "1"}, "containers": containers("a")});
    assert_eq!(
        refusal(&current, &json!({"nodeSelector": {"$patch": "merge", "b": "2"}})),
        server_error("unknown patch type: merge in map: map[$patch:merge b:2]")
    );
    assert_eq!(
        refusal(&current, &json!({"containers": [{"$patch": "merge", "name": "a"}]})),
        server_error("merging lists cannot yet be specified in the patch")
    );
    assert_eq!(
        refusal(&current, &json!({"containers": [{"$patch": 5, "name": "a"}]})),
        server_error("unknown patch type: 5 in map: map[$patch:5 name:a]")
    );
}

/// A3.7: keys that are not retained are removed before the patch is merged; setting one of them is an error.
#[test]
fn keys_can_be_retained() {
    let current =
        json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}});
    let body = json!({"strategy": {"$retainKeys": ["type"], "type": "Recreate", "rollingUpdate": null}});
    becomes("apps/v1.DeploymentSpec", &current, &body, &json!({"strategy": {"type": "Recreate"}}));
    let body =
        json!({"strategy": {"$retainKeys": ["type", "rollingUpdate"], "rollingUpdate": {"maxSurge": 2}}});
    let wanted =
        json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}}});
    becomes("apps/v1.DeploymentSpec", &current, &body, &wanted);
    let current = json!({"volumes": [{"name": "v", "emptyDir": {}}]});
    let body =
        json!({"volumes": [{"$retainKeys": ["name", "hostPath"], "name": "v", "hostPath": {"path": "/x"}}]});
    becomes(
        "core/v1.PodSpec",
        &current,
        &body,
        &json!({"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}),
    );
    for contradiction in
        [json!({"$retainKeys": ["hostname"], "nodeName": "n"}), json!({"$retainKeys": "hostname"})]
    {
        assert_eq!(refusal(&current, &contradiction), bad_request("invalid patch format of retainKeys"));
    }
}

/// A3.7: directives and `null` are dropped if there is nothing that they apply to.
#[test]
fn directives_about_nothing_leave_no_trace() {
    let body = json!({
        "nodeSelector": {"$patch": "replace", "a": "1"},
        "securityContext": {"$patch": "delete"},
        "volumes": [{"$retainKeys": ["name", "emptyDir"], "name": "v", "emptyDir": {"medium": null}}],
        "containers": [{"$patch": "delete", "name": "a"}, {"name": "b", "$setElementOrder/env": []}],
        "hostname": null,
        "dnsConfig": {"$deleteFromPrimitiveList/searches": ["x"], "options": [{"$patch": "replace"}]},
    });
    let wanted = json!({
        "nodeSelector": {"a": "1"},
        "volumes": [{"name": "v", "emptyDir": {}}],
        "containers": [{"name": "b"}],
        "dnsConfig": {"options": []},
    });
    becomes("core/v1.PodSpec", &json!({}), &body, &wanted);
    let added = json!({"volumes": [{"$retainKeys": ["name"], "name": "w"}]});
    let wanted = json!({"volumes": [{"name": "w"}, {"name": "v"}]});
    becomes("core/v1.PodSpec", &json!({"volumes": [{"name": "v"}]}), &added, &wanted);
}

/// A3.6, A3.7: maps that are not structs merge by key; `null` removes a key; a value of another type replaces.
#[test]
fn maps_merge_by_key() {
    let current = json!({"labels": {"a": "1", "b": "2"}, "annotations": {"x": "y"}, "name": "n"});
    let body =
        json!({"labels": {"a": null, "c": "3", "none": null}, "annotations": null, "name": {"odd": null}});
    let wanted = json!({"labels": {"b": "2", "c": "3"}, "name": {}});
    becomes("meta/v1.ObjectMeta", &current, &body, &wanted);
}

/// Appendix B, A3.7: the selector of a disruption budget is replaced as a whole.
#[test]
fn a_map_that_replaces_does_not_merge() {
    let current = json!({"selector": {"matchLabels": {"a": "1"}}});
    let body = json!({"selector": {"matchLabels": {"b": "2"}}});
    becomes("policy/v1.PodDisruptionBudgetSpec", &current, &body, &body);
    let merged = json!({"selector": {"matchLabels": {"a": "1", "b": "2"}}});
    becomes("apps/v1.DeploymentSpec", &current, &body, &merged);
}

/// A3.10: the elements of a patch must be in the order of its `$setElementOrder`, which may have more.
#[test]
fn a_patch_must_agree_with_its_order() {
    let current = json!({"containers": containers("abc")});
    let body = |order: &str, patch: &str| json!({"$setElementOrder/containers": containers(order), "containers": containers(patch)});
    assert!(apply("core/v1.PodSpec", &current, &body("cba", "ca")).is_ok());
    let message = "The order in patch list:\n[map[name:a] map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:b] map[name:a]]\n";
    assert_eq!(refusal(&current, &body("ba", "ab")), server_error(message));
    let message =
        "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n";
    assert_eq!(refusal(&current, &body("a", "b")), server_error(message));
    let deleted = json!({"$setElementOrder/containers": containers("a"), "containers": [{"$patch": "delete", "name": "b"}]});
    assert_eq!(names(&apply("core/v1.PodSpec", &current, &deleted).unwrap()), "ac");
}

/// A3.11: malformed directives are bad requests, and lists of lists do not apply.
#[test]
fn malformed_directives_are_bad_requests() {
    let current = json!({"containers": containers("a")});
    let order = bad_request("invalid patch format of setElementOrder list");
    let deletion = bad_request("invalid patch format of primitive list");
    for (body, wanted) in [
        (json!({"$setElementOrder/containers": "a"}), &order),
        (json!({"$setElementOrder/containers": [], "containers": {}}), &order),
        (json!({"$setElementOrder": []}), &order),
        (json!({"$deleteFromPrimitiveList/containers": {}}), &deletion),
        (json!({"$deleteFromPrimitiveList": []}), &deletion),
    ] {
        assert_eq!(refusal(&current, &body), *wanted, "{body}");
    }
    let lists = refusal(&json!({"containers": []}), &json!({"containers": [[]]}));
    assert_eq!(
        lists,
        (422, "Invalid", "the server rejected our request due to an error in our request".to_owned())
    );
}

/// A3.11: other patches that cannot be merged are server errors.
#[test]
fn values_that_cannot_be_merged_are_a_server_error() {
    let current = json!({"containers": [{"name": "a"}], "hostname": "h"});
    for (body, message) in [
        (json!({"containers": ["x"]}), "list element types are not identical: [[map[name:a]] [x]]"),
        (
            json!({"$setElementOrder/none": []}),
            "unable to find api field in struct PodSpec for the json field \"none\"",
        ),
        (json!({"$setElementOrder/hostname": []}), "expected a []interface {}, but received a string"),
    ] {
        assert_eq!(refusal(&current, &body), server_error(message), "{body}");
    }
    let data = json!({"data": {"spec": {"a": 1}}, "revision": 1});
    let refused =
        apply("apps/v1.ControllerRevision", &data, &json!({"data": {"spec": {"a": 2}}})).unwrap_err();
    assert_eq!(
        refused.message,
        "unable to find api field in struct RawExtension for the json field \"spec\""
    );
}

/// A3.11: the patch must be an object; `null` is an empty one.
#[test]
fn a_patch_that_is_not_an_object_is_a_bad_request() {
    let message = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    assert_eq!(refusal(&json!({}), &json!([])), bad_request(message));
    becomes("core/v1.PodSpec", &json!({"hostname": "h"}), &json!(null), &json!({"hostname": "h"}));
}

/// A3.12: a Scale has no lists that merge, and is patched like other objects.
#[test]
fn a_scale_is_patched_strategically() {
    let current = json!({"kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 1}, "status": {"replicas": 1}});
    let wanted = json!({"kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 3}, "status": {"replicas": 1}});
    becomes("autoscaling/v1.Scale", &current, &json!({"spec": {"replicas": 3}}), &wanted);
}
