//! The legacy rollback by annotation.

use gantry_decide::deployment::{Action, IfRefused};
use gantry_model::{Deployment, DeploymentEdit, ReplicaSet, keys};
use gantry_testkit::{
    DeploymentBuilder, ReplicaSetBuilder, deployment, labels, noon_plus, replica_set, template,
};

use crate::{decided, lines, messages};

fn web(rollback_to: &str) -> Deployment {
    deployment("web")
        .image("nginx:3")
        .annotated(keys::ROLLBACK_TO, rollback_to)
        .annotated(keys::REVISION, "3")
}

fn sets(web: &Deployment) -> Vec<ReplicaSet> {
    (1..=3)
        .map(|revision: i64| {
            let set = replica_set(&format!("r{revision}")).owned_by(web).created(noon_plus(revision - 100));
            let mut set = set.revision(revision).image(&format!("nginx:{revision}"));
            set.template = set.template.with_hash("abc");
            set
        })
        .collect()
}

fn edit(web: &Deployment, sets: &[ReplicaSet]) -> DeploymentEdit {
    let decision = decided(web, sets);
    let edits = decision.steps.into_iter().filter_map(|step| match step.action {
        Action::UpdateDeployment(edit) => Some((*edit, step.if_refused)),
        _ => None,
    });
    let (edit, if_refused) = edits.last().unwrap();
    assert_eq!(if_refused, IfRefused::Fail, "a rollback that was not written is retried");
    edit
}

/// D12: template and user annotations of a revision are restored, the Deployment's own annotations stay.
#[test]
fn a_rollback_restores_template_and_annotations() {
    let web = web("1").annotated("team", "now").annotated("new", "note").annotated(keys::LAST_APPLIED, "{}");
    let mut sets = sets(&web);
    sets[0] = sets[0].clone().annotated("team", "then").annotated(keys::DESIRED_REPLICAS, "9");
    let edit = edit(&web, &sets);
    assert_eq!(edit.template, Some(template("nginx:1")));
    assert_eq!(
        edit.template.unwrap().labels(),
        Some(&labels(&[("app", "web")])),
        "the hash label is not copied"
    );
    let notes = [("team", "then"), (keys::LAST_APPLIED, "{}"), (keys::REVISION, "3")];
    assert_eq!(edit.annotations, labels(&notes));
    assert_eq!(
        messages(&decided(&web, &sets)).last().unwrap(),
        "Rolled back deployment \"web\" to revision 1"
    );
    assert!(lines(&decided(&web, &sets)).last().unwrap().starts_with("event"), "the event follows the write");
}

/// D12: zero is the revision before the last.
#[test]
fn zero_means_the_revision_before_the_last() {
    let web = web("0");
    assert_eq!(edit(&web, &sets(&web)).template, Some(template("nginx:2")));
    let back_again = web.clone().image("nginx:1");
    let mut highest_first = sets(&back_again);
    highest_first[0] = highest_first[0].clone().revision(4);
    assert_eq!(
        edit(&back_again, &highest_first).template,
        Some(template("nginx:3")),
        "whatever the order by age"
    );
    let mut twins = sets(&web);
    twins[1] = twins[1].clone().revision(3);
    assert_eq!(
        messages(&decided(&web, &twins)).last().unwrap(),
        "Rolled back deployment \"web\" to revision 3"
    );
}

/// D12: an impossible rollback is reported by an event, and the request is removed.
#[test]
fn an_impossible_rollback_is_reported() {
    let only_one = |rollback_to: &str| {
        let web = web(rollback_to);
        let sets = vec![sets(&web)[2].clone().revision(1)];
        (web, sets)
    };
    let (last, sets_of_last) = only_one("0");
    let (unknown, sets_of_unknown) = only_one("99");
    let (negative, sets_of_negative) = only_one("-4");
    let unchanged = web("3");
    for (web, sets, reason, message) in [
        (&last, &sets_of_last, "DeploymentRollbackRevisionNotFound", "Unable to find last revision."),
        (
            &unknown,
            &sets_of_unknown,
            "DeploymentRollbackRevisionNotFound",
            "Unable to find the revision to rollback to.",
        ),
        (
            &negative,
            &sets_of_negative,
            "DeploymentRollbackRevisionNotFound",
            "Unable to find the revision to rollback to.",
        ),
        (
            &unchanged,
            &sets(&unchanged),
            "DeploymentRollbackTemplateUnchanged",
            "The rollback revision contains the same template as current deployment \"web\"",
        ),
    ] {
        let lines = lines(&decided(web, sets));
        assert!(lines.contains(&format!("event Warning {reason}: {message}")), "{lines:?}");
        assert_eq!(lines.last().unwrap(), "drop rollback request");
        let edit = edit(web, sets);
        assert_eq!(edit.template, None);
        assert!(!edit.annotations.contains_key(keys::ROLLBACK_TO));
        assert_eq!(edit.annotations.get(keys::REVISION), decided_revision(web, sets).as_ref());
    }
}

/// The revision of the Deployment at the end of the sync.
fn decided_revision(web: &Deployment, sets: &[ReplicaSet]) -> Option<String> {
    let noted = decided(web, sets).steps.into_iter().rev().find_map(|step| match step.action {
        Action::UpdateStatus { revision, .. } => revision,
        _ => None,
    });
    noted.or_else(|| web.meta.annotations.get(keys::REVISION).cloned())
}

/// D12, step 1: the set of the present template is created first, so that it can be restored later.
#[test]
fn the_current_template_gets_its_set_before_a_rollback() {
    let web = web("1").image("never-rolled:1");
    let lines = lines(&decided(&web, &sets(&web)));
    assert!(lines[0].starts_with("create web-"), "{lines:?}");
    assert!(lines.contains(&"restore template".to_owned()), "{lines:?}");
}
