//! The scenarios that are explored: a few in every test run, all in the long command.

use gantry_decide::deployment::Repairs;
use gantry_model::Strategy;

use crate::scenario::{Budget, Scenario, StartingPoint, UserAction, rolling, rolling_percent};

const NOTHING: Budget =
    Budget { crashes: 0, delays: 0, refusals: 0, lost_responses: 0, failures: 0, unready: 0, timeouts: 0 };

/// One fault of each sort, one at a time.
const ONE_FAULT: [Budget; 6] = [
    Budget { crashes: 1, ..NOTHING },
    Budget { delays: 1, ..NOTHING },
    Budget { refusals: 1, ..NOTHING },
    Budget { lost_responses: 1, ..NOTHING },
    Budget { failures: 1, ..NOTHING },
    Budget { unready: 1, ..NOTHING },
];

/// Small enough for every test run.
pub fn quick() -> Vec<Scenario> {
    let change = [UserAction::SetTemplate(1)];
    let mut scenarios = vec![
        Scenario::new(1, rolling(0, 1)).with(&change),
        Scenario::new(1, Strategy::Recreate).with(&change),
        Scenario::new(2, rolling(1, 0)).with(&change),
        Scenario::new(2, rolling(0, 1)).with(&[UserAction::Scale(1)]),
    ];
    scenarios.extend(
        ONE_FAULT[..4].iter().map(|budget| Scenario::new(1, rolling(1, 0)).with(&change).budget(*budget)),
    );
    scenarios.into_iter().map(repaired).collect()
}

/// Everything: more than a million states.
pub fn thorough() -> Vec<Scenario> {
    let mut scenarios = quick();
    scenarios.extend(every_limit().map(repaired));
    scenarios.extend(one_change_one_fault().map(repaired));
    scenarios.extend(two_changes().map(repaired));
    scenarios.extend(two_faults().map(repaired));
    scenarios.extend(creations().map(repaired));
    scenarios.extend(in_time().map(repaired));
    scenarios.extend(larger().map(repaired));
    scenarios
}

/// Every strategy and every small limit.
fn every_limit() -> impl Iterator<Item = Scenario> {
    let sizes = [(1, all_strategies(1)), (2, all_strategies(2))];
    sizes.into_iter().flat_map(|(replicas, strategies)| {
        strategies
            .into_iter()
            .map(move |strategy| Scenario::new(replicas, strategy).with(&[UserAction::SetTemplate(1)]))
    })
}

/// One change, and a fault of each sort.
fn one_change_one_fault() -> impl Iterator<Item = Scenario> {
    let strategies = [rolling(1, 0), rolling(0, 1), rolling(2, 0), Strategy::Recreate];
    strategies.into_iter().flat_map(|strategy| [(1, strategy.clone()), (2, strategy)]).flat_map(
        |(replicas, strategy)| {
            let scenario = Scenario::new(replicas, strategy).with(&[UserAction::SetTemplate(1)]);
            ONE_FAULT.map(|budget| scenario.clone().budget(budget))
        },
    )
}

/// Two changes in any order and at any time, and perhaps a fault.
fn two_changes() -> impl Iterator<Item = Scenario> {
    let strategies = [rolling(1, 0), rolling(0, 1), rolling(1, 1), Strategy::Recreate];
    strategies.into_iter().flat_map(|strategy| {
        pairs_of_changes().into_iter().flat_map(move |changes| {
            let scenario = Scenario::new(1, strategy.clone()).with(&changes);
            let budgets = &ONE_FAULT[..4];
            let faulty: Vec<_> = budgets.iter().map(|budget| scenario.clone().budget(*budget)).collect();
            std::iter::once(scenario).chain(faulty)
        })
    })
}

fn pairs_of_changes() -> Vec<Vec<UserAction>> {
    let to_recreate = UserAction::SetStrategy(Strategy::Recreate);
    vec![
        vec![UserAction::SetTemplate(1), UserAction::Scale(2)],
        vec![UserAction::SetTemplate(1), UserAction::Scale(0)],
        vec![UserAction::SetTemplate(1), UserAction::Pause, UserAction::Resume],
        vec![UserAction::SetTemplate(1), UserAction::Undo],
        vec![UserAction::SetTemplate(1), UserAction::RequestRollback(0)],
        vec![UserAction::SetTemplate(1), to_recreate],
    ]
}

