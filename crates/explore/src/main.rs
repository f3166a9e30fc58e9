//! `explore`: explores the worlds and prints how many states there were, and the path to a violation if there is one.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use gantry_explore::{Exploration, SmallWorld, explore, suites};

const USAGE: &str = "\
Usage: explore [--quick] [--only TEXT] [--jobs N] [--states-max N]

Visit every state of small rollouts: whatever acts next, with every fault between any two writes. Exit status 1 if a
property is violated, which is printed with a shortest path to it.

A world with more states than allowed is cut off: those nearest to its beginning are checked, but not that all of them come to
rest. The last line says how many worlds were explored completely.

  --quick          Only the worlds of the tests
  --only TEXT      Only the worlds whose line contains this
  --jobs N         How many worlds to explore at a time (default: 2)
  --states-max N   The most states of a world (default: 200000)
";

/// The default maximum number of states of a world: all worlds together then take minutes, not days.
const STATES_MAX: usize = 200_000;

struct Arguments {
    worlds: Vec<SmallWorld>,
    jobs: usize,
    states_max: usize,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprint!("{message}");
            return ExitCode::from(2);
        }
    };
    let explored = explore_all(&arguments);
    let sum = |count: fn(&Exploration) -> usize| explored.iter().map(count).sum::<usize>();
    let completely = explored.iter().filter(|exploration| exploration.is_complete).count();
    let violated = explored.iter().filter(|exploration| exploration.violation.is_some()).count();
    println!(
        "{} worlds, {completely} of them completely, {violated} with violations: {} distinct states, {} transitions, depth up to {}",
        explored.len(),
        sum(|exploration| exploration.states),
        sum(|exploration| exploration.transitions),
        explored.iter().map(|exploration| exploration.depth).max().unwrap_or(0),
    );
    if violated == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Explores the worlds, several at a time.
fn explore_all(arguments: &Arguments) -> Vec<Exploration> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut explored = Vec::new();
        while let Some(world) = arguments.worlds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let exploration = explore(world, arguments.states_max);
            let violation = exploration.violation.as_ref().map(|violation| format!("\n{violation}"));
            println!("{world}: {exploration}{}", violation.unwrap_or_default());
            explored.push(exploration);
        }
        explored
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { worlds: suites::thorough(), jobs: 2, states_max: STATES_MAX };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value\n\n{USAGE}"));
        match word.as_str() {
            "--quick" => arguments.worlds = suites::quick(),
            "--only" => {
                let text = value()?;
                arguments.worlds.retain(|world| world.to_string().contains(&text));
            }
            "--jobs" => arguments.jobs = number(&value()?)?,
            "--states-max" => arguments.states_max = number(&value()?)?,
            _ => return Err(format!("unknown argument: {word}\n\n{USAGE}")),
        }
    }
    Ok(arguments)
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number\n\n{USAGE}"))
}
