//! Reports wrapped to a terminal, and several at once.

use gantry_json::{from_value, json};
use gantry_view::why::{Several, lines};
use gantry_view::{Listing, Style};

use super::world::{World, at, new_pod, pod, rolling, serving, set};

fn stuck() -> World {
    let message = "Back-off pulling image \"nginx:2\": ErrImagePull: not found";
    rolling(new_pod(&json!({"waiting": {"reason": "ImagePullBackOff", "message": message}})))
}

fn done() -> World {
    stuck().but(|world| {
        world.sets = vec![set("web-2", 2, 3, 3)];
        world.pods = (1..=3).map(|n| serving(pod("web-2", &format!("web-2-{n}"), n), n + 10)).collect();
        world.deployment["metadata"]["namespace"] = json!("shop");
        world.deployment["metadata"]["name"] = json!("api");
        let reports = json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3,
            "availableReplicas": 3, "conditions": [{"type": "Progressing", "status": "True",
                "reason": "NewReplicaSetAvailable", "lastUpdateTime": at(0)}]});
        world.deployment["status"] = reports;
    })
}

#[test]
fn on_a_narrow_terminal_lines_go_on_indented_and_commands_stay_whole() {
    let page: Vec<_> = lines(&stuck().report(), Some(52)).iter().map(gantry_view::Line::text).collect();
    assert_eq!(
        page.join("\n"),
        "\
deployment/web is stuck: 1 pod: image nginx:2 cannot
  be pulled (container main)

Pods      1 of 3 updated, 3 ready, 3 available, 3
          old remaining (revision 2)
Budget    4 of at most 4 pods (maxSurge 1), 3
          available of at least 3 (maxUnavailable
          0); at the surge limit and at the
          availability floor
Deadline  fires in 9m, at 2026-01-01T12:10:00Z

Blocking
  image nginx:2 cannot be pulled (container main)
    1 pod: web-2-a
    Back-off pulling image \"nginx:2\": ErrImagePull:
    not found

Suggested actions
  use another image:
    gantry set image deployment/web main=IMAGE
  or push nginx:2, or give the pods an image pull
    secret that may read it
  or go back to revision 1:
    gantry rollout undo deployment/web"
    );
}

#[test]
fn only_the_verdict_is_coloured() {
    let first = lines(&stuck().report(), None).remove(0);
    let verdict = first.spans.iter().find(|span| span.style == Style::Bad).unwrap();
    assert_eq!(verdict.text, "stuck");
}

#[test]
fn several_rollouts_are_a_table_and_the_details_of_those_that_are_not_done() {
    let several = Several { reports: vec![stuck().report(), done().report()], all_namespaces: true };
    let text = several.render_text();
    let table = "\
NAMESPACE   DEPLOYMENT   VERDICT   AVAILABLE   WHY
default     web          stuck     3/3         1 pod: image nginx:2 cannot be pulled (container main)
shop        api          done      3/3         all 3 pods of revision 2 are available

deployment/web in namespace default is stuck: 1 pod: image nginx:2 cannot be pulled (container main)
";
    assert!(text.starts_with(table), "{text}");
    assert!(!text.contains("deployment/api"), "a complete rollout has no details:\n{text}");
    assert_eq!(several.verdict().as_str(), "stuck");
    let json: gantry_json::Value = gantry_json::from_str(&several.render_json()).unwrap();
    assert_eq!((&json["verdict"], &json["deployments"][1]["name"]), (&json!("stuck"), &json!("api")));
    let one = Several { reports: vec![done().report()], all_namespaces: false };
    assert!(one.render_text().starts_with("DEPLOYMENT   VERDICT"), "{}", one.render_text());
}

#[test]
fn the_worst_verdict_counts() {
    let paused = stuck().but(|world| world.deployment["spec"]["paused"] = json!(true));
    let moving = rolling(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}})));
    let worst = |worlds: &[&World]| {
        let reports = worlds.iter().map(|world| world.report()).collect();
        Several { reports, all_namespaces: false }.verdict().as_str()
    };
    assert_eq!(worst(&[]), "done");
    assert_eq!(worst(&[&done(), &paused]), "paused");
    assert_eq!(worst(&[&moving, &paused, &done()]), "moving");
    assert_eq!(worst(&[&moving, &stuck(), &paused]), "stuck");
}

/// Both Deployments were listed together; each gets its own objects.
#[test]
fn a_list_of_all_namespaces_is_split_by_deployment() {
    let (web, api) = (stuck().warning("web-2-a", "Failed", "no such image"), done());
    let list = |values: &[gantry_json::Value]| gantry_json::Value::Array(values.to_vec());
    let elsewhere = |values: &[gantry_json::Value]| {
        let mut values = values.to_vec();
        for value in &mut values {
            value["metadata"]["namespace"] = json!("shop");
        }
        values
    };
    let mut other = web.deployment.clone();
    other["spec"]["selector"]["matchLabels"] = json!({"app": "other"});
    other["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"});
    let listing = Listing {
        deployments: from_value(list(&[web.deployment.clone(), api.deployment.clone(), other])).unwrap(),
        sets: from_value(list(&[web.sets.clone(), elsewhere(&api.sets)].concat())).unwrap(),
        pods: from_value(list(&[web.pods.clone(), elsewhere(&api.pods)].concat())).unwrap(),
        events: from_value(list(&web.events)).unwrap(),
        nodes: Vec::new(),
    };
    let counts = |index: usize| {
        let objects_of = listing.objects_of(&listing.deployments[index]);
        (objects_of.sets.len(), objects_of.pods.len(), objects_of.events.len(), objects_of.deployments.len())
    };
    assert_eq!(counts(0), (2, 4, 1, 1), "its sets, its pods, its event, and no Deployment beside itself");
    assert_eq!(counts(1), (1, 3, 0, 1));
    assert_eq!(counts(2), (0, 0, 0, 1));
}
