//! The command line of a benchmark that `cargo xtask bench` runs.
//!
//! `--list` prints the case names; `--case NAME --iterations N` sets a case up, runs it N times and prints
//! `NAME <ns per iteration>`. Other arguments are ignored, because cargo passes some of its own.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

/// One benchmark case.
#[derive(Debug)]
pub struct Case {
    /// Its name, without spaces.
    pub name: &'static str,
    /// Sets the case up, always in the same way, and returns the work of one iteration.
    pub set_up: fn() -> Box<dyn FnMut()>,
}

/// Lists these cases or runs one of them, according to the command line.
pub fn main(cases: &[Case]) -> ExitCode {
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
