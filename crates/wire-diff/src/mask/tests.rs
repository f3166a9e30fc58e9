//! Masking: which parts of responses are masked, and which are not.

use super::*;
use crate::case::{Request, Step};

const AT: i64 = 1_700_000_000; // 2023-11-14T22:13:20Z

fn case(steps: Vec<Step>) -> Case {
    Case { kind: String::new(), steps }
}

fn trace(exchanges: Vec<Exchange>) -> Trace {
    Trace { exchanges, namespace: "wd-abc".to_owned(), address: "127.0.0.1:6443".to_owned() }
}

fn response(body: Value) -> Exchange {
    Exchange { status: 200, body, at: AT, ..Exchange::default() }
}

fn body(value: Value) -> Value {
    masked(&case(vec![]), &trace(vec![response(value)]))[0]["body"].clone()
}

fn object(version: &str, uid: char) -> Value {
    let uid = format!("{}-1111-4111-8111-111111111111", uid.to_string().repeat(8));
    json!({"metadata": {"uid": uid, "resourceVersion": version}})
}

#[test]
fn versions_keep_their_order_and_lists_have_the_latest() {
    let list = json!({"metadata": {"resourceVersion": "25"}, "items": [object("30", 'a'), object("20", 'b'), object("20", 'b')]});
    let masked = body(list);
    let versions: Vec<_> = masked["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["resourceVersion"].clone())
        .collect();
    assert_eq!(versions, ["rv2", "rv1", "rv1"]);
    assert_eq!(masked["metadata"]["resourceVersion"], "<covers rv1>");
}

#[test]
fn unchanged_and_changed_versions_are_distinguished() {
    let play = |versions: [&str; 2]| {
        masked(&case(vec![]), &trace(versions.map(|version| response(object(version, 'a'))).into()))
    };
    assert_eq!(play(["7", "9"]), play(["107", "108"]));
    assert_ne!(play(["7", "9"]), play(["7", "7"]));
}

#[test]
fn versions_in_yaml_are_masked_as_those_in_json_are() {
    let yaml =
        |version: &str| response(json!(format!("metadata:\n  resourceVersion: \"{version}\"\n  uid: x\n")));
    let play = |versions: [&str; 2]| {
        masked(&case(vec![]), &trace(vec![response(object(versions[0], 'a')), yaml(versions[1])]))
    };
    assert_eq!(play(["7", "7"]), play(["107", "107"]));
    assert_ne!(play(["7", "7"]), play(["7", "9"]));
}

#[test]
fn uids_are_numbered_and_the_ones_that_the_case_chose_are_kept() {
    let masked = body(json!([
        object("1", 'a'),
        object("2", 'b'),
        object("3", 'a'),
        "00000000-0000-0000-0000-00000000000a"
    ]));
    let uids: Vec<_> = (0..3).map(|index| masked[index]["metadata"]["uid"].clone()).collect();
    assert_eq!(uids, ["uid1", "uid2", "uid1"]);
    assert_eq!(masked[3], "00000000-0000-0000-0000-00000000000a");
}

#[test]
fn times_near_the_response_are_masked_with_their_precision_and_distance_and_others_are_not() {
    let times = [
        "2023-11-14T22:13:19Z",
        "2023-11-14T22:13:19.123456Z",
        "2023-11-14T22:13:50Z",
        "2024-01-02T03:04:05Z",
    ];
    assert_eq!(body(json!(times)), json!(["<time>", "<time .6>", "<time+30s>", "2024-01-02T03:04:05Z"]));
}

#[test]
fn names_of_the_play_are_masked_everywhere() {
    let masked = body(
        json!({"metadata": {"name": "web-x7k2p", "generateName": "web-"}, "message": "pods \"web-x7k2p\" in wd-abc at 127.0.0.1:6443"}),
    );
    assert_eq!(masked["message"], "pods \"web-<5>\" in NS at <server>");
}

#[test]
fn only_the_managed_fields_of_the_case_count() {
    let case = case(vec![Step::Send(Request::get("/x?fieldManager=m1&force=true"))]);
    let entry =
        |manager: &str| json!({"manager": manager, "operation": "Apply", "time": "2023-11-14T22:13:19Z"});
    let fields = json!({"managedFields": [entry("m1"), entry("kube-controller-manager")]});
    let masked = masked(&case, &trace(vec![response(fields)]));
    assert_eq!(
        masked[0]["body"]["managedFields"],
        json!([{"manager": "m1", "operation": "Apply", "time": "<time>"}])
    );
}

#[test]
fn a_port_that_the_request_chose_is_compared_and_an_allocated_one_is_not() {
    let chosen = json!({"spec": {"ports": [{"nodePort": 30_777}]}});
    let case = case(vec![Step::Send(Request::post("/x", chosen.clone()))]);
    let masked = masked(
        &case,
        &trace(vec![response(json!([chosen, {"nodePort": 31_000, "clusterIP": "10.96.0.9"}]))]),
    );
    assert_eq!(masked[0]["body"][0]["spec"]["ports"][0]["nodePort"], 30_777);
    assert_eq!(masked[0]["body"][1], json!({"nodePort": "<allocated>", "clusterIP": "<allocated>"}));
}

#[test]
fn plain_bookmarks_are_left_out_unless_they_are_behind_what_was_sent() {
    let bookmark =
        |version: &str| json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": version}}});
    let added = json!({"type": "ADDED", "object": object("7", 'a')});
    let events = |events: Vec<Value>| {
        let watch = Exchange { events: Some(events), ..response(Value::Null) };
        masked(&case(vec![]), &trace(vec![watch]))[0]["events"].as_array().unwrap().len()
    };
    assert_eq!(events(vec![added.clone(), bookmark("7"), bookmark("9")]), 1);
    assert_eq!(events(vec![added, bookmark("6")]), 2);
}

#[test]
fn small_ages_are_masked_and_other_durations_are_not() {
    assert_eq!(
        body(json!({"cells": ["web", "3s", "2m", "1m5s", "5d", "20m", "<none>"]}))["cells"],
        json!(["web", "<age>", "<age>", "<age>", "5d", "20m", "<none>"])
    );
}

#[test]
fn only_parser_details_of_messages_are_masked() {
    let message = "error decoding patch: json parse error: unexpected token at line 3";
    assert_eq!(body(json!(message)), "error decoding patch: json parse error: <words>");
    assert_eq!(body(json!("spec.replicas: Invalid value: -1")), "spec.replicas: Invalid value: -1");
}

#[test]
fn entries_of_the_server_are_no_more_in_yaml_than_in_json() {
    let entry = |manager: &str, more: &str| {
        format!(
            "  - apiVersion: apiextensions.k8s.io/v1\n    fieldsType: FieldsV1\n    fieldsV1:\n      f:spec:\n        \
             f:group: {{}}\n    manager: {manager}\n    operation: Update\n{more}    time: x\n"
        )
    };
    let text = |entries: &[String]| format!("metadata:\n  managedFields:\n{}  name: a\n", entries.concat());
    let (own, server) = (entry("d1", ""), entry("kube-apiserver", "    subresource: status\n"));
    let other = entry("d2", "");
    let version = |_: &str, _: bool| Value::Null;
    assert_eq!(text::yaml(&text(&[own.clone(), server, other.clone()]), version), text(&[own, other]));
}
