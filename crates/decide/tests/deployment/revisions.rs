//! Revisions and the annotations that are copied with them.

use gantry_decide::deployment::{Action, IfRefused, append_to_history, revision_of};
use gantry_model::keys;
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, labels, noon_plus, replica_set};

use crate::{decided, edit_of, lines, sizes, status_after};

/// D6.1: a missing revision is zero; one that is not a number is none.
#[test]
fn a_revision_is_a_number_in_an_annotation() {
    assert_eq!(revision_of(&labels(&[])), Some(0));
    assert_eq!(revision_of(&labels(&[(keys::REVISION, "7")])), Some(7));
    assert_eq!(revision_of(&labels(&[(keys::REVISION, "seven")])), None);
    assert_eq!(revision_of(&labels(&[(keys::REVISION, "")])), None);
}

/// D6.1, D6.2: the next revision is one more than the highest old one; unreadable ones and the new set's own do not
/// count.
#[test]
fn the_next_revision_follows_the_highest_old_one() {
    let web = deployment("web");
    let sets = [
        replica_set("three").owned_by(&web).image("a").revision(3),
        replica_set("what").owned_by(&web).image("b").annotated(keys::REVISION, "many"),
        replica_set("new").owned_by(&web),
    ];
    let edit = edit_of(&decided(&web, &sets), "new").unwrap();
    assert_eq!(edit.annotations[keys::REVISION], "4");
    assert_eq!(edit.annotations.get(keys::REVISION_HISTORY), None, "a first revision has no history");
    let at_the_end = [sets[0].clone().revision(i64::MAX), sets[2].clone()];
    let edit = edit_of(&decided(&web, &at_the_end), "new").unwrap();
    assert_eq!(edit.annotations[keys::REVISION], i64::MAX.to_string(), "the revision does not overflow");
}

/// D6.3: all annotations but six are copied; none is removed; desired and max are not changed here.
#[test]
fn annotations_are_copied_but_for_six() {
    let mut web = deployment("web").annotated("team", "b").annotated("kubernetes.io/change-cause", "second");
    for skipped in [
        keys::LAST_APPLIED,
        keys::REVISION,
        keys::REVISION_HISTORY,
        keys::DESIRED_REPLICAS,
        keys::MAX_REPLICAS,
    ] {
        web = web.annotated(skipped, "from the deployment");
    }
    let set = replica_set("new").owned_by(&web).revision(1).annotated("team", "a").annotated("kept", "yes");
    let deleting = web.deleting_since(noon_plus(0));
    let edit = edit_of(&decided(&deleting, std::slice::from_ref(&set)), "new").unwrap();
    let notes =
        [("kept", "yes"), ("kubernetes.io/change-cause", "second"), ("team", "b"), (keys::REVISION, "1")];
    assert_eq!(
        edit.annotations.clone(),
        labels(&notes),
        "D21.4: annotations removed from the Deployment stay on the set"
    );
    let requested = deleting.annotated(keys::ROLLBACK_TO, "no number");
    assert_eq!(edit_of(&decided(&requested, &[set]), "new").unwrap().annotations, labels(&notes));
}

/// D6.3: an unreadable revision ends the annotation sync; differences in annotations alone are then not written.
#[test]
fn an_unreadable_revision_leaves_the_set_alone() {
    let web = deployment("web").annotated("team", "a");
    let set = replica_set("new").owned_by(&web).annotated(keys::REVISION, "many").size(3).sized_for(3, 4);
    assert_eq!(edit_of(&decided(&web, &[set]), "new"), None);
}

/// D6.3: an empty revision counts as zero, and as an existing revision.
#[test]
fn an_empty_revision_counts_as_zero() {
    let web = deployment("web");
    let set = replica_set("new").owned_by(&web).annotated(keys::REVISION, "").size(3).sized_for(3, 4);
    assert_eq!(edit_of(&decided(&web, &[set]), "new").unwrap().annotations[keys::REVISION], "1");
}

