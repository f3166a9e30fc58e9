//! Kinds that a definition describes (Appendix E): the same rules, by its schema.

use gantry_json::{Value, json};
use gantry_managed_fields::apply::{Change, OnConflict};
use gantry_managed_fields::ownership::{FieldSet, ManagedFields, ReplicasField, fields_of};
use gantry_schema::custom::FieldPath;

use crate::story::{Story, custom};

/// A kind with fields of every sort.
fn widgets() -> Story {
    Story::custom(&schema())
}

fn schema() -> Value {
    let port = json!({"type": "object", "required": ["number"], "properties": {
        "number": {"type": "integer"},
        "protocol": {"type": "string", "default": "TCP"},
        "target": {"x-kubernetes-int-or-string": true},
    }});
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer"},
            "ratio": {"type": "number"},
            "paused": {"type": "boolean"},
            "title": {"type": "string", "nullable": true},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "selector": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
                "app": {"type": "string"}, "tier": {"type": "string"}}},
            "args": {"type": "array", "items": {"type": "string"}},
            "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "ports": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["number", "protocol"], "items": port},
            "owners": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
                    "name": {"type": "string"}, "mail": {"type": "string"}}}},
            "values": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                "image": {"type": "object", "properties": {"tag": {"type": "string"}}}}},
            "free": {"x-kubernetes-preserve-unknown-fields": true},
            "bag": {"type": "object"},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {
                "spec": {"type": "object", "properties": {"node": {"type": "string"}}}}},
        }},
        "status": {"type": "object", "properties": {
            "ready": {"type": "integer"},
            "conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
                "items": {"type": "object", "properties": {
                    "type": {"type": "string"}, "status": {"type": "string"}}}},
        }},
    }})
}

fn spec(spec: &Value) -> Value {
    json!({"spec": spec})
}

/// Appendix E, A3.26: the owned fields of an applied configuration depend on the schema.
#[test]
fn the_fields_owned_by_apply_depend_on_the_schema() {
    let table = [
        (json!({"size": 3, "title": null}), json!({"f:size": {}, "f:title": {}})),
        (json!({"labels": {"a": "b"}}), json!({"f:labels": {"f:a": {}}})),
        (json!({"labels": {}}), json!({"f:labels": {}})),
        (json!({"selector": {"app": "x"}, "args": ["a"]}), json!({"f:selector": {}, "f:args": {}})),
        (json!({"tags": ["x", "y"]}), json!({"f:tags": {"v:\"x\"": {}, "v:\"y\"": {}}})),
        (
            json!({"ports": [{"number": 80, "target": "web"}]}),
            json!({"f:ports": {"k:{\"number\":80,\"protocol\":\"TCP\"}":
                {".": {}, "f:number": {}, "f:target": {}}}}),
        ),
        (json!({"owners": [{"name": "o", "mail": "m"}]}), json!({"f:owners": {"k:{\"name\":\"o\"}": {}}})),
        (
            json!({"values": {"image": {"tag": "1"}, "deep": {"er": {"x": 1}, "list": [{"y": 1}]}}}),
            json!({"f:values": {
                "f:image": {"f:tag": {}},
                "f:deep": {".": {}, "f:er": {".": {}, "f:x": {}}, "f:list": {}},
            }}),
        ),
        (json!({"free": {"a": 1}}), json!({"f:free": {"f:a": {}}})),
        (json!({"free": [1]}), json!({"f:free": {}})),
        (json!({"free": 1, "bag": {"x": "y"}}), json!({"f:free": {}, "f:bag": {"f:x": {}}})),
        (
            json!({"template": {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "p", "finalizers": ["a/b"]}, "spec": {"node": "n"}}}),
            json!({"f:template": {"f:apiVersion": {}, "f:kind": {},
                "f:metadata": {"f:name": {}, "f:finalizers": {"v:\"a/b\"": {}}}, "f:spec": {"f:node": {}}}}),
        ),
    ];
    let nature = custom(&schema());
    for (stated, owned) in table {
        let fields = fields_of(&nature, &spec(&stated)).encode();
        assert_eq!(fields, json!({"f:spec": owned}), "{stated}");
    }
    let object =
        json!({"metadata": {"labels": {"a": "b"}, "ownerReferences": [{"uid": "u"}], "managedFields": []}});
    let owned =
        json!({"f:metadata": {"f:labels": {"f:a": {}}, "f:ownerReferences": {"k:{\"uid\":\"u\"}": {}}}});
    assert_eq!(fields_of(&nature, &object).encode(), owned);
}

