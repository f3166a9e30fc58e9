//! Warnings about pods.

use gantry_json::{Value, json};
use gantry_registry::validation;

use super::{kind, object, template};

fn deployment(replicas: i64, pod: &Value) -> Value {
    let mut template = template();
    for (field, value) in pod.as_object().unwrap() {
        template["spec"][field] = value.clone();
    }
    let spec = json!({"replicas": replicas, "selector": {"matchLabels": {"a": "b"}}, "template": template});
    object(kind("apps", "deployments"), &spec)
}

/// An update repeats the warning exactly if it increments the generation.
#[test]
fn warnings_about_pods_are_repeated_on_every_change_of_the_spec() {
    let deployments = kind("apps", "deployments");
    let spread = json!({"topologySpreadConstraints":
        [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]});
    let warning = "spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in \
                   matching no pod";
    let old = deployment(1, &spread);
    assert_eq!(validation::create(deployments, &old).warnings, [warning]);
    let mut scaled = deployment(2, &spread);
    scaled["metadata"]["generation"] = json!(2);
    assert_eq!(validation::update(deployments, &old, &scaled).warnings, [warning]);
    let mut labelled = old.clone();
    labelled["metadata"]["labels"] = json!({"x": "y"});
    assert_eq!(validation::update(deployments, &old, &labelled).warnings, Vec::<String>::new());
}

#[test]
fn warnings_about_pods_are_in_order() {
    let pod = json!({
        "volumes": [
            {"name": "git", "gitRepo": {"repository": "r"}},
            {"name": "s", "secret": {"secretName": "x", "items": [{"key": "a", "path": "p"}, {"key": "b", "path": "p/q"}]}},
        ],
        "imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}],
        "containers": [
            {"name": "c", "image": "i:1", "ports": [{"containerPort": 1}]},
            {"name": "d", "image": "i:1", "ports": [{"containerPort": 1}]},
        ],
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}},
    });
    let report = validation::create(kind("apps", "deployments"), &deployment(1, &pod));
    assert_eq!(report.errors, []);
    let at = "spec.template.spec";
    assert_eq!(
        report.warnings,
        [
            format!("{at}.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"),
            "volume \"s\" (Secret \"x\"): overlapping paths: \"p/q\" with \"p\"".to_owned(),
            format!("{at}.imagePullSecrets[1].name: duplicate name \"a\""),
            format!("{at}.imagePullSecrets[2].name: invalid empty name \"\""),
            format!(
                "{at}.containers[1].ports[0]: duplicate port definition with {at}.containers[0].ports[0]"
            ),
            format!(
                "{at}.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null \
                 labelSelector results in matching no pod"
            ),
        ]
    );
}
