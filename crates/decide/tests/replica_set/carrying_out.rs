//! The handling of the API server's responses to creations and deletions.

use gantry_decide::replica_set::{
    ManageError, ManageResult, MetExpectation, PendingCreations, PendingDeletions, SlowStart, creation_event,
    deletion_event,
};
use gantry_model::{Event, Name, Refusal, RefusalKind};

use crate::{key, refusal};

/// The batches of a slow start in which the calls of these numbers, counted from one, fail.
fn batches(calls: usize, failing: &[usize]) -> (Vec<usize>, usize) {
    let mut slow_start = SlowStart::new(calls);
    let (mut sizes, mut made) = (Vec::new(), 0);
    while let Some(batch) = slow_start.batch() {
        let failures = (made + 1..=made + batch).filter(|call| failing.contains(call)).count();
        sizes.push(batch);
        made += batch;
        slow_start.completed(failures);
    }
    (sizes, slow_start.untried())
}

/// Creates this many pods; the response to each call is computed from its number, counted from one.
fn create(count: usize, response: impl Fn(usize) -> Result<Name, Refusal>) -> (usize, ManageResult) {
    let mut creating = PendingCreations::new(key("web"), count);
    let mut calls = 0;
    while let Some(batch) = creating.batch() {
        let responses: Vec<_> = (calls + 1..=calls + batch).map(&response).collect();
        calls += batch;
        creating.completed(responses);
    }
    (calls, creating.finish())
}

fn given_up(manage_result: &ManageResult) -> usize {
    match manage_result.met.as_slice() {
        [] => 0,
        [MetExpectation::Creations { set, count }] if *set == key("web") => *count,
        other => panic!("expected at most one entry, for creations: {other:?}"),
    }
}

fn ok(call: usize) -> Result<Name, Refusal> {
    unless(false, call)
}

fn unless(is_refused: bool, call: usize) -> Result<Name, Refusal> {
    if is_refused { Err(quota()) } else { Ok(format!("web-{call}").into()) }
}

fn quota() -> Refusal {
    refusal(RefusalKind::Other, "exceeded quota")
}

/// R5.2: batches of one, two, four, and the rest.
#[test]
fn batches_double_until_all_pods_are_created() {
    for (calls, sizes) in [
        (0, vec![]),
        (1, vec![1]),
        (2, vec![1, 1]),
        (3, vec![1, 2]),
        (7, vec![1, 2, 4]),
        (10, vec![1, 2, 4, 3]),
        (500, vec![1, 2, 4, 8, 16, 32, 64, 128, 245]),
    ] {
        assert_eq!(batches(calls, &[]), (sizes, 0));
    }
}

/// R5.2: a batch with a failure is the last; it completes, but the next never starts.
#[test]
fn a_failure_stops_after_its_batch() {
    assert_eq!(batches(10, &[1]), (vec![1], 9));
    assert_eq!(batches(10, &[3]), (vec![1, 2], 7));
    assert_eq!(batches(10, &[4]), (vec![1, 2, 4], 3));
    assert_eq!(batches(7, &[7]), (vec![1, 2, 4], 0));
}

/// R5.2: the first refusal is the sync's error.
#[test]
fn the_first_error_is_the_one_that_is_returned() {
    let (_, manage_result) = create(7, |call| match call {
        1..=3 => ok(call),
        _ => Err(refusal(RefusalKind::Other, &format!("refused {call}"))),
    });
    assert_eq!(manage_result.result.unwrap_err().to_string(), "refused 4");
}

/// R5.3: pods whose creation failed or was never tried are not expected.
#[test]
fn pods_that_were_not_created_are_not_expected() {
    let (calls, manage_result) = create(10, |call| unless(call == 3, call));
    assert_eq!((calls, given_up(&manage_result)), (3, 8));
    let (calls, manage_result) = create(10, ok);
    assert_eq!((calls, given_up(&manage_result), manage_result.result), (10, 0, Ok(())));
}

/// R5.3: a request without a response, or a shell that stopped halfway, leaves no expectations either.
#[test]
fn unanswered_calls_count_as_failed() {
    let mut creating = PendingCreations::new(key("web"), 3);
    creating.completed([ok(1)]);
    creating.completed([ok(2)]);
    assert_eq!(creating.batch(), None);
    let manage_result = creating.finish();
    assert_eq!(given_up(&manage_result), 1);
    assert!(manage_result.result.is_err());
    assert_eq!(given_up(&PendingCreations::new(key("web"), 3).finish()), 3);
}

/// R5.4: a terminating namespace refuses everything, which is not a failure; the expectation times out.
#[test]
fn a_terminating_namespace_is_success_without_an_event() {
    let closing = || Err(refusal(RefusalKind::NamespaceTerminating, "namespace t1 is being terminated"));
    let (calls, manage_result) = create(7, |_| closing());
    assert_eq!(calls, 7, "a refusal is no failure, so all batches are tried");
    assert_eq!((given_up(&manage_result), manage_result.result), (0, Ok(())));
    assert_eq!(creation_event(&closing()), None);
}

/// R5.6: the messages of the events about creation.
#[test]
fn creations_are_reported() {
    let created = creation_event(&Ok("web-x7k2p".into()));
    assert_eq!(created, Some(Event::normal("SuccessfulCreate", "Created pod: web-x7k2p".into())));
    let failed = creation_event(&Err(quota()));
    assert_eq!(failed, Some(Event::warning("FailedCreate", "Error creating: exceeded quota".into())));
}

/// R5.8: the messages of the events about deletion; a pod that was already deleted has no event.
#[test]
fn deletions_are_reported() {
    let pod = Name::from("web-x7k2p");
    let event = |response| deletion_event(&pod, &response);
    let deleted = Event::normal("SuccessfulDelete", "Deleted pod: web-x7k2p".into());
    assert_eq!(event(Ok(())), Some(deleted));
    assert_eq!(event(Err(refusal(RefusalKind::NotFound, "not found"))), None);
    let failed = Event::warning("FailedDelete", "Error deleting: forbidden".into());
    assert_eq!(event(Err(refusal(RefusalKind::Other, "forbidden"))), Some(failed));
}

/// R5.8: a pod that was not deleted is not expected to be; the sync fails unless the pod did not exist any more.
#[test]
fn failed_deletions_are_not_expected_and_fail_the_sync_unless_the_pod_was_absent() {
    let deletion = |pod: &str| MetExpectation::Deletion { set: key("web"), pod: key(pod) };
    let mut deleting = PendingDeletions::new(key("web"));
    deleting.answered(&key("a"), Ok(()));
    deleting.answered(&key("b"), Err(refusal(RefusalKind::NotFound, "not found")));
    let gone = deleting.clone().finish();
    assert_eq!((gone.met, gone.result), (vec![deletion("b")], Ok(())));

    deleting.answered(&key("c"), Err(refusal(RefusalKind::Other, "forbidden")));
    deleting.answered(&key("d"), Err(refusal(RefusalKind::Other, "timeout")));
    let failed = deleting.finish();
    assert_eq!(failed.met, ["b", "c", "d"].map(deletion));
    let error = failed.result.unwrap_err();
    assert_eq!(error.to_string(), "unable to delete pods: forbidden", "the first error");
    assert_eq!(error, ManageError::Delete(refusal(RefusalKind::Other, "forbidden")));
}