/// D6.3: a changed minReadySeconds alone is written, and the Deployment's annotation follows in the next sync.
#[test]
fn min_ready_seconds_is_copied_before_the_annotation_of_the_deployment() {
    let mut web = deployment("web").deadline(None);
    web.min_ready_seconds = 7;
    let set = replica_set("new").owned_by(&web).revision(1).size(3).sized_for(3, 4);
    let decision = decided(&web, &[set]);
    assert_eq!(edit_of(&decision, "new").unwrap().min_ready_seconds, 7);
    assert_eq!(decision.steps[0].if_refused, IfRefused::Fail);
    let noted =
        decision.steps.iter().any(|s| matches!(&s.action, Action::UpdateStatus { revision: Some(_), .. }));
    assert!(!noted, "the revision annotation of the Deployment follows in a later sync");
}

/// D6.4, D6.7: the revision of an up-to-date set is copied to the Deployment with the status, which changes no
/// generation; with a deadline the set is also reported as found, once.
#[test]
fn the_revision_of_an_up_to_date_set_is_copied_to_the_deployment() {
    let web = deployment("web");
    let set = replica_set("new").owned_by(&web).revision(4).size(3).sized_for(3, 4);
    let decision = decided(&web, std::slice::from_ref(&set));
    let Action::UpdateStatus { status, revision } = &decision.steps[0].action else { panic!("{decision:?}") };
    assert_eq!(revision.as_deref(), Some("4"));
    let found = status.progressing().unwrap();
    assert_eq!(
        (found.reason.as_str(), found.message.as_str()),
        ("FoundNewReplicaSet", "Found new replica set \"new\"")
    );

    let no_deadline = decided(&web.clone().deadline(None), std::slice::from_ref(&set));
    assert_eq!(status_after(&web, &no_deadline).progressing(), None);
    let known = web.clone().annotated(keys::REVISION, "4").deadline(None);
    let reports: Vec<_> =
        lines(&decided(&known, &[set])).into_iter().filter(|l| l.contains("revision")).collect();
    assert_eq!(reports, [""; 0], "nothing to copy");
}

/// D6.5: the oldest revisions are dropped so that the history does not exceed its maximum length.
#[test]
fn the_revision_history_drops_the_oldest_beyond_its_length() {
    assert_eq!(append_to_history("", "3"), "3");
    assert_eq!(append_to_history("1,2", "3"), "1,2,3");
    assert_eq!(append_to_history(",2", "3"), "3", "a history that begins with a comma counts as empty");
    let full = vec!["12345678"; 222].join(",");
    assert_eq!(full.len(), 1997);
    assert_eq!(append_to_history(&full, "12").len(), 2000, "exactly the maximum length");
    assert_eq!(append_to_history(&full, "123"), format!("{},123", &full[9..]));
    assert_eq!(
        append_to_history(&full, "12345678901"),
        format!("{},12345678901", &full[9..]),
        "dropping one revision is enough"
    );
    let one_huge = "9".repeat(2000);
    assert_eq!(append_to_history(&one_huge, "1"), "1");
    let too_long = "8".repeat(2001);
    assert_eq!(append_to_history("1,2", &too_long), "1,2", "a revision that can never fit is left out");
}

/// D5.5: an earlier template has a set already: nothing is created.
#[test]
fn a_rollback_reuses_the_earlier_set() {
    let web = deployment("web")
        .image("nginx:1")
        .rolling(gantry_model::Limit::Count(1), gantry_model::Limit::Count(0));
    let sets = [
        replica_set("one").owned_by(&web).image("nginx:1").revision(1),
        replica_set("two").owned_by(&web).image("nginx:2").revision(2).size(3).available(3).sized_for(3, 4),
    ];
    let decision = decided(&web, &sets);
    assert_eq!(sizes(&decision), ["annotate one", "scale one 0 -> 1"]);
    assert_eq!(edit_of(&decision, "one").unwrap().annotations[keys::REVISION], "3");
}
