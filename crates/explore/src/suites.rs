//! The worlds that are explored: a few in every test run, all in the long command.

use gantry_decide::deployment::Repairs;
use gantry_model::Strategy;

use crate::small_world::{FaultBudget, SmallWorld, StartingPoint, UserAction, rolling, rolling_percent};

const NOTHING: FaultBudget = FaultBudget {
    crashes: 0,
    delays: 0,
    refusals: 0,
    lost_responses: 0,
    failures: 0,
    unready: 0,
    timeouts: 0,
};

/// One fault of each sort, one at a time.
const ONE_FAULT: [FaultBudget; 6] = [
    FaultBudget { crashes: 1, ..NOTHING },
    FaultBudget { delays: 1, ..NOTHING },
    FaultBudget { refusals: 1, ..NOTHING },
    FaultBudget { lost_responses: 1, ..NOTHING },
    FaultBudget { failures: 1, ..NOTHING },
    FaultBudget { unready: 1, ..NOTHING },
];

/// Small enough for every test run.
pub fn quick() -> Vec<SmallWorld> {
    let change = [UserAction::SetTemplate(1)];
    let mut worlds = vec![
        SmallWorld::new(1, rolling(0, 1)).with(&change),
        SmallWorld::new(1, Strategy::Recreate).with(&change),
        SmallWorld::new(2, rolling(1, 0)).with(&change),
        SmallWorld::new(2, rolling(0, 1)).with(&[UserAction::Scale(1)]),
    ];
    worlds.extend(
        ONE_FAULT[..4].iter().map(|budget| SmallWorld::new(1, rolling(1, 0)).with(&change).budget(*budget)),
    );
    worlds.into_iter().map(repaired).collect()
}

/// All worlds: more than a million states.
pub fn thorough() -> Vec<SmallWorld> {
    let mut worlds = quick();
    worlds.extend(every_limit().map(repaired));
    worlds.extend(one_change_one_fault().map(repaired));
    worlds.extend(two_changes().map(repaired));
    worlds.extend(two_faults().map(repaired));
    worlds.extend(creations().map(repaired));
    worlds.extend(in_time().map(repaired));
    worlds.extend(larger().map(repaired));
    worlds
}

/// Every strategy and every small limit.
fn every_limit() -> impl Iterator<Item = SmallWorld> {
    let sizes = [(1, all_strategies(1)), (2, all_strategies(2))];
    sizes.into_iter().flat_map(|(replicas, strategies)| {
        strategies
            .into_iter()
            .map(move |strategy| SmallWorld::new(replicas, strategy).with(&[UserAction::SetTemplate(1)]))
    })
}

/// One change, and a fault of each sort.
fn one_change_one_fault() -> impl Iterator<Item = SmallWorld> {
    let strategies = [rolling(1, 0), rolling(0, 1), rolling(2, 0), Strategy::Recreate];
    strategies.into_iter().flat_map(|strategy| [(1, strategy.clone()), (2, strategy)]).flat_map(
        |(replicas, strategy)| {
            let world = SmallWorld::new(replicas, strategy).with(&[UserAction::SetTemplate(1)]);
            ONE_FAULT.map(|budget| world.clone().budget(budget))
        },
    )
}

/// Two changes in any order and at any time, and perhaps a fault.
fn two_changes() -> impl Iterator<Item = SmallWorld> {
    let strategies = [rolling(1, 0), rolling(0, 1), rolling(1, 1), Strategy::Recreate];
    strategies.into_iter().flat_map(|strategy| {
        pairs_of_changes().into_iter().flat_map(move |changes| {
            let world = SmallWorld::new(1, strategy.clone()).with(&changes);
            let budgets = &ONE_FAULT[..4];
            let faulty: Vec<_> = budgets.iter().map(|budget| world.clone().budget(*budget)).collect();
            std::iter::once(world).chain(faulty)
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
fn two_faults() -> impl Iterator<Item = SmallWorld> {
    let budgets = [
        FaultBudget { crashes: 1, refusals: 1, ..NOTHING },
        FaultBudget { crashes: 1, delays: 1, ..NOTHING },
        FaultBudget { delays: 1, refusals: 1, ..NOTHING },
        FaultBudget { crashes: 1, failures: 1, ..NOTHING },
        FaultBudget { delays: 1, timeouts: 1, ..NOTHING },
        FaultBudget { refusals: 2, ..NOTHING },
    ];
    [rolling(1, 0), rolling(0, 1), Strategy::Recreate].into_iter().flat_map(move |strategy| {
        budgets.map(|budget| {
            SmallWorld::new(1, strategy.clone()).with(&[UserAction::SetTemplate(1)]).budget(budget)
        })
    })
}

/// The first rollout, with a fault.
fn creations() -> impl Iterator<Item = SmallWorld> {
    [1, 2, 3].into_iter().flat_map(|replicas| {
        ONE_FAULT.map(|budget| {
            let mut world = SmallWorld::new(replicas, rolling(1, 0)).budget(budget);
            world.start = StartingPoint::Created;
            world
        })
    })
}

/// Worlds in which time passes: minReadySeconds, and a template that never becomes ready.
fn in_time() -> impl Iterator<Item = SmallWorld> {
    [rolling(1, 0), rolling(0, 1), Strategy::Recreate].into_iter().flat_map(|strategy| {
        let mut slow = SmallWorld::new(1, strategy.clone()).with(&[UserAction::SetTemplate(1)]);
        slow.is_timed = true;
        slow.min_ready_seconds = 10;
        slow.deadline_seconds = Some(60);
        let mut broken = SmallWorld::new(1, strategy).with(&[UserAction::SetTemplate(1)]);
        broken.is_timed = true;
        broken.deadline_seconds = Some(20);
        broken.broken = Some(1);
        [slow, broken]
    })
}

/// More pods.
fn larger() -> impl Iterator<Item = SmallWorld> {
    let mut worlds = vec![
        SmallWorld::new(1, rolling(1, 0)).with(&[UserAction::SetTemplate(1), UserAction::SetTemplate(2)]),
        SmallWorld::new(3, rolling(1, 0)).with(&[UserAction::SetTemplate(1)]),
        SmallWorld::new(3, rolling(0, 1)).with(&[UserAction::SetTemplate(1)]),
        SmallWorld::new(3, rolling(1, 1)).with(&[UserAction::SetTemplate(1)]),
        SmallWorld::new(4, rolling_percent(25, 25)).with(&[UserAction::Scale(2)]),
        SmallWorld::new(2, rolling(1, 0)).with(&[UserAction::SetTemplate(1), UserAction::Scale(3)]),
        SmallWorld::new(2, rolling(0, 1)).with(&[UserAction::SetTemplate(1), UserAction::Scale(1)]),
        SmallWorld::new(2, Strategy::Recreate).with(&[UserAction::SetTemplate(1), UserAction::Scale(1)]),
        SmallWorld::new(1, rolling(1, 0)).with(&[
            UserAction::SetTemplate(1),
            UserAction::SetStrategy(Strategy::Recreate),
            UserAction::Scale(2),
        ]),
    ];
    let mut slow = SmallWorld::new(1, rolling(1, 0)).with(&[UserAction::SetTemplate(1)]);
    slow.slow_watches = true;
    worlds.push(slow);
    worlds.into_iter()
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

/// Enables all repairs: without them some of these worlds end in upstream's known defects.
fn repaired(mut world: SmallWorld) -> SmallWorld {
    world.repairs = Repairs::ALL;
    world
}
