//! Tables: the columns and cells that Kubernetes printed for the same objects.

use gantry_json::{Value, json};
use gantry_primitives::Timestamp;
use gantry_registry::table::{Headings, IncludeObject, Layout, Printer, Version};
use gantry_schema::custom::Columns;

use crate::recording::{Exchange, recorded};

const NOW: Timestamp = Timestamp::from_secs(1_767_225_660);

fn layout(include: &str) -> Layout {
    let include = IncludeObject::parse(include).unwrap();
    Layout { version: Version::V1, include, headings: Headings::Shown }
}

/// Removes from a Table what recordings mask: descriptions, ages and times.
fn masked(mut table: Value) -> Value {
    for definition in table["columnDefinitions"].as_array_mut().into_iter().flatten() {
        definition.as_object_mut().unwrap().remove("description");
    }
    for row in table["rows"].as_array_mut().into_iter().flatten() {
        for cell in row["cells"].as_array_mut().into_iter().flatten() {
            match cell.as_str() {
                Some("60s") => *cell = json!("<age>"),
                Some("2026-01-01T00:00:00Z") => *cell = json!("<time>"),
                _ => {}
            }
        }
    }
    table
}

/// Returns the part of a Table that most recordings have.
fn columns_and_rows(table: Value) -> Value {
    let mut table = masked(table);
    let short =
        |column: &Value| json!([column["name"], column["type"], column["format"], column["priority"]]);
    let columns: Value = table["columnDefinitions"].as_array().unwrap().iter().map(short).collect();
    for row in table["rows"].as_array_mut().unwrap() {
        row.as_object_mut().unwrap().remove("object");
    }
    json!({"columns": columns, "rows": table["rows"], "metadata": table["metadata"]})
}

/// Renders the objects of a case and compares with the recording.
fn replay(name: &str, exchanges: &[Exchange]) {
    let cases: Value = gantry_json::from_str(include_str!("objects.json")).unwrap();
    let case = &cases[name];
    let printer = Printer::of(case["group"].as_str().unwrap(), case["kind"].as_str().unwrap());
    let [exchange] = exchanges else { panic!("{name} has one exchange") };
    let metadata = &exchange.body["metadata"];
    let table = printer.table(metadata, case["objects"].as_array().unwrap(), layout("None"), NOW);
    assert_eq!(columns_and_rows(table), exchange.body, "{name}");
}

/// Appendix C: the status of Pods in common states.
#[test]
fn rows_of_pods_have_their_status() {
    replay("pods", &recorded!("tables.pods"));
    replay("pods_init", &recorded!("tables.pods_init"));
    replay("pods_terminating", &recorded!("tables.pods_terminating"));
}

/// Appendix C: workloads.
#[test]
fn workloads_count_their_pods() {
    replay("deployments", &recorded!("tables.deployments"));
    replay("replicasets", &recorded!("tables.replicasets"));
    replay("replicationcontrollers", &recorded!("tables.replicationcontrollers"));
    replay("statefulsets", &recorded!("tables.statefulsets"));
    replay("daemonsets", &recorded!("tables.daemonsets"));
    replay("controllerrevisions", &recorded!("tables.controllerrevisions"));
    replay("jobs", &recorded!("tables.jobs"));
    replay("cronjobs", &recorded!("tables.cronjobs"));
    replay("poddisruptionbudgets", &recorded!("tables.poddisruptionbudgets"));
    replay("horizontalpodautoscalers", &recorded!("tables.horizontalpodautoscalers"));
}

/// Appendix C: kinds with addresses.
#[test]
fn networks_show_addresses() {
    replay("services", &recorded!("tables.services"));
    replay("endpointslices", &recorded!("tables.endpointslices"));
    replay("ingresses", &recorded!("tables.ingresses"));
    replay("networkpolicies", &recorded!("tables.networkpolicies"));
}

/// Appendix C: kinds of the cluster and its configuration.
#[test]
fn rows_of_cluster_kinds_have_their_columns() {
    replay("namespaces", &recorded!("tables.namespaces"));
    replay("nodes", &recorded!("tables.nodes"));
    replay("configmaps", &recorded!("tables.configmaps"));
    replay("secrets", &recorded!("tables.secrets"));
    replay("serviceaccounts", &recorded!("tables.serviceaccounts"));
    replay("leases", &recorded!("tables.leases"));
    replay("roles", &recorded!("tables.roles"));
    replay("rolebindings", &recorded!("tables.rolebindings"));
    replay("resourcequotas", &recorded!("tables.resourcequotas"));
    replay("limitranges", &recorded!("tables.limitranges"));
}

