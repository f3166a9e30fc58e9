//! Deletion: options, finalizers, grace periods.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::cluster::{Cluster, PODS, message, pod};
use http::Method;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";

async fn map(cluster: &Cluster, name: &str, finalizers: &[&str]) -> Value {
    let object = json!({"metadata": {"name": name, "finalizers": finalizers}});
    cluster.post(MAPS, object).await.1
}

async fn set(cluster: &Cluster, name: &str, finalizers: &[&str]) -> Value {
    let object = json!({
        "metadata": {"name": name, "finalizers": finalizers},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}},
    });
    cluster.post(SETS, object).await.1
}

/// A2.25: options are read from the body, else from the query; an invalid body is refused.
#[tokio::test]
async fn options_come_from_the_body_or_the_query() {
    let cluster = Cluster::new().await;
    for version in ["v1", "meta.k8s.io/v1", "apps/v1", "policy/v1"] {
        set(&cluster, "a", &[]).await;
        let options = json!({"kind": "DeleteOptions", "apiVersion": version, "propagationPolicy": "Orphan"});
        let (status, held) = cluster.delete_with(&format!("{SETS}/a"), options).await;
        assert_eq!((status, &held["metadata"]["finalizers"]), (200, &json!(["orphan"])), "{version}");
        let none = json!({"propagationPolicy": "Background"});
        assert_eq!(
            cluster.delete_with(&format!("{SETS}/a?propagationPolicy=Orphan"), none).await.1["kind"],
            "Status"
        );
    }
    let created = map(&cluster, "a", &[]).await;
    let other = cluster.delete(&format!("{MAPS}/a?uid=u")).await;
    assert_eq!(other.0, 409, "{other:?}");
    let wrong =
        cluster.delete_with(&format!("{MAPS}/a"), json!({"kind": "ConfigMap", "apiVersion": "v1"})).await;
    assert_eq!(wrong.0, 400, "{wrong:?}");
    let uid = created["metadata"]["uid"].as_str().unwrap();
    assert_eq!(cluster.delete(&format!("{MAPS}/a?uid={uid}&orphanDependents=false")).await.0, 200);
}