/// Two faults at once.
fn two_faults() -> impl Iterator<Item = Scenario> {
    let budgets = [
        Budget { crashes: 1, refusals: 1, ..NOTHING },
        Budget { crashes: 1, delays: 1, ..NOTHING },
        Budget { delays: 1, refusals: 1, ..NOTHING },
        Budget { crashes: 1, failures: 1, ..NOTHING },
        Budget { delays: 1, timeouts: 1, ..NOTHING },
        Budget { refusals: 2, ..NOTHING },
    ];
    [rolling(1, 0), rolling(0, 1), Strategy::Recreate].into_iter().flat_map(move |strategy| {
        budgets.map(|budget| {
            Scenario::new(1, strategy.clone()).with(&[UserAction::SetTemplate(1)]).budget(budget)
        })
    })
}

/// The first rollout, with a fault.
fn creations() -> impl Iterator<Item = Scenario> {
    [1, 2, 3].into_iter().flat_map(|replicas| {
        ONE_FAULT.map(|budget| {
            let mut scenario = Scenario::new(replicas, rolling(1, 0)).budget(budget);
            scenario.start = StartingPoint::Created;
            scenario
        })
    })
}

/// Worlds in which time passes: minReadySeconds, and a template that never becomes ready.
fn in_time() -> impl Iterator<Item = Scenario> {
    [rolling(1, 0), rolling(0, 1), Strategy::Recreate].into_iter().flat_map(|strategy| {
        let mut slow = Scenario::new(1, strategy.clone()).with(&[UserAction::SetTemplate(1)]);
        slow.is_timed = true;
        slow.min_ready_seconds = 10;
        slow.deadline_seconds = Some(60);
        let mut broken = Scenario::new(1, strategy).with(&[UserAction::SetTemplate(1)]);
        broken.is_timed = true;
        broken.deadline_seconds = Some(20);
        broken.broken = Some(1);
        [slow, broken]
    })
}

/// More pods.
fn larger() -> impl Iterator<Item = Scenario> {
    let mut scenarios = vec![
        Scenario::new(1, rolling(1, 0)).with(&[UserAction::SetTemplate(1), UserAction::SetTemplate(2)]),
        Scenario::new(3, rolling(1, 0)).with(&[UserAction::SetTemplate(1)]),
        Scenario::new(3, rolling(0, 1)).with(&[UserAction::SetTemplate(1)]),
        Scenario::new(3, rolling(1, 1)).with(&[UserAction::SetTemplate(1)]),
        Scenario::new(4, rolling_percent(25, 25)).with(&[UserAction::Scale(2)]),
        Scenario::new(2, rolling(1, 0)).with(&[UserAction::SetTemplate(1), UserAction::Scale(3)]),
        Scenario::new(2, rolling(0, 1)).with(&[UserAction::SetTemplate(1), UserAction::Scale(1)]),
        Scenario::new(2, Strategy::Recreate).with(&[UserAction::SetTemplate(1), UserAction::Scale(1)]),
        Scenario::new(1, rolling(1, 0)).with(&[
            UserAction::SetTemplate(1),
            UserAction::SetStrategy(Strategy::Recreate),
            UserAction::Scale(2),
        ]),
    ];
    let mut slow = Scenario::new(1, rolling(1, 0)).with(&[UserAction::SetTemplate(1)]);
    slow.slow_watches = true;
    scenarios.push(slow);
    scenarios.into_iter()
}

fn all_strategies(replicas: u16) -> Vec<Strategy> {
    let mut strategies = vec![Strategy::Recreate, rolling(0, 0)];
    for (surge, unavailable) in [(1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1)] {
        if i32::from(replicas) >= surge.max(unavailable) {
            strategies.push(rolling(surge, unavailable));
        }
    }
    strategies.extend([rolling_percent(25, 25), rolling_percent(100, 0), rolling_percent(0, 50)]);
    strategies
}

/// With all repairs: without them some of these end in upstream's known defects.
fn repaired(mut scenario: Scenario) -> Scenario {
    scenario.repairs = Repairs::ALL;
    scenario
}
