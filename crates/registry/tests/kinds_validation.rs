//! Validation of new objects, compared with Kubernetes 1.37.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking; recordings are files"
)]

use gantry_json::{Value, json};
use gantry_primitives::Refusal;
use gantry_registry::{admission, defaults, validation};
use gantry_schema::kinds::{Kind, kinds};

/// O2.1, O2.6, A2.13, A2.14, O6.6, O7.1, O7.2, O7.3: wrong objects are refused with the recorded Status.
#[test]
fn invalid_objects_are_refused_as_recorded() {
    let mut refused = 0;
    for case in recorded_cases() {
        for exchange in recorded(&case) {
            if is_create(&exchange) && exchange["status"] == 422 {
                assert_eq!(refusal_status(&exchange), unmasked(&exchange["body"]), "{case}");
                refused += 1;
            }
        }
    }
    assert!(refused > 80, "{refused}");
}

/// O2.3: unusual objects are accepted with the recorded warnings.
#[test]
fn unusual_objects_are_accepted_with_the_recorded_warnings() {
    let mut warned = 0;
    for case in recorded_cases() {
        for exchange in recorded(&case) {
            if !is_create(&exchange) || exchange["status"] != 201 {
                continue;
            }
            let (kind, mut object) = decoded(&exchange);
            let twice = validation::deduplicate_owners(&mut object, "");
            let found = validation::create(kind, &object);
            assert_eq!(found.errors, [], "{case}");
            let headers: Vec<_> =
                twice.iter().chain(&found.warnings).map(|warning| header(warning)).collect();
            let recorded = exchange["headers"].get("warning").cloned().unwrap_or(json!([]));
            let recorded: Vec<_> =
                recorded.as_array().unwrap().iter().filter(|text| !is_deprecation(text)).cloned().collect();
            assert_eq!(json!(headers), json!(recorded), "{case} {}", exchange["request"]);
            warned += headers.len();
        }
    }
    assert!(warned > 8, "{warned}");
}

/// Appendix A: addresses of a Service are valid, and node ports are allowed only for types that have them.
#[test]
fn services_have_valid_addresses_and_ports() {
    let wrong = |spec: Value| {
        let mut service =
            json!({"metadata": {"name": "s", "namespace": "n"}, "spec": {"ports": [{"port": 80}]}});
        let Value::Object(spec) = spec else { return Vec::new() };
        for (field, value) in spec {
            service["spec"][field] = value;
        }
        let kind = kinds().kind("", "v1", "Service").unwrap();
        defaults::apply(kind, &mut service);
        let found = validation::create(kind, &service).errors;
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let no_address = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    assert_eq!(
        wrong(json!({"clusterIP": "x", "clusterIPs": ["x"], "externalIPs": ["1.2.3"]})),
        [format!("spec.clusterIPs[0]: Invalid value: \"x\": {no_address}")],
        "addresses inside the cluster come first"
    );
    assert_eq!(
        wrong(json!({"externalIPs": ["1.2.3"]})),
        [format!("spec.externalIPs[0]: Invalid value: \"1.2.3\": {no_address}")]
    );
    assert_eq!(
        wrong(json!({"ports": [{"port": 80, "nodePort": 30080}]})),
        ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"]
    );
    let twice =
        json!([{"name": "a", "port": 1, "nodePort": 30080}, {"name": "b", "port": 2, "nodePort": 30080}]);
    assert_eq!(
        wrong(json!({"type": "NodePort", "ports": twice})),
        ["spec.ports[1].nodePort: Duplicate value: 30080"]
    );
    assert_eq!(
        wrong(json!({"ipFamilies": ["IPv7"]})),
        ["spec.ipFamilies[0]: Unsupported value: \"IPv7\": supported values: \"IPv4\", \"IPv6\""]
    );
}

/// A§2.6 quota: a quota limits known resources, by valid amounts.
#[test]
fn quotas_limit_known_resources() {
    let kind = kinds().kind("", "v1", "ResourceQuota").unwrap();
    let hard =
        json!({"foo": "1", "pods": "-1", "secrets": "1500m", "count/jobs.batch": "1", "limits.cpu": "1500m"});
    let quota = json!({"metadata": {"name": "q", "namespace": "n"}, "spec": {"hard": hard}});
    let found: Vec<_> = validation::create(kind, &quota).errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "spec.hard[foo]: Invalid value: \"foo\": must be a standard resource type or fully qualified",
            "spec.hard[foo]: Invalid value: \"foo\": must be a standard resource for quota",
            "spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0",
            "spec.hard[secrets]: Invalid value: \"1500m\": must be an integer",
        ]
    );
}

/// A2.14: an owner that is named twice is kept once.
#[test]
fn duplicate_owners_are_merged_as_recorded() {
    let exchange = &recorded("validation.owner_duplicates.json")[0];
    let mut object = exchange["send"].clone();
    validation::deduplicate_owners(&mut object, "");
    assert_eq!(object["metadata"]["ownerReferences"], exchange["body"]);
    let mut bare = json!({"metadata": {}});
    validation::deduplicate_owners(&mut bare, "");
    assert_eq!(bare, json!({"metadata": {}}));
}