/// Appendix E, A3.15: the creator of an object owns all of it, containers included.
#[test]
fn a_creator_owns_every_container() {
    let mut story = widgets();
    story.update("u1", |object| {
        object["apiVersion"] = json!("example.com/v1");
        object["kind"] = json!("Widget");
        object["metadata"]["labels"] = json!({"a": "b"});
        object["spec"] =
            json!({"size": 1, "ports": [{"number": 80, "protocol": "UDP"}], "bag": {}, "free": null});
        object["status"] = json!({"ready": 1});
    });
    let owned = json!({
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
        "f:spec": {".": {}, "f:size": {}, "f:bag": {}, "f:free": {}, "f:ports": {".": {},
            "k:{\"number\":80,\"protocol\":\"UDP\"}": {".": {}, "f:number": {}, "f:protocol": {}}}},
    });
    assert_eq!(story.fields("u1"), owned);
}

/// Appendix E, A3.15: an updater owns only the fields that it changes.
#[test]
fn an_updater_owns_the_changed_fields() {
    let mut story = widgets();
    story.apply(
        "m1",
        &spec(&json!({"size": 1, "args": ["a"], "labels": {"a": "1", "b": "1"},
        "ports": [{"number": 80}], "selector": {"app": "x"}})),
    );
    story.update("u1", |object| {
        object["spec"]["args"] = json!(["a", "b"]);
        object["spec"]["labels"]["b"] = json!("2");
        object["spec"]["labels"]["c"] = json!("2");
        object["spec"]["ports"][0]["target"] = json!(8080);
        object["spec"]["selector"]["tier"] = json!("y");
    });
    let port = "k:{\"number\":80,\"protocol\":\"TCP\"}";
    assert_eq!(
        story.fields("u1"),
        json!({"f:spec": {"f:args": {}, "f:labels": {"f:b": {}, "f:c": {}}, "f:ports": {port: {"f:target": {}}},
            "f:selector": {}}})
    );
    assert_eq!(
        story.fields("m1"),
        json!({"f:spec": {"f:labels": {"f:a": {}}, "f:ports": {port: {".": {}, "f:number": {}}}, "f:size": {}}})
    );
}

/// Appendix E, A3.22: lists with keys merge by their keys, and an absent key has its default.
#[test]
fn elements_merge_by_their_keys() {
    let mut story = widgets();
    story.apply("m1", &spec(&json!({"ports": [{"number": 53, "protocol": "UDP"}, {"number": 53}]})));
    story.apply(
        "m2",
        &spec(&json!({"ports": [{"number": 53, "protocol": "TCP", "target": "dns"}, {"number": 80}]})),
    );
    let merged = json!([{"number": 53, "protocol": "UDP"}, {"number": 53, "protocol": "TCP", "target": "dns"},
        {"number": 80}]);
    assert_eq!(story.live()["spec"]["ports"], merged);
    story.apply("m1", &spec(&json!({"ports": [{"number": 53}]})));
    assert_eq!(story.live()["spec"]["ports"][0]["target"], "dns", "only m1 applied the port for UDP");
    story.apply("m2", &spec(&json!({})));
    assert_eq!(story.live()["spec"]["ports"], json!([{"number": 53}]));
}

/// Appendix E, A3.22: values that are applied are added to a set, and dropped ones removed; atomic lists are replaced.
#[test]
fn elements_of_sets_are_shared_and_atomic_values_are_not() {
    let mut story = widgets();
    story.apply(
        "m1",
        &spec(&json!({"tags": ["a", "b"], "args": ["a"], "owners": [{"name": "o", "mail": "x"}]})),
    );
    story.apply("m2", &spec(&json!({"tags": ["b", "c"]})));
    assert_eq!(story.live()["spec"]["tags"], json!(["a", "b", "c"]));
    story.apply("m1", &spec(&json!({"tags": [], "args": ["z"], "owners": [{"name": "o"}]})));
    assert_eq!(story.live()["spec"], json!({"tags": ["b", "c"], "args": ["z"], "owners": [{"name": "o"}]}));
    let conflicts =
        "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .spec.args\n- .spec.owners[name=\"o\"]";
    let other = spec(&json!({"tags": ["b"], "args": ["y"], "owners": [{"name": "o", "mail": "y"}]}));
    assert_eq!(story.refused("m2", &other), conflicts);
}

