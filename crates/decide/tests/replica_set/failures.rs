//! Failures of a ReplicaSet and its pods, from beginning to end.

use gantry_decide::Wake;
use gantry_decide::replica_set::WaitingOn;
use gantry_model::{Phase, ReplicaSet, Replicas};
use gantry_testkit::{PodBuilder, ReplicaSetBuilder, labels, noon_plus, replica_set, template};

use crate::world::{Mode, World};

fn web(size: u16) -> ReplicaSet {
    replica_set("web").size(size)
}

/// The name of the first active pod of the set.
fn first(world: &World) -> String {
    world.store.values().find(|pod| pod.is_active()).unwrap().meta.name.to_string()
}

/// R8, quota: one call at a time as a probe, one condition for all of them. R5.2, R7.4, R7.5, R7.6.
#[test]
fn creations_are_retried_until_the_quota_is_raised() {
    let mut world = World::settled(web(2));
    world.set.replicas = 10_u16.into();
    world.mode = Mode::Quota(2);

    let failed = world.sync();
    assert_eq!(failed.batches, [1]);
    let text = "pods \"web-00005\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2";
    assert_eq!(failed.result, Err(text.to_owned()));
    assert_eq!(failed.waiting_on, WaitingOn::CreateRefused { message: text.to_owned() });
    assert_eq!(failed.wake, Wake::Soon);
    assert_eq!(world.event_lines(), [format!("Warning FailedCreate Error creating: {text}")]);
    let condition = world.set.status.replica_failure().unwrap().clone();
    assert_eq!((condition.reason.as_str(), condition.message.as_str()), ("FailedCreate", text));

    world.now = noon_plus(5);
    let again = world.sync();
    assert_eq!((again.batches, again.wrote_status), (vec![1], false), "the same attempt, and no new status");
    assert_ne!(world.event_lines()[0], world.event_lines()[1], "each attempt has another pod name");

    world.mode = Mode::Quota(5);
    let halfway = world.sync();
    assert_eq!((halfway.batches, halfway.result.is_err()), (vec![1, 2, 4], true));
    assert_eq!(world.active_pods(), 5);
    assert_eq!(world.sync().batches, [0; 0], "the three created pods are expected");
    assert_eq!(world.set.status.replica_failure(), None, "no failure is reported meanwhile");

    world.mode = Mode::Accepting;
    world.settle();
    assert_eq!((world.active_pods(), world.set.status.replica_failure()), (10, None));
}

/// R8, admission: a template that is refused is handled like a quota, with another message. R7.4.
#[test]
fn a_template_that_admission_refuses_is_reported() {
    let mut world = World::settled(web(0));
    world.set.replicas = 3_u16.into();
    world.mode = Mode::Rejecting("Pod \"web-abcde\" is invalid: spec.containers: Required value");
    let failed = world.sync();
    assert_eq!(failed.batches, [1]);
    let condition = world.set.status.replica_failure().unwrap();
    assert_eq!(condition.message, "Pod \"web-abcde\" is invalid: spec.containers: Required value");
}

/// R8, namespace terminating: no event, and an expectation that times out. R5.4.
#[test]
fn a_terminating_namespace_causes_no_event() {
    let mut world = World::settled(web(0));
    world.set.replicas = 3_u16.into();
    world.mode = Mode::NamespaceTerminating;
    let quiet = world.sync();
    assert_eq!((quiet.batches, quiet.result), (vec![1, 2], Ok(())));
    assert_eq!((world.event_lines().len(), world.set.status.replica_failure()), (0, None));
    let waiting = world.sync();
    assert_eq!(waiting.batches, [0; 0]);
    assert!(matches!(waiting.waiting_on, WaitingOn::Expectations { creations: 3, .. }));
    world.now = noon_plus(301);
    assert_eq!(world.sync().batches, [1, 2], "it retries after five minutes");
}

/// R8, pod deleted by a user: replaced when it becomes terminating, not when it is removed. R1.4, R1.5.
#[test]
fn a_pod_that_a_user_deletes_is_replaced_at_once() {
    let mut world = World::settled(web(2));
    let name = first(&world);
    world.change(&name, |pod| pod.deleting_since(noon_plus(1)));
    world.deliver_all();
    assert_eq!(world.sync().batches, [1]);
    let status = &world.set.status;
    assert_eq!((status.replicas, status.terminating), (1_u16.into(), Some(1_u16.into())));
    world.settle();
    assert_eq!((world.active_pods(), world.set.status.terminating), (2, Some(Replicas::ZERO)));
}

/// R8, node lost: the pod counts until it is deleted.
#[test]
fn a_pod_on_a_lost_node_still_counts() {
    let mut world = World::settled(web(2));
    let name = first(&world);
    world.change(&name, |pod| pod.phase(Phase::Unknown));
    world.deliver_all();
    assert_eq!(world.sync().batches, [0; 0]);
    assert_eq!(world.set.status.replicas, 2_u16.into());
}

/// R8, finished pods: replaced, and not deleted. R4.5.
#[test]
fn a_finished_pod_is_replaced_and_left_where_it_is() {
    for phase in [Phase::Succeeded, Phase::Failed] {
        let mut world = World::settled(web(2));
        let name = first(&world);
        world.change(&name, |pod| pod.phase(phase));
        world.deliver_all();
        assert_eq!(world.sync().batches, [1]);
        world.settle();
        assert_eq!((world.active_pods(), world.store.len()), (2, 3), "{phase:?}");
    }
}

