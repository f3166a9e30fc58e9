//! Event correlation, one case at a time.

use std::time::Duration;

use gantry_model::{Event, EventType, Timestamp};
use gantry_testkit::{NOON, noon_plus};

use super::{SOURCE, scaled, web};
use crate::events::{EventCorrelator, EventRecord, Recording, Subject};

/// A correlator that has recorded `count` different messages about scaling `web`, all at noon.
fn after_messages(count: usize) -> EventCorrelator {
    let mut correlator = EventCorrelator::new();
    for n in 1..=count {
        correlator.record_scaled(format!("message {n}"), NOON);
    }
    correlator
}

/// D17.2: the first event is an object of its own, in the object's namespace, with a count of one.
#[test]
fn a_new_event_is_created() {
    let record =
        EventCorrelator::new().record_scaled("Scaled up replica set web-1 from 0 to 3", NOON).created();
    let expected = EventRecord {
        name: "web.1886999c36a18000".into(),
        namespace: "default".into(),
        subject: web(),
        source: SOURCE,
        reporting_component: Some(SOURCE),
        event_type: EventType::Normal,
        reason: "ScalingReplicaSet",
        message: "Scaled up replica set web-1 from 0 to 3".to_owned(),
        count: 1,
        first: NOON,
        last: NOON,
    };
    assert_eq!(record, expected);
}

/// D17.2: names are unique even if the clock does not advance.
#[test]
fn simultaneous_events_have_different_names() {
    let mut correlator = EventCorrelator::new();
    let first = correlator.record_scaled("up", NOON).created();
    let second = correlator.record_scaled("down", NOON).created();
    assert_eq!(second.name, "web.1886999c36a18001".into());
    assert_ne!(first.name, second.name);
    assert_eq!((second.first, second.last), (NOON, NOON));
}

/// D17.3: an identical event increases the count and the last timestamp of the first one.
#[test]
fn an_identical_event_is_counted() {
    let mut correlator = EventCorrelator::new();
    let first = correlator.record_scaled("up", NOON).created();
    correlator.record_scaled("down", noon_plus(1)).created();
    let again = correlator.record_scaled("up", noon_plus(2)).increased();
    assert_eq!(again, EventRecord { count: 2, last: noon_plus(2), ..first });
    assert_eq!(correlator.record_scaled("up", noon_plus(3)).increased().count, 3);
}

/// D17.3: the count continues after hours, since only aggregation depends on intervals.
#[test]
fn an_identical_event_is_counted_hours_later() {
    let mut correlator = EventCorrelator::new();
    correlator.record_scaled("up", NOON);
    assert_eq!(correlator.record_scaled("up", noon_plus(36_000)).increased().count, 2);
}

/// D17.3: source, object with its uid, type, reason and message all have to be the same; the version need not.
#[test]
fn events_that_differ_in_anything_are_not_identical() {
    let mut correlator = EventCorrelator::new();
    let mut record_scaled =
        |source, subject: &Subject, event: &Event| correlator.record(source, subject, event, NOON);
    let (subject, event) = (web(), scaled("up"));
    record_scaled(SOURCE, &subject, &event).created();

    record_scaled("other-controller", &subject, &event).created();
    record_scaled(SOURCE, &Subject { uid: "another".into(), ..web() }, &event).created();
    record_scaled(SOURCE, &Subject { name: "db".into(), ..web() }, &event).created();
    record_scaled(SOURCE, &Subject { namespace: Some("shop".into()), ..web() }, &event).created();
    record_scaled(SOURCE, &Subject { kind: "ReplicaSet".into(), ..web() }, &event).created();
    record_scaled(SOURCE, &Subject { api_version: "apps/v2".into(), ..web() }, &event).created();
    record_scaled(SOURCE, &subject, &Event { event_type: EventType::Warning, ..event.clone() }).created();
    record_scaled(SOURCE, &subject, &Event { reason: "Other", ..event.clone() }).created();
    record_scaled(SOURCE, &subject, &scaled("down")).created();

    record_scaled(SOURCE, &Subject { resource_version: "99".into(), ..web() }, &event).increased();
}

/// D17.3: nine messages of one reason are recorded one by one, the tenth and later ones share one event.
#[test]
fn from_the_tenth_message_on_events_are_aggregated() {
    let mut correlator = EventCorrelator::new();
    for n in 1..=9 {
        assert_eq!(
            correlator.record_scaled(format!("message {n}"), NOON).created().message,
            format!("message {n}")
        );
    }
    let tenth = correlator.record_scaled("message 10", noon_plus(1)).created();
    assert_eq!(tenth.message, "(combined from similar events): message 10");
    assert_eq!((tenth.count, tenth.first, tenth.reporting_component), (1, noon_plus(1), None));

    let eleventh = correlator.record_scaled("message 11", noon_plus(2)).increased();
    let message = "(combined from similar events): message 11".to_owned();
    assert_eq!(eleventh, EventRecord { message, count: 2, last: noon_plus(2), ..tenth });
}

/// D17.3: a message that was first recorded individually is counted individually later, too.
#[test]
fn the_first_nine_messages_are_never_aggregated() {
    let mut correlator = after_messages(12);
    let again = correlator.record_scaled("message 9", noon_plus(1)).increased();
    assert_eq!((again.message.as_str(), again.count), ("message 9", 2));
}