/// A2.25, A2.15: a dry run in the body or in the query returns the result and changes nothing.
#[tokio::test]
async fn a_dry_run_deletes_nothing() {
    let cluster = Cluster::new().await;
    map(&cluster, "a", &[]).await;
    cluster.running("p", true).await;
    let all = json!({"dryRun": ["All"]});
    let (status, gone) = cluster.delete_with(&format!("{MAPS}/a"), all.clone()).await;
    assert_eq!((status, &gone["status"]), (200, &json!("Success")));
    assert_eq!(cluster.delete(&format!("{MAPS}/a?dryRun=All")).await.0, 200);
    let (_, leaving) = cluster.delete_with(&format!("{PODS}/p"), all.clone()).await;
    assert_eq!(leaving["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(cluster.delete_with(MAPS, all).await.0, 200);
    assert_eq!(cluster.get(&format!("{MAPS}/a")).await.0, 200);
    assert_eq!(cluster.get(&format!("{PODS}/p")).await.1["metadata"].get("deletionTimestamp"), None);
    let wrong = cluster.delete_with(&format!("{MAPS}/a"), json!({"dryRun": ["Some"]})).await;
    let why = "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\"";
    assert_eq!((wrong.0, message(&wrong)), (422, why));
}

/// A2.26: unknown policies, and two at once, are refused.
#[tokio::test]
async fn invalid_propagation_policies_are_refused() {
    let cluster = Cluster::new().await;
    map(&cluster, "a", &[]).await;
    let unknown = cluster.delete(&format!("{MAPS}/a?propagationPolicy=Foo")).await;
    let why = "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Foo\": supported values: \
               \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
    assert_eq!((unknown.0, message(&unknown)), (422, why));
    let both = json!({"propagationPolicy": "Orphan", "orphanDependents": true});
    let both = cluster.delete_with(&format!("{MAPS}/a"), both).await;
    let why = "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Orphan\": orphanDependents \
               and deletionPropagation cannot be both set";
    assert_eq!((both.0, message(&both)), (422, why));
    let malformed = cluster.delete(&format!("{MAPS}/a?gracePeriodSeconds=abc")).await;
    assert_eq!(
        (malformed.0, message(&malformed)),
        (400, "strconv.ParseInt: parsing \"abc\": invalid syntax")
    );
    assert_eq!(cluster.get(&format!("{MAPS}/a")).await.0, 200);
}

/// A2.27, O6.1, O6.2: the propagation policy is the one in the request, else the one of the object's finalizers, else
/// the default of its kind.
#[tokio::test]
async fn the_policy_is_that_of_the_request_the_object_or_the_kind() {
    let cluster = Cluster::new().await;
    set(&cluster, "a", &["orphan"]).await;
    let path = format!("{SETS}/a");
    assert_eq!(
        cluster.delete(&path).await.1["metadata"]["finalizers"],
        json!(["orphan"]),
        "the finalizer of the object"
    );
    let foreground = json!({"propagationPolicy": "Foreground"});
    let (_, changed) = cluster.delete_with(&path, foreground).await;
    assert_eq!(changed["metadata"]["finalizers"], json!(["foregroundDeletion"]), "the policy of the request");
    assert_eq!(cluster.delete_with(&path, json!({"orphanDependents": false})).await.0, 200);
    assert_eq!(cluster.get(&path).await.0, 404, "foreground, then background: deleted at once");
    let controllers = "/api/v1/namespaces/default/replicationcontrollers";
    let spec = json!({"replicas": 0, "selector": {"a": "b"}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}});
    cluster.post(controllers, json!({"metadata": {"name": "rc"}, "spec": spec})).await;
    let (_, held) = cluster.delete(&format!("{controllers}/rc")).await;
    assert_eq!(held["metadata"]["finalizers"], json!(["orphan"]), "the policy of the kind");
    let events = "/api/v1/namespaces/default/events";
    let event = json!({"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}});
    cluster.post(events, event).await;
    assert_eq!(
        cluster.delete(&format!("{events}/e?propagationPolicy=Orphan")).await.1["kind"],
        "Status",
        "events ignore the policy"
    );
}

/// A2.28, O6.3, O6.4, O6.5, O6.7: finalizers delay a deletion; deleting again changes nothing; removing the last one
/// deletes.
#[tokio::test]
async fn removing_the_last_finalizer_deletes_the_object() {
    let cluster = Cluster::new().await;
    let created = set(&cluster, "a", &["example.com/f", "example.com/g"]).await;
    let path = format!("{SETS}/a");
    let (status, held) = cluster.delete(&path).await;
    assert_eq!(
        (status, &held["kind"]),
        (200, &json!("ReplicaSet")),
        "the response is the object, which still exists"
    );
    assert_eq!(held["metadata"]["deletionTimestamp"], "2026-01-01T12:00:00Z");
    assert_eq!(held["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!((&created["metadata"]["generation"], &held["metadata"]["generation"]), (&json!(1), &json!(2)));
    assert_eq!(cluster.delete(&path).await.1, held, "nothing is written");
    let (status, scaled) = cluster.merge(&path, json!({"spec": {"replicas": 5}})).await;
    assert_eq!(
        (status, &scaled["metadata"]["generation"]),
        (200, &json!(3)),
        "the object can still be changed"
    );
    assert_eq!(cluster.merge(&path, json!({"metadata": {"finalizers": ["example.com/g"]}})).await.0, 200);
    let more = json!({"metadata": {"finalizers": ["example.com/g", "example.com/h"]}});
    assert_eq!(cluster.merge(&path, more).await.0, 422, "A2.19: no finalizer can be added");
    let (status, last) = cluster.merge(&path, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!((status, &last["kind"]), (200, &json!("ReplicaSet")));
    let absent = cluster.delete(&path).await;
    assert_eq!((absent.0, message(&absent)), (404, "replicasets.apps \"a\" not found"));
}

/// A2.28, O6.3, O6.7: an object without finalizers is deleted at once, and the response names it.
#[tokio::test]
async fn the_response_names_the_deleted_object() {
    let cluster = Cluster::new().await;
    let created = set(&cluster, "a", &[]).await;
    let (status, gone) = cluster.delete(&format!("{SETS}/a")).await;
    let details =
        json!({"name": "a", "group": "apps", "kind": "replicasets", "uid": created["metadata"]["uid"]});
    let success = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details});
    assert_eq!((status, gone), (200, success));
    let services = "/api/v1/namespaces/default/services";
    let (_, created) =
        cluster.post(services, json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}})).await;
    let (_, gone) = cluster.delete(&format!("{services}/s")).await;
    assert_eq!(
        (&gone["kind"], &gone["spec"]),
        (&json!("Service"), &created["spec"]),
        "column Del: the response is the object"
    );
    let version =
        |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(version(&gone) > version(&created), "with the version of its deletion");
}

/// A2.29: with `orphanDependents: false` a delayed deletion returns 202.
#[tokio::test]
async fn a_delayed_deletion_can_return_202() {
    let cluster = Cluster::new().await;
    map(&cluster, "a", &["example.com/f"]).await;
    let path = format!("{MAPS}/a");
    assert_eq!(cluster.delete_with(&path, json!({"orphanDependents": false})).await.0, 202);
    assert_eq!(cluster.delete_with(&path, json!({"propagationPolicy": "Background"})).await.0, 200);
    map(&cluster, "b", &[]).await;
    assert_eq!(cluster.delete_with(&format!("{MAPS}/b"), json!({"orphanDependents": false})).await.0, 200);
}

/// A2.30, A4.19: a client that waits for a deletion watches by name from the returned version.
#[tokio::test]
async fn a_watch_by_name_sees_the_deletion() {
    let cluster = Cluster::new().await;
    map(&cluster, "a", &["example.com/f"]).await;
    let (_, held) = cluster.delete(&format!("{MAPS}/a")).await;
    let version = held["metadata"]["resourceVersion"].as_str().unwrap();
    cluster.merge(&format!("{MAPS}/a"), json!({"metadata": {"finalizers": null}})).await;
    let watch = format!("{MAPS}?watch=true&resourceVersion={version}&fieldSelector=metadata.name%3Da");
    let events = cluster.events(&watch, 1).await;
    assert_eq!(events[0].0, "DELETED", "no MODIFIED before");
    assert_eq!(events[0].1["metadata"]["finalizers"], json!(["example.com/f"]), "as it was last stored");
    assert_eq!(events[0].1["metadata"]["uid"], held["metadata"]["uid"]);
}

/// A2.31: a collection is deleted by the rules of its members; the response lists them as they were.
#[tokio::test]
async fn a_collection_is_deleted_member_by_member() {
    let cluster = Cluster::new().await;
    for (name, label, finalizers) in
        [("a", "x", json!([])), ("b", "y", json!([])), ("c", "x", json!(["example.com/f"]))]
    {
        let metadata = json!({"name": name, "labels": {"l": label}, "finalizers": finalizers});
        cluster.post(MAPS, json!({"metadata": metadata})).await;
    }
    let names = |list: &Value| -> Vec<String> {
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let (status, deleted) = cluster.delete(&format!("{MAPS}?labelSelector=l%3Dx")).await;
    assert_eq!(
        (status, &deleted["kind"], names(&deleted)),
        (200, &json!("ConfigMapList"), vec!["a".into(), "c".into()])
    );
    assert_eq!(
        deleted["items"][1]["metadata"].get("deletionTimestamp"),
        None,
        "the object before the deletion"
    );
    let (_, left) = cluster.get(MAPS).await;
    assert_eq!(names(&left), ["b", "c"]);
    assert_eq!(left["items"][1]["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(names(&cluster.delete(&format!("{MAPS}?limit=1")).await.1), ["b"], "one page");
    assert_eq!(
        names(&cluster.delete(&format!("{MAPS}?fieldSelector=metadata.name%3Dnone")).await.1).len(),
        0
    );
    assert_eq!(cluster.delete(&format!("{MAPS}?propagationPolicy=Foo")).await.0, 422);
    assert_eq!(cluster.delete(&format!("{MAPS}?labelSelector=a%3D%3Db%3D%3Dc")).await.0, 400);
    assert_eq!(cluster.delete("/api/v1/configmaps").await.0, 405, "never of all namespaces at once");
}

/// A1.11: deleting a job without a propagation policy gets a warning that its pods are kept.
#[tokio::test]
async fn deleting_a_job_warns_that_its_pods_are_kept() {
    let cluster = Cluster::new().await;
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let job = |name: &str| {
        json!({"metadata": {"name": name}, "spec": {"suspend": true, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "c", "image": "nginx:1"}]}}}})
    };
    for (name, query, count) in
        [("a", "", 1), ("b", "?propagationPolicy=Background", 0), ("c", "?propagationPolicy=Orphan", 0)]
    {
        assert_eq!(cluster.post(jobs, job(name)).await.0, 201);
        let warnings = cluster.warnings(Method::DELETE, &format!("{jobs}/{name}{query}")).await;
        assert_eq!(warnings.len(), count, "{warnings:?}");
    }
    let missing = cluster.warnings(Method::DELETE, &format!("{jobs}/none")).await;
    assert_eq!(
        missing.len(),
        1,
        "the warning is returned although the job does not exist, as in Kubernetes: {missing:?}"
    );
    cluster.post(jobs, job("d")).await;
    let warnings = cluster.warnings(Method::DELETE, &format!("{jobs}/d")).await;
    assert_eq!(
        warnings,
        [
            "299 - \"child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove \
          them or set propagationPolicy=Orphan to suppress this warning\""
        ]
    );
}

