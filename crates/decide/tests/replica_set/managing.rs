//! How many pods to create or delete, and the fields of a new pod.

use gantry_decide::replica_set::{
    Action, BURST, ExpectationState, ManageResult, NoLabels, WaitingOn, decide, must_be_confirmed, pod_draft,
    report,
};
use gantry_model::{Pod, ReplicaSet, Replicas, Template};
use gantry_testkit::{
    NOON, PodBuilder, ReplicaSetBuilder, labelled_template, labels, noon_plus, pod, replica_set, template,
};

use crate::{creations, decided, deletions, observed};

fn pods_of(set: &ReplicaSet, count: usize) -> Vec<Pod> {
    (0..count).map(|n| pod(&format!("p{n}")).owned_by(set)).collect()
}

/// R5.1: the missing pods are created, at most five hundred per sync, and the rest in later syncs.
#[test]
fn missing_pods_are_created_up_to_the_burst() {
    for (desired, active, count, remaining) in [
        (1, 0, 1, 0),
        (10, 4, 6, 0),
        (500, 0, 500, 0),
        (501, 0, 500, 1),
        (1200, 0, 500, 700),
        (1200, 500, 500, 200),
    ] {
        let web = replica_set("web").size(desired);
        let decision = decided(&web, &pods_of(&web, active));
        assert_eq!(creations(&decision), count, "{active} of {desired}");
        let waiting_on = match remaining {
            0 => WaitingOn::Expectations { creations: count, deletions: 0, until: noon_plus(300) },
            _ => WaitingOn::Burst { remaining: Replicas::from(remaining) },
        };
        assert_eq!(decision.waiting_on, waiting_on);
    }
}

/// R5.1: the largest number that the API allows is no special case.
#[test]
fn the_largest_set_is_created_in_bursts() {
    let mut web = replica_set("web");
    web.replicas = Replicas::MAX;
    let decision = decided(&web, &[]);
    assert_eq!(creations(&decision), BURST);
    assert_eq!(decision.waiting_on, WaitingOn::Burst { remaining: Replicas::nearest(2_147_483_147) });
}

/// R5.7: the surplus pods are deleted, at most five hundred per sync.
#[test]
fn surplus_pods_are_deleted_up_to_the_burst() {
    for (desired, active, count) in [(0, 1, 1), (4, 10, 6), (0, 500, 500), (0, 501, 500), (100, 1200, 500)] {
        let web = replica_set("web").size(desired);
        let decision = decided(&web, &pods_of(&web, active));
        assert_eq!(deletions(&decision).len(), count, "{active} of {desired}");
        let remaining = Replicas::of(active - usize::from(desired) - count);
        let waiting_on = if remaining.is_zero() {
            WaitingOn::Expectations { creations: 0, deletions: count, until: noon_plus(300) }
        } else {
            WaitingOn::Burst { remaining }
        };
        assert_eq!(decision.waiting_on, waiting_on);
    }
}

/// R§5.3: the right number of pods is left alone.
#[test]
fn the_right_number_of_pods_is_left_alone() {
    let web = replica_set("web").size(2);
    assert_eq!(decided(&web, &pods_of(&web, 2)).action, Action::Nothing);
}

/// R3.2: a set that is being deleted, or that has not observed its own writes, does not act on its pods.
#[test]
fn only_an_up_to_date_set_that_is_not_being_deleted_acts() {
    let deleting = replica_set("web").size(2).deleting_since(NOON);
    let decision = decided(&deleting, &[]);
    assert_eq!((decision.action, decision.waiting_on), (Action::Nothing, WaitingOn::PendingDeletions));

    let web = replica_set("web").size(2);
    let mut behind = observed(&web, &[]);
    behind.expectation_state =
        ExpectationState::Pending { creations: 2, deletions: 0, until: noon_plus(300) };
    assert_eq!(decide(NOON, &behind).action, Action::Nothing);
    behind.expectation_state = ExpectationState::Satisfied;
    assert_eq!(creations(&decide(NOON, &behind)), 2);
}

