//! The order of priorities in one sync: delete > pause > rollback > scale > rollout.

use gantry_decide::deployment::{Action, IfRefused, SyncError, SyncResult, WaitingOn};
use gantry_model::{ConditionStatus, Selector, Strategy, keys};
use gantry_testkit::{
    DeploymentBuilder, ReplicaSetBuilder, deployment, invalid_selector, noon_plus, replica_set, template,
};

use crate::{decided, lines, sizes, status_after};

/// D3.2: a selector of everything is reported, and nothing else is done.
#[test]
fn a_selector_of_everything_is_only_reported() {
    let mut web = deployment("web");
    web.selector = Ok(Selector::Everything);
    web.meta.generation = 4;
    web.status.observed_generation = 3;
    let decision = decided(&web, &[replica_set("rs")]);
    let warning = "event Warning SelectingAll: This deployment is selecting all pods. A non-empty selector is required.";
    assert_eq!(lines(&decision)[0], warning);
    let Action::UpdateStatus { status, revision: None } = &decision.steps[1].action else {
        panic!("{decision:?}")
    };
    assert_eq!(status.observed_generation, 4);
    assert_eq!(status.conditions, [], "only the generation is observed");
    assert_eq!(decision.steps[1].if_refused, IfRefused::Ignore);
    assert_eq!(decision.steps.len(), 2);
    assert_eq!(decision.result, SyncResult::Done);
    assert_eq!(decision.waiting_on, [WaitingOn::Selector]);

    web.status.observed_generation = 4;
    assert_eq!(lines(&decided(&web, &[])), [warning], "an observed generation is not written again");
}

/// An invalid selector fails the sync, because every later rule needs a selector.
#[test]
fn an_invalid_selector_fails_the_sync() {
    let mut web = deployment("web");
    web.selector = Err(invalid_selector());
    let decision = decided(&web, &[]);
    assert_eq!(decision.result, SyncResult::Failed(SyncError::InvalidSelector(invalid_selector())));
    assert_eq!(decision.steps, []);
}

/// D3.4, D14.5, D18: for a Deployment that is being deleted only the status is updated, whatever else is requested.
#[test]
fn deletion_precedes_everything() {
    let web = deployment("web").paused().annotated(keys::ROLLBACK_TO, "0").size(9);
    let web = web.deleting_since(noon_plus(0)).annotated(keys::REVISION, "1");
    let sets = [
        replica_set("old").owned_by(&web).image("old:1").size(2).available(2).sized_for(2, 3),
        replica_set("new").owned_by(&web).revision(1).size(1).sized_for(2, 3),
    ];
    let decision = decided(&web, &sets);
    assert_eq!(lines(&decision).last().unwrap(), "report 3 pods, 1 updated, 2 ready, 2 available");
    assert_eq!(sizes(&decision), [""; 0]);
    assert_eq!(decision.waiting_on, [WaitingOn::Deletion]);
    let progress = status_after(&web, &decision).progressing().unwrap().clone();
    assert_eq!(progress.reason, "FoundNewReplicaSet", "the pause is not recorded");
    let none_left = decided(&web.clone().image("other:1"), &[]);
    assert_eq!(sizes(&none_left), [""; 0], "nothing is created");
}

/// D3.5, D3.6, D11.3: pause takes precedence over rollback, and the rollback request stays for later.
#[test]
fn pause_precedes_rollback() {
    let web = deployment("web").paused().annotated(keys::ROLLBACK_TO, "1").image("nginx:2");
    let sets = [replica_set("one").owned_by(&web).image("nginx:1").revision(1)];
    let decision = decided(&web, &sets);
    assert!(
        !decision.steps.iter().any(|step| matches!(step.action, Action::UpdateDeployment(_))),
        "{decision:?}"
    );
    assert!(decision.waiting_on.contains(&WaitingOn::Resume));
}

/// D3.7: a rollback takes precedence over a scaling event.
#[test]
fn rollback_precedes_scaling() {
    let web = deployment("web").size(9).annotated(keys::ROLLBACK_TO, "1").image("nginx:2");
    let sets = [
        replica_set("one").owned_by(&web).image("nginx:1").revision(1).size(1).sized_for(3, 4),
        replica_set("two").owned_by(&web).image("nginx:2").revision(2).size(2).sized_for(3, 4),
    ];
    let decision = decided(&web, &sets);
    assert!(lines(&decision).contains(&"restore template".to_owned()), "{:?}", lines(&decision));
    assert_eq!(sizes(&decision), [""; 0]);
}