/// O6.6: orphaning and foreground deletion exclude each other.
#[tokio::test]
async fn both_finalizers_of_the_garbage_collector_are_refused() {
    let cluster = Cluster::new().await;
    let refused = cluster
        .post(MAPS, json!({"metadata": {"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}}))
        .await;
    let why = "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and \
               foregroundDeletion cannot be both set";
    assert_eq!((refused.0, message(&refused)), (422, format!("ConfigMap \"a\" is invalid: {why}").as_str()));
}

/// O6.8, O6.9, O6.10, A4.19: an unscheduled pod is deleted at once, and watchers see the deletion.
#[tokio::test]
async fn an_unscheduled_pod_is_deleted_at_once() {
    let cluster = Cluster::new().await;
    let (_, created) = cluster.post(PODS, pod("p")).await;
    let (status, gone) = cluster.delete(&format!("{PODS}/p")).await;
    assert_eq!((status, &gone["kind"], &gone["metadata"]["generation"]), (200, &json!("Pod"), &json!(2)));
    let version = created["metadata"]["resourceVersion"].as_str().unwrap();
    let events = cluster.events(&format!("{PODS}?watch=true&resourceVersion={version}"), 2).await;
    assert_eq!((events[0].0.as_str(), events[1].0.as_str()), ("MODIFIED", "DELETED"));
    for (_, object) in &events {
        assert_eq!(object["metadata"]["deletionGracePeriodSeconds"], 0);
        assert_eq!(object["metadata"]["deletionTimestamp"], "2026-01-01T12:00:00Z");
    }
    assert_eq!(events[1].1["metadata"]["resourceVersion"], gone["metadata"]["resourceVersion"]);
}

/// O6.8, O6.9, O6.11, O6.13: a running pod has a grace period, which can be shortened, and watchers see its start.
#[tokio::test]
async fn a_running_pod_has_a_grace_period() {
    let cluster = Cluster::new().await;
    let running = cluster.running("p", true).await;
    let path = format!("{PODS}/p");
    let end = |pod: &Value| {
        (pod["metadata"]["deletionTimestamp"].clone(), pod["metadata"]["deletionGracePeriodSeconds"].clone())
    };
    let (_, leaving) = cluster.delete(&path).await;
    assert_eq!(end(&leaving), (json!("2026-01-01T12:00:30Z"), json!(30)));
    assert_eq!(
        (&leaving["metadata"]["generation"], &leaving["status"]["phase"]),
        (&json!(2), &json!("Running"))
    );
    for query in ["", "?gracePeriodSeconds=30", "?gracePeriodSeconds=60"] {
        assert_eq!(cluster.delete(&format!("{path}{query}")).await.1, leaving, "nothing changes");
    }
    let (_, sooner) = cluster.delete(&format!("{path}?gracePeriodSeconds=10")).await;
    assert_eq!(end(&sooner), (json!("2026-01-01T12:00:10Z"), json!(10)));
    assert_eq!(sooner["metadata"]["generation"], 2, "the generation is incremented once");
    let (_, hurried) = cluster.delete(&format!("{path}?gracePeriodSeconds=-5")).await;
    assert_eq!(end(&hurried), (json!("2026-01-01T12:00:01Z"), json!(1)), "a negative period is one second");
    let version = running["metadata"]["resourceVersion"].as_str().unwrap();
    let events = cluster.events(&format!("{PODS}?watch=true&resourceVersion={version}"), 1).await;
    assert_eq!((events[0].0.as_str(), end(&events[0].1)), ("MODIFIED", end(&leaving)));
    assert_eq!(cluster.delete(&format!("{path}?gracePeriodSeconds=0")).await.0, 200);
    assert_eq!(cluster.get(&path).await.0, 404);
}

/// O6.8: a finished pod has no grace period.
#[tokio::test]
async fn a_finished_pod_has_no_grace_period() {
    let cluster = Cluster::new().await;
    for phase in ["Succeeded", "Failed"] {
        let name = phase.to_lowercase();
        cluster.running(&name, false).await;
        cluster.merge(&format!("{PODS}/{name}/status"), json!({"status": {"phase": phase}})).await;
        cluster.delete(&format!("{PODS}/{name}")).await;
        assert_eq!(cluster.get(&format!("{PODS}/{name}")).await.0, 404);
    }
}

/// O6.9, O6.10, O6.5: grace period and finalizers both delay the deletion; deleting again does not change either.
#[tokio::test]
async fn a_pod_with_finalizers_stays_after_its_grace_period() {
    let cluster = Cluster::new().await;
    let mut held = pod("p");
    held["metadata"]["finalizers"] = json!(["example.com/f"]);
    held["spec"]["nodeName"] = json!("n1");
    cluster.post(PODS, held).await;
    let path = format!("{PODS}/p");
    cluster.delete(&path).await;
    let (_, over) = cluster.delete(&format!("{path}?gracePeriodSeconds=0")).await;
    assert_eq!(over["metadata"]["deletionGracePeriodSeconds"], 0);
    let (_, again) = cluster.delete(&path).await;
    assert_eq!(again, over, "the grace period does not start again");
    assert_eq!(cluster.merge(&path, json!({"metadata": {"finalizers": null}})).await.0, 200);
    assert_eq!(cluster.get(&path).await.0, 404);
}

/// O6.12, A2.19: a deletion timestamp can neither be removed nor set by a client.
#[tokio::test]
async fn a_deletion_timestamp_is_neither_removed_nor_set_by_clients() {
    let cluster = Cluster::new().await;
    map(&cluster, "a", &["example.com/f"]).await;
    let path = format!("{MAPS}/a");
    let by_hand =
        cluster.merge(&path, json!({"metadata": {"deletionTimestamp": "2030-01-01T00:00:00Z"}})).await;
    let why = "metadata.deletionTimestamp: Invalid value: \"2030-01-01T00:00:00Z\": field is immutable";
    assert_eq!((by_hand.0, message(&by_hand)), (422, format!("ConfigMap \"a\" is invalid: {why}").as_str()));
    cluster.delete(&path).await;
    for undone in [json!({"deletionTimestamp": null}), json!({"deletionGracePeriodSeconds": null})] {
        let (status, still) = cluster.merge(&path, json!({"metadata": undone})).await;
        assert_eq!((status, &still["metadata"]["deletionTimestamp"]), (200, &json!("2026-01-01T12:00:00Z")));
        assert_eq!(still["metadata"]["deletionGracePeriodSeconds"], 0);
    }
    let longer = cluster.merge(&path, json!({"metadata": {"deletionGracePeriodSeconds": 9}})).await;
    assert_eq!(longer.0, 422, "{longer:?}");
}

/// O6.7, A§0.1: a precondition on uid or version that does not hold is refused.
#[tokio::test]
async fn an_object_with_another_uid_is_not_deleted() {
    let cluster = Cluster::new().await;
    let created = map(&cluster, "a", &[]).await;
    let text = |field: &str| created["metadata"][field].as_str().unwrap().to_owned();
    let path = format!("{MAPS}/a");
    let other = cluster.delete_with(&path, json!({"preconditions": {"uid": "u"}})).await;
    let why = format!(
        "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (u) does not match the UID in record \
         ({}). The object might have been deleted and then recreated",
        text("uid")
    );
    assert_eq!(
        (other.0, message(&other), &other.1["details"]),
        (409, why.as_str(), &json!({"name": "a", "kind": "ConfigMap"}))
    );
    let outdated = cluster.delete_with(&path, json!({"preconditions": {"resourceVersion": "1"}})).await;
    let why = format!(
        "Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in the precondition (1) does not match the \
         ResourceVersion in record ({}). The object might have been modified",
        text("resourceVersion")
    );
    assert_eq!((outdated.0, message(&outdated)), (409, why.as_str()));
    set(&cluster, "s", &[]).await;
    let other = cluster.delete_with(&format!("{SETS}/s"), json!({"preconditions": {"uid": "u"}})).await;
    assert!(
        message(&other).starts_with("Operation cannot be fulfilled on ReplicaSet.apps \"s\": "),
        "{other:?}"
    );
}
