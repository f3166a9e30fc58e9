//! The worked examples of the specification, row by row.

use gantry_decide::deployment::{Limits, append_to_history, is_complete, is_progressing, new_set_size};
use gantry_model::{ConditionStatus, Deployment, Limit, ReplicaSet, keys};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, noon_plus, replica_set};

use crate::{decided, decided_at, edit_of, sizes, status_after};

fn limit(written: &str) -> Limit {
    match written.strip_suffix('%') {
        Some(percent) => Limit::Percent(percent.parse().unwrap()),
        None => Limit::Count(written.parse().unwrap()),
    }
}

/// D19.1, D7.1, D7.2, D7.4, D7.5: examples 1 to 12.
#[test]
fn limits_resolve_as_in_examples_1_to_12() {
    for (example, n, surge, unavailable, s, u) in [
        (1, 1, "25%", "25%", 1, 0),
        (2, 3, "25%", "25%", 1, 0),
        (3, 4, "25%", "25%", 1, 1),
        (4, 10, "25%", "25%", 3, 2),
        (5, 13, "25%", "25%", 4, 3),
        (6, 50, "0", "1%", 0, 1),
        (7, 9, "0", "10%", 0, 1),
        (8, 5, "0", "7", 0, 5),
        (9, 3, "150%", "0", 5, 0),
        (10, 0, "1", "0", 1, 0),
        (11, 0, "25%", "25%", 0, 0),
        (12, 7, "33%", "33%", 3, 2),
    ] {
        let web = deployment("web").size(n).rolling(limit(surge), limit(unavailable));
        let want = Limits { desired: n.into(), surge: s, unavailable: u };
        assert_eq!(Limits::of(&web), want, "example {example}");
    }
}

/// D19.2, D8.1: examples 13 to 20.
#[test]
fn the_new_set_is_sized_as_in_examples_13_to_20() {
    for (example, n, surge, new, old, want) in [
        (13, 10, "3", 0, 10, 3),
        (14, 10, "3", 3, 8, 5),
        (15, 4, "0", 0, 4, 0),
        (16, 4, "0", 0, 3, 1),
        (17, 5, "100%", 0, 5, 5),
        (18, 10, "3", 8, 1, 10),
        (19, 3, "50%", 1, 3, 2),
        (20, 10, "2", 4, 20, 4),
    ] {
        let web = deployment("web").size(n).rolling(limit(surge), limit("1"));
        assert_eq!(new_set_size(&web, new, new + old).unwrap().get(), want, "example {example}");
    }
    let web = deployment("web").size(7).recreate();
    assert_eq!(new_set_size(&web, 0, 20).unwrap().get(), 7, "Recreate: always N");
}

/// A new set (`nginx:1`) and old ones of `size/available`, oldest first, all sized for the Deployment.
fn mid_rollout(web: &Deployment, new: (u16, u16), old: &[(&str, u16, u16)]) -> Vec<ReplicaSet> {
    let max = u16::try_from(Limits::of(web).ceiling()).unwrap();
    let n = u16::try_from(web.replicas.get()).unwrap();
    let old = old.iter().enumerate().map(|(age, (name, size, available))| {
        replica_set(name)
            .image(&format!("old:{name}"))
            .created(noon_plus(i64::try_from(age).unwrap() - 100))
            .size(*size)
            .available(*available)
    });
    let new = replica_set("new").revision(1).size(new.0).available(new.1);
    old.chain([new]).map(|set| set.owned_by(web).sized_for(n, max)).collect()
}

