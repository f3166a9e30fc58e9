//! Which resources are watched, and when collecting begins.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::gc::discovery::{
    self, Discovery, INITIAL_SYNC_MAX, MonitorPlan, ServedResource, Start, Sync, VersionPreference, Watches,
};
use crate::gc::{KindLookup, Resource, ResourceScope, ServedKinds};

const ALL: [&str; 4] = ["delete", "list", "watch", "get"];

fn resource(api_version: &str, plural: &str) -> Resource {
    let (api_version, plural) = (api_version.to_owned(), plural.to_owned());
    Resource { api_version, kind: plural.to_uppercase(), plural, scope: ResourceScope::Namespaced }
}

fn offer(api_version: &str, plural: &str, verbs: &[&str]) -> ServedResource {
    let verbs = verbs.iter().map(ToString::to_string).collect();
    ServedResource {
        resource: resource(api_version, plural),
        verbs,
        preference: VersionPreference::Preferred,
    }
}

fn other(offer: ServedResource) -> ServedResource {
    ServedResource { preference: VersionPreference::Other, ..offer }
}

fn found(resources: &[ServedResource]) -> Discovery {
    Discovery { resources: resources.to_vec(), failed_groups: BTreeSet::new() }
}

fn watched(resources: &[(Resource, Sync)]) -> Watches {
    resources.iter().cloned().collect()
}

fn set(resources: &[Resource]) -> BTreeSet<Resource> {
    resources.iter().cloned().collect()
}

/// G1.1: resources that cannot be deleted, listed and watched are not watched, and neither are events.
#[test]
fn resources_with_delete_list_and_watch_are_watched_except_events() {
    let plan = discovery::plan(
        &Watches::new(),
        &found(&[
            offer("v1", "pods", &ALL),
            offer("v1", "bindings", &["create"]),
            offer("v1", "nodeless", &["list", "watch"]),
            offer("v1", "listless", &["delete", "watch"]),
            offer("v1", "watchless", &["delete", "list"]),
            offer("v1", "events", &ALL),
            offer("events.k8s.io/v1", "events", &ALL),
            offer("example.com/v1", "events", &ALL),
        ]),
    );
    assert_eq!(plan.start, set(&[resource("v1", "pods"), resource("example.com/v1", "events")]));
}

/// G1.1: each resource is watched in one version, the preferred one if it is served there.
#[test]
fn a_resource_is_watched_in_its_preferred_version_only() {
    let resources = [
        other(offer("apps/v1beta2", "deployments", &ALL)),
        offer("apps/v1", "deployments", &ALL),
        other(offer("apps/v1beta1", "deployments", &ALL)),
        other(offer("apps/v1beta2", "relics", &ALL)),
    ];
    let plan = discovery::plan(&Watches::new(), &found(&resources));
    assert_eq!(plan.start, set(&[resource("apps/v1", "deployments"), resource("apps/v1beta2", "relics")]));
}

/// G1.1: watches are started for new resources and stopped for removed ones.
#[test]
fn the_watches_follow_discovery() {
    let (pods, widgets, relics) =
        (resource("v1", "pods"), resource("w/v1", "widgets"), resource("r/v1", "relics"));
    let present = watched(&[(pods.clone(), Sync::Synced), (relics.clone(), Sync::Synced)]);
    let plan =
        discovery::plan(&present, &found(&[offer("v1", "pods", &ALL), offer("w/v1", "widgets", &ALL)]));
    assert_eq!(plan, MonitorPlan { keep: set(&[pods]), start: set(&[widgets]), stop: set(&[relics]) });
}

/// G1.2: a pass that found nothing at all changes nothing.
#[test]
fn an_empty_discovery_keeps_every_watch() {
    let (pods, widgets) = (resource("v1", "pods"), resource("w/v1", "widgets"));
    let present = watched(&[(pods.clone(), Sync::Synced), (widgets.clone(), Sync::Pending)]);
    for nothing in [found(&[]), found(&[offer("v1", "bindings", &["create"])])] {
        let plan = discovery::plan(&present, &nothing);
        assert_eq!(
            plan,
            MonitorPlan { keep: set(&[pods.clone(), widgets.clone()]), ..MonitorPlan::default() }
        );
    }
}

