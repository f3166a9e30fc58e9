//! A single decision on any input: it never panics, and is deterministic. Whole rollouts over random worlds are checked
//! by the simulator.

use gantry_decide::deployment::{
    Action, Decision, Limits, RefusedStep, append_to_history, new_set_size, template_hash,
};
use gantry_model::{
    ConditionStatus, Deployment, InvalidLimit, Limit, Phase, Pod, Refusal, RefusalKind, ReplicaSet, Replicas,
    RollingLimits, Strategy as Rollout, Timestamp, keys,
};
use gantry_testkit::{
    DeploymentBuilder, PodBuilder, ReplicaSetBuilder, deployment, invalid_limit, invalid_selector, noon_plus,
    pod, replica_set,
};
use proptest::prelude::*;

use crate::decided_with;

fn edge() -> BoxedStrategy<i32> {
    prop_oneof![Just(i32::MIN), Just(-1), Just(0), Just(1), Just(i32::MAX), -3..40i32, any::<i32>()].boxed()
}

fn count() -> BoxedStrategy<Replicas> {
    edge().prop_map(|n| Replicas::parse(Some(n))).boxed()
}

fn timestamp() -> BoxedStrategy<Timestamp> {
    prop_oneof![
        Just(Timestamp::from_nanos(i64::MIN)),
        Just(Timestamp::from_nanos(i64::MAX)),
        (-10_000..10_000i64).prop_map(noon_plus),
        any::<i64>().prop_map(Timestamp::from_nanos),
    ]
    .boxed()
}

fn limit() -> BoxedStrategy<Limit> {
    prop_oneof![edge().prop_map(Limit::Count), edge().prop_map(Limit::Percent)].boxed()
}

fn strategy() -> BoxedStrategy<Rollout> {
    let invalid: InvalidLimit = invalid_limit("half");
    prop_oneof![
        6 => (limit(), limit())
            .prop_map(|(surge, unavailable)| Rollout::RollingUpdate(Ok(RollingLimits { surge, unavailable }))),
        2 => Just(Rollout::Recreate),
        1 => Just(Rollout::RollingUpdate(Err(invalid))),
        1 => Just(Rollout::Unknown("Foo".to_owned())),
    ]
    .boxed()
}

fn written_number() -> BoxedStrategy<String> {
    prop_oneof![
        4 => edge().prop_map(|n| n.to_string()),
        1 => any::<i64>().prop_map(|n| n.to_string()),
        1 => "[0-9,+ a-z-]{0,12}",
    ]
    .boxed()
}

fn reason() -> BoxedStrategy<&'static str> {
    prop_oneof![
        Just("NewReplicaSetAvailable"),
        Just("ProgressDeadlineExceeded"),
        Just("ReplicaSetUpdated"),
        Just("DeploymentPaused"),
        Just(""),
    ]
    .boxed()
}

prop_compose! {
    fn any_deployment()(
        (replicas, strategy, image) in (count(), strategy(), 0..4u8),
        (deadline, history) in (proptest::option::of(edge()), proptest::option::of(count())),
        (min_ready, paused, deleting, selects_all, selects_nothing) in
            (edge(), any::<bool>(), proptest::bool::weighted(0.1), proptest::bool::weighted(0.05), proptest::bool::weighted(0.05)),
        (rollback, revision) in (proptest::option::weighted(0.2, written_number()), proptest::option::of(written_number())),
        (reported, available, collisions) in (count(), count(), proptest::option::of(edge())),
        (generation, observed) in (any::<i64>(), any::<i64>()),
        (why, since) in (reason(), timestamp()),
    ) -> Deployment {
        let mut web = deployment("web").image(&format!("nginx:{image}")).progressing(ConditionStatus::True, why, since);
        (web.replicas, web.strategy, web.paused) = (replicas, strategy, paused);
        (web.progress_deadline_seconds, web.revision_history_limit) = (deadline, history);
        web.min_ready_seconds = min_ready;
        (web.status.replicas, web.status.available, web.status.collision_count) = (reported, available, collisions);
        (web.meta.generation, web.status.observed_generation) = (generation, observed);
        for (key, value) in [(keys::ROLLBACK_TO, rollback), (keys::REVISION, revision)] {
            web = value.map_or(web.clone(), |value| web.clone().annotated(key, &value));
        }
        if deleting {
            web = web.deleting_since(noon_plus(0));
        }
        if selects_all {
            web.selector = Ok(gantry_model::Selector::Everything);
        } else if selects_nothing {
            web.selector = Err(invalid_selector());
        }
        web
    }
}