/// A2.14: errors in labels have no key in their path, and those in a template no `metadata`.
#[test]
fn field_paths_are_those_of_kubernetes() {
    let object = json!({
        "metadata": {"name": "web", "labels": {"a b": "x y"}},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": {"A B": "x"}},
                "spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"foo": "1"}}}]},
            },
        },
    });
    let fields = fields_of("apps", "Deployment", object);
    assert_eq!(
        fields,
        [
            "metadata.labels",
            "metadata.labels",
            "spec.template.annotations",
            "spec.template.spec.containers[0].resources.limits[foo]",
            "spec.template.spec.containers[0].resources.limits[foo]",
        ]
    );
}

/// O2.6: an unknown restart policy in a template is refused twice: as an unknown value and as a forbidden one.
#[test]
fn an_unknown_restart_policy_is_refused_for_two_reasons() {
    let spec = json!({"restartPolicy": "Foo", "containers": [{"name": "c", "image": "x"}]});
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": spec});
    let object = json!({
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    });
    let texts = texts_of("apps", "ReplicaSet", object);
    let place = "spec.template.spec.restartPolicy: Unsupported value: \"Foo\": supported values:";
    assert_eq!(
        texts,
        [format!("{place} \"Always\", \"OnFailure\", \"Never\""), format!("{place} \"Always\"")]
    );
}

/// O2.6: the limits of a rollout are validated together, and a percentage of zero is zero.
#[test]
fn limits_of_a_rollout_are_validated_together() {
    let texts = |strategy: Value| {
        let mut object = deployment();
        object["spec"]["strategy"] = strategy;
        texts_of("apps", "Deployment", object)
    };
    let zero = texts(json!({"rollingUpdate": {"maxSurge": "0%", "maxUnavailable": "0%"}}));
    let place = "spec.strategy.rollingUpdate";
    assert_eq!(
        zero,
        [format!("{place}.maxUnavailable: Invalid value: \"0%\": may not be 0 when `maxSurge` is 0")]
    );
    let both = texts(json!({"rollingUpdate": {"maxSurge": "3", "maxUnavailable": -1}}));
    assert_eq!(both.len(), 2);
    assert!(both[0].starts_with(&format!("{place}.maxUnavailable: Invalid value: -1")), "{both:?}");
    assert!(
        both[1].starts_with(&format!("{place}.maxSurge: Invalid value: \"3\": a valid percent")),
        "{both:?}"
    );
    assert_eq!(texts(json!({"rollingUpdate": {"maxSurge": "300%", "maxUnavailable": 50}})), [""; 0]);
    let unknown = texts(json!({"type": "Foo", "rollingUpdate": {"maxSurge": 1}}));
    let shown = r#"{"Type":"Foo","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":1}}"#;
    assert_eq!(
        unknown,
        [format!(
            "spec.strategy: Unsupported value: {shown}: supported values: \"Recreate\", \"RollingUpdate\""
        )]
    );
}

/// A volume with errors is not found by mounts.
#[test]
fn mounts_require_volumes() {
    let mut object = deployment();
    let spec = &mut object["spec"]["template"]["spec"];
    spec["volumes"] = json!([{"name": "v"}, {"name": "v"}, {"name": "s", "secret": {}}]);
    let mounts = json!([
        {"name": "v", "mountPath": "/a"},
        {"name": "v", "mountPath": "/a"},
        {"name": "s", "mountPath": "/s", "subPath": "../x"},
    ]);
    spec["containers"][0]["volumeMounts"] = mounts;
    assert_eq!(
        texts_of("apps", "Deployment", object),
        [
            "spec.template.spec.volumes[1].name: Duplicate value: \"v\"",
            "spec.template.spec.volumes[2].secret.secretName: Required value",
            "spec.template.spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/a\": must be unique",
            "spec.template.spec.containers[0].volumeMounts[2].name: Not found: \"s\"",
            "spec.template.spec.containers[0].volumeMounts.subPath: Invalid value: \"../x\": must not contain '..'",
        ]
    );
}

/// Init containers that are not restarted have no probes, and their names are unique.
#[test]
fn init_containers_have_their_own_rules() {
    let mut object = deployment();
    let spec = &mut object["spec"]["template"]["spec"];
    spec["initContainers"] = json!([
        {"name": "c", "image": "x", "readinessProbe": {"exec": {"command": ["x"]}}},
        {"name": "side", "image": "x", "restartPolicy": "Always", "readinessProbe": {"exec": {"command": ["x"]}}},
    ]);
    assert_eq!(
        texts_of("apps", "Deployment", object),
        [
            "spec.template.spec.initContainers[0].name: Duplicate value: \"c\"",
            "spec.template.spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers \
             without restartPolicy=Always",
        ]
    );
}

