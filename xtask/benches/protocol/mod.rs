//! The protocol of `cargo xtask bench`, as a benchmark speaks it.
//!
//! `--list` prints the case names; `--case NAME --iterations N` sets a case up, runs it N times and prints
//! `NAME <ns per iteration>`. Other arguments are ignored, for cargo passes some of its own. A benchmark in another
//! crate includes this file with `#[path = "../../../xtask/benches/protocol/mod.rs"] mod protocol;`.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

/// One thing to measure.
pub(crate) struct Case {
    /// What it is called, without spaces.
    pub(crate) name: &'static str,
    /// Sets up, always in the same way, and returns the work of one iteration.
    pub(crate) set_up: fn() -> Box<dyn FnMut()>,
}

/// Answers what the command line asks of these cases.
pub(crate) fn answer(cases: &[Case]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |flag: &str| arguments.iter().skip_while(|argument| *argument != flag).nth(1);
    if arguments.iter().any(|argument| argument == "--list") {
        let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
        return print(&names.join("\n"));
    }
    let case = after("--case").and_then(|name| cases.iter().find(|case| case.name == name));
    let iterations = after("--iterations").and_then(|number| number.parse::<u32>().ok());
    match (case, iterations) {
        (Some(case), Some(iterations @ 1..)) => print(&format!("{} {:.1}", case.name, run(case, iterations))),
        _ => ExitCode::from(2),
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a benchmark has a clock, also where the crate it measures has none"
)]
fn run(case: &Case, iterations: u32) -> f64 {
    let mut work = (case.set_up)();
    let started = Instant::now();
    (0..iterations).for_each(|_| work());
    started.elapsed().as_secs_f64() * 1e9 / f64::from(iterations)
}

fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
