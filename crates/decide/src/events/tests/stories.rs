//! What happens to an event, told one case at a time.

use std::time::Duration;

use gantry_model::{Event, EventType, Timestamp};
use gantry_testkit::{NOON, noon_plus};

use super::{SOURCE, scaled, web};
use crate::events::{EventRecord, Recorder, Recording, Subject};

/// A recorder that has told `count` different messages about scaling `web`, all at noon.
fn after_messages(count: usize) -> Recorder {
    let mut recorder = Recorder::new();
    for n in 1..=count {
        recorder.tell(format!("message {n}"), NOON);
    }
    recorder
}

/// D17.2: the first event is an object of its own, in the object's namespace, told once.
#[test]
fn a_new_event_is_created() {
    let record = Recorder::new().tell("Scaled up replica set web-1 from 0 to 3", NOON).created();
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

/// D17.2: names are unique even if the clock stands still.
#[test]
fn events_told_at_once_have_different_names() {
    let mut recorder = Recorder::new();
    let first = recorder.tell("up", NOON).created();
    let second = recorder.tell("down", NOON).created();
    assert_eq!(second.name, "web.1886999c36a18001".into());
    assert_ne!(first.name, second.name);
    assert_eq!((second.first, second.last), (NOON, NOON));
}

/// D17.3: an identical event increases the count and the last timestamp of the first one.
#[test]
fn an_identical_event_is_counted() {
    let mut recorder = Recorder::new();
    let first = recorder.tell("up", NOON).created();
    recorder.tell("down", noon_plus(1)).created();
    let again = recorder.tell("up", noon_plus(2)).increased();
    assert_eq!(again, EventRecord { count: 2, last: noon_plus(2), ..first });
    assert_eq!(recorder.tell("up", noon_plus(3)).increased().count, 3);
}

/// D17.3: the count goes on after hours of silence, since only combining looks at gaps.
#[test]
fn an_identical_event_is_counted_hours_later() {
    let mut recorder = Recorder::new();
    recorder.tell("up", NOON);
    assert_eq!(recorder.tell("up", noon_plus(36_000)).increased().count, 2);
}

/// D17.3: source, object with its uid, type, reason and message all have to be the same; the version need not.
#[test]
fn events_that_differ_in_anything_are_not_identical() {
    let mut recorder = Recorder::new();
    let mut tell = |source, subject: &Subject, event: &Event| recorder.record(source, subject, event, NOON);
    let (subject, event) = (web(), scaled("up"));
    tell(SOURCE, &subject, &event).created();

    tell("other-controller", &subject, &event).created();
    tell(SOURCE, &Subject { uid: "another".into(), ..web() }, &event).created();
    tell(SOURCE, &Subject { name: "db".into(), ..web() }, &event).created();
    tell(SOURCE, &Subject { namespace: Some("shop".into()), ..web() }, &event).created();
    tell(SOURCE, &Subject { kind: "ReplicaSet".into(), ..web() }, &event).created();
    tell(SOURCE, &Subject { api_version: "apps/v2".into(), ..web() }, &event).created();
    tell(SOURCE, &subject, &Event { event_type: EventType::Warning, ..event.clone() }).created();
    tell(SOURCE, &subject, &Event { reason: "Other", ..event.clone() }).created();
    tell(SOURCE, &subject, &scaled("down")).created();

    tell(SOURCE, &Subject { resource_version: "99".into(), ..web() }, &event).increased();
}

/// D17.3: nine messages of one reason are told one by one, the tenth and later ones share one event.
#[test]
fn from_the_tenth_message_on_events_are_combined() {
    let mut recorder = Recorder::new();
    for n in 1..=9 {
        assert_eq!(recorder.tell(format!("message {n}"), NOON).created().message, format!("message {n}"));
    }
    let tenth = recorder.tell("message 10", noon_plus(1)).created();
    assert_eq!(tenth.message, "(combined from similar events): message 10");
    assert_eq!((tenth.count, tenth.first, tenth.reporting_component), (1, noon_plus(1), None));

    let eleventh = recorder.tell("message 11", noon_plus(2)).increased();
    let message = "(combined from similar events): message 11".to_owned();
    assert_eq!(eleventh, EventRecord { message, count: 2, last: noon_plus(2), ..tenth });
}

/// D17.3: a message that was told by itself goes on being counted by itself.
#[test]
fn the_first_nine_messages_are_never_combined() {
    let mut recorder = after_messages(12);
    let again = recorder.tell("message 9", noon_plus(1)).increased();
    assert_eq!((again.message.as_str(), again.count), ("message 9", 2));
}

/// D17.3: only messages of one source, object, type and reason are combined.
#[test]
fn another_reason_is_not_combined() {
    let mut recorder = after_messages(10);
    let other = Event::normal("DeploymentRollback", "message 11".to_owned());
    assert_eq!(recorder.record(SOURCE, &web(), &other, NOON).created().message, "message 11");
    let db = Subject { name: "db".into(), ..web() };
    assert_eq!(recorder.record(SOURCE, &db, &scaled("message 11"), NOON).created().message, "message 11");
}

/// D17.3: gaps count from event to event; one of more than 600 s ends the combining.
#[test]
fn a_long_silence_ends_the_combining() {
    let mut recorder = after_messages(9);
    assert!(recorder.tell("message 10", noon_plus(600)).created().message.starts_with("(combined"));
    assert!(recorder.tell("message 11", noon_plus(1200)).increased().message.starts_with("(combined"));
    let after_silence = Timestamp::from_nanos(noon_plus(1800).as_nanos() + 1);
    assert_eq!(recorder.tell("message 12", after_silence).created().message, "message 12");
}

/// D17.3: a combined event that comes back after a silence is the same object as before.
#[test]
fn combining_again_goes_on_with_the_old_count() {
    let mut recorder = after_messages(10);
    for n in 21..=29 {
        recorder.tell(format!("message {n}"), noon_plus(9_000));
    }
    assert_eq!(recorder.tell("message 30", noon_plus(9_000)).increased().count, 2);
}

/// D17.3: 25 events of one type about one object at once, then one every 300 s.
#[test]
fn too_many_events_about_one_object_are_dropped() {
    let mut recorder = Recorder::new();
    for n in 1..=25 {
        assert_eq!(recorder.tell("up", NOON).record().map(|record| record.count), Some(n));
    }
    assert_eq!(recorder.tell("up", NOON), Recording::Drop);
    assert_eq!(recorder.tell("down", noon_plus(299)), Recording::Drop);
    assert_eq!(recorder.tell("up", noon_plus(300)).increased().count, 27, "the dropped one is counted");
    assert_eq!(recorder.tell("up", noon_plus(300)), Recording::Drop);
    // The creation of this one was dropped, so the shell will find nothing to patch and create it.
    let second = recorder.tell("down", noon_plus(600)).increased();
    assert_eq!((second.count, second.first), (2, noon_plus(299)));
}

/// D17.3: each source, object and type has a budget of its own; reasons share it.
#[test]
fn the_budget_is_per_source_object_and_type() {
    let mut recorder = Recorder::new();
    for _ in 0..25 {
        recorder.tell("up", NOON);
    }
    let event = Event::normal("DeploymentRollback", "back".to_owned());
    assert_eq!(recorder.record(SOURCE, &web(), &event, NOON), Recording::Drop);
    recorder.record("other-controller", &web(), &event, NOON).created();
    recorder.record(SOURCE, &Subject { uid: "another".into(), ..web() }, &event, NOON).created();
    recorder.record(SOURCE, &web(), &Event::warning("SelectingAll", "all".to_owned()), NOON).created();
}

/// D17.3: the memory is bounded; what it forgot is told anew.
#[test]
fn what_was_forgotten_is_told_anew() {
    let mut recorder = Recorder::with_memory(2);
    let first = recorder.tell("up", NOON).created();
    recorder.tell("down", NOON);
    recorder.tell("sideways", NOON);
    let anew = recorder.tell("up", noon_plus(1)).created();
    assert_ne!(anew.name, first.name);
    assert_eq!((anew.count, anew.first), (1, noon_plus(1)));
}

/// D17.3: 4096 threads are remembered, not one more.
#[test]
fn the_last_4096_events_are_remembered() {
    let tell_about = |recorder: &mut Recorder, n: u32| {
        let subject = Subject { uid: n.to_string().into(), ..web() };
        recorder.record(SOURCE, &subject, &scaled("up"), NOON.plus(Duration::from_nanos(n.into())))
    };
    let mut recorder = Recorder::new();
    for n in 0..=4096 {
        tell_about(&mut recorder, n).created();
    }
    tell_about(&mut recorder, 1).increased();
    tell_about(&mut recorder, 0).created();
}

#[test]
fn the_ends_of_time_are_not_a_panic() {
    let mut recorder = Recorder::new();
    for nanos in [i64::MAX, i64::MIN, 0, -1, i64::MAX] {
        for message in ["up", "down"] {
            recorder.tell(message, Timestamp::from_nanos(nanos));
        }
    }
    let record = recorder.tell("sideways", NOON).created();
    assert_eq!(record.name, "web.7fffffffffffffff".into());
}