/// An invalid namespace of a namespaced object, and a cluster-scoped object in a namespace.
#[test]
fn namespaces_are_checked_where_there_are_any() {
    let map = json!({"metadata": {"name": "a", "namespace": "A"}});
    assert_eq!(fields_of("", "ConfigMap", map), ["metadata.namespace"]);
    let node = json!({"metadata": {"name": "a", "namespace": "x"}});
    assert_eq!(texts_of("", "Node", node), ["metadata.namespace: Forbidden: not allowed on this type"]);
}

/// Validation panics for no value that a client can send.
#[test]
fn validation_never_panics() {
    for kind in kinds().all() {
        for odd in [
            json!(null),
            json!([]),
            json!("x"),
            json!({"spec": [1], "metadata": 5}),
            json!({"spec": {"template": "x"}}),
        ] {
            let _ = validation::create(kind, &odd);
            let _ = validation::update(kind, &odd, &json!({}));
            let _ = validation::status(kind, &json!({}), &odd);
        }
    }
}

fn deployment() -> Value {
    json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
        },
    })
}

fn texts_of(group: &str, kind: &str, mut object: Value) -> Vec<String> {
    let kind = kinds().kind(group, "v1", kind).unwrap();
    defaults::apply(kind, &mut object);
    validation::create(kind, &object).errors.iter().map(ToString::to_string).collect()
}

fn fields_of(group: &str, kind: &str, mut object: Value) -> Vec<String> {
    let kind = kinds().kind(group, "v1", kind).unwrap();
    defaults::apply(kind, &mut object);
    validation::create(kind, &object).errors.into_iter().map(|error| error.field).collect()
}

/// Returns the Status that refuses a recorded request.
fn refusal_status(exchange: &Value) -> Value {
    let (kind, object) = decoded(exchange);
    let found = validation::create(kind, &object);
    // Events of both groups are validated as events of the core group.
    let group = if kind.kind == "Event" { "" } else { kind.group };
    let name = object["metadata"]["name"].as_str().unwrap_or("");
    Refusal::invalid(kind.kind, group, name, &found.errors).status()
}

/// Returns the object as it is validated: decoded, with defaults, a name and the namespace of the URL.
fn decoded(exchange: &Value) -> (&'static Kind, Value) {
    let kind = kind_of(exchange);
    let mut object = unmasked(&exchange["send"]);
    drop_nulls(&mut object);
    defaults::apply(kind, &mut object);
    if matches!(kind.kind, "Job" | "Service") {
        object["metadata"]["uid"] = json!("uid1");
        admission::admit_create(kind, &mut object);
    }
    let metadata = object["metadata"].as_object_mut().unwrap();
    if let Some(prefix) = metadata.get("generateName").and_then(Value::as_str) {
        let name = format!("{prefix}<5>");
        metadata.insert("name".to_owned(), json!(name));
    }
    if exchange["request"].as_str().unwrap().contains("/namespaces/") {
        // The placeholder of the namespace in the recordings is not a valid name.
        metadata.insert("namespace".to_owned(), json!("ns"));
    }
    let text = object.to_string().replace("\"NS", "\"ns");
    (kind, gantry_json::from_str(&text).unwrap())
}

/// Expands `<300 times x>`.
fn unmasked(value: &Value) -> Value {
    let mut text = value.to_string();
    while let Some((before, rest)) = text.split_once(" times ").map(|(a, b)| (a.to_owned(), b.to_owned())) {
        let (head, count) = before.rsplit_once('<').unwrap();
        let count: usize = count.parse().unwrap();
        let letter = &rest[..1];
        text = format!("{head}{}{}", letter.repeat(count), &rest[2..]);
    }
    gantry_json::from_str(&text).unwrap()
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

fn header(warning: &str) -> String {
    format!("299 - \"{}\"", warning.replace('\\', "\\\\").replace('"', "\\\""))
}

fn is_deprecation(text: &Value) -> bool {
    text.as_str().is_some_and(|text| text.contains("v1 Endpoints is deprecated"))
}

fn is_create(exchange: &Value) -> bool {
    let request = exchange["request"].as_str().unwrap_or("");
    request.starts_with("POST") && exchange["send"].is_object()
}

fn kind_of(exchange: &Value) -> &'static Kind {
    let path = exchange["request"].as_str().unwrap().split([' ', '?']).nth(1).unwrap();
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let (group, rest) = if parts[0] == "api" { ("", &parts[1..]) } else { (parts[1], &parts[2..]) };
    kinds().resource(group, rest[0], rest.last().unwrap()).unwrap()
}

fn recorded_cases() -> Vec<String> {
    let folder = format!("{}/tests/recorded", env!("CARGO_MANIFEST_DIR"));
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let wanted = ["validation.", "objects.", "events.refusals"];
    let mut cases: Vec<_> = names.filter(|name| wanted.iter().any(|start| name.starts_with(start))).collect();
    cases.sort();
    cases
}

fn recorded(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/recorded/{file}", env!("CARGO_MANIFEST_DIR"));
    gantry_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
