//! Small worlds, completely: the quick worlds have no violations, broken rules are detected, and so are known defects
//! of Kubernetes.
//!
//! `cargo xtask search explore` explores all worlds.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use gantry_decide::deployment::Repairs;
use gantry_explore::{
    Exploration, FaultBudget, Mutant, SmallWorld, StartingPoint, UserAction, explore, rolling, suites,
};
use gantry_model::Strategy;

const STATES_MAX: usize = 100_000;

fn quiet() -> FaultBudget {
    FaultBudget::default()
}

fn change() -> [UserAction; 1] {
    [UserAction::SetTemplate(1)]
}

/// The property that is violated, and the path to it.
#[track_caller]
fn violated(world: &SmallWorld) -> (String, Vec<String>) {
    let exploration = explore(world, STATES_MAX);
    let violation = exploration.violation.unwrap_or_else(|| panic!("{world}: nothing was violated"));
    (violation.broken, violation.path)
}

#[test]
fn every_interleaving_of_small_rollouts_ends_well() {
    let explored: Vec<Exploration> = suites::quick().iter().map(|world| holds(world)).collect();
    let states: usize = explored.iter().map(|exploration| exploration.states).sum();
    assert!(states > 4_000, "only {states} states: is a transition missing?");
    assert!(
        explored
            .iter()
            .all(|exploration| exploration.settled > 0 && exploration.transitions > exploration.states)
    );
}

#[track_caller]
fn holds(world: &SmallWorld) -> Exploration {
    let exploration = explore(world, STATES_MAX);
    if let Some(violation) = &exploration.violation {
        panic!("{world}\n{violation}");
    }
    assert!(exploration.is_complete, "{world}: {exploration}");
    exploration
}

/// The property that is violated among the first so many states, if any.
fn violated_within(world: &SmallWorld, states: usize) -> Option<String> {
    explore(world, states).violation.map(|violation| violation.broken)
}

#[test]
fn the_same_scenario_gives_the_same_numbers() {
    let numbers = || {
        let Exploration { states, transitions, depth, settled, .. } =
            holds(&SmallWorld::new(1, rolling(1, 1)).with(&change()));
        (states, transitions, depth, settled)
    };
    assert_eq!(numbers(), numbers());
}

fn mutated(mutant: Mutant, world: SmallWorld) -> String {
    let mut world = world;
    world.mutant = Some(mutant);
    violated(&world).0
}

#[test]
fn one_pod_more_of_surge_is_noticed() {
    let broken = mutated(Mutant::SurgePlusOne, SmallWorld::new(2, rolling(0, 1)).with(&change()));
    assert!(broken.starts_with("no write raises the sizes above N + S"), "{broken}");
}

#[test]
fn one_unavailable_pod_more_is_noticed() {
    let broken = mutated(Mutant::UnavailablePlusOne, SmallWorld::new(2, rolling(1, 0)).with(&change()));
    assert!(broken.starts_with("no scale-down takes availability below N − U"), "{broken}");
}

#[test]
fn counting_unready_pods_as_available_is_noticed() {
    let broken = mutated(Mutant::AllPodsAvailable, SmallWorld::new(1, rolling(1, 0)).with(&change()));
    assert!(broken.starts_with("no scale-down takes availability below N − U"), "{broken}");
}

#[test]
fn dropped_expectations_are_noticed() {
    let mut created = SmallWorld::new(2, rolling(1, 0)).budget(FaultBudget { delays: 1, ..quiet() });
    created.start = StartingPoint::Created;
    let broken = mutated(Mutant::NoExpectations, created);
    assert!(broken.starts_with("no set creates more pods than its size"), "{broken}");
}

#[test]
fn ignored_conflicts_are_noticed() {
    let actions = [UserAction::RequestRollback(0), UserAction::Scale(2)];
    let broken = mutated(Mutant::ConflictsIgnored, SmallWorld::new(1, rolling(1, 0)).with(&actions));
    assert!(broken.starts_with("no controller undoes what a user did"), "{broken}");
}

#[test]
fn ignored_refusals_are_noticed() {
    let refused =
        SmallWorld::new(1, rolling(1, 0)).with(&change()).budget(FaultBudget { refusals: 1, ..quiet() });
    mutated(Mutant::RefusalsIgnored, refused);
}

#[test]
fn new_pods_before_the_end_of_old_ones_are_noticed() {
    let broken = mutated(Mutant::OldPodsOverlooked, SmallWorld::new(1, Strategy::Recreate).with(&change()));
    assert!(broken.starts_with("Recreate raises no set beside pods of another"), "{broken}");
}

#[test]
fn a_reused_revision_is_noticed() {
    let broken = mutated(Mutant::RevisionReused, SmallWorld::new(1, rolling(1, 0)).with(&change()));
    assert!(broken.starts_with("no revision is used twice"), "{broken}");
}

/// kubernetes/kubernetes#138036, #102551: with maxSurge 0, scaled to the present size of the old set.
#[test]
fn kubernetes_detects_an_outdated_annotation_as_a_scaling_event_forever() {
    let mut world =
        SmallWorld::new(2, rolling(0, 1)).with(&[UserAction::SetTemplate(1), UserAction::Scale(1)]);
    let (broken, path) = violated(&world);
    assert!(broken.starts_with("a rollout ends in one set of the present template"), "{broken}");
    assert!(path.iter().any(|line| line.contains("user: scale to 1")), "{path:#?}");
    world.repairs = Repairs { size_annotation: true, ..Repairs::default() };
    assert_eq!(violated_within(&world, 5_000), None, "`thorough` explores all of it");
}

/// D21.1: switched to Recreate in the middle of a rollout and scaled.
#[test]
fn kubernetes_stalls_when_recreate_is_scaled_in_the_middle_of_a_rollout() {
    let actions =
        [UserAction::SetTemplate(1), UserAction::SetStrategy(Strategy::Recreate), UserAction::Scale(2)];
    let mut world = SmallWorld::new(1, rolling(1, 0)).with(&actions);
    world.repairs = Repairs { size_annotation: true, ..Repairs::default() };
    let (broken, _) = violated(&world);
    assert!(broken.starts_with("a rollout ends in one set of the present template"), "{broken}");
    world.repairs = Repairs::ALL;
    assert_eq!(violated_within(&world, 5_000), None, "`thorough` explores all of it");
}

/// kubernetes/kubernetes#129795: expectations time out while the watch of pods is delayed. Versions are compared as well,
/// so that no pod is created twice; without that, one is.
#[test]
fn expectations_that_time_out_create_no_pods_twice() {
    let mut world =
        SmallWorld::new(1, rolling(1, 0)).budget(FaultBudget { delays: 1, timeouts: 1, ..quiet() });
    world.start = StartingPoint::Created;
    holds(&world);
    let broken = mutated(Mutant::NoVersionCheck, world);
    assert!(broken.starts_with("no set creates more pods than its size"), "{broken}");
}