/// Appendix E, A3.22, A3.23: changing a value that another manager applies is a conflict, unless forced.
#[test]
fn conflicts_are_reported_or_forced() {
    let mut story = widgets();
    story.apply("m1", &spec(&json!({"size": 1, "values": {"deep": {"x": 1}}})));
    story.update("u1", |object| object["spec"]["title"] = json!("t"));
    let other = spec(&json!({"size": 2, "title": "s", "values": {"deep": {"x": 2, "y": 2}}}));
    let conflicts = "Apply failed with 3 conflicts: conflicts with \"m1\":\n- .spec.size\n- .spec.values.deep.x\n\
                     conflicts with \"u1\" using example.com/v1:\n- .spec.title";
    assert_eq!(story.refused("m2", &other), conflicts);
    assert_eq!(story.try_apply("m2", &other, OnConflict::Force).unwrap().change, Change::Values);
    assert_eq!(story.live()["spec"], other["spec"]);
    assert_eq!(story.fields("m1"), json!({"f:spec": {"f:values": {"f:deep": {}}}}));
    assert_eq!(story.owners(), ["m1 Apply 01", "m2 Apply 04"]);
}

/// Appendix E, A3.22: fields that are no longer applied are removed; keys of maps and unknown members with all below.
#[test]
fn fields_that_are_no_longer_applied_are_removed() {
    let mut story = widgets();
    story.apply(
        "m1",
        &spec(&json!({"size": 1, "paused": true, "labels": {"a": "1"},
        "values": {"image": {"tag": "1"}, "deep": {"x": 1}}})),
    );
    story.update("u1", |object| {
        object["spec"]["labels"]["b"] = json!("1");
        object["spec"]["values"]["deep"]["y"] = json!(1);
        object["spec"]["values"]["other"] = json!(1);
    });
    story.apply("m1", &spec(&json!({"size": 1})));
    assert_eq!(story.live()["spec"], json!({"size": 1, "labels": {"b": "1"}, "values": {"other": 1}}));
    story.apply("m1", &json!({}));
    assert_eq!(story.live()["spec"], json!({"labels": {"b": "1"}, "values": {"other": 1}}));
    assert_eq!(story.owners(), ["u1 Update 02"]);
}

/// Appendix E: a value without a declaration may change its type, and the manager that changes it owns it.
#[test]
fn undeclared_values_have_the_type_of_their_value() {
    let table = [
        (json!({"a": 1}), json!([1]), json!({"f:spec": {"f:free": {}}})),
        (json!({"a": 1}), json!("text"), json!({"f:spec": {"f:free": {}}})),
        (json!([1]), json!({"a": 1}), json!({"f:spec": {"f:free": {".": {}, "f:a": {}}}})),
        (json!({"a": 1}), json!({"b": 1}), json!({"f:spec": {"f:free": {"f:b": {}}}})),
        (
            json!({"a": {"b": 1}}),
            json!({"a": {"b": 1, "c": 1}}),
            json!({"f:spec": {"f:free": {"f:a": {"f:c": {}}}}}),
        ),
        (json!([1]), json!([2]), json!({"f:spec": {"f:free": {}}})),
    ];
    for (before, after, owned) in table {
        let mut story = widgets();
        story.apply("m1", &spec(&json!({"free": before, "size": 1})));
        story.update("u1", |object| object["spec"]["free"] = after.clone());
        assert_eq!(story.fields("u1"), owned, "{before} to {after}");
        let mut story = widgets();
        story.apply("m1", &spec(&json!({"free": before})));
        story.try_apply("m1", &spec(&json!({"free": after})), OnConflict::Refuse).unwrap();
        assert_eq!(story.live()["spec"]["free"], after, "{before} to {after}");
    }
    let mut story = widgets();
    story.apply("m1", &spec(&json!({"free": {"a": 1}})));
    story.apply("m2", &spec(&json!({"free": null})));
    assert_eq!(story.live()["spec"]["free"], json!({"a": 1}), "null does not change an object");
}

