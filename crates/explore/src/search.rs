//! The search: breadth first through all states, and then backwards from the settled states.
//!
//! The first violation found is thus at the end of a shortest path. A run in which no transition is starved ends in a
//! set of states that it cannot leave; so if a settled state can be reached from every state without users and faults,
//! every such run settles.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use crate::fingerprint::fingerprint;
use crate::properties;
use crate::small_world::SmallWorld;
use crate::state::State;
use crate::transitions::describe;

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Distinct states.
    pub states: usize,
    /// Transitions between them.
    pub transitions: usize,
    /// The longest of the shortest paths.
    pub depth: usize,
    /// States that only faults and users can leave.
    pub settled: usize,
    /// Whether all states were visited.
    pub is_complete: bool,
    /// The first violation.
    pub violation: Option<BrokenProperty>,
}

/// A violated property, and a shortest path to it.
#[derive(Clone, Debug)]
pub struct BrokenProperty {
    /// The property, and what was found instead.
    pub broken: String,
    /// The transitions, one line each.
    pub path: Vec<String>,
}

/// How a state was first reached.
#[derive(Clone, Copy, Debug)]
struct Reached {
    from: u32,
    /// The index of the transition among those of `from`.
    by: u16,
    depth: u16,
}

struct Search<'a> {
    world: &'a SmallWorld,
    seen: BTreeMap<u64, u32>,
    reached: Vec<Reached>,
    /// Which states lead to which without a user or a fault.
    by_itself: Vec<(u32, u32)>,
    settled: Vec<u32>,
    transitions: usize,
}

/// Explores a world, up to so many states.
pub fn explore(world: &SmallWorld, states_max: usize) -> Exploration {
    let mut search = Search {
        world,
        seen: BTreeMap::new(),
        reached: Vec::new(),
        by_itself: Vec::new(),
        settled: Vec::new(),
        transitions: 0,
    };
    let (mut violation, is_complete) = search.forwards(states_max);
    if violation.is_none() && is_complete {
        violation = search.never_settled();
    }
    Exploration {
        states: search.reached.len(),
        transitions: search.transitions,
        depth: search.reached.last().map_or(0, |reached| usize::from(reached.depth)),
        settled: search.settled.len(),
        is_complete,
        violation,
    }
}

impl Search<'_> {
    /// Visits all states in order of their distance. Returns a violation, and whether all were visited.
    fn forwards(&mut self, states_max: usize) -> (Option<BrokenProperty>, bool) {
        let first = State::first(self.world);
        self.seen.insert(fingerprint(&first, self.world), 0);
        self.reached.push(Reached { from: 0, by: 0, depth: 0 });
        let mut waiting = VecDeque::from([(0, first)]);
        while let Some((id, state)) = waiting.pop_front() {
            if let Some(violation) = self.visit(id, &state, &mut waiting) {
                return (Some(violation), false);
            }
            if self.reached.len() > states_max {
                return (None, false);
            }
        }
        (None, true)
    }

    fn visit(
        &mut self,
        id: u32,
        state: &State,
        waiting: &mut VecDeque<(u32, State)>,
    ) -> Option<BrokenProperty> {
        let broken = state.violation.clone().or_else(|| properties::always(state));
        if let Some(broken) = broken {
            return Some(self.violation(id, broken));
        }
        let enabled = state.enabled(self.world);
        let rests = enabled.by_itself.is_empty();
        if rests {
            self.settled.push(id);
            if let Some(broken) = properties::settled(state, self.world) {
                return Some(self.violation(id, broken));
            }
        }
        let by_itself = enabled.by_itself.len();
        for (place, transition) in enabled.by_itself.into_iter().chain(enabled.imposed).enumerate() {
            let next = state.after(self.world, &transition);
            self.transitions += 1;
            let print = fingerprint(&next, self.world);
            let new = u32::try_from(self.reached.len()).unwrap_or(u32::MAX);
            let target = *self.seen.entry(print).or_insert(new);
            if place < by_itself && target != id {
                self.by_itself.push((id, target));
            }
            if target == new {
                let depth = self.reached[id as usize].depth.saturating_add(1);
                let by = u16::try_from(place).unwrap_or(u16::MAX);
                self.reached.push(Reached { from: id, by, depth });
                waiting.push_back((new, next));
            }
        }
        None
    }

    /// Finds a state from which rest cannot be reached without users and faults.
    fn never_settled(&mut self) -> Option<BrokenProperty> {
        self.by_itself.sort_unstable_by_key(|(_, to)| *to);
        let mut comes_to_rest = vec![false; self.reached.len()];
        let mut waiting = self.settled.clone();
        for id in &waiting {
            comes_to_rest[*id as usize] = true;
        }
        while let Some(id) = waiting.pop() {
            let first = self.by_itself.partition_point(|(_, to)| *to < id);
            for (from, _) in self.by_itself[first..].iter().take_while(|(_, to)| *to == id) {
                if !std::mem::replace(&mut comes_to_rest[*from as usize], true) {
                    waiting.push(*from);
                }
            }
        }
        let stuck = comes_to_rest.iter().position(|rests| !rests)?;
        let id = u32::try_from(stuck).unwrap_or(u32::MAX);
        Some(self.violation(id, "a state without a path to a settled state".to_owned()))
    }

    /// A violation with the path to it.
    fn violation(&self, id: u32, broken: String) -> BrokenProperty {
        let mut ids = vec![id];
        let mut last = id;
        while last != 0 {
            last = self.reached[last as usize].from;
            ids.push(last);
        }
        ids.reverse();
        let mut state = State::first(self.world);
        let mut path = vec![format!("{:<100} | {state}", "begin")];
        for id in &ids[1..] {
            let enabled = state.enabled(self.world);
            let mut all = enabled.by_itself.into_iter().chain(enabled.imposed);
            let Some(transition) = all.nth(usize::from(self.reached[*id as usize].by)) else { break };
            let next = state.after(self.world, &transition);
            path.push(describe(&state, &transition, &next, self.world));
            state = next;
        }
        BrokenProperty { broken, path }
    }
}

impl fmt::Display for BrokenProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "VIOLATED: {}", self.broken)?;
        for (number, line) in self.path.iter().enumerate() {
            writeln!(f, "{number:>4}  {line}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Exploration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, transitions, depth, settled, .. } = self;
        write!(f, "{states} states, {transitions} transitions, depth {depth}, {settled} settled")?;
        if self.is_complete || self.violation.is_some() { Ok(()) } else { f.write_str(", cut off") }
    }
}
