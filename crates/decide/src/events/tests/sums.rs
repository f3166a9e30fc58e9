//! Generated events and the resulting events on a server: none is duplicated or miscounted.

use std::collections::BTreeMap;
use std::time::Duration;

use gantry_model::{Event, Name, Timestamp};
use gantry_testkit::NOON;
use proptest::prelude::*;

use super::{SOURCE, web};
use crate::events::{EventCorrelator, EventRecord, Recording, Subject};

/// One event: which object, whether a warning, which message, and the pause before it in seconds.
type Step = (u8, bool, u8, i64);

fn steps(pause_max: i64) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0_u8..2, any::<bool>(), 0_u8..14, 0..=pause_max), 0..120)
}

/// Records all events and calls `each` with every result.
fn play(
    steps: &[Step],
    mut each: impl FnMut(Step, Recording, Timestamp) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let (mut correlator, mut now) = (EventCorrelator::new(), NOON);
    for &(object, is_warning, message, pause) in steps {
        now = now.plus(Duration::from_secs(pause.unsigned_abs()));
        let subject = Subject { uid: object.to_string().into(), ..web() };
        let record_scaled = if is_warning { Event::warning } else { Event::normal };
        let recording =
            correlator.record(SOURCE, &subject, &record_scaled("Reason", message.to_string()), now);
        each((object, is_warning, message, pause), recording, now)?;
    }
    Ok(())
}

/// Writes a recording as a shell does.
fn write(server: &mut BTreeMap<Name, EventRecord>, recording: Recording) -> Result<(), TestCaseError> {
    match recording {
        Recording::Create(record) => {
            prop_assert_eq!((record.count, record.first), (1, record.last));
            prop_assert!(server.insert(record.name.clone(), record).is_none(), "a name was used twice");
        }
        Recording::Increase(record) => {
            prop_assert!(record.first <= record.last);
            if let Some(stored) = server.get(&record.name) {
                prop_assert!(record.count > stored.count && record.last >= stored.last);
                prop_assert_eq!((&record.subject, record.first), (&stored.subject, stored.first));
            }
            server.insert(record.name.clone(), record);
        }
        Recording::Drop => {}
    }
    Ok(())
}

proptest! {
    /// D17.3: every count is the number of occurrences, dropped or not.
    #[test]
    fn counts_equal_the_number_of_events(steps in steps(5)) {
        let mut singles: BTreeMap<(u8, bool), Vec<u8>> = BTreeMap::new();
        let mut counts: BTreeMap<(u8, bool, Option<u8>), i32> = BTreeMap::new();
        play(&steps, |(object, is_warning, message, _), recording, _| {
            let singles = singles.entry((object, is_warning)).or_default();
            if singles.len() < 9 && !singles.contains(&message) {
                singles.push(message);
            }
            let single = singles.contains(&message).then_some(message);
            let times = counts.entry((object, is_warning, single)).or_default();
            *times += 1;
            if let Some(record) = recording.record() {
                prop_assert_eq!(record.count, *times);
                prop_assert_eq!(record.message.starts_with("(combined"), single.is_none());
                prop_assert_eq!(matches!(recording, Recording::Create(_)), *times == 1);
            }
            Ok(())
        })?;
    }

    /// D17.3: names are new when created, and counts and times only rise when increased.
    #[test]
    fn counts_and_times_never_decrease(steps in steps(900)) {
        let mut server = BTreeMap::new();
        play(&steps, |_, recording, _| write(&mut server, recording))?;
    }

    /// D17.3: per object and type at most nine messages are recorded individually, and all others as one event.
    #[test]
    fn at_most_ten_events_per_reason_within_the_interval(steps in steps(5)) {
        let mut server = BTreeMap::new();
        play(&steps, |_, recording, _| write(&mut server, recording))?;
        let mut per_topic = BTreeMap::new();
        for record in server.values() {
            *per_topic.entry((record.subject.uid.clone(), record.event_type)).or_insert(0) += 1;
        }
        prop_assert!(per_topic.values().all(|events| *events <= 10), "{:?}", per_topic);
    }

    /// D17.3: the first 25 events of an object and type pass, and then no more than one per 300 s.
    #[test]
    fn no_object_exceeds_its_rate_limit(steps in steps(60)) {
        let mut rate_limits: BTreeMap<(u8, bool), (i64, Timestamp)> = BTreeMap::new();
        play(&steps, |(object, is_warning, ..), recording, now| {
            let (passed, since) = rate_limits.entry((object, is_warning)).or_insert((0, now));
            let refilled = i64::try_from(now.since(*since).as_secs() / 300).unwrap();
            if recording == Recording::Drop {
                prop_assert!(*passed >= 25, "dropped after only {} events", passed);
            } else {
                *passed += 1;
                prop_assert!(*passed <= 25 + refilled, "{} events passed", passed);
            }
            Ok(())
        })?;
    }
}
