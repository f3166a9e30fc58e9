//! Which pods a ReplicaSet considers and claims.

use gantry_decide::ownership::{AdoptionRefused, may_adopt};
use gantry_decide::replica_set::{ClassifiedPods, ExpectationState, WaitingOn, classify_pods};
use gantry_model::{OwnerReference, Phase, Pod, RefusalKind, ReplicaSet, Selector, patch};
use gantry_testkit::{NOON, PodBuilder, ReplicaSetBuilder, invalid_selector, meta, pod, replica_set};

use crate::{decided, deletions, refusal};

fn classified<'a>(set: &'a ReplicaSet, pods: &'a [Pod]) -> ClassifiedPods<'a> {
    classify_pods(set, ExpectationState::Satisfied, pods).unwrap()
}

/// The disposition of one pod: `owned`, `adopt`, `release`, `terminating` or `leave`.
fn disposition(set: &ReplicaSet, pod: &Pod) -> &'static str {
    let pods = [pod.clone()];
    let classified = classified(set, &pods);
    let claims = &classified.claims;
    match (claims.owned.len(), claims.adopt.len(), claims.release.len(), classified.terminating.len()) {
        (1, 0, 0, 0) => "owned",
        (0, 1, 0, 0) => "adopt",
        (0, 0, 1, 0) => "release",
        (0, 0, 0, 1) => "terminating",
        (0, 0, 0, 0) => "leave",
        _ => panic!("one pod, one disposition"),
    }
}

fn names<'a>(pods: &[&'a Pod]) -> Vec<&'a str> {
    pods.iter().map(|pod| pod.meta.name.as_str()).collect()
}

/// R4.4: the claiming table for a set that is not being deleted.
#[test]
fn a_set_claims_its_own_pods_and_orphans_only() {
    let web = replica_set("web").size(2);
    let own = pod("a").owned_by(&web);
    assert_eq!(disposition(&web, &own), "owned");
    assert_eq!(disposition(&web, &own.clone().labelled(&[("app", "x")])), "release");
    assert_eq!(disposition(&web, &pod("a")), "adopt");
    assert_eq!(disposition(&web, &pod("a").labelled(&[("app", "x")])), "leave");
    let foreign = pod("a").owned_by(&replica_set("other"));
    assert_eq!(disposition(&web, &foreign), "leave");
    assert_eq!(disposition(&web, &foreign.labelled(&[("app", "x")])), "leave");
}

/// O7.5; R3, step 4: a controller reference must match in kind, name and uid, and the namespace must be equal.
#[test]
fn pods_with_another_controller_or_labels_are_not_considered() {
    let web = replica_set("web");
    let bent = |bend: fn(&mut OwnerReference)| {
        let mut pod = pod("a").owned_by(&web);
        bend(&mut pod.meta.owners[0]);
        disposition(&web, &pod)
    };
    assert_eq!(bent(|_| {}), "owned");
    assert_eq!(bent(|owner| owner.api_version = "v0".into()), "owned");
    assert_eq!(bent(|owner| owner.kind = "Job".into()), "leave");
    assert_eq!(bent(|owner| owner.name = "other".into()), "leave");
    assert_eq!(bent(|owner| owner.uid = "other".into()), "leave");
    assert_eq!(bent(|owner| owner.controller = false), "adopt", "an owner reference, but not the controller");
    let mut elsewhere = pod("a");
    elsewhere.meta.namespace = "elsewhere".into();
    assert_eq!(disposition(&web, &elsewhere), "leave");
}

/// R4.1: the live read decides; one refusal applies to all adoptions.
#[test]
fn adoption_requires_a_set_of_the_same_uid_that_is_not_being_deleted() {
    let web = meta("web");
    assert_eq!(may_adopt(&web.uid, Some(&web)), Ok(()));
    let mut deleting = web.clone();
    deleting.deleting = Some(NOON);
    assert_eq!(may_adopt(&web.uid, Some(&deleting)), Err(AdoptionRefused::OwnerDeleting));
    let mut replaced = web.clone();
    replaced.uid = "another".into();
    for live in [Some(&replaced), None] {
        let refused = may_adopt(&web.uid, live);
        assert!(matches!(refused, Err(AdoptionRefused::OwnerReplaced { .. })), "{refused:?}");
    }
}

/// R4.1, R4.8: refused adoptions fail the sync, and the refusal that they share is reported once.
#[test]
fn a_refused_adoption_fails_the_sync() {
    let web = replica_set("web");
    let pods = [pod("a"), pod("b")];
    let refused = || Err(refusal(RefusalKind::Other, "the owner is being deleted"));
    let failed =
        classified(&web, &pods).claimed([(&pods[0], refused()), (&pods[1], refused())], []).unwrap_err();
    assert_eq!(failed.to_string(), "the owner is being deleted");
}

/// R4.2: the patch names the set as controller and the pod by uid; a pod that was deleted is not claimed.
#[test]
fn adoption_is_a_patch_that_tolerates_an_absent_pod() {
    let web = replica_set("web");
    let owner = web.reference();
    let body = patch::adopt(&pod("a").meta.uid, &owner);
    let reference = &body["metadata"]["ownerReferences"][0];
    assert_eq!(body["metadata"]["uid"], "uid-of-a");
    assert_eq!((&reference["kind"], &reference["uid"]), (&"ReplicaSet".into(), &"uid-of-web".into()));

    let pods = [pod("a"), pod("b")];
    let gone = Err(refusal(RefusalKind::NotFound, "pods \"a\" not found"));
    let observed = classified(&web, &pods).claimed([(&pods[0], gone), (&pods[1], Ok(()))], []).unwrap();
    assert_eq!(names(&observed.active), ["b"]);
    let invalid = Err(refusal(RefusalKind::Invalid, "uid is immutable"));
    assert!(classified(&web, &pods).claimed([(&pods[0], invalid)], []).is_err(), "unlike at release");
}