prop_compose! {
    fn any_set()(
        (name, image, age) in ("[a-d]", 0..4u8, 0..5i64),
        (replicas, pods, ready, available) in (count(), count(), count(), count()),
        (revision, history) in (proptest::option::of(written_number()), proptest::option::of(written_number())),
        (desired, max) in (proptest::option::of(written_number()), proptest::option::of(written_number())),
        (terminating, observed, undated) in (proptest::option::of(count()), any::<i64>(), any::<bool>()),
    ) -> ReplicaSet {
        let mut set = replica_set(&format!("{name}{age}{image}")).owned_by(&deployment("web"));
        set = set.image(&format!("nginx:{image}")).created(noon_plus(-age));
        (set.replicas, set.status.replicas) = (replicas, pods);
        (set.status.ready, set.status.available) = (ready, available);
        (set.status.terminating, set.status.observed_generation) = (terminating, observed);
        if undated {
            set.meta.created = None;
        }
        let notes = [
            (keys::REVISION, revision),
            (keys::REVISION_HISTORY, history),
            (keys::DESIRED_REPLICAS, desired),
            (keys::MAX_REPLICAS, max),
        ];
        for (key, value) in notes {
            set = value.map_or(set.clone(), |value| set.clone().annotated(key, &value));
        }
        set
    }
}

fn create_refused(kind: RefusalKind, message: &str, existing: Option<ReplicaSet>) -> RefusedStep {
    RefusedStep::CreateRefused { refusal: Refusal::new(kind, message), existing: existing.map(Box::new) }
}

fn refused() -> BoxedStrategy<Option<RefusedStep>> {
    prop_oneof![
        4 => Just(None),
        1 => Just(Some(RefusedStep::ScaleDownFailed)),
        1 => Just(Some(create_refused(RefusalKind::NamespaceTerminating, "going", None))),
        1 => ".{0,8}".prop_map(|text| Some(create_refused(RefusalKind::Other, &text, None))),
        1 => proptest::option::of(any_set().boxed())
            .prop_map(|set| Some(create_refused(RefusalKind::AlreadyExists, "taken", set))),
    ]
    .boxed()
}

fn requested_sizes(decision: &Decision) -> impl Iterator<Item = Replicas> {
    decision.steps.iter().filter_map(|step| match &step.action {
        Action::CreateReplicaSet(draft) => Some(draft.replicas),
        Action::UpdateReplicaSet { edit, .. } => Some(edit.replicas),
        _ => None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// No input panics, and the same snapshot gives the same decision, in whatever order the sets were listed.
    #[test]
    fn decisions_are_total_and_deterministic(
        web in any_deployment().boxed(),
        mut sets in proptest::collection::vec(any_set().boxed(), 0..6),
        now in timestamp(),
        refused in refused(),
        pods in 0..3usize,
    ) {
        sets.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        sets.dedup_by(|a, b| a.meta.name == b.meta.name);
        let owner = sets.first().cloned().unwrap_or_else(|| replica_set("x"));
        let pods: Vec<Pod> = (0..pods).map(|n| pod(&format!("p{n}")).owned_by(&owner).phase(Phase::Running)).collect();
        let decision = decided_with(now, &web, &sets, &pods, refused.clone());
        prop_assert_eq!(&decision, &decided_with(now, &web, &sets, &pods, refused.clone()));
        sets.reverse();
        prop_assert_eq!(&decision, &decided_with(now, &web, &sets, &pods, refused));
        let printed = decision.steps.iter().map(|step| step.action.to_string()).chain(decision.waiting_on.iter().map(ToString::to_string));
        prop_assert!(printed.count() >= decision.steps.len(), "every step can be displayed");
    }

    /// A new rolling update never requests more than N + S pods, nor a negative number.
    #[test]
    fn sizes_stay_within_the_range_of_the_api(web in any_deployment().boxed(), sets in proptest::collection::vec(any_set(), 0..4)) {
        let decision = decided_with(noon_plus(0), &web, &sets, &[], None);
        for size in requested_sizes(&decision) {
            prop_assert!(size.get() >= 0 && size <= Replicas::MAX);
        }
        let limits = Limits::of(&web);
        if let Rollout::RollingUpdate(Ok(RollingLimits { surge: Limit::Count(0..) | Limit::Percent(0..), .. })) = web.strategy {
            let grown = new_set_size(&web, 0, 0).unwrap();
            prop_assert!(grown.get() <= limits.ceiling().max(limits.desired));
        }
    }

    /// The history never exceeds the limit of its annotation, unless it was longer before.
    #[test]
    fn the_history_stays_short(history in "[0-9]{1,5}(,[0-9]{1,5}){0,500}", revision in "[0-9]{1,30}") {
        let after = append_to_history(&history, &revision);
        prop_assert!(after.len() <= 2000.max(history.len()));
        prop_assert!(after == history || after.ends_with(&revision));
    }

    /// A hash always has the right format.
    #[test]
    fn a_hash_has_the_expected_format(image in ".{0,20}", collisions in proptest::option::of(any::<i32>())) {
        let hash = template_hash(&gantry_testkit::template(&image), collisions);
        prop_assert!((1..=10).contains(&hash.len()) && hash.bytes().all(|c| b"456789bcdf".contains(&c)), "{}", hash);
    }
}
