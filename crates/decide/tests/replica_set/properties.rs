//! Properties of every set and all pods.

use std::collections::BTreeSet;

use gantry_decide::replica_set::{
    Action, BURST, ExpectationState, ManageResult, StatusWrite, decide, is_choice_needed, related_pods,
    report,
};
use gantry_model::{Phase, Pod, Readiness, ReplicaSet, ReplicaSetStatus, Replicas, Timestamp};
use gantry_testkit::{NOON, PodBuilder, ReplicaSetBuilder, deployment, noon_plus, pod, replica_set};
use proptest::prelude::*;

use crate::world::{Mode, World};
use crate::{creations, deletions, observed};

/// A time near noon, at the ends of the range, or none.
fn timestamp() -> impl Strategy<Value = Option<Timestamp>> {
    prop_oneof![
        4 => (-40_i64..5).prop_map(|seconds| Some(noon_plus(seconds))),
        1 => any::<i64>().prop_map(|nanos| Some(Timestamp::from_nanos(nanos))),
        1 => Just(None),
    ]
}

fn readiness() -> impl Strategy<Value = Readiness> {
    prop_oneof![Just(Readiness::NotReady), timestamp().prop_map(|since| Readiness::Ready { since })]
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![Just(Phase::Pending), Just(Phase::Running), Just(Phase::Unknown)]
}

/// A number that is often one of a few.
fn number() -> impl Strategy<Value = i32> {
    prop_oneof![4 => -1..2_i32, 1 => any::<i32>()]
}

/// An active pod of `web`, without a name of its own.
fn any_pod() -> impl Strategy<Value = Pod> {
    let node = prop_oneof![Just(None), (0..3_u8).prop_map(|n| Some(format!("n{n}").into()))];
    let restarts = (number(), number());
    let life = (phase(), readiness(), timestamp(), node, number(), restarts, any::<bool>());
    life.prop_map(|(phase, readiness, created, node, deletion_cost, restarts, is_labelled)| {
        let mut pod = pod("web-1").owned_by(&replica_set("web"));
        pod.meta.created = created;
        pod.restarts = gantry_model::Restarts { containers: restarts.0, sidecars: restarts.1 };
        if !is_labelled {
            pod = pod.labelled(&[]);
        }
        Pod { phase, readiness, node, deletion_cost, ..pod }
    })
}

/// Gives the pods different names and uids; the uids are unrelated to the order.
fn named(pods: Vec<Pod>) -> Vec<Pod> {
    let name = |(n, mut pod): (usize, Pod)| {
        pod.meta.name = format!("p{n}").into();
        pod.uid(&format!("{:02x}", (n * 167 + 13) % 256))
    };
    pods.into_iter().enumerate().map(name).collect()
}

fn any_pods() -> impl Strategy<Value = Vec<Pod>> {
    prop::collection::vec(any_pod(), 0..24).prop_map(named)
}

fn any_set() -> impl Strategy<Value = ReplicaSet> {
    let replicas = prop_oneof![4 => 0..24_i32, 1 => any::<i32>()];
    (replicas, number()).prop_map(|(replicas, min_ready)| {
        let mut set = replica_set("web").owned_by(&deployment("web")).min_ready(min_ready);
        set.replicas = Replicas::parse(Some(replicas));
        set
    })
}

fn any_now() -> impl Strategy<Value = Timestamp> {
    prop_oneof![4 => Just(NOON), 1 => any::<i64>().prop_map(Timestamp::from_nanos)]
}

fn status_of(now: Timestamp, set: &ReplicaSet, pods: &[Pod]) -> ReplicaSetStatus {
    let observed = observed(set, pods);
    match report(now, &observed, &decide(now, &observed), &ManageResult::nothing()).status {
        StatusWrite::Put(status) => status,
        StatusWrite::Unchanged => set.status.clone(),
    }
}