/// R4.3: a released pod is not counted, so that its replacement is created in the same sync.
#[test]
fn a_released_pod_is_replaced_at_once() {
    let web = replica_set("web").size(1);
    let body = patch::release(&pod("a").meta.uid, [&web.meta.uid]);
    assert_eq!(body["metadata"]["ownerReferences"][0]["$patch"], "delete");

    let pods = [pod("a").owned_by(&web).labelled(&[("app", "debug")])];
    let forgiven = [RefusalKind::NotFound, RefusalKind::Invalid].map(|kind| Err(refusal(kind, "no")));
    for response in forgiven.into_iter().chain([Ok(())]) {
        let observed = classified(&web, &pods).claimed([], [(&pods[0], response)]).unwrap();
        let decision = gantry_decide::replica_set::decide(NOON, &observed);
        assert_eq!(crate::creations(&decision), 1);
    }
    let conflict = Err(refusal(RefusalKind::Other, "conflict"));
    assert!(classified(&web, &pods).claimed([], [(&pods[0], conflict)]).is_err());
}

/// R4.5: finished and terminating pods are neither adopted nor released nor counted; finished ones are left alone.
#[test]
fn terminated_pods_are_ignored() {
    let web = replica_set("web").size(1);
    for phase in [Phase::Succeeded, Phase::Failed] {
        let own = pod("a").owned_by(&web).phase(phase);
        assert_eq!(disposition(&web, &own), "leave");
        assert_eq!(disposition(&web, &own.clone().labelled(&[("app", "x")])), "leave");
        assert_eq!(disposition(&web, &own.deleting_since(NOON)), "leave");
        assert_eq!(disposition(&web, &pod("a").phase(phase)), "leave");
    }
    let terminating = pod("a").owned_by(&web).deleting_since(NOON);
    assert_eq!(disposition(&web, &terminating), "terminating");
    assert_eq!(disposition(&web, &terminating.labelled(&[("app", "x")])), "leave");
    assert_eq!(disposition(&web, &pod("a").deleting_since(NOON)), "leave", "an orphan");
}

/// R4.6: a set that is being deleted keeps its pods, and neither adopts nor releases.
#[test]
fn a_set_being_deleted_neither_adopts_nor_releases() {
    let web = replica_set("web").size(2);
    let own = pod("a").owned_by(&web);
    let deleting = web.clone().deleting_since(NOON);
    assert_eq!(disposition(&deleting, &own), "owned");
    assert_eq!(disposition(&deleting, &own.labelled(&[("app", "x")])), "leave");
    assert_eq!(disposition(&deleting, &pod("a")), "leave");
}

/// R4.7: adopted pods count at once, and the surplus is deleted in the same sync.
#[test]
fn adoption_may_exceed_the_size_and_the_surplus_is_deleted() {
    let web = replica_set("web").size(1);
    let pods = [pod("orphan"), pod("own").owned_by(&web).on("n1").ready_since(NOON)];
    let observed = classified(&web, &pods).claimed([(&pods[0], Ok(()))], []).unwrap();
    assert_eq!(names(&observed.active), ["own", "orphan"]);
    let decision = gantry_decide::replica_set::decide(NOON, &observed);
    assert_eq!(deletions(&decision), ["orphan"]);
    assert_eq!(deletions(&decided(&web, &pods[1..])), [""; 0], "without it there would be no surplus");
}

/// R4.8: every refusal is reported, whichever pod it was about.
#[test]
fn all_failures_of_claiming_are_reported_together() {
    let web = replica_set("web");
    let pods = [pod("a"), pod("b"), pod("c").owned_by(&web).labelled(&[("app", "x")])];
    let other = |text: &str| Err(refusal(RefusalKind::Other, text));
    let adoptions = [(&pods[0], other("timeout")), (&pods[1], Ok(()))];
    let failed = classified(&web, &pods).claimed(adoptions, [(&pods[2], other("conflict"))]).unwrap_err();
    assert_eq!(failed.to_string(), "[timeout, conflict]");
    let failed = classified(&web, &pods).claimed([(&pods[0], other("timeout"))], []).unwrap_err();
    assert_eq!(failed.to_string(), "timeout");
}

/// R3, step 3: an invalid selector is reported and not retried; so is an empty one, which the API refuses.
#[test]
fn a_set_without_a_usable_selector_does_nothing() {
    let mut web = replica_set("web").size(3);
    web.selector = Err(invalid_selector());
    let waiting_on = classify_pods(&web, ExpectationState::Satisfied, &[pod("a")]).unwrap_err();
    assert!(waiting_on.to_string().contains("is not a valid label selector operator"), "{waiting_on}");
    web.selector = Ok(Selector::Everything);
    let waiting_on = classify_pods(&web, ExpectationState::Satisfied, &[pod("a")]).unwrap_err();
    assert_eq!(waiting_on, WaitingOn::InvalidSelector { problem: "the selector is empty".into() });
}