/// D3.7: a rollback annotation that is not a number is ignored.
#[test]
fn an_unparseable_rollback_is_ignored() {
    for written in ["", "one", "1.5", "99999999999999999999"] {
        let web = deployment("web").annotated(keys::ROLLBACK_TO, written);
        assert!(sizes(&decided(&web, &[]))[0].starts_with("create "), "{written:?}");
    }
}

/// D3.8, D9.1: a scaling event takes precedence over the rollout, so a new template waits for the next sync.
#[test]
fn scaling_precedes_the_rollout() {
    let web = deployment("web").size(8).image("nginx:2");
    let sets = [replica_set("one").owned_by(&web).image("nginx:1").revision(1).size(4).sized_for(4, 5)];
    assert_eq!(sizes(&decided(&web, &sets)), ["scale one 4 -> 8"]);
}

/// D3.9 and the last step of one sync: an unknown strategy is an error with this message.
#[test]
fn an_unknown_strategy_is_an_error() {
    let mut web = deployment("web");
    web.strategy = Strategy::Unknown("Foo".to_owned());
    let SyncResult::Failed(error) = decided(&web, &[]).result else { panic!("must fail") };
    assert_eq!(error.to_string(), "unexpected deployment strategy type: Foo");
    let set = replica_set("one").owned_by(&web).size(1).sized_for(1, 2).revision(1);
    let scaled = decided(&web.size(3), &[set]);
    assert_eq!(sizes(&scaled), ["scale one 1 -> 3"], "scaling does not depend on the strategy");
}

/// D3.9: the scale path cleans up history only when the Deployment is paused; a rollback request prevents that.
#[test]
fn history_is_cleaned_up_on_the_scale_path_only_when_paused() {
    let mut web = deployment("web").size(5).image("nginx:9");
    web.revision_history_limit = Some(0.into());
    let sets = [
        replica_set("drained").owned_by(&web).image("nginx:1").revision(1),
        replica_set("active").owned_by(&web).image("nginx:2").revision(2).size(3).sized_for(3, 4),
    ];
    assert_eq!(sizes(&decided(&web, &sets)), ["scale active 3 -> 5"], "a scaling event");
    let paused = web.clone().paused();
    assert_eq!(sizes(&decided(&paused, &sets)), ["scale active 3 -> 5", "delete drained"]);
    let requested = paused.annotated(keys::ROLLBACK_TO, "1");
    assert_eq!(sizes(&decided(&requested, &sets)), ["scale active 3 -> 5"], "D11.3");
}

/// D3.10: the new set's annotations are synced on every path.
#[test]
fn the_new_set_is_synced_on_every_path() {
    let mut web = deployment("web").annotated("team", "a");
    web.min_ready_seconds = 5;
    let set = replica_set("new").owned_by(&web).revision(1).size(3).sized_for(3, 4);
    for web in [
        web.clone(),
        web.clone().paused(),
        web.clone().deleting_since(noon_plus(0)),
        web.clone().size(4),
        web.clone().recreate(),
        web.clone().annotated(keys::ROLLBACK_TO, "7"),
    ] {
        let edit = crate::edit_of(&decided(&web, std::slice::from_ref(&set)), "new").unwrap();
        assert_eq!((edit.min_ready_seconds, edit.annotations["team"].as_str()), (5, "a"));
    }
}

/// D5.2, D5.4: name and hash label of a set do not matter for finding it, and no other template matches.
#[test]
fn the_new_set_is_found_by_its_template_alone() {
    let web = deployment("web");
    let mut adopted = replica_set("any-name").owned_by(&web).revision(1).size(3).sized_for(3, 4);
    adopted.template = template("nginx:1").with_hash("whatever");
    assert_eq!(sizes(&decided(&web, &[adopted.clone()])), [""; 0], "it is the new set");
    let other = adopted.image("nginx:2");
    assert!(sizes(&decided(&web, &[other]))[0].starts_with("create web-"), "no set has the template");
}

/// D5.3: of several sets with the template the oldest is the new one; the others are drained like old ones.
#[test]
fn the_oldest_of_equal_sets_is_the_new_one() {
    let web = deployment("web").progressing(ConditionStatus::True, "ReplicaSetUpdated", noon_plus(0));
    let set = |name: &str, age: i64| {
        let set = replica_set(name).owned_by(&web).created(noon_plus(-age)).revision(1);
        set.size(3).available(3).sized_for(3, 4)
    };
    let decision = decided(&web, &[set("younger", 5), set("older", 9)]);
    assert_eq!(sizes(&decision), ["annotate older", "scale younger 3 -> 0"], "older is the new one");
    let decision = decided(&web, &[set("b", 5), set("a", 5)]);
    assert_eq!(sizes(&decision), ["annotate a", "scale b 3 -> 0"], "equal age: by name");
}