/// D19.3, D10.1, D10.2, D10.3: examples 21 to 33. The new set is already as large as the surge allows, or the
/// example is about shrinking alone, so that growth is prevented by the ceiling.
#[test]
fn old_sets_shrink_as_in_examples_21_to_33() {
    type Row = (
        u8,
        u16,
        &'static str,
        &'static str,
        (u16, u16),
        &'static [(&'static str, u16, u16)],
        &'static [&'static str],
    );
    let rows: [Row; 12] = [
        (21, 10, "3", "2", (3, 0), &[("old", 10, 10)], &["scale old 10 -> 8"]),
        (22, 10, "3", "2", (5, 0), &[("old", 8, 8)], &[]),
        (23, 10, "3", "2", (5, 2), &[("old", 8, 8)], &["scale old 8 -> 6"]),
        (24, 10, "3", "2", (5, 5), &[("old", 8, 8)], &["scale old 8 -> 3"]),
        (25, 10, "0", "3", (0, 0), &[("old", 10, 7)], &["scale old 10 -> 7"]),
        (26, 10, "0", "3", (0, 0), &[("a", 4, 1), ("b", 6, 6)], &["scale a 4 -> 1"]),
        (27, 10, "3", "2", (0, 0), &[("a", 8, 8), ("b", 5, 0)], &["scale b 5 -> 0"]),
        (28, 10, "3", "2", (9, 9), &[("a", 2, 2), ("b", 2, 0)], &["scale b 2 -> 0", "scale a 2 -> 0"]),
        (29, 6, "2", "1", (2, 1), &[("a", 3, 1), ("b", 3, 3)], &["scale a 3 -> 1"]),
        (30, 4, "1", "0", (1, 0), &[("old", 4, 3)], &[]),
        (31, 4, "1", "0", (1, 1), &[("old", 4, 4)], &["scale old 4 -> 3"]),
        (32, 10, "0", "10", (0, 0), &[("old", 10, 10)], &["scale old 10 -> 0"]),
    ];
    for (example, n, surge, unavailable, new, old, want) in rows {
        let web = deployment("web").size(n).rolling(limit(surge), limit(unavailable));
        let decision = decided(&web, &mid_rollout(&web, new, old));
        assert_eq!(sizes(&decision), want, "example {example}");
    }
}

/// D19.3, D10.2: example 33. An old set that reports more than it should have stops the phase without an error.
#[test]
fn a_lagging_status_aborts_shrinking_as_in_example_33() {
    let web = deployment("web").size(3).rolling(limit("1"), limit("0"));
    let nothing_may_go = decided(&web, &mid_rollout(&web, (1, 1), &[("old", 2, 3)]));
    // The new set may grow (total 3 of 4), so shrinking is not considered.
    assert_eq!(sizes(&nothing_may_go), ["scale new 1 -> 2"], "the new set grows first");
    let lagging = decided(&web, &mid_rollout(&web, (2, 2), &[("old", 2, 3)]));
    assert_eq!(sizes(&lagging), [""; 0], "example 33");
    let web = web.rolling(limit("2"), limit("0"));
    let ahead = decided(&web, &mid_rollout(&web, (2, 2), &[("a", 1, 0), ("b", 2, 3)]));
    assert_eq!(sizes(&ahead), ["scale a 1 -> 0"], "sets scaled down before the stale one stay scaled down");
}