/// The rules of R6, written out for two pods: whether the first is deleted before the other.
fn is_deleted_before(now: Timestamp, a: &Pod, b: &Pod) -> bool {
    let log = |timestamp: Timestamp| match now.as_nanos().saturating_sub(timestamp.as_nanos()) {
        age @ 1.. => (1..=62).rev().find(|power| age >> power > 0).unwrap_or(0),
        _ => -1,
    };
    let younger = |a: Option<Timestamp>, b: Option<Timestamp>, tie: bool| match (a, b) {
        (None, _) => true,
        (_, None) => false,
        (Some(a), Some(b)) if log(a) == log(b) => tie,
        (Some(a), Some(b)) => log(a) < log(b),
    };
    let stage = |phase| [Phase::Pending, Phase::Unknown, Phase::Running].iter().position(|p| *p == phase);
    let by_uid = a.meta.uid < b.meta.uid;
    if a.node.is_some() != b.node.is_some() {
        return a.node.is_none();
    }
    if a.phase != b.phase {
        return stage(a.phase) < stage(b.phase);
    }
    if a.is_ready() != b.is_ready() {
        return b.is_ready();
    }
    if a.deletion_cost != b.deletion_cost {
        return a.deletion_cost < b.deletion_cost;
    }
    if let (Readiness::Ready { since: a }, Readiness::Ready { since: b }) = (a.readiness, b.readiness)
        && a != b
    {
        return younger(a, b, by_uid);
    }
    if a.restarts != b.restarts {
        let counts = |pod: &Pod| (pod.restarts.containers, pod.restarts.sidecars);
        return counts(a) > counts(b);
    }
    if a.meta.created == b.meta.created { by_uid } else { younger(a.meta.created, b.meta.created, by_uid) }
}

