//! Proportional scaling that is interrupted between two of its writes, by a crash or a conflict.

use gantry_decide::deployment::{Action, Observed, Repairs, decide};
use gantry_model::{Deployment, Limit, ReplicaSet, Replicas};
use gantry_testkit::{DeploymentBuilder, NOON, ReplicaSetBuilder, deployment, noon_plus, replica_set};

/// The most syncs that scaling takes.
const SYNCS_MAX: usize = 10;

/// Syncs until nothing is resized any more; the first sync ends after so many writes. Returns the sizes by age.
fn scaled(web: &Deployment, sets: &[ReplicaSet], writes_of_first_sync: usize) -> Vec<i64> {
    let mut sets = sets.to_vec();
    let mut writes = writes_of_first_sync;
    for _ in 0..SYNCS_MAX {
        let observed: Vec<_> = sets.iter().collect();
        let repairs = Repairs::default();
        let observed = Observed { deployment: web, sets: &observed, pods: &[], refused: None, repairs };
        let decision = decide(NOON, &observed);
        for step in decision.steps {
            let Action::UpdateReplicaSet { set: name, edit, .. } = step.action else { continue };
            if writes == 0 {
                break;
            }
            writes -= 1;
            let set = sets.iter_mut().find(|set| set.meta.name == name).unwrap();
            (set.replicas, set.meta.annotations) = (edit.replicas, edit.annotations);
        }
        writes = usize::MAX;
        sets.iter_mut().for_each(report);
    }
    sets.iter().map(|set| set.replicas.get()).collect()
}

/// Reports the status of a set that has removed its surplus pods, and whose new pods are not ready yet.
fn report(set: &mut ReplicaSet) {
    let available: Replicas = set.status.available.min(set.replicas);
    (set.status.replicas, set.status.ready, set.status.available) = (set.replicas, available, available);
}

/// D9.4, kubernetes/kubernetes#44734: the sizes are those of an uninterrupted scaling, for all sizes of three sets.
#[test]
fn an_interrupted_scaling_keeps_the_proportions() {
    for (surge, from) in [(0, 3), (1, 3), (2, 2)] {
        let max = from + surge;
        for to in [0, 1, 2, 5] {
            let limit = Limit::Count(i32::from(surge));
            let web = deployment("web").size(to).rolling(limit, Limit::Count(1)).paused();
            let set = |name: &str, image: &str, age: i64, size: u16| {
                let set = replica_set(name).owned_by(&web).image(image).created(noon_plus(-age)).revision(1);
                set.size(size).available(size).sized_for(from, max)
            };
            let sizes = (0..=max).flat_map(|old| (0..=max - old).map(move |middle| (old, middle)));
            for (old, middle) in sizes {
                let new = max - old - middle;
                let sets = [
                    set("a", "a:1", 60, old),
                    set("b", "b:1", 50, middle),
                    set("c", "nginx:1", 40, new).revision(3),
                ];
                let at_once = scaled(&web, &sets, usize::MAX);
                for writes in [1, 2] {
                    let case = format!("{old}, {middle}, {new} of {from} to {to}, after {writes} writes");
                    assert_eq!(scaled(&web, &sets, writes), at_once, "{case}");
                }
            }
        }
    }
}
