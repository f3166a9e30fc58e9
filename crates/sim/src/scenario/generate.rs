//! Scenarios from seeds.

use std::time::Duration;

use gantry_rng::Rng;

use super::{SimScenario, SimStep, TimedStep};
use crate::{Faults, SimScope};

/// The Deployments of a scenario.
const NAMES: [&str; 2] = ["web", "api"];
/// Images, by how their pods behave; see `PROFILE` of the player.
const IMAGES: [&str; 8] =
    ["app:1", "app:2", "app:3", "app:slow", "app:never", "app:crash", "app:flap", "app:broken"];

impl SimScenario {
    /// The scenario of a seed.
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x5ca1_ab1e);
        let faults = faults(&mut rng);
        let replicas = if rng.percent(40) { 2 } else { 1 };
        let nodes = 2;
        let mut at = Duration::ZERO;
        let mut steps = Vec::new();
        for name in NAMES.iter().take(rng.between(1, 2)) {
            at += gap(&mut rng);
            steps.push(TimedStep { at, step: SimStep::Create(name, size(&mut rng)) });
        }
        for _ in 0..rng.between(4, 28) {
            at += gap(&mut rng);
            steps.push(TimedStep { at, step: step(&mut rng, replicas, nodes) });
        }
        let duration = at + Duration::from_secs(rng.below(120));
        // Few timers are longer than two minutes, and an idle cluster takes as much work as a busy one.
        let rest = if rng.one_in(40) { Duration::from_mins(60) } else { Duration::from_mins(2) };
        let scope = if rng.one_in(50) { SimScope::Everything } else { SimScope::Workloads };
        // Simultaneous changes of several pods lead to fewer writes, which is a case of its own.
        let resolution = Duration::from_secs(rng.pick(&[0, 1, 5]));
        let deadline_seconds = if rng.one_in(4) { Some(rng.pick(&[30, 60, 120])) } else { None };
        Self { seed, nodes, replicas, faults, steps, duration, rest, scope, resolution, deadline_seconds }
    }
}

fn faults(rng: &mut Rng) -> Faults {
    let calm = Faults {
        delay_ms: rng.pick(&[0, 5, 50]),
        watch_delay_ms: rng.pick(&[0, 20, 200]),
        ..Faults::default()
    };
    if rng.percent(30) {
        return calm;
    }
    Faults {
        delay_ms: rng.pick(&[0, 5, 50, 500]),
        refused: rng.pick(&[0, 5, 30, 100]),
        conflicts: rng.pick(&[0, 5, 50]),
        lost: rng.pick(&[0, 5, 30]),
        silent: rng.pick(&[0, 0, 2, 10]),
        watch_delay_ms: rng.pick(&[0, 20, 200, 3000]),
        stalled: rng.pick(&[0, 0, 5, 20]),
        stall_seconds: rng.pick(&[10, 60]),
        cut: rng.pick(&[0, 2, 20]),
        expired: rng.pick(&[0, 2, 10]),
    }
}

/// The time to the next step: often short, sometimes minutes. In long gaps little happens but heartbeats and flapping
/// pods.
fn gap(rng: &mut Rng) -> Duration {
    let longest = if rng.one_in(40) { 300_000 } else { rng.pick(&[100, 100, 1_000, 5_000, 30_000]) };
    Duration::from_millis(rng.below(longest))
}

/// How long a process or a node is down.
fn outage(rng: &mut Rng) -> Duration {
    let longest = rng.pick(&[50, 2_000, 30_000, 400_000]);
    Duration::from_millis(rng.below(longest))
}

fn size(rng: &mut Rng) -> u32 {
    u32::try_from(rng.pick(&[0, 1, 2, 3, 4, 5, 7, 10])).unwrap_or(0)
}

fn step(rng: &mut Rng, replicas: usize, nodes: usize) -> SimStep {
    let name = rng.pick(&NAMES);
    match rng.below(100) {
        0..18 => SimStep::Scale(name, size(rng)),
        18..44 => SimStep::Image(name, rng.pick(&IMAGES)),
        44..54 => SimStep::Limits(name, limit(rng, 150), limit(rng, 100)),
        54..57 => SimStep::Recreate(name),
        57..60 => SimStep::Set(name, "revisionHistoryLimit", u32::try_from(rng.below(4)).unwrap_or(0)),
        60..63 => SimStep::Set(name, "minReadySeconds", u32::try_from(rng.below(20)).unwrap_or(0)),
        63..67 => SimStep::Pause(name, true),
        67..72 => SimStep::Pause(name, false),
        72..77 => SimStep::Undo(name),
        77..79 => SimStep::Rollback(name, u32::try_from(rng.below(4)).unwrap_or(0)),
        79..81 => SimStep::Delete(name, rng.pick(&["Background", "Foreground", "Orphan"])),
        81..84 => SimStep::Create(name, size(rng)),
        84..89 => SimStep::DeletePod(rng.below(10)),
        89..95 => SimStep::Crash(rng.index(replicas), outage(rng)),
        95..97 => SimStep::Restart(rng.index(replicas), outage(rng)),
        _ => SimStep::FailNode(1 + rng.index(nodes), outage(rng)),
    }
}

fn limit(rng: &mut Rng, percent_max: u64) -> String {
    if rng.one_in(2) { rng.below(5).to_string() } else { format!("{}%", rng.below(percent_max + 1)) }
}
