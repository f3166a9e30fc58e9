//! The new ReplicaSet: its name, its content, and the handling of a refused creation.

use gantry_decide::deployment::{
    Action, IfRefused, Observed, RefusedStep, Repairs, SyncError, SyncResult, decide, template_hash,
};
use gantry_model::{ConditionStatus, Limit, Name, Refusal, RefusalKind, ReplicaSet, ReplicaSetDraft, keys};
use gantry_testkit::{DeploymentBuilder, NOON, ReplicaSetBuilder, deployment, labels, replica_set, template};

use crate::{decided, decided_after, lines, messages, sizes, status_after};

fn draft_of(decision: &gantry_decide::deployment::Decision) -> ReplicaSetDraft {
    let mut drafts = decision.steps.iter().rev().filter_map(|step| match &step.action {
        Action::CreateReplicaSet(draft) => Some(ReplicaSetDraft::clone(draft)),
        _ => None,
    });
    drafts.next().unwrap()
}

fn refused(kind: RefusalKind, message: &str) -> RefusedStep {
    RefusedStep::CreateRefused { refusal: Refusal::new(kind, message), existing: None }
}

/// D6.8: the format of a hash, and everything it must depend on.
#[test]
fn the_hash_depends_on_template_and_collisions_and_has_no_vowels() {
    let hash = |image: &str, collisions| template_hash(&template(image), collisions);
    let all =
        [hash("a", None), hash("b", None), hash("a", Some(0)), hash("a", Some(1)), hash("a", Some(256))];
    for (index, one) in all.iter().enumerate() {
        assert!((1..=10).contains(&one.len()) && one.chars().all(|c| "456789bcdf".contains(c)), "{one}");
        assert!(!all[..index].contains(one), "{all:?}");
    }
    assert_eq!(hash("a", Some(1)), hash("a", Some(1)), "the hash is deterministic");
    assert_eq!(
        template_hash(&template("a").with_hash("x"), None),
        hash("a", None),
        "independent of the hash label"
    );
    assert_eq!(hash("nginx:1", None), "8fdfd6fc", "hashes are stable across restarts and upgrades");
    assert_eq!(
        hash("nginx:1", Some(1)),
        "7c6cb9f9cb",
        "the collision count is hashed as eight bytes, little-endian"
    );
}

/// D6.9: the Deployment's name is truncated so that the hash always fits.
#[test]
fn a_long_name_is_truncated_for_the_hash() {
    let web = deployment("web");
    let hash = template_hash(&web.template, None);
    assert_eq!(draft_of(&decided(&web, &[])).name.as_str(), format!("web-{hash}"));
    let long = deployment(&"d".repeat(253));
    let name = draft_of(&decided(&long, &[])).name;
    assert_eq!(name.as_str(), format!("{}-{hash}", "d".repeat(253 - 1 - hash.len())));
    let odd = deployment(&"é".repeat(200));
    assert!(
        draft_of(&decided(&odd, &[])).name.as_str().len() <= 253,
        "no name is truncated within a character"
    );
}

/// D6.10: all fields of the new set.
#[test]
fn the_new_set_is_made_of_the_deployment() {
    let mut web = deployment("web").size(10).rolling(Limit::Count(3), Limit::Count(2)).annotated("team", "a");
    web = web.annotated(keys::LAST_APPLIED, "{}").annotated(keys::REVISION, "1");
    web.min_ready_seconds = 5;
    web.meta.labels = labels(&[("only", "on the deployment")]);
    let old =
        replica_set("old").owned_by(&web).image("old:1").revision(1).size(10).available(10).sized_for(10, 13);
    let draft = draft_of(&decided(&web, &[old]));
    let hash = template_hash(&web.template, None);
    assert_eq!(draft.labels, labels(&[("app", "web"), (keys::HASH_LABEL, &hash)]));
    assert_eq!(draft.template.labels(), Some(&draft.labels));
    assert_eq!(draft.template, web.template);
    assert_eq!(draft.selector.render().match_labels, Some(draft.labels.clone()));
    let notes =
        [("team", "a"), (keys::REVISION, "2"), (keys::DESIRED_REPLICAS, "10"), (keys::MAX_REPLICAS, "13")];
    assert_eq!(draft.annotations, labels(&notes));
    assert_eq!((draft.replicas.get(), draft.min_ready_seconds), (3, 5));
    assert_eq!((draft.owner.kind.as_str(), &draft.owner.uid), ("Deployment", &web.meta.uid));
    assert!(draft.owner.controller && draft.owner.block_owner_deletion);
}

