//! Which ReplicaSets a Deployment claims.

use gantry_decide::ownership::{AdoptionRefused, claim, may_adopt};
use gantry_model::{ReplicaSet, Selector};
use gantry_testkit::{DeploymentBuilder, ReplicaSetBuilder, deployment, labels, noon_plus, replica_set};

/// The disposition of one ReplicaSet: `owned`, `adopt`, `release` or `leave`.
fn disposition(owner: &gantry_model::Deployment, set: &ReplicaSet) -> &'static str {
    let selector: &Selector = owner.selector.as_ref().unwrap();
    let claims = claim(&owner.meta, selector, [set]);
    match (claims.owned.len(), claims.adopt.len(), claims.release.len()) {
        (1, 0, 0) => "owned",
        (0, 1, 0) => "adopt",
        (0, 0, 1) => "release",
        (0, 0, 0) => "leave",
        _ => panic!("one set, one disposition"),
    }
}

fn unmatching(mut set: ReplicaSet) -> ReplicaSet {
    set.meta.labels = labels(&[("app", "other")]);
    set
}

/// D3.3, D4.5: the whole table of D4, for owners that are being deleted and for others.
#[test]
fn every_row_of_the_claiming_table_holds() {
    let web = deployment("web");
    let deleting = web.clone().deleting_since(noon_plus(0));
    let ours = replica_set("ours").owned_by(&web);
    let theirs = replica_set("theirs").owned_by(&deployment("another"));
    let orphan = replica_set("orphan");
    let dying = |set: &ReplicaSet| set.clone().deleting_since(noon_plus(0));
    for (owner, set, want) in [
        (&web, ours.clone(), "owned"),
        (&deleting, ours.clone(), "owned"),
        (&web, dying(&ours), "owned"),
        (&web, unmatching(ours.clone()), "release"),
        (&deleting, unmatching(ours.clone()), "leave"),
        (&web, theirs.clone(), "leave"),
        (&web, unmatching(theirs), "leave"),
        (&web, unmatching(orphan.clone()), "leave"),
        (&deleting, orphan.clone(), "leave"),
        (&web, dying(&orphan), "leave"),
        (&web, orphan, "adopt"),
    ] {
        assert_eq!(disposition(owner, &set), want, "{} of {:?}", set.meta.name, owner.meta.deleting);
    }
}

/// D18: after a Deployment was deleted and recreated with its name, the old sets still name the old uid.
#[test]
fn sets_of_an_earlier_deployment_of_the_name_are_not_owned() {
    let before = deployment("web");
    let mut after = deployment("web");
    after.meta.uid = "another-uid".into();
    assert_eq!(disposition(&after, &replica_set("web-1").owned_by(&before)), "leave");
    assert_eq!(disposition(&after, &replica_set("web-1")), "adopt", "orphaned ones are adopted");
}

/// D4.1: one live read of the owner decides about all adoptions.
#[test]
fn a_fresh_read_of_the_owner_decides_about_adoption() {
    let web = deployment("web");
    let uid = &web.meta.uid;
    assert_eq!(may_adopt(uid, Some(&web.meta)), Ok(()));
    let gone = may_adopt(uid, None).unwrap_err();
    assert_eq!(gone, AdoptionRefused::OwnerReplaced { expected: uid.clone(), found: None });
    let mut namesake = web.clone();
    namesake.meta.uid = "another-uid".into();
    let replaced = may_adopt(uid, Some(&namesake.meta)).unwrap_err();
    assert!(replaced.to_string().contains("another-uid"), "{replaced}");
    let deleting = web.clone().deleting_since(noon_plus(0));
    assert_eq!(may_adopt(uid, Some(&deleting.meta)), Err(AdoptionRefused::OwnerDeleting));
}

/// D4.4: sets that cannot be adopted are not claimed; the others are. Each object has its own entry, so one failure
/// does not hide the rest.
#[test]
fn every_candidate_is_listed_so_that_all_are_attempted() {
    let web = deployment("web");
    let sets = [replica_set("a"), replica_set("b"), unmatching(replica_set("c").owned_by(&web))];
    let claims = claim(&web.meta, web.selector.as_ref().unwrap(), &sets);
    assert_eq!(claims.adopt.len(), 2);
    assert_eq!(claims.release.len(), 1);
}