proptest! {
    /// R5.1, R5.7: no action exceeds the desired number, in either direction, nor the burst.
    #[test]
    fn no_action_overshoots(set in any_set(), pods in any_pods(), now in any_now()) {
        let desired = set.replicas.get();
        let active = i64::try_from(pods.len()).unwrap();
        let decision = decide(now, &observed(&set, &pods));
        match &decision.action {
            Action::Create { count, .. } => {
                let missing = usize::try_from(desired - active).unwrap();
                prop_assert_eq!(*count, missing.min(BURST));
            }
            Action::Delete { pods } => {
                let surplus = usize::try_from(active - desired).unwrap();
                prop_assert_eq!(pods.len(), surplus.min(BURST));
                let distinct: BTreeSet<_> = pods.iter().collect();
                prop_assert_eq!(distinct.len(), pods.len(), "each pod is deleted once");
            }
            Action::Nothing => prop_assert_eq!(active, desired),
            Action::CannotCreate(_) => prop_assert!(false, "the template has labels"),
        }
    }

    /// R6: the same pods lead to the same victims, whatever the order of the list.
    #[test]
    fn the_order_of_the_list_decides_nothing(
        set in any_set(),
        pods in any_pods(),
        now in any_now(),
        shuffled in any::<u64>(),
    ) {
        let mut others = pods.clone();
        others.sort_by_key(|pod| {
            let n: u64 = pod.meta.uid.text().bytes().map(u64::from).sum();
            (n + 1).wrapping_mul(shuffled | 1).rotate_left(17)
        });
        let decision = |pods: &[Pod]| {
            let mut observed = observed(&set, pods);
            observed.related = related_pods(&set, [&set], pods);
            decide(now, &observed)
        };
        let (one, other) = (decision(&pods), decision(&others));
        prop_assert_eq!(deletions(&one), deletions(&other));
        prop_assert_eq!(one.waiting_on, other.waiting_on);
    }

    /// R6: where the rules are not contradictory, no pod stays that ranks before a deleted one.
    #[test]
    fn no_kept_pod_ranks_before_a_deleted_one(set in any_set(), mut pods in any_pods(), same in any::<bool>()) {
        for (n, pod) in (0_i64..).zip(&mut pods) {
            // If the times of readiness are all the same, or all different, the rules are not contradictory.
            if let Readiness::Ready { since } = &mut pod.readiness {
                *since = Some(noon_plus(if same { -30 } else { -n }));
            }
        }
        let decision = decide(NOON, &observed(&set, &pods));
        let victims = deletions(&decision);
        prop_assume!(is_choice_needed(&set, pods.len()));
        let (gone, stay): (Vec<_>, Vec<_>) =
            pods.iter().partition(|pod| victims.contains(&pod.meta.name.as_str()));
        for victim in &gone {
            for survivor in &stay {
                prop_assert!(is_deleted_before(NOON, victim, survivor), "{victim:?}\n{survivor:?}");
            }
        }
    }

    /// R6: one more starting pod saves no other victim, and no serving pod is deleted because of it.
    #[test]
    fn one_more_starting_pod_never_deletes_a_serving_pod_or_keeps_another(set in any_set(), mut pods in any_pods()) {
        let before = decide(NOON, &observed(&set, &pods));
        pods.push(pod("extra").uid("zz"));
        let after = decide(NOON, &observed(&set, &pods));
        let (before, after) = (deletions(&before), deletions(&after));
        prop_assert!(before.iter().all(|name| after.contains(name)), "{before:?} {after:?}");
        let serves = |name: &str| {
            let is_serving = |pod: &&Pod| pod.is_ready() && pod.node.is_some() && pod.phase == Phase::Running;
            pods.iter().filter(is_serving).any(|pod| pod.meta.name.as_str() == name)
        };
        let endangered = after.iter().find(|name| !before.contains(*name) && serves(name));
        prop_assert_eq!(endangered, None);
    }

    /// R7: available pods are ready, and ready pods are counted.
    #[test]
    fn the_counters_are_consistent(set in any_set(), pods in any_pods(), now in any_now()) {
        let status = status_of(now, &set, &pods);
        prop_assert!(status.available <= status.ready);
        prop_assert!(status.ready <= status.replicas);
        prop_assert!(status.fully_labeled <= status.replicas);
        prop_assert_eq!(status.replicas, Replicas::of(pods.len()));
    }

    /// R7.1: a status that was just written is not written again.
    #[test]
    fn reporting_twice_writes_once(mut set in any_set(), pods in any_pods(), now in any_now()) {
        set.status = status_of(now, &set, &pods);
        let observed = observed(&set, &pods);
        let again = report(now, &observed, &decide(now, &observed), &ManageResult::nothing());
        let _ = again.wake(now);
        prop_assert_eq!(again.status, StatusWrite::Unchanged);
    }

    /// R3.2, R2.6: without permission to act nothing is done, whatever is observed.
    #[test]
    fn unmet_expectations_prevent_every_action(mut set in any_set(), pods in any_pods(), is_deleting in any::<bool>()) {
        let mut expectation_state = ExpectationState::Satisfied;
        if is_deleting {
            set.meta.deleting = Some(NOON);
        } else {
            expectation_state = ExpectationState::Pending { creations: 1, deletions: 0, until: noon_plus(300) };
        }
        let mut observed = observed(&set, &pods);
        observed.expectation_state = expectation_state;
        prop_assert_eq!(decide(NOON, &observed).action, Action::Nothing);
    }

    /// R2: however stale the cache is, there are never more pods than desired, and in the end exactly as many.
    #[test]
    fn a_lagging_cache_never_leads_to_too_many_pods(
        steps in prop::collection::vec((0..4_u8, 0..12_u16), 1..40),
        quota in prop::option::of(0..12_usize),
    ) {
        let mut world = World::settled(replica_set("web"));
        let mut most = 0;
        for (step, number) in steps {
            match step {
                0 => {
                    world.set.replicas = number.into();
                    most = most.max(usize::from(number));
                }
                1 => {
                    world.mode = quota.map_or(Mode::Accepting, Mode::Quota);
                    world.sync();
                }
                2 => (0..number).for_each(|_| world.deliver_one()),
                _ => world.finish_deletions(),
            }
            prop_assert!(world.active_pods() <= most, "{} of {most}", world.active_pods());
        }
        world.mode = Mode::Accepting;
        world.deliver_all();
        world.settle();
        prop_assert_eq!(world.active_pods(), usize::try_from(world.set.replicas.get()).unwrap());
    }
}

/// R5.1: created and active pods add up to the desired number.
#[test]
fn creations_fill_the_difference_exactly() {
    for active in 0..5 {
        let web = replica_set("web").size(5);
        let pods = named(vec![pod("x").owned_by(&web); active]);
        assert_eq!(creations(&decide(NOON, &observed(&web, &pods))), 5 - active);
    }
}