/// Appendix E, A3.21: an applied configuration must match the schema as far as merging requires it.
#[test]
fn apply_configurations_are_checked_against_the_definition() {
    let table = [
        (json!({"spec": {"nope": 1}}), ".spec.nope: field not declared in schema"),
        (json!({"nope": 1}), ".nope: field not declared in schema"),
        (json!({"metadata": {"nope": 1}}), ".metadata.nope: field not declared in schema"),
        (json!({"spec": {"size": "3"}}), ".spec.size: expected numeric (int or float), got string"),
        (json!({"spec": {"paused": "yes"}}), ".spec.paused: expected boolean, got &{yes}"),
        (
            json!({"spec": {"title": 1}}),
            ".spec.title: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (json!({"spec": {"labels": ["a"]}}), ".spec.labels: expected map, got &{[a]}"),
        (json!({"spec": {"args": "a"}}), ".spec.args: expected list, got &{a}"),
        (
            json!({"spec": {"args": ["a", 1]}}),
            ".spec.args[1]: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (json!({"spec": {"selector": {"nope": 1}}}), ".spec.selector.nope: field not declared in schema"),
        (json!({"spec": {"tags": ["a", "a"]}}), ".spec.tags: duplicate entries for key [=\"a\"]"),
        (
            json!({"spec": {"ports": [{"number": 1}, {"number": 1, "protocol": "TCP"}]}}),
            ".spec.ports: duplicate entries for key [number=1,protocol=\"TCP\"]",
        ),
        (
            json!({"spec": {"owners": [{"mail": "x"}]}}),
            ".spec.owners: element 0: associative list with keys has an element that omits all key fields \
             [\"name\"] (and doesn't have default values for any key fields)",
        ),
        (json!({"spec": {"template": {"nope": 1}}}), ".spec.template.nope: field not declared in schema"),
    ];
    for (stated, problem) in table {
        let refused = widgets().refused("m1", &stated);
        let place = "failed to create typed patch object (/a; example.com/v1, Kind=Widget): ";
        assert_eq!(refused, format!("{place}{problem}"));
    }
}

/// Appendix E, A3.21: below a schema that preserves unknown fields, and without declarations, anything can be applied.
#[test]
fn values_without_a_schema_are_not_checked() {
    for stated in [
        json!({"values": {"x": [1, {"y": 1}], "image": {"tag": "1", "nope": 1}}}),
        json!({"free": [1, "a"], "bag": {"a": {"b": 1}}}),
        json!({"ports": [{"number": 1, "target": {"odd": 1}}, {"protocol": "UDP"}]}),
        json!({"size": 1.5, "ratio": 1, "args": null, "title": null}),
    ] {
        let mut story = widgets();
        story.apply("m1", &spec(&stated));
        assert_eq!(story.live()["spec"], stated);
    }
}

/// Appendix E, A3.20: kind and version must be those of the request.
#[test]
fn another_kind_or_version_is_refused() {
    let mut story = widgets();
    story.api_version = "example.com/v2";
    let stated = json!({"apiVersion": "example.com/v1", "kind": "Widget"});
    let refusal = story.write("m1", |live, write| {
        gantry_managed_fields::apply::apply(live, &stated, write, OnConflict::Refuse).unwrap_err()
    });
    assert_eq!(refusal.message, "invalid object type: example.com/v1, Kind=Widget");
}

/// Appendix E: paths have the same meaning in every version, so conflicts and removals cross versions.
#[test]
fn owners_of_another_version_are_owners() {
    let mut story = widgets();
    story.apply("m1", &spec(&json!({"size": 1, "paused": true})));
    story.update("u1", |object| object["spec"]["title"] = json!("t"));
    story.api_version = "example.com/v2";
    let conflicts = "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .spec.size\n\
                     conflicts with \"u1\" using example.com/v1:\n- .spec.title";
    assert_eq!(story.refused("m2", &spec(&json!({"size": 2, "title": "s"}))), conflicts);
    story.apply("m1", &spec(&json!({"size": 3})));
    assert_eq!(story.live()["spec"], json!({"size": 3, "title": "t"}));
    story.update("u1", |object| object["spec"]["title"] = json!("s"));
    let versions = story.live()["metadata"]["managedFields"].as_array().unwrap().iter();
    let versions: Vec<_> = versions.map(|entry| entry["apiVersion"].clone()).collect();
    assert_eq!(versions, ["example.com/v2", "example.com/v2"]);
}

/// Appendix E, A3.16: through `/status` only the status is owned; preconditions still apply.
#[test]
fn writes_to_status_own_the_status_only() {
    let mut story = widgets();
    story.apply("m1", &spec(&json!({"size": 1})));
    story.through_status();
    let stated = json!({"metadata": {"labels": {"a": "b"}, "resourceVersion": "7"}, "spec": {"size": 9},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    story.apply("m1", &stated);
    assert_eq!(story.live()["metadata"]["resourceVersion"], "7");
    assert_eq!(story.live()["spec"], json!({"size": 1}));
    assert_eq!(story.live()["metadata"].get("labels"), None);
    let entries = story.live()["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "one for the object, one for its status");
    let condition = "k:{\"type\":\"Ready\"}";
    let owned = json!({"f:status": {"f:conditions": {condition: {".": {}, "f:type": {}, "f:status": {}}}}});
    assert_eq!((&entries[1]["subresource"], &entries[1]["fieldsV1"]), (&json!("status"), &owned));
    story.update("u1", |object| {
        object["metadata"]["labels"] = json!({"a": "b"});
        object["status"]["conditions"][0]["status"] = json!("False");
    });
    assert_eq!(story.fields("u1"), json!({"f:status": {"f:conditions": {condition: {"f:status": {}}}}}));
}

/// Appendix E: if a definition makes a value atomic, the owners of its parts own the whole.
#[test]
fn values_that_became_atomic_are_owned_as_a_whole() {
    let mut story = widgets();
    story.apply("m1", &spec(&json!({"labels": {"a": "1"}, "tags": ["x"], "size": 1})));
    let mut changed = schema();
    changed["properties"]["spec"]["properties"]["labels"]["x-kubernetes-map-type"] = json!("atomic");
    changed["properties"]["spec"]["properties"]["tags"]["x-kubernetes-list-type"] = json!("atomic");
    story.nature = custom(&changed);
    let conflicts = "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .spec.labels\n- .spec.tags";
    assert_eq!(story.refused("m2", &spec(&json!({"labels": {"b": "1"}, "tags": ["y"]}))), conflicts);
    story.update("u1", |object| object["spec"]["labels"] = json!({"b": "1"}));
    assert_eq!(story.fields("m1"), json!({"f:spec": {"f:tags": {}, "f:size": {}}}));
    assert_eq!(story.fields("u1"), json!({"f:spec": {"f:labels": {}}}));
}

/// Appendix E, A3.18: the replicas of a custom kind may be at any path; a write to its Scale moves their ownership.
#[test]
fn a_scale_uses_the_replicas_path_of_the_definition() {
    let mut story = widgets();
    story.apply("m1", &spec(&json!({"size": 1, "paused": true})));
    let owners = ManagedFields::of(story.live());
    let there = [("example.com/v1".to_owned(), Some(FieldPath::read(".spec.size")))];
    let size = ReplicasField::ByVersion(there.into());
    let mut scale = size.to_scale(&owners);
    let replicas = json!({"f:spec": {"f:replicas": {}}});
    let (identity, entry) =
        scale.entries().next().map(|(identity, entry)| (identity.clone(), entry.clone())).unwrap();
    assert_eq!((entry.api_version.as_str(), entry.fields.encode()), ("autoscaling/v1", replicas));
    assert_eq!(
        size.to_parent(&owners, &scale, "example.com/v1"),
        owners,
        "without a write to scale nothing changes"
    );
    scale.remove(&identity);
    let taken = size.to_parent(&owners, &scale, "example.com/v1");
    assert_eq!(*taken.get(&identity).unwrap().fields, FieldSet::of_fields(&["spec.paused"]));
}
