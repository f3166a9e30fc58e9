//! The properties that must hold, computed in the simplest way: nothing here uses the rules that are checked.

use gantry_model::{Deployment, Limit, Pod, ReplicaSet, RollingLimits, Strategy, keys};

use crate::objects::Objects;
use crate::small_world::{SmallWorld, StartingPoint};
use crate::state::State;

/// N, N + S and N − U.
struct Bounds {
    wanted: i64,
    ceiling: i64,
    floor: i64,
}

fn bounds(deployment: &Deployment) -> Bounds {
    let wanted = deployment.replicas.get();
    let (surge, unavailable) = match &deployment.strategy {
        Strategy::RollingUpdate(Ok(RollingLimits { surge, unavailable })) => {
            let pods = |limit: &Limit, round_up: i64| match *limit {
                Limit::Count(count) => i64::from(count),
                Limit::Percent(percent) => (i64::from(percent) * wanted + round_up) / 100,
            };
            match (pods(surge, 99), pods(unavailable, 0)) {
                (0, 0) => (0, 1),
                both => both,
            }
        }
        _ => (0, 0),
    };
    Bounds { wanted, ceiling: wanted + surge, floor: wanted - unavailable.min(wanted) }
}

/// A write of the Deployment controller that decided on this Deployment.
///
/// Pods are counted by `spec.replicas`: the controller does not wait until pods of a smaller set are deleted.
pub(crate) fn deployment_write(
    world: &SmallWorld,
    decided_on: &Deployment,
    before: &Objects,
    after: &Objects,
) -> Option<String> {
    let Bounds { ceiling, floor, .. } = bounds(decided_on);
    let total = |objects: &Objects| -> i64 { objects.owned_sets().map(|set| set.replicas.get()).sum() };
    let (total_before, total_after) = (total(before), total(after));
    if total_after > total_before && decided_on.strategy == Strategy::Recreate {
        return side_by_side(decided_on, before, after);
    }
    if total_after > total_before && total_after > ceiling {
        return Some(format!(
            "no write raises the sizes above N + S: {total_before} -> {total_after} of at most {ceiling}"
        ));
    }
    if total_after < total_before && is_rolling(world, decided_on, before) {
        let (available_before, available_after) = (available(before), available(after));
        if available_after < available_before.min(floor) {
            return Some(format!(
                "no scale-down takes availability below N − U: {available_before} -> {available_after} of at least {floor}"
            ));
        }
    }
    None
}

/// Whether a smaller set is a step of a rolling update, in a world in which pods stay ready and watches are not
/// delayed.
fn is_rolling(world: &SmallWorld, decided_on: &Deployment, before: &Objects) -> bool {
    let wanted = decided_on.replicas.to_string();
    let sized_for_another = |set: &ReplicaSet| {
        set.is_active()
            && set.meta.annotations.get(keys::DESIRED_REPLICAS).is_some_and(|desired| *desired != wanted)
    };
    let budget = world.budget;
    matches!(decided_on.strategy, Strategy::RollingUpdate(_))
        && !decided_on.paused
        && !before.owned_sets().any(|set| sized_for_another(set))
        && (budget.failures, budget.unready, budget.delays) == (0, 0, 0)
        && !world.slow_watches
        && world.min_ready_seconds == 0
}

/// Ready pods that will not be scaled down.
fn available(objects: &Objects) -> i64 {
    let of_set = |set: &ReplicaSet| {
        let ready = objects.pods_of(set).filter(|pod| pod.is_active() && pod.is_ready()).count();
        set.replicas.get().min(i64::try_from(ready).unwrap_or(i64::MAX))
    };
    objects.owned_sets().map(|set| of_set(set)).sum()
}

/// Recreate never creates new pods beside old ones.
///
/// The exception is a legacy rollback request, for which Kubernetes creates the set of the present template first.
fn side_by_side(decided_on: &Deployment, before: &Objects, after: &Objects) -> Option<String> {
    if decided_on.paused || decided_on.meta.annotations.contains_key(keys::ROLLBACK_TO) {
        return None;
    }
    let size_before = |set: &ReplicaSet| before.sets.get(&set.meta.name).map_or(0, |set| set.replicas.get());
    let raised = after.owned_sets().find(|set| size_before(set) == 0 && set.is_active())?;
    let is_old = |pod: &Pod| !pod.phase.is_finished() && !pod.meta.is_controlled_by(&raised.meta.uid);
    let old = after.pods.values().find(|pod| is_old(pod))?;
    Some(format!("Recreate raises no set beside pods of another: {} still exists", old.meta.name))
}

/// A pod was created for a set by a sync that saw the set at this size.
pub(crate) fn pod_created(decided_on: &ReplicaSet, server: &Objects) -> Option<String> {
    let pods = server.pods_of(decided_on).filter(|pod| pod.is_active()).count();
    let size = decided_on.replicas.get();
    (i64::try_from(pods).is_ok_and(|pods| pods > size)).then(|| {
        format!("no set creates more pods than its size: {} has {pods} of {size}", decided_on.meta.name)
    })
}