/// R5.5: a pod is named after the set, owned by it, and otherwise equal to the template.
#[test]
fn a_new_pod_has_the_template_and_an_owner() {
    let mut web = replica_set("web").size(1);
    let mut written = template("nginx:1").render();
    let template_meta = written.metadata.as_mut().unwrap();
    template_meta.name = Some("ignored".into());
    template_meta.namespace = Some("ignored".into());
    template_meta.annotations = Some(labels(&[("note", "kept")]));
    template_meta.finalizers = Some(vec!["example.com/kept".into()]);
    template_meta.owner_references =
        Some(vec![pod("a").owned_by(&replica_set("ignored")).meta.owners[0].render()]);
    web.template = Template::parse(written.clone());

    let Action::Create { draft, .. } = decided(&web, &[]).action else { panic!("one pod is missing") };
    let made = draft.render();
    assert_eq!(made.spec, written.spec);
    let meta = made.metadata;
    assert_eq!((meta.name, meta.generate_name.as_deref()), (None, Some("web-")));
    assert_eq!(meta.namespace.as_deref(), Some("default"));
    assert_eq!(meta.labels, Some(labels(&[("app", "web")])));
    assert_eq!(meta.annotations, Some(labels(&[("note", "kept")])));
    assert_eq!(meta.finalizers, Some(vec!["example.com/kept".into()]));
    let owners = meta.owner_references.unwrap();
    assert_eq!(owners.len(), 1);
    let owner = &owners[0];
    assert_eq!((owner.api_version.as_str(), owner.kind.as_str()), ("apps/v1", "ReplicaSet"));
    assert_eq!((owner.name.as_str(), owner.uid.as_str()), ("web", "uid-of-web"));
    assert_eq!((owner.controller, owner.block_owner_deletion), (Some(true), Some(true)));
}

/// R5.5: the dash is omitted where the prefix would be invalid; the longest valid name still keeps it.
#[test]
fn the_dash_is_omitted_if_the_prefix_would_be_invalid() {
    let prefix = |name: &str| pod_draft(&replica_set(name)).unwrap().generate_name;
    let longest = "a".repeat(253);
    for name in ["web", "w", "web-1", "a.b", "0", &longest] {
        assert_eq!(prefix(name), format!("{name}-"));
    }
    for name in ["Web", "a..b", ".web", "-web", "we_b", "wéb", &"a".repeat(254)] {
        assert_eq!(prefix(name), name);
    }
}

/// R5.5: pods without labels could not be found by the selector. This is a failed creation, with this message.
#[test]
fn a_template_without_labels_creates_no_pods() {
    let mut web = replica_set("web").size(2);
    web.template = labelled_template(&[], "nginx:1");
    let observed = observed(&web, &[]);
    let decision = decide(NOON, &observed);
    assert_eq!(decision.action, Action::CannotCreate(NoLabels));

    let report = report(NOON, &observed, &decision, &ManageResult::impossible(NoLabels));
    let text = "unable to create pods, no labels";
    assert_eq!(report.waiting_on, WaitingOn::CreateRefused { message: text.into() });
    assert_eq!(decision.waiting_on, report.waiting_on);
    assert_eq!(report.result.unwrap_err().to_string(), text);
}

/// R3.2: if there are fewer pods than were reported, the set may be being deleted with its pods. It is read live before
/// any pod is replaced.
#[test]
fn a_set_without_pods_is_read_again_before_they_are_recreated() {
    for (size, reported, active, must) in
        [(3, 3, 2, true), (3, 0, 0, false), (5, 3, 3, false), (2, 3, 2, false)]
    {
        let web = replica_set("web").size(size).pods(reported);
        let pods = pods_of(&web, active);
        let observed = observed(&web, &pods);
        assert_eq!(
            must_be_confirmed(&observed, &decide(NOON, &observed)),
            must,
            "{active} of {size}, {reported} reported"
        );
    }
}
