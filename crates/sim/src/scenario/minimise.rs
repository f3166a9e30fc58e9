//! Makes a scenario smaller while the same rule stays broken.

use super::{SimScenario, play};
use crate::Faults;

/// The maximum number of scenarios that are tried.
const TRIES_MAX: usize = 300;

/// Returns the smallest scenario found in which the same rule is broken, by leaving out steps and faults.
pub fn minimise(scenario: &SimScenario) -> SimScenario {
    let Some((_, finding)) = play(scenario).violation else { return scenario.clone() };
    let mut search = Search { broken: finding.broken, tries: 0, smallest: scenario.clone() };
    search.reduce();
    search.smallest
}

struct Search {
    broken: &'static str,
    tries: usize,
    smallest: SimScenario,
}

impl Search {
    fn reduce(&mut self) {
        let mut length = self.smallest.steps.len().div_ceil(2).max(1);
        loop {
            let shrank = self.without_steps(length) | self.without_faults();
            if length == 1 && !shrank || self.tries >= TRIES_MAX {
                return;
            }
            length = (length / 2).max(1);
        }
    }

    /// Leaves out runs of steps of this length.
    fn without_steps(&mut self, length: usize) -> bool {
        let (mut start, mut shrank) = (0, false);
        while start < self.smallest.steps.len() {
            let mut smaller = self.smallest.clone();
            smaller.steps.drain(start..(start + length).min(smaller.steps.len()));
            if self.is_broken(&smaller) {
                (self.smallest, shrank) = (smaller, true);
            } else {
                start += length;
            }
        }
        shrank
    }

    /// Switches kinds of faults off, and replicas of the controllers.
    fn without_faults(&mut self) -> bool {
        let switches: [fn(&mut SimScenario); 9] = [
            |scenario| scenario.faults = Faults::default(),
            |scenario| scenario.faults.delay_ms = 0,
            |scenario| scenario.faults.refused = 0,
            |scenario| scenario.faults.conflicts = 0,
            |scenario| scenario.faults.lost = 0,
            |scenario| scenario.faults.silent = 0,
            |scenario| (scenario.faults.watch_delay_ms, scenario.faults.stalled) = (0, 0),
            |scenario| (scenario.faults.cut, scenario.faults.expired) = (0, 0),
            |scenario| scenario.replicas = 1,
        ];
        let mut shrank = false;
        for switch in switches {
            let mut smaller = self.smallest.clone();
            switch(&mut smaller);
            if smaller != self.smallest && self.is_broken(&smaller) {
                (self.smallest, shrank) = (smaller, true);
            }
        }
        shrank
    }

    fn is_broken(&mut self, scenario: &SimScenario) -> bool {
        self.tries += 1;
        self.tries <= TRIES_MAX
            && play(scenario).violation.is_some_and(|(_, finding)| finding.broken == self.broken)
    }
}