/// The properties that hold in every state.
pub(crate) fn always(state: &State) -> Option<String> {
    let deployment = state.server.deployment.as_ref()?;
    one_set_per_template(state)
        .or_else(|| undone(deployment, state))
        .or_else(|| counters_nest(deployment, state))
}

fn undone(deployment: &Deployment, state: &State) -> Option<String> {
    let (has, requested_replicas) = (deployment.replicas, state.requested_replicas);
    (has != requested_replicas)
        .then(|| format!("no controller undoes what a user did: {has} pods, not {requested_replicas}"))
}

fn one_set_per_template(state: &State) -> Option<String> {
    let sets: Vec<_> = state.server.owned_sets().collect();
    for (index, set) in sets.iter().enumerate() {
        if let Some(twin) = sets[index + 1..].iter().find(|twin| twin.template == set.template) {
            return Some(format!("no template has two sets: {} and {}", set.meta.name, twin.meta.name));
        }
    }
    None
}

fn counters_nest(deployment: &Deployment, state: &State) -> Option<String> {
    let status = &deployment.status;
    let nests = status.updated <= status.replicas
        && status.available <= status.ready
        && status.ready <= status.replicas;
    if !nests {
        return Some(format!("the Deployment's counters nest: {status:?}"));
    }
    state.server.owned_sets().find_map(|set| {
        let status = &set.status;
        let nests = status.available <= status.ready
            && status.ready <= status.replicas
            && status.fully_labeled <= status.replicas;
        (!nests).then(|| format!("the counters of {} nest: {status:?}", set.meta.name))
    })
}

/// The properties that hold in settled states.
pub(crate) fn settled(state: &State, world: &SmallWorld) -> Option<String> {
    let deployment = state.server.deployment.as_ref()?;
    orphaned(state).or_else(|| state.unfinished(world)).or_else(|| {
        if deployment.paused { paused(deployment, state) } else { rolled_out(deployment, state, world) }
    })
}

fn orphaned(state: &State) -> Option<String> {
    let is_owned = |pod: &Pod| state.server.owned_sets().any(|set| pod.meta.is_controlled_by(&set.meta.uid));
    let orphan = state.server.pods.values().find(|pod| !is_owned(pod))?;
    Some(format!("every pod has an owner: {} has none", orphan.meta.name))
}

fn paused(deployment: &Deployment, state: &State) -> Option<String> {
    let Bounds { ceiling, .. } = bounds(deployment);
    let total: i64 = state.server.owned_sets().map(|set| set.replicas.get()).sum();
    (total > ceiling).then(|| format!("a paused Deployment is within N + S: {total} of at most {ceiling}"))
}

fn rolled_out(deployment: &Deployment, state: &State, world: &SmallWorld) -> Option<String> {
    let Bounds { wanted, floor, .. } = bounds(deployment);
    let broken = world.broken.map(|broken| &world.templates[usize::from(broken)]);
    let status = &deployment.status;
    if broken == Some(&deployment.template) && wanted > 0 {
        if world.is_timed && world.deadline_seconds.is_some() {
            let reason = status.progressing().map(|condition| condition.reason.as_str());
            if reason != Some("ProgressDeadlineExceeded") {
                return Some(format!("a rollout that does not progress misses its deadline: {reason:?}"));
            }
        }
        let available = status.available.get();
        let keeps = matches!(deployment.strategy, Strategy::RollingUpdate(_)) && !world.changes_limits();
        return (keeps && world.start == StartingPoint::RolledOut && available < floor)
            .then(|| format!("a failed rollout leaves N − U pods: {available} of at least {floor}"));
    }
    let active: Vec<_> = state.server.owned_sets().filter(|set| set.is_active()).collect();
    let is_done = match active.as_slice() {
        [] => wanted == 0,
        [set] => set.replicas.get() == wanted && set.template == deployment.template,
        _ => false,
    };
    if !is_done {
        let shown: Vec<_> = active.iter().map(|set| format!("{} {}", set.meta.name, set.replicas)).collect();
        return Some(format!(
            "a rollout ends in one set of the present template: {wanted} wanted, {}",
            shown.join(", ")
        ));
    }
    let pods = state.server.pods.values().filter(|pod| pod.is_active() && pod.is_ready()).count();
    if i64::try_from(pods) != Ok(wanted) {
        return Some(format!("a rollout ends with the wanted pods: {pods} of {wanted}"));
    }
    let counters = [status.replicas, status.updated, status.ready, status.available];
    let reports = counters.iter().all(|counter| counter.get() == wanted)
        && status.observed_generation == deployment.meta.generation
        && status.unavailable.is_zero();
    if !reports {
        return Some(format!("a rollout ends in a status that says so: {status:?}"));
    }
    let revision = |set: &ReplicaSet| set.meta.annotations.get(keys::REVISION).cloned();
    let new = active.first().and_then(|set| revision(set));
    (new.is_some() && new != deployment.meta.annotations.get(keys::REVISION).cloned())
        .then(|| format!("the Deployment has the revision of its set: {new:?}"))
}