/// D7.5: with no replicas an integer surge is still included in the max annotation, a percentage is not.
#[test]
fn the_max_annotation_of_nothing_shows_an_integer_surge() {
    for (surge, max) in [(Limit::Count(1), "1"), (Limit::Percent(25), "0")] {
        let web = deployment("web").size(0).rolling(surge, Limit::Count(0));
        assert_eq!(draft_of(&decided(&web, &[])).annotations[keys::MAX_REPLICAS], max);
    }
}

/// D6.11: an event if there are pods, then revision and progress in one status write.
#[test]
fn a_created_set_is_announced() {
    let web = deployment("web").size(2);
    let decision = decided(&web, &[]);
    let name = draft_of(&decision).name;
    assert_eq!(messages(&decision), [format!("Scaled up replica set {name} from 0 to 2")]);
    assert_eq!(decision.steps[0].if_refused, IfRefused::DecideOnCreate);
    let Action::UpdateStatus { status, revision } = &decision.steps[2].action else { panic!("{decision:?}") };
    assert_eq!(revision.as_deref(), Some("1"));
    assert_eq!(decision.steps[2].if_refused, IfRefused::Fail);
    let progress = status.progressing().unwrap();
    assert_eq!(progress.reason, "NewReplicaSetCreated");
    assert_eq!(progress.message, format!("Created new replica set \"{name}\""));

    let none = decided(&deployment("web").size(0), &[]);
    assert_eq!(messages(&none), [""; 0], "no pods, no event");
    let no_deadline = decided(&web.deadline(None).annotated(keys::REVISION, "1"), &[]);
    assert_eq!(lines(&no_deadline).len(), 3, "creation, event and final status: {:?}", lines(&no_deadline));
}

fn existing(web: &gantry_model::Deployment, set: ReplicaSet) -> RefusedStep {
    let mut set = set;
    set.meta.name = Name::from(format!("web-{}", template_hash(&web.template, web.status.collision_count)));
    let refusal = Refusal::new(RefusalKind::AlreadyExists, "taken");
    RefusedStep::CreateRefused { refusal, existing: Some(Box::new(set)) }
}

/// D6.12: an existing set of that name with our uid and template is the new set: an earlier attempt did succeed.
#[test]
fn an_owned_set_of_that_name_is_the_new_set() {
    let web = deployment("web");
    let ours = replica_set("x").owned_by(&web).size(1).sized_for(3, 4);
    let decision = decided_after(existing(&web, ours), &web, &[]);
    assert_eq!(decision.result, SyncResult::Done);
    assert!(sizes(&decision)[0].starts_with("scale web-"), "the sync continues: {:?}", sizes(&decision));
    let Action::UpdateStatus { status, revision } = &decision.steps[0].action else { panic!("{decision:?}") };
    assert_eq!(revision.as_deref(), Some("1"), "the revision is still recorded");
    assert_eq!(status.progressing(), None, "no progress is recorded for it");
}

/// D6.12: anything else of that name is a collision: it is counted, and the retry uses another name.
#[test]
fn a_foreign_set_of_that_name_is_a_collision() {
    let web = deployment("web");
    let orphan = replica_set("x");
    let other_template = replica_set("x").owned_by(&web).image("other:1");
    for set in [orphan, other_template] {
        let decision = decided_after(existing(&web, set), &web, &[]);
        let SyncResult::Failed(error) = &decision.result else { panic!("the sync must be retried") };
        assert!(error.to_string().ends_with("already exists"), "{error}");
        let collided = status_after(&web, &decision);
        assert_eq!(collided.collision_count, Some(1));
        let mut again = web.clone();
        again.status = collided;
        let name = draft_of(&decided(&again, &[])).name;
        assert_eq!(name.as_str(), format!("web-{}", template_hash(&web.template, Some(1))));
    }
    let mut often = web.clone();
    often.status.collision_count = Some(i32::MAX);
    let decision = decided_after(existing(&often, replica_set("x")), &often, &[]);
    assert_eq!(
        status_after(&often, &decision).collision_count,
        Some(i32::MAX),
        "the collision count does not overflow"
    );
}

