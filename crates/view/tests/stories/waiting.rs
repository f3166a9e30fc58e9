//! When waiting for rollouts ends.

use std::time::Duration;

use gantry_json::json;
use gantry_view::{WaitDecision, WaitPolicy};

use super::world::{World, at, new_pod, noon_plus, rolling};

const STUCK_FOR: Duration = Duration::from_secs(30);

fn stuck() -> World {
    rolling(new_pod(&json!({"waiting": {"reason": "ErrImagePull"}})))
}

fn moving() -> World {
    rolling(new_pod(&json!({"waiting": {"reason": "ContainerCreating"}})))
}

/// The decision so many seconds after noon.
fn check(waiting: &mut WaitPolicy, world: World, seconds: i64) -> WaitDecision {
    let world = world.but(|world| world.now = noon_plus(seconds));
    waiting.next(world.now, &[world.report()])
}

fn until(seconds: i64) -> WaitDecision {
    WaitDecision::Continue { at: Some(noon_plus(seconds)) }
}

#[test]
fn a_rollout_that_stays_stuck_ends_the_waiting() {
    let mut waiting = WaitPolicy::new(noon_plus(60), STUCK_FOR, None);
    assert_eq!(check(&mut waiting, moving(), 60), WaitDecision::Continue { at: None });
    assert_eq!(check(&mut waiting, stuck(), 70), until(100));
    assert_eq!(check(&mut waiting, stuck(), 99), until(100));
    assert_eq!(check(&mut waiting, stuck(), 100), WaitDecision::End);
}

#[test]
fn a_rollout_that_recovers_in_time_is_waited_for() {
    let mut waiting = WaitPolicy::new(noon_plus(60), STUCK_FOR, None);
    assert_eq!(check(&mut waiting, stuck(), 70), until(100));
    assert_eq!(check(&mut waiting, moving(), 90), WaitDecision::Continue { at: None });
    assert_eq!(check(&mut waiting, stuck(), 110), until(140), "the time starts again");
}

#[test]
fn a_missed_deadline_ends_the_waiting_at_once() {
    let late = moving().but(|world| {
        world.deployment["status"]["conditions"][1] = json!({"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded", "message": "", "lastUpdateTime": at(601)});
    });
    assert_eq!(check(&mut WaitPolicy::new(noon_plus(60), STUCK_FOR, None), late, 700), WaitDecision::End);
}

#[test]
fn a_timeout_ends_the_waiting_for_moving_rollouts() {
    let mut waiting = WaitPolicy::new(noon_plus(60), STUCK_FOR, Some(Duration::from_secs(20)));
    assert_eq!(check(&mut waiting, moving(), 61), until(80));
    assert_eq!(check(&mut waiting, stuck(), 70), until(80), "the timeout is earlier");
    assert_eq!(check(&mut waiting, moving(), 80), WaitDecision::End);
}

#[test]
fn a_paused_rollout_is_not_waited_for_forever() {
    let paused = || moving().but(|world| world.deployment["spec"]["paused"] = json!(true));
    let mut waiting = WaitPolicy::new(noon_plus(60), STUCK_FOR, None);
    assert_eq!(check(&mut waiting, paused(), 60), until(90));
    assert_eq!(check(&mut waiting, paused(), 90), WaitDecision::End);
}

#[test]
fn as_long_as_one_of_several_moves_all_are_waited_for() {
    let mut waiting = WaitPolicy::new(noon_plus(60), Duration::ZERO, None);
    let reports = [stuck().report(), moving().report()];
    assert_eq!(waiting.next(noon_plus(60), &reports), WaitDecision::Continue { at: None });
    assert_eq!(waiting.next(noon_plus(60), &reports[..1]), WaitDecision::End);
}