/// D19.4, D9.3: examples 34 to 43 and 45. Sets as (name, size, max annotation), oldest first; `n…` is the new one.
#[test]
fn sets_share_a_change_of_size_as_in_examples_34_to_45() {
    type Row = (u8, u16, u16, &'static [(&'static str, u16, u16)], &'static [(&'static str, i64)]);
    let rows: [Row; 11] = [
        (34, 20, 3, &[("old", 8, 13), ("new", 5, 13)], &[("old", 14), ("new", 9)]),
        (35, 6, 3, &[("old", 9, 15), ("new", 6, 15)], &[("old", 5), ("new", 4)]),
        (36, 8, 0, &[("o1", 1, 5), ("o2", 2, 5), ("new", 2, 5)], &[("new", 3), ("o2", 3), ("o1", 2)]),
        (37, 3, 0, &[("o1", 2, 6), ("o2", 2, 6), ("new", 2, 6)], &[("o1", 1), ("o2", 1), ("new", 1)]),
        (38, 16, 0, &[("o1", 5, 15), ("o2", 5, 15), ("new", 5, 15)], &[("new", 6), ("o2", 5), ("o1", 5)]),
        (39, 14, 0, &[("o1", 5, 15), ("o2", 5, 15), ("new", 5, 15)], &[("o1", 4), ("o2", 5), ("new", 5)]),
        (40, 15, 0, &[("o1", 5, 10), ("new", 5, 10)], &[("new", 8), ("o1", 7)]),
        (41, 0, 3, &[("o1", 2, 13), ("o2", 7, 13), ("new", 4, 13)], &[("o2", 0), ("new", 0), ("o1", 0)]),
        (42, 7, 0, &[("old", 3, 4), ("new", 1, 4)], &[("old", 5), ("new", 2)]),
        (43, 8, 2, &[("o1", 3, 6), ("o2", 3, 6), ("new", 0, 6)], &[("o2", 5), ("o1", 5)]),
        (45, 9, 1, &[("o1", 8, 10), ("o2", 1, 10), ("new", 1, 10)], &[("o1", 8), ("o2", 1), ("new", 1)]),
    ];
    for (example, n, surge, before, want) in rows {
        let web = deployment("web").size(n).rolling(Limit::Count(surge.into()), Limit::Count(1));
        let sets: Vec<_> = before
            .iter()
            .enumerate()
            .map(|(age, (name, size, max))| {
                let image = if *name == "new" { "nginx:1".to_owned() } else { format!("old:{name}") };
                let created = noon_plus(i64::try_from(age).unwrap() - 100);
                let set = replica_set(name).owned_by(&web).image(&image).created(created).size(*size);
                set.annotated(keys::DESIRED_REPLICAS, "77").annotated(keys::MAX_REPLICAS, &max.to_string())
            })
            .collect();
        let decision = decided(&web, &sets);
        let resized: Vec<_> = decision
            .steps
            .iter()
            .filter_map(|step| match &step.action {
                gantry_decide::deployment::Action::UpdateReplicaSet { set, edit, .. }
                    if edit.annotations.get(keys::DESIRED_REPLICAS) == Some(&n.to_string()) =>
                {
                    Some((set.as_str(), edit.replicas.get()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(resized, want, "example {example}");
    }
}

/// D19.4, D9.2, D9.3: examples 44, 46, 47 and 48.
#[test]
fn scaling_follows_examples_44_and_46_to_48() {
    let old = |web: &Deployment, size| {
        replica_set("old").owned_by(web).image("old:1").created(noon_plus(-9)).size(size)
    };
    let new = |web: &Deployment, size| replica_set("new").owned_by(web).size(size);

    let web = deployment("web").size(12).rolling(limit("0"), limit("1")).reported(9, 3, 9);
    let sets = [
        old(&web, 6).annotated(keys::DESIRED_REPLICAS, "9"),
        new(&web, 3).annotated(keys::DESIRED_REPLICAS, "9"),
    ];
    let decision = decided(&web, &sets);
    assert_eq!(edit_of(&decision, "old").unwrap().replicas.get(), 8, "example 44");
    assert_eq!(edit_of(&decision, "new").unwrap().replicas.get(), 4, "example 44");

    let web = deployment("web").size(4).rolling(limit("1"), limit("1"));
    let sets = [old(&web, 1).sized_for(3, 4), new(&web, 4).available(4).sized_for(4, 5)];
    assert!(sizes(&decided(&web, &sets)).contains(&"scale old 1 -> 0".to_owned()), "example 46");

    let web = deployment("web").size(12);
    let sets = [old(&web, 0), new(&web, 10).sized_for(10, 13)];
    assert!(sizes(&decided(&web, &sets)).contains(&"scale new 10 -> 12".to_owned()), "example 47");

    let web = deployment("web").size(5).image("never-rolled:1").paused();
    let younger = replica_set("younger").owned_by(&web).image("old:2").created(noon_plus(-1));
    assert_eq!(sizes(&decided(&web, &[younger, old(&web, 0)])), ["scale younger 0 -> 5"], "example 48");
}

/// D19.5, D16.5: examples 49 to 51.
#[test]
fn the_progress_check_is_planned_as_in_examples_49_to_51() {
    use gantry_decide::Wake;
    use gantry_model::Timestamp;
    use std::time::Duration;

    let stuck = |deadline| {
        let web = deployment("web").size(3).deadline(Some(deadline)).annotated(keys::REVISION, "1");
        let set = replica_set("new").owned_by(&web).revision(1).size(3).sized_for(3, 4);
        let web = web.progressing(ConditionStatus::True, "ReplicaSetUpdated", noon_plus(0));
        // The status that the first sync reports is the input of the following ones.
        let settled = decided_at(noon_plus(1), &web, std::slice::from_ref(&set));
        let mut web = web.clone();
        web.status = status_after(&web, &settled);
        web.status.conditions.sort_by_key(|c| c.condition_type.as_str().to_owned());
        let progressing = web.status.conditions.iter_mut().find(|c| c.reason == "ReplicaSetUpdated").unwrap();
        progressing.last_update = Some(noon_plus(0));
        (web, set)
    };
    let wake_at = |deadline, now: Timestamp| {
        let (web, set) = stuck(deadline);
        decided_at(now, &web, &[set]).wake
    };
    let after_noon = |seconds: f64| noon_plus(0).plus(Duration::from_secs_f64(seconds));
    assert_eq!(wake_at(600, after_noon(200.0)), Wake::After(Duration::from_secs(401)), "example 49");
    assert_eq!(wake_at(60, after_noon(59.0)), Wake::After(Duration::from_secs(2)), "example 50");
    assert_eq!(wake_at(60, after_noon(59.5)), Wake::Soon, "example 51");
}

/// D19.5, D16.2: example 52. The deadline is strict.
#[test]
fn the_deadline_is_strict_as_in_example_52() {
    use std::time::Duration;
    let web = deployment("web").size(3).deadline(Some(60)).reported(3, 3, 0).annotated(keys::REVISION, "1");
    let web = web.progressing(ConditionStatus::True, "ReplicaSetUpdated", noon_plus(0));
    let set = replica_set("new").owned_by(&web).revision(1).size(3).sized_for(3, 4);
    let reason_at = |now| {
        let decision = decided_at(now, &web, std::slice::from_ref(&set));
        status_after(&web, &decision).progressing().unwrap().reason.clone()
    };
    assert_eq!(reason_at(noon_plus(60)), "ReplicaSetUpdated");
    assert_eq!(reason_at(noon_plus(60).plus(Duration::from_millis(1))), "ProgressDeadlineExceeded");
}

/// D19.5, D15.4, D15.5: examples 53 to 55.
#[test]
fn completion_and_progress_follow_examples_53_to_55() {
    let web = deployment("web").size(5);
    assert!(!is_complete(&web, &web.clone().reported(6, 5, 5).status), "example 53");
    let progressing = |before: (u16, u16, u16), after: (u16, u16, u16)| {
        let reported =
            |(replicas, updated, available)| web.clone().reported(replicas, updated, available).status;
        is_progressing(&reported(before), &reported(after))
    };
    assert!(progressing((10, 4, 0), (8, 4, 0)), "example 54");
    assert!(!progressing((5, 5, 5), (5, 5, 4)), "example 55");
}

/// D19.5, D13: examples 56 to 58. Revisions of drained sets, the limit, and the sets that are deleted.
#[test]
fn history_is_cleaned_up_as_in_examples_56_to_58() {
    let deleted = |limit: u16, first_is_active: bool| {
        let mut web = deployment("web").size(1).reported(1, 1, 1).annotated(keys::REVISION, "6");
        web.revision_history_limit = Some(limit.into());
        let mut sets: Vec<_> = (1..=5)
            .map(|revision| {
                let set =
                    replica_set(&format!("r{revision}")).owned_by(&web).image(&format!("old:{revision}"));
                set.revision(revision).created(noon_plus(revision - 100))
            })
            .collect();
        if first_is_active {
            sets[0] = sets[0].clone().size(1).sized_for(1, 2);
            web = web.paused();
        }
        let size = u16::from(!first_is_active);
        sets.push(replica_set("new").owned_by(&web).revision(6).size(size).available(size).sized_for(1, 2));
        sizes(&decided(&web, &sets))
    };
    assert_eq!(deleted(2, false), ["delete r1", "delete r2", "delete r3"], "example 56");
    assert_eq!(deleted(2, true), ["delete r2", "delete r3"], "example 57");
    assert_eq!(deleted(0, false).len(), 5, "example 58");
}

/// D19.5, D6.2, D6.3, D6.5, D6.6: examples 59 to 61. A set that is reused gets the next revision and a history.
#[test]
fn revisions_move_on_as_in_examples_59_to_61() {
    let web = deployment("web").image("nginx:back");
    let back = |revision, history: Option<&str>| {
        let set = replica_set("back").owned_by(&web).image("nginx:back").revision(revision);
        history.map_or(set.clone(), |history| set.annotated(keys::REVISION_HISTORY, history))
    };
    let other = |revision: i64| {
        replica_set(&format!("r{revision}"))
            .owned_by(&web)
            .image(&format!("old:{revision}"))
            .revision(revision)
    };
    let notes = |sets: &[ReplicaSet]| {
        let edit = edit_of(&decided(&web, sets), "back").unwrap();
        (edit.annotations[keys::REVISION].clone(), edit.annotations.get(keys::REVISION_HISTORY).cloned())
    };
    assert_eq!(notes(&[back(1, None), other(2), other(3)]), ("4".into(), Some("1".into())), "example 59");
    assert_eq!(notes(&[back(4, Some("1")), other(9)]), ("10".into(), Some("1,4".into())), "example 60");
    assert_eq!(notes(&[back(7, None)]), ("7".into(), None), "example 61");
    assert_eq!(append_to_history("1", "4"), "1,4");
}