/// R8, scaled to zero: all pods are deleted at once. R5.7.
#[test]
fn a_set_scaled_to_zero_deletes_all_its_pods() {
    let mut world = World::settled(web(3));
    world.set.replicas = Replicas::ZERO;
    assert_eq!(world.sync().deleted, 3);
    assert_eq!((world.active_pods(), world.event_lines().len()), (0, 3));
    assert_eq!(world.sync().deleted, 0, "no pod is deleted twice");
    world.settle();
    assert_eq!((world.store.len(), world.set.status.replicas), (0, Replicas::ZERO));
}

/// R8, template edited: existing pods stay, new ones have the new template.
#[test]
fn a_new_template_is_for_new_pods_only() {
    let mut world = World::settled(web(1));
    let mut written = template("nginx:2").render();
    written.metadata.as_mut().unwrap().labels = Some(labels(&[("app", "web"), ("new", "yes")]));
    world.set.template = gantry_model::Template::parse(written);
    let synced = world.sync();
    assert_eq!((synced.batches.len(), synced.deleted), (0, 0));
    assert_eq!(world.set.status.fully_labeled, Replicas::ZERO);
    world.set.replicas = 2_u16.into();
    world.settle();
    assert_eq!(world.set.status.fully_labeled, 1_u16.into());
}

/// R8, relabelled out: released, kept running, replaced in the same sync. R4.3.
#[test]
fn a_pod_relabelled_out_of_the_selector_is_released_and_replaced() {
    let mut world = World::settled(web(2));
    let name = first(&world);
    world.change(&name, |pod| pod.labelled(&[("app", "debug")]));
    world.deliver_all();
    assert_eq!(world.sync().batches, [1]);
    world.settle();
    assert_eq!((world.active_pods(), world.store.len()), (2, 3));
    let released = world.store.values().find(|pod| pod.meta.name.as_str() == name).unwrap();
    assert!(released.is_active() && released.meta.owners.is_empty());
}

/// R8, relabelled in: adopted, and the pod that ranks first for deletion is deleted. R4.7.
#[test]
fn an_orphan_relabelled_into_the_selector_is_adopted_and_may_displace_another_pod() {
    let mut world = World::settled(web(2));
    world.change("stray", |pod| pod.labelled(&[("app", "web")]).on("n1").ready_since(noon_plus(-60)));
    world.deliver_all();
    assert_eq!(world.sync().deleted, 1);
    world.settle();
    assert_eq!(world.active_pods(), 2);
    let stray = world.store.values().find(|pod| pod.meta.name.as_str() == "stray").unwrap();
    assert!(
        stray.meta.is_controlled_by(&world.set.meta.uid),
        "the ready pod stays, a pending one is deleted"
    );
}

/// R8, set being deleted: no pod is changed, but the status is updated. R3.2, R4.6.
#[test]
fn a_set_being_deleted_only_reports() {
    let mut world = World::settled(web(2));
    world.set.meta.deleting = Some(noon_plus(1));
    world.set.meta.generation = 2;
    world.set.replicas = 5_u16.into();
    world.change("stray", |pod| pod);
    world.deliver_all();
    let synced = world.sync();
    assert_eq!((synced.batches.len(), synced.deleted, synced.wrote_status), (0, 0, true));
    assert_eq!(synced.waiting_on, WaitingOn::PendingDeletions);
    assert_eq!((world.active_pods(), world.set.status.observed_generation), (2, 2));
}

/// R8, response lost: an unexpected pod appears, and the surplus is deleted. R5.3, R2.4.
#[test]
fn a_pod_whose_creation_got_no_response_is_observed_later() {
    let mut world = World::settled(web(0));
    world.set.replicas = 1_u16.into();
    world.mode = Mode::LosingResponses;
    assert!(world.sync().result.is_err());
    world.mode = Mode::Accepting;
    assert_eq!(world.sync().batches, [1], "nothing is expected, so it retries");
    assert_eq!(world.active_pods(), 2, "one too many");
    world.settle();
    assert_eq!(world.active_pods(), 1);
}

/// R5: a large set is created in bursts, each waiting for the pods of the previous one. R5.1, R2.2.
#[test]
fn twelve_hundred_pods_are_created_in_three_bursts() {
    let mut world = World::settled(web(0));
    world.set.replicas = 1200_u16.into();
    let mut turns = Vec::new();
    for _ in 0..4 {
        turns.push(world.sync().batches.iter().sum::<usize>());
        assert_eq!(world.sync().batches, [0; 0], "nothing is done before the pods are observed");
        world.deliver_all();
    }
    assert_eq!(turns, [500, 500, 200, 0]);
}

/// The decision after a restart is the decision before it, except for pods not observed yet. R2.7.
#[test]
fn a_restarted_controller_decides_the_same() {
    let mut world = World::settled(web(3));
    world.set.replicas = 5_u16.into();
    world.sync();
    world.restart();
    assert_eq!(world.sync().batches, [0; 0], "the pods exist");
    assert_eq!(world.active_pods(), 5);
}
