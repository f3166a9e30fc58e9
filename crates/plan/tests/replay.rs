//! Changes that are replayed in virtual time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::time::Duration;

use gantry_cluster::Profile;
use gantry_json::{Value, json};
use gantry_kubectl::Manifest;
use gantry_model::Timestamp;
use gantry_plan::text::Detail;
use gantry_plan::{
    Assumptions, ClusterObjects, ReplayError, ReplayRequest, RolloutEnding, RolloutPlan, StartState, Variant,
    Warning, html, replay, svg, text,
};
use gantry_sim::{SimOptions, simulate};

/// A Deployment of this many replicas of an image, with additional fields of `spec`.
fn web(replicas: u32, image: &str, spec: &Value) -> Manifest {
    let probe = json!({"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1});
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": image, "readinessProbe": probe}]},
        }},
    });
    for (name, value) in spec.as_object().unwrap() {
        object["spec"][name.as_str()] = value.clone();
    }
    Manifest { source: "web.yaml".to_owned(), object }
}

fn rolling(surge: u32, unavailable: u32) -> Value {
    json!({"strategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}})
}

fn request(before: Vec<Manifest>, after: Manifest) -> ReplayRequest {
    let all_pods = vec!["image-pull=present".to_owned(), "start-seconds=10".to_owned()];
    let assumptions = Assumptions { all_pods, ..Assumptions::new(Profile::built_in(), 0) };
    ReplayRequest {
        before: StartState::Manifests(before),
        after: vec![after],
        namespace: "default".to_owned(),
        assumptions,
        horizon: Duration::from_hours(1),
        seed: 1,
    }
}

fn planned(request: &ReplayRequest) -> RolloutPlan {
    replay(request, &Variant::AsWritten).unwrap().remove(0)
}

fn shown(plan: &RolloutPlan) -> String {
    text::lines(plan, Detail::Condensed).iter().map(|line| line.text() + "\n").collect()
}

/// The sizes of the old and the new set, whenever one changes.
fn sizes(plan: &RolloutPlan) -> Vec<Vec<i64>> {
    let mut sizes: Vec<Vec<i64>> =
        plan.timeline.samples.iter().map(|sample| sample.counts.iter().map(|it| it.size).collect()).collect();
    sizes.dedup();
    sizes
}

#[test]
fn a_new_image_is_rolled_out_step_by_step() {
    let plan = planned(&request(vec![web(4, "nginx:1", &rolling(1, 1))], web(4, "nginx:2", &rolling(1, 1))));
    assert_eq!(plan.changes, ["image nginx:1 -> nginx:2"]);
    let sizes = sizes(&plan);
    assert_eq!((&sizes[..2], sizes.last()), (&[vec![4, 0], vec![3, 2]][..], Some(&vec![0, 4])));
    assert!(sizes.iter().all(|sizes| sizes.iter().sum::<i64>() <= 5), "{sizes:?}");
    let RolloutEnding::Complete(after) = plan.ending() else { panic!("{}", shown(&plan)) };
    assert!((20..25).contains(&after.as_secs()), "two batches of ten seconds: {after:?}");
    assert_eq!((plan.summary.fewest_available.value, plan.summary.most_pods.value), (3, 5));
    assert!(plan.summary.most_with_terminating.value > 5);
    assert_eq!(plan.warnings, []);
}

#[test]
fn the_same_seed_gives_the_same_plan() {
    let mut request = request(vec![web(4, "nginx:1", &rolling(1, 0))], web(4, "nginx:2", &rolling(1, 0)));
    request.assumptions.all_pods = vec!["start-seconds=20±10".to_owned(), "crash-percent=20".to_owned()];
    request.horizon = Duration::from_mins(10);
    assert_eq!(shown(&planned(&request)), shown(&planned(&request)));
    let times = |request: &ReplayRequest| planned(request).timeline.end();
    let first = times(&request);
    let differs = (2..10).any(|seed| times(&ReplayRequest { seed, ..request.clone() }) != first);
    assert!(differs, "the times of pods must depend on the seed");
}

#[test]
fn an_image_that_never_becomes_ready_exceeds_the_deadline_and_leaves_the_old_pods() {
    let deadline = json!({"progressDeadlineSeconds": 120});
    let mut request = request(vec![web(4, "nginx:1", &deadline)], web(4, "nginx:2", &deadline));
    request.assumptions.new_pods = vec!["ready=never".to_owned()];
    let plan = planned(&request);
    assert_eq!(plan.ending(), RolloutEnding::Stuck, "{}", shown(&plan));
    let exceeded = plan.summary.deadline_exceeded_after.unwrap().as_secs();
    assert!((120..140).contains(&exceeded), "{exceeded}");
    assert!(plan.warnings.iter().any(|warning| matches!(warning, Warning::Blocks(_))));
    let text = shown(&plan);
    assert!(
        text.contains("(old): 3 pods, 3 available") && text.contains("(new): 2 pods, 0 available"),
        "{text}"
    );
    assert!(text.contains("readiness probe"), "{text}");
}

#[test]
fn recreate_is_an_outage() {
    let recreate = json!({"strategy": {"type": "Recreate"}});
    let plan = planned(&request(vec![web(3, "nginx:1", &recreate)], web(3, "nginx:2", &recreate)));
    assert_eq!(sizes(&plan), [[3, 0], [0, 0], [0, 3]]);
    let outage = plan.warnings.iter().find_map(|warning| match warning {
        Warning::Outage { lasts, .. } => *lasts,
        _ => None,
    });
    assert!((10..15).contains(&outage.unwrap().as_secs()), "{outage:?}");
}

#[test]
fn pods_that_do_not_fit_block_the_rollout() {
    let mut request = request(vec![web(4, "nginx:1", &rolling(2, 0))], web(4, "nginx:2", &rolling(2, 0)));
    request.assumptions = request.assumptions.with_capacity(4);
    let plan = planned(&request);
    assert_eq!(plan.ending(), RolloutEnding::Stuck, "{}", shown(&plan));
    assert!(plan.warnings.contains(&Warning::Unschedulable { pods: 2 }), "{:?}", plan.warnings);
}

#[test]
fn a_change_that_the_api_refuses_is_reported() {
    let mut other = web(4, "nginx:2", &json!({}));
    other.object["spec"]["selector"] = json!({"matchLabels": {"app": "other"}});
    other.object["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"});
    let error =
        replay(&request(vec![web(4, "nginx:1", &json!({}))], other), &Variant::AsWritten).unwrap_err();
    assert!(error.to_string().contains("field is immutable"), "{error}");
    let config = Manifest { source: "a.yaml".to_owned(), object: json!({"kind": "ConfigMap"}) };
    let error = replay(&request(Vec::new(), config), &Variant::AsWritten).unwrap_err();
    assert!(matches!(error, ReplayError::NoDeployment));
}

#[test]
fn required_objects_are_assumed_to_exist() {
    let mut after = web(2, "nginx:1", &json!({}));
    let from = json!([{"configMapRef": {"name": "settings"}}]);
    after.object["spec"]["template"]["spec"]["containers"][0]["envFrom"] = from;
    let plan = planned(&request(Vec::new(), after));
    assert!(matches!(plan.ending(), RolloutEnding::Complete(_)), "{}", shown(&plan));
    assert_eq!(plan.changes, ["created"]);
    assert!(plan.assumptions.contains(&"configmap/settings exists".to_owned()));
}

#[test]
fn strategies_are_compared_with_the_same_pods() {
    let request = request(vec![web(4, "nginx:1", &rolling(1, 0))], web(4, "nginx:2", &rolling(1, 0)));
    let slow = planned(&request);
    let fast = replay(&request, &"maxSurge=100%".parse().unwrap()).unwrap().remove(0);
    assert_eq!(sizes(&fast)[..2], [[4, 0], [4, 4]]);
    assert!(fast.summary.complete_after < slow.summary.complete_after);
    let page = html::render(&[slow.clone(), fast]);
    assert!(page.contains("maxSurge=100%") && page.contains("</html>"));
    let picture = svg::render(&slow, svg::Axes::of(std::slice::from_ref(&slow)));
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
}

#[test]
fn the_svg_of_several_deployments_shows_all_of_them() {
    let mut request = request(Vec::new(), web(1, "nginx:1", &json!({})));
    let mut api = web(2, "nginx:1", &json!({}));
    api.object["metadata"]["name"] = json!("api");
    request.after.push(api);
    let plans = replay(&request, &Variant::AsWritten).unwrap();
    let picture = svg::render_all(&plans);
    assert!(picture.contains("deployment/web") && picture.contains("deployment/api"), "{picture}");
    assert_eq!(picture.matches("<svg").count(), 3, "a document with two pictures");
}

/// The objects of a rollout on a cluster, during it or after it.
fn running(manifests: Vec<Manifest>, last_for: Duration) -> (ClusterObjects, Timestamp) {
    simulate(SimOptions::default(), async |cluster| {
        let (deployments, sets) =
            ("/apis/apps/v1/namespaces/default/deployments", "/apis/apps/v1/namespaces/default/replicasets");
        let last = manifests.len() - 1;
        for (index, manifest) in manifests.into_iter().enumerate() {
            if index == 0 {
                cluster.send("POST", deployments, manifest.object).await;
            } else {
                cluster.send("PATCH", &format!("{deployments}/web"), manifest.object).await;
            }
            cluster.advance(if index == last { last_for } else { Duration::from_mins(1) }).await;
        }
        let mut objects = ClusterObjects::default();
        for (path, list) in [
            (deployments, &mut objects.deployments),
            (sets, &mut objects.sets),
            ("/api/v1/namespaces/default/pods", &mut objects.pods),
        ] {
            list.extend(cluster.get(path).await["items"].as_array().unwrap().iter().cloned());
        }
        (objects, cluster.now())
    })
}

#[test]
fn a_plan_begins_with_the_state_of_a_running_cluster() {
    let (objects, now) = running(vec![web(4, "nginx:1", &rolling(1, 1))], Duration::from_mins(1));
    let mut request = request(Vec::new(), web(4, "nginx:2", &rolling(1, 1)));
    request.before = StartState::Cluster(objects, now);
    let plan = planned(&request);
    let sizes = sizes(&plan);
    assert_eq!(
        (&sizes[..2], sizes.last()),
        (&[vec![4, 0], vec![3, 2]][..], Some(&vec![0, 4])),
        "{}",
        shown(&plan)
    );
    assert_eq!(plan.changes, ["image nginx:1 -> nginx:2"]);
    assert!(matches!(plan.ending(), RolloutEnding::Complete(_)), "{}", shown(&plan));
}

#[test]
fn a_plan_begins_in_the_middle_of_a_rollout_that_is_stuck() {
    let versions = vec![web(4, "nginx:1", &rolling(1, 0)), web(4, "nginx:broken", &rolling(1, 0))];
    let (objects, now) = running(versions, Duration::from_secs(5));
    assert_eq!((objects.sets.len(), objects.pods.len()), (2, 5));
    let mut request = request(Vec::new(), web(4, "nginx:2", &rolling(1, 0)));
    request.before = StartState::Cluster(objects, now);
    let plan = planned(&request);
    assert_eq!(sizes(&plan)[0], [4, 1, 0], "{}", shown(&plan));
    assert_eq!(sizes(&plan).last(), Some(&vec![0, 0, 4]), "{}", shown(&plan));
    assert_eq!(plan.summary.fewest_available.value, 4, "{}", shown(&plan));
}