/// A5.1, Appendix C: an empty Table has columns and no rows.
#[test]
fn an_empty_table_has_columns() {
    let recorded = recorded!("tables.empty_table");
    let [leases, pods] = recorded.as_slice() else { panic!("two exchanges") };
    let empty = |printer: Printer, body: &Value| printer.table(&body["metadata"], [], layout(""), NOW);
    assert_eq!(masked(empty(Printer::of("coordination.k8s.io", "Lease"), &leases.body)), leases.body);
    assert_eq!(columns_and_rows(empty(Printer::of("", "Pod"), &pods.body)), pods.body);
}

fn lease(holder: Option<&str>) -> Value {
    let metadata = json!({
        "creationTimestamp": "2026-01-01T00:00:00Z", "name": "a", "namespace": "NS", "resourceVersion": "rv1",
        "uid": "uid1",
    });
    let spec = holder.map_or(json!({}), |holder| json!({"holderIdentity": holder}));
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec})
}

/// Returns a recorded body with the times of the fixture.
fn with_times(body: &Value) -> Value {
    let text = body
        .to_string()
        .replace(r#""creationTimestamp":"<time>""#, r#""creationTimestamp":"2026-01-01T00:00:00Z""#);
    gantry_json::from_str(&text).unwrap()
}

/// A5.1, A5.3: each row has the object or its metadata, as requested by `includeObject`.
#[test]
fn a_row_has_the_requested_part_of_its_object() {
    let printer = Printer::of("coordination.k8s.io", "Lease");
    for exchange in recorded!("tables.include_object").into_iter().skip(1) {
        let wanted = exchange.parameter("includeObject");
        let include = match IncludeObject::parse(wanted) {
            Ok(include) => include,
            Err(refusal) => {
                assert_eq!(refusal.status(), exchange.body);
                continue;
            }
        };
        let metadata = &exchange.body["metadata"];
        let table = printer.table(metadata, [&lease(Some("me"))], Layout { include, ..layout("") }, NOW);
        assert_eq!(masked(table), with_times(&exchange.body), "{wanted}");
    }
}

/// A5.1: the older version has the same shape.
#[test]
fn the_older_version_has_the_same_shape() {
    let exchange = &recorded!("tables.versions_of_tables")[1];
    let layout = Layout { version: Version::V1Beta1, ..layout("") };
    let printer = Printer::of("coordination.k8s.io", "Lease");
    let table = printer.table(&exchange.body["metadata"], [&lease(None)], layout, NOW);
    assert_eq!(masked(table), with_times(&exchange.body));
}

/// A5.1: the metadata of a Table has the continue token of its list.
#[test]
fn a_table_has_the_continue_token_of_its_list() {
    let exchange = &recorded!("tables.paged_tables")[0];
    let (mut b, a) = (lease(None), lease(None));
    b["metadata"]["name"] = json!("b");
    let metadata = json!({"continue": "<continue>", "remainingItemCount": 1, "resourceVersion": ">=rv0"});
    let table = Printer::of("coordination.k8s.io", "Lease").table(&metadata, [&a, &b], layout("None"), NOW);
    assert_eq!(masked(table), exchange.body);
}

/// A5.6: the response to a write is a Table of one row.
#[test]
fn a_write_returns_one_row() {
    let exchange = &recorded!("tables.table_errors")[2];
    let table = Printer::of("coordination.k8s.io", "Lease").table_of_one(&lease(None), layout(""), NOW);
    let mut expected = with_times(&exchange.body);
    expected["metadata"]["resourceVersion"] = json!("rv1");
    assert_eq!(masked(table), expected);
    let tried = json!({"metadata": {"name": "dry-run"}});
    let table = Printer::of("coordination.k8s.io", "Lease").table_of_one(&tried, layout(""), NOW);
    assert_eq!(table["metadata"], json!({}));
}

/// A5.4: on a watch, only the first Table has column definitions.
#[test]
fn a_watch_describes_its_columns_once() {
    let events = recorded!("watches.tables").remove(0).events;
    let printer = Printer::of("", "ConfigMap");
    for (index, event) in events.iter().enumerate() {
        let recorded = &event["object"];
        let mut object = with_times(&recorded["rows"][0]["object"]);
        object["data"] = if index == 0 { json!({"k": "v"}) } else { json!({"k": "v", "l": "w"}) };
        let headings = if index == 0 { Headings::Shown } else { Headings::Known };
        let table = printer.table_of_one(&object, Layout { headings, ..layout("") }, NOW);
        let mut expected = with_times(recorded);
        expected["metadata"]["resourceVersion"] = object["metadata"]["resourceVersion"].clone();
        assert_eq!(masked(table), expected);
    }
    assert_eq!(events.len(), 3);
}

/// A5.4: a bookmark is a row without content.
#[test]
fn a_bookmark_is_a_row_without_content() {
    let events = recorded!("watches.tables_initial").remove(0).events;
    let recorded = &events[1]["object"];
    let bookmark = json!({
        "kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": recorded["rows"][0]["object"]["metadata"],
    });
    let layout = Layout { headings: Headings::Known, ..layout("") };
    let printer = Printer::of("coordination.k8s.io", "Lease");
    assert_eq!(&printer.table_of_one(&bookmark, layout, NOW), recorded);
    let config_map = Printer::of("", "ConfigMap").table_of_one(&bookmark, layout, NOW);
    assert_eq!(config_map["rows"][0]["cells"], json!(["", 0, "<unknown>"]));
}

/// Appendix C: Events have their own order of columns.
#[test]
fn events_have_their_own_order_of_columns() {
    let exchange = &recorded!("events.tables")[0];
    let event = json!({
        "metadata": {"name": "e"}, "reason": "Started", "message": "Started container c", "type": "Normal",
        "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"},
        "source": {"component": "kubelet", "host": "n1"}, "count": 3, "eventTime": null,
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:30Z",
    });
    let table = Printer::of("", "Event").table_of_one(&event, layout("None"), NOW);
    let definitions = table["columnDefinitions"].as_array().unwrap();
    let names: Vec<_> = definitions.iter().map(|column| &column["name"]).collect();
    assert_eq!(json!(names), exchange.body[0]);
    let mut cells = table["rows"][0]["cells"].as_array().unwrap().clone();
    assert_eq!((cells.remove(7), cells.remove(0)), (json!("60s"), json!("30s")));
    assert_eq!(json!([cells]), exchange.body[1]);
}