/// D6.12: a set that exists but that the cache does not have yet is an error that is retried.
#[test]
fn a_set_the_cache_has_not_seen_is_retried() {
    let decision = decided_after(refused(RefusalKind::AlreadyExists, "taken"), &deployment("web"), &[]);
    assert!(matches!(decision.result, SyncResult::Failed(SyncError::NotYetSeen(_))));
    assert_eq!(decision.steps, []);
}

/// D6.13: in a terminating namespace the sync fails without an event.
#[test]
fn a_terminating_namespace_fails_without_an_event() {
    let decision =
        decided_after(refused(RefusalKind::NamespaceTerminating, "going"), &deployment("web"), &[]);
    assert_eq!(decision.result, SyncResult::Failed(SyncError::NamespaceTerminating));
    assert_eq!(decision.steps, []);
}

/// D6.14: any other refusal is recorded as an event, and with a deadline also in the Progressing condition.
#[test]
fn any_other_refusal_is_reported() {
    let web = deployment("web");
    let decision = decided_after(refused(RefusalKind::Other, "no room"), &web, &[]);
    let name = format!("web-{}", template_hash(&web.template, None));
    let message = format!("Failed to create new replica set \"{name}\": no room");
    assert_eq!(lines(&decision).last().unwrap(), &format!("event Warning ReplicaSetCreateError: {message}"));
    let progress = status_after(&web, &decision).progressing().unwrap().clone();
    assert_eq!(
        (progress.status, progress.reason.as_str()),
        (ConditionStatus::False, "ReplicaSetCreateError")
    );
    assert_eq!(progress.message, message);
    assert_eq!(decision.steps[0].if_refused, IfRefused::Ignore);
    assert_eq!(decision.result, SyncResult::Failed(SyncError::CreateFailed("no room".to_owned())));

    let silent = decided_after(refused(RefusalKind::Other, "no room"), &web.deadline(None), &[]);
    assert_eq!(lines(&silent).len(), 1, "without a deadline only the event");
}

/// D6.15: the final status of the sync builds on what the creation wrote.
#[test]
fn the_closing_report_builds_on_the_creation() {
    let web = deployment("web");
    let decision = decided(&web, &[]);
    let status = status_after(&web, &decision);
    assert_eq!(status.progressing().unwrap().reason, "NewReplicaSetCreated");
    assert_eq!(status.observed_generation, 1);
    assert_eq!(status.unavailable.get(), 3, "pods that do not exist yet are unavailable");
}

/// D18: a Deployment that had sets and has none any more may have been deleted itself. One that never had any,
/// or still has some, is not read live.
#[test]
fn a_deployment_without_sets_is_read_again_before_they_are_recreated() {
    let web = deployment("web").size(2);
    let must_be_confirmed = |web: &gantry_model::Deployment, sets: &[&ReplicaSet]| {
        let observed =
            Observed { deployment: web, sets, pods: &[], refused: None, repairs: Repairs::default() };
        decide(NOON, &observed).must_be_confirmed(&observed)
    };
    let old = replica_set("old").owned_by(&web).image("old:1").revision(1).size(2);
    let rolled_out = web.clone().annotated(keys::REVISION, "1");
    assert!(must_be_confirmed(&rolled_out, &[]));
    assert!(!must_be_confirmed(&web, &[]), "the first set");
    assert!(!must_be_confirmed(&rolled_out, &[&old]), "an old set exists");
    assert!(!must_be_confirmed(&rolled_out.paused(), &[]), "nothing is created");
}
