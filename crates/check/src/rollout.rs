//! Checks one step of a rollout: how it may change the sizes of the sets.

use gantry_model::{Deployment, Limit, Name, ReplicaSet, RollingLimits, Strategy, keys};

use crate::{Finding, unless};

/// Checks the effect of one sync of a Deployment on its sets: before and after, by name.
///
/// Pods are counted by `spec.replicas`: terminating pods are not.
pub fn rollout_step(deployment: &Deployment, before: &[&ReplicaSet], after: &[&ReplicaSet]) -> Vec<Finding> {
    let wanted = deployment.replicas.get();
    let (surge, unavailable) = limits(deployment);
    let (total_before, total_after) = (total(before), total(after));
    let ceiling = wanted + surge;
    let mut findings = Vec::new();
    // The total of Recreate is not checked: a legacy rollback request makes Kubernetes create the set of the current
    // template at its full size, beside the old one.
    findings.extend(unless(
        total_after <= total_before || total_after <= ceiling || deployment.strategy == Strategy::Recreate,
        "no step raises the number of pods above the wanted number and the surge",
        || format!("{total_before} -> {total_after} of at most {ceiling}"),
    ));
    if let Some(new) = after.iter().find(|set| set.template == deployment.template) {
        let size_before = size_of(before, &new.meta.name);
        let size_after = new.replicas.get();
        findings.extend(unless(
            size_after <= size_before || size_after <= ceiling,
            "the new set does not grow beyond the wanted number and the surge",
            || format!("{} {size_before} -> {size_after}, wanted {wanted}", new.meta.name),
        ));
    }
    if is_rolling(deployment, before) {
        let floor = wanted - unavailable;
        let available_before: i64 = before.iter().map(|set| available_within_size(set)).sum();
        let available_after = available_before - scaled_down_available(before, after);
        findings.extend(unless(
            available_after >= available_before.min(floor),
            "no scale-down takes availability below the wanted number less maxUnavailable",
            || format!("{available_before} -> {available_after} of at least {floor}"),
        ));
    }
    findings
}

/// Whether the step is one of a rolling update, and not of scaling.
fn is_rolling(deployment: &Deployment, sets: &[&ReplicaSet]) -> bool {
    let wanted = deployment.replicas.to_string();
    let sized_for_another = |set: &&ReplicaSet| {
        set.is_active()
            && set.meta.annotations.get(keys::DESIRED_REPLICAS).is_some_and(|desired| *desired != wanted)
    };
    matches!(deployment.strategy, Strategy::RollingUpdate(_))
        && !deployment.paused
        && !sets.iter().any(sized_for_another)
}

/// The available pods that were scaled down: a set that shrinks loses its unavailable pods first.
fn scaled_down_available(before: &[&ReplicaSet], after: &[&ReplicaSet]) -> i64 {
    before.iter().map(|set| (available_within_size(set) - size_of(after, &set.meta.name)).max(0)).sum()
}

/// Available pods within the size of a set. A stale status reports more: those are terminating and must not count.
fn available_within_size(set: &ReplicaSet) -> i64 {
    set.status.available.get().min(set.replicas.get())
}

fn size_of(sets: &[&ReplicaSet], name: &Name) -> i64 {
    sets.iter().find(|set| set.meta.name == *name).map_or(0, |set| set.replicas.get())
}

fn total(sets: &[&ReplicaSet]) -> i64 {
    sets.iter().map(|set| set.replicas.get()).sum()
}

/// Surge and unavailable in pods: percentages of the desired number, rounded up and down, never both zero.
fn limits(deployment: &Deployment) -> (i64, i64) {
    let Strategy::RollingUpdate(Ok(RollingLimits { surge, unavailable })) = &deployment.strategy else {
        return (0, 0);
    };
    let wanted = deployment.replicas.get();
    let pods = |limit: &Limit, round_up: bool| match *limit {
        Limit::Count(count) => i64::from(count),
        Limit::Percent(percent) => {
            let hundredths = i64::from(percent) * wanted;
            hundredths / 100 + i64::from(round_up && hundredths % 100 > 0)
        }
    };
    match (pods(surge, true), pods(unavailable, false)) {
        (0, 0) => (0, 1.min(wanted)),
        (surge, unavailable) => (surge, unavailable.min(wanted)),
    }
}

#[cfg(test)]
mod tests {
    use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, replica_set};

    use super::*;

    fn broken(old: (u16, u16, u16), new: (u16, u16)) -> Vec<&'static str> {
        let web = deployment("web").size(10).rolling(Limit::Count(3), Limit::Count(2));
        let old_set = |size| replica_set("old").image("old:1").size(size).available(old.2).sized_for(10, 13);
        let new_set = |size| replica_set("new").size(size).sized_for(10, 13);
        let before = [old_set(old.0), new_set(new.0)];
        let after = [old_set(old.1), new_set(new.1)];
        let findings = rollout_step(&web, &[&before[0], &before[1]], &[&after[0], &after[1]]);
        findings.into_iter().map(|finding| finding.broken).collect()
    }

    #[test]
    fn a_step_within_the_limits_has_no_finding() {
        assert_eq!(broken((10, 10, 10), (0, 3)), [""; 0]);
        assert_eq!(broken((10, 8, 10), (3, 3)), [""; 0]);
        assert_eq!(broken((10, 2, 2), (3, 3)), [""; 0], "unavailable pods may be removed");
        assert_eq!(broken((20, 19, 10), (3, 3)), [""; 0], "above the ceiling, but decreasing");
    }

    #[test]
    fn growing_beyond_the_surge_is_found() {
        assert_eq!(broken((10, 10, 10), (3, 4)).len(), 1);
        assert_eq!(broken((0, 0, 0), (0, 14)).len(), 2, "the total and the new set are too large");
    }

    #[test]
    fn shrinking_below_the_floor_is_found() {
        assert_eq!(broken((10, 7, 10), (3, 3)).len(), 1);
        assert_eq!(broken((8, 7, 5), (3, 3)), [""; 0], "5 pods stay available");
        assert_eq!(broken((8, 4, 5), (3, 3)).len(), 1, "already below the floor, and lowered further");
    }

    #[test]
    fn counting_on_terminating_pods_is_found() {
        let web = deployment("web").size(10).rolling(Limit::Count(3), Limit::Count(2));
        let emptied = replica_set("emptied").image("old:0").available(5);
        let old = |size| replica_set("old").image("old:1").size(size).available(10);
        let step = |to| rollout_step(&web, &[&emptied, &old(10)], &[&emptied, &old(to)]).len();
        assert_eq!(
            (step(8), step(7)),
            (0, 1),
            "10 pods remain available, whatever the emptied set still reports"
        );
    }
}