/// Appendix C: any other kind has a name and a time.
#[test]
fn any_other_kind_has_a_name_and_a_time() {
    let names = |group, kind| {
        Printer::of(group, kind).columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("rbac.authorization.k8s.io", "ClusterRole"), ["Name", "Created At"]);
    assert_eq!(names("example.com", "Deployment"), ["Name", "Created At"]);
    assert_eq!(names("", "Endpoints"), ["Name", "Endpoints", "Age"]);
    assert_eq!(names("autoscaling", "Scale"), ["Name", "Desired", "Available", "Age"]);
}

/// Appendix E: the table of a custom kind has the columns of its definition.
#[test]
fn a_custom_kind_has_the_columns_of_its_definition() {
    let columns = Columns::read(&json!({"additionalPrinterColumns": [
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "description": "How large it is."},
        {"name": "Color", "type": "string", "jsonPath": ".spec.color", "priority": 1},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]}));
    let blue = json!({
        "metadata": {"name": "a", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"size": 3, "color": "blue"},
    });
    let table = Printer::Custom(&columns).table_of_one(&blue, layout("None"), NOW);
    let size = json!({"name": "Size", "type": "integer", "format": "", "description": "How large it is.", "priority": 0});
    assert_eq!(table["columnDefinitions"][1], size);
    assert_eq!(table["rows"], json!([{"object": null, "cells": ["a", 3, "blue", "60s"]}]));
    assert_eq!(
        columns_and_rows(table)["columns"],
        json!([
            ["Name", "string", "name", 0],
            ["Size", "integer", "", 0],
            ["Color", "string", "", 1],
            ["Age", "date", "", 0]
        ])
    );
    let bookmark = json!({"metadata": {"resourceVersion": "8"}});
    let known = Layout { headings: Headings::Known, ..layout("") };
    let table = Printer::Custom(&columns).table_of_one(&bookmark, known, NOW);
    assert_eq!(table["columnDefinitions"], json!(null));
    assert_eq!(table["rows"][0]["cells"], json!(["", null, null, null]));
}

/// A5.2: a row has all cells, whatever the object contains.
#[test]
fn every_row_is_complete() {
    let cases: Value = gantry_json::from_str(include_str!("objects.json")).unwrap();
    let kinds = cases
        .as_object()
        .unwrap()
        .values()
        .map(|case| (case["group"].as_str().unwrap(), case["kind"].as_str().unwrap()));
    let more = [
        ("", "Event"),
        ("", "Endpoints"),
        ("", "PersistentVolumeClaim"),
        ("autoscaling", "Scale"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("example.com", "Other"),
    ];
    for (group, kind) in kinds.chain(more) {
        let printer = Printer::of(group, kind);
        for object in [json!({}), json!(null), json!({"metadata": 1, "spec": [], "status": "x"})] {
            let table = printer.table_of_one(&object, layout("None"), NOW);
            let cells = table["rows"][0]["cells"].as_array().unwrap().len();
            assert_eq!(cells, printer.columns().len(), "{group} {kind}");
        }
    }
}