/// G1.2: in a group whose discovery failed, synced watches are kept.
#[test]
fn a_failed_group_keeps_the_watches_that_work() {
    let (widgets, gadgets) = (resource("w/v1", "widgets"), resource("w/v1", "gadgets"));
    let relics = resource("r/v1", "relics");
    let present = watched(&[
        (widgets.clone(), Sync::Synced),
        (gadgets.clone(), Sync::Pending),
        (relics.clone(), Sync::Synced),
    ]);
    let discovery =
        Discovery { failed_groups: BTreeSet::from(["w".to_owned()]), ..found(&[offer("v1", "pods", &ALL)]) };
    let plan = discovery::plan(&present, &discovery);
    assert_eq!(plan.keep, set(&[widgets]));
    assert_eq!(plan.stop, set(&[gadgets, relics]));
}

/// G1.3: a watch that never syncs delays collecting for half a minute at most.
#[test]
fn collecting_starts_after_half_a_minute_even_if_a_watch_never_syncs() {
    let one_pending =
        watched(&[(resource("v1", "pods"), Sync::Synced), (resource("w/v1", "w"), Sync::Pending)]);
    let all_synced = watched(&[(resource("v1", "pods"), Sync::Synced)]);
    assert_eq!(discovery::start(&all_synced, Duration::ZERO), Start::Synced);
    assert_eq!(discovery::start(&one_pending, Duration::from_secs(29)), Start::Wait);
    assert_eq!(discovery::start(&one_pending, INITIAL_SYNC_MAX), Start::Anyway { pending: 1 });
}

/// G1.1: versions that are not watched are served too, and references may name them.
#[test]
fn kinds_are_known_in_every_version() {
    let mut kinds = ServedKinds::default();
    kinds.update(&found(&[
        offer("apps/v1", "deployments", &ALL),
        other(offer("apps/v1beta2", "deployments", &ALL)),
        ServedResource {
            resource: Resource { scope: ResourceScope::Cluster, ..resource("v1", "nodes") },
            ..offer("v1", "nodes", &ALL)
        },
    ]));
    assert_eq!(kinds.scope("apps/v1", "DEPLOYMENTS"), Some(ResourceScope::Namespaced));
    assert_eq!(kinds.scope("apps/v1beta2", "DEPLOYMENTS"), Some(ResourceScope::Namespaced));
    assert_eq!(kinds.scope("v1", "NODES"), Some(ResourceScope::Cluster));
    assert_eq!(kinds.scope("apps/v2", "DEPLOYMENTS"), None);
}

/// G1.2: kinds of groups whose discovery failed are kept, others are removed when they are not served any more.
#[test]
fn kinds_that_are_not_served_any_more_are_removed() {
    let mut kinds = ServedKinds::default();
    kinds.update(&found(&[offer("w/v1", "widgets", &ALL), offer("r/v1", "relics", &ALL)]));
    kinds.update(&found(&[]));
    assert_eq!(
        kinds.scope("r/v1", "RELICS"),
        Some(ResourceScope::Namespaced),
        "an empty discovery changes nothing"
    );

    kinds.update(&Discovery {
        failed_groups: BTreeSet::from(["w".to_owned()]),
        ..found(&[offer("v1", "pods", &ALL)])
    });

    assert_eq!(kinds.scope("w/v1", "WIDGETS"), Some(ResourceScope::Namespaced));
    assert_eq!(kinds.scope("r/v1", "RELICS"), None);
    assert_eq!(kinds.resource("v1", "PODS"), Some(&resource("v1", "pods")));
}

/// G1.1: a subresource often has the kind of another resource, and does not count as serving it.
#[test]
fn subresources_do_not_serve_a_kind() {
    let mut kinds = ServedKinds::default();
    let part = Resource { kind: "DEPLOYMENTS".into(), ..resource("apps/v1", "deployments/status") };
    let scale = ServedResource { resource: part, ..offer("apps/v1", "deployments/status", &["get"]) };
    kinds.update(&found(&[offer("apps/v1", "deployments", &ALL), scale]));
    assert_eq!(kinds.resource("apps/v1", "DEPLOYMENTS"), Some(&resource("apps/v1", "deployments")));
}