/// D17.3: only messages of one source, object, type and reason are aggregated.
#[test]
fn another_reason_is_not_aggregated() {
    let mut correlator = after_messages(10);
    let other = Event::normal("DeploymentRollback", "message 11".to_owned());
    assert_eq!(correlator.record(SOURCE, &web(), &other, NOON).created().message, "message 11");
    let db = Subject { name: "db".into(), ..web() };
    assert_eq!(correlator.record(SOURCE, &db, &scaled("message 11"), NOON).created().message, "message 11");
}

/// D17.3: intervals count from event to event; one of more than 600 s ends the aggregation.
#[test]
fn a_long_interval_ends_the_aggregation() {
    let mut correlator = after_messages(9);
    assert!(
        correlator.record_scaled("message 10", noon_plus(600)).created().message.starts_with("(combined")
    );
    assert!(
        correlator.record_scaled("message 11", noon_plus(1200)).increased().message.starts_with("(combined")
    );
    let after_silence = Timestamp::from_nanos(noon_plus(1800).as_nanos() + 1);
    assert_eq!(correlator.record_scaled("message 12", after_silence).created().message, "message 12");
}

/// D17.3: an aggregated event that recurs after an interval is the same object as before.
#[test]
fn aggregating_again_continues_the_old_count() {
    let mut correlator = after_messages(10);
    for n in 21..=29 {
        correlator.record_scaled(format!("message {n}"), noon_plus(9_000));
    }
    assert_eq!(correlator.record_scaled("message 30", noon_plus(9_000)).increased().count, 2);
}

/// D17.3: 25 events of one type about one object at once, then one every 300 s.
#[test]
fn too_many_events_about_one_object_are_dropped() {
    let mut correlator = EventCorrelator::new();
    for n in 1..=25 {
        assert_eq!(correlator.record_scaled("up", NOON).record().map(|record| record.count), Some(n));
    }
    assert_eq!(correlator.record_scaled("up", NOON), Recording::Drop);
    assert_eq!(correlator.record_scaled("down", noon_plus(299)), Recording::Drop);
    assert_eq!(
        correlator.record_scaled("up", noon_plus(300)).increased().count,
        27,
        "the dropped event is counted"
    );
    assert_eq!(correlator.record_scaled("up", noon_plus(300)), Recording::Drop);
    // The creation of this one was dropped, so the shell will find nothing to patch and create it.
    let second = correlator.record_scaled("down", noon_plus(600)).increased();
    assert_eq!((second.count, second.first), (2, noon_plus(299)));
}

/// D17.3: each source, object and type has a rate limit of its own; reasons share it.
#[test]
fn the_rate_limit_is_per_source_object_and_type() {
    let mut correlator = EventCorrelator::new();
    for _ in 0..25 {
        correlator.record_scaled("up", NOON);
    }
    let event = Event::normal("DeploymentRollback", "back".to_owned());
    assert_eq!(correlator.record(SOURCE, &web(), &event, NOON), Recording::Drop);
    correlator.record("other-controller", &web(), &event, NOON).created();
    correlator.record(SOURCE, &Subject { uid: "another".into(), ..web() }, &event, NOON).created();
    correlator.record(SOURCE, &web(), &Event::warning("SelectingAll", "all".to_owned()), NOON).created();
}

/// D17.3: the caches are bounded; an evicted event is created again.
#[test]
fn an_evicted_event_is_created_anew() {
    let mut correlator = EventCorrelator::with_capacity(2);
    let first = correlator.record_scaled("up", NOON).created();
    correlator.record_scaled("down", NOON);
    correlator.record_scaled("sideways", NOON);
    let anew = correlator.record_scaled("up", noon_plus(1)).created();
    assert_ne!(anew.name, first.name);
    assert_eq!((anew.count, anew.first), (1, noon_plus(1)));
}

/// D17.3: exactly 4096 series are remembered; by a correlator that many sources share, 16 of each.
#[test]
fn the_cache_holds_4096_events() {
    let record = |correlator: &mut EventCorrelator, n: u32| {
        let subject = Subject { uid: n.to_string().into(), ..web() };
        correlator.record(SOURCE, &subject, &scaled("up"), NOON.plus(Duration::from_nanos(n.into())))
    };
    let (new, few) = (EventCorrelator::new(), EventCorrelator::shared_by(30));
    for (mut correlator, capacity) in [(new, 4096), (few, 4096), (EventCorrelator::shared_by(500), 8000)] {
        for n in 0..=capacity {
            record(&mut correlator, n).created();
        }
        record(&mut correlator, 1).increased();
        record(&mut correlator, 0).created();
    }
}

#[test]
fn the_ends_of_time_are_not_a_panic() {
    let mut correlator = EventCorrelator::new();
    for nanos in [i64::MAX, i64::MIN, 0, -1, i64::MAX] {
        for message in ["up", "down"] {
            correlator.record_scaled(message, Timestamp::from_nanos(nanos));
        }
    }
    let record = correlator.record_scaled("sideways", NOON).created();
    assert_eq!(record.name, "web.7fffffffffffffff".into());
}
