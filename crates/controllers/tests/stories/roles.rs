//! Aggregated ClusterRoles follow the roles that they select.

use gantry_json::{Value, json};

use crate::cluster::Cluster;

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

fn role(name: &str, label: &str, resource: &str) -> Value {
    let rule = json!({"apiGroups": ["shop.example.com"], "resources": [resource], "verbs": ["get"]});
    json!({"metadata": {"name": name, "labels": {label: "true"}}, "rules": [rule]})
}

/// The resources that the rules of a role name.
async fn resources(cluster: &Cluster, name: &str) -> Vec<String> {
    let role = cluster.get(&format!("{ROLES}/{name}")).await;
    let rules = role["rules"].as_array().cloned().unwrap_or_default();
    rules.iter().map(|rule| rule["resources"][0].as_str().unwrap_or_default().to_owned()).collect()
}

/// A7.9: the rules of `view` are part of `edit`, and those of `edit` of `admin`.
#[tokio::test(start_paused = true)]
async fn aggregated_roles_of_a_new_cluster_get_their_rules() {
    let cluster = Cluster::without_controllers().await;
    assert_eq!(cluster.get(&format!("{ROLES}/view")).await["rules"], Value::Null);
    let cluster = Cluster::new().await;
    cluster.settle().await;
    let (view, edit, admin) = (
        resources(&cluster, "view").await,
        resources(&cluster, "edit").await,
        resources(&cluster, "admin").await,
    );
    assert_eq!(view[0], "configmaps");
    assert!(edit.ends_with(&view), "system:aggregate-to-edit precedes view");
    assert_eq!(admin[..edit.len()], edit, "edit precedes system:aggregate-to-admin");
}

/// A10.3: the rules are applied, so the controller owns the rules and nothing else.
#[tokio::test(start_paused = true)]
async fn the_rules_of_an_aggregated_role_belong_to_the_controller() {
    let cluster = Cluster::new().await;
    cluster.settle().await;
    let view = cluster.get(&format!("{ROLES}/view")).await;
    let managers = view["metadata"]["managedFields"].as_array().unwrap();
    let writers: Vec<_> = managers.iter().map(|entry| (&entry["manager"], &entry["operation"])).collect();
    assert_eq!(json!(writers), json!([["gantry-controllers", "Apply"], ["kube-apiserver", "Update"]]));
    assert_eq!(managers[0]["fieldsV1"], json!({"f:rules": {}}));
}

/// A7.9: roles that are labelled, changed and unlabelled.
#[tokio::test(start_paused = true)]
async fn a_user_defined_aggregated_role_follows_the_labels() {
    let cluster = Cluster::new().await;
    let selector = json!({"matchLabels": {"to-till": "true"}});
    let till = json!({"metadata": {"name": "till"}, "aggregationRule": {"clusterRoleSelectors": [selector]}});
    cluster.send("POST", ROLES, till).await;
    for (name, resource) in [("b", "coins"), ("a", "notes")] {
        cluster.send("POST", ROLES, role(name, "to-till", resource)).await;
    }
    cluster.settle().await;
    assert_eq!(resources(&cluster, "till").await, ["notes", "coins"], "by name");
    cluster.send("PATCH", &format!("{ROLES}/a"), json!({"metadata": {"labels": {"to-till": null}}})).await;
    let cards = json!({"rules": [{"apiGroups": [""], "resources": ["cards"], "verbs": ["get"]}]});
    cluster.send("PATCH", &format!("{ROLES}/b"), cards).await;
    cluster.settle().await;
    assert_eq!(resources(&cluster, "till").await, ["cards"]);
    cluster.send("DELETE", &format!("{ROLES}/b"), json!(null)).await;
    cluster.settle().await;
    let till = cluster.get(&format!("{ROLES}/till")).await;
    assert_eq!(till["rules"], Value::Null);
}
