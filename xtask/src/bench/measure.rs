//! Measuring one case: the median of a few timed runs, and the instructions of one iteration.

use super::binaries::Case;
use crate::cargo;
use crate::failure::Failure;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The cost of one iteration of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) nanoseconds: f64,
    pub(super) instructions: f64,
}

/// The number of timed runs per case; the median is reported.
const RUNS: usize = 5;

/// The duration of a timed run, so that the resolution of the clock and interrupts do not matter.
const RUN_NANOSECONDS: f64 = 100e6;

/// The maximum number of iterations, however short they are.
const ITERATIONS_MAX: f64 = 1e7;

/// The two numbers of iterations for which instructions are counted; the difference excludes the set-up.
const COUNTED_ITERATIONS: (u64, u64) = (10, 110);

/// Measures a case.
pub(super) fn measure(case: &Case) -> Result<Cost, Failure> {
    Ok(Cost { nanoseconds: median_nanoseconds(case)?, instructions: instructions(case)? })
}

/// Runs a case and returns the nanoseconds per iteration that it reports.
pub(super) fn nanoseconds(case: &Case, iterations: u64) -> Result<f64, Failure> {
    let printed = cargo::output(Command::new(&case.executable).args(case.arguments(iterations)))?;
    reported_nanoseconds(&printed, &case.name).ok_or_else(|| {
        let expected = format!("`{} <ns per iteration>`", case.name);
        Failure::Failed(format!("benchmark {} printed no line {expected}", case.label()))
    })
}

fn median_nanoseconds(case: &Case) -> Result<f64, Failure> {
    let mut iterations = 1;
    // The first estimate is from a cold run; grow until a run is long enough.
    loop {
        let wanted = iterations_for(nanoseconds(case, iterations)?);
        if wanted <= iterations.saturating_mul(2) {
            break;
        }
        iterations = wanted;
    }
    let runs: Result<Vec<f64>, Failure> = (0..RUNS).map(|_| nanoseconds(case, iterations)).collect();
    Ok(median(runs?))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is clamped between two numbers that u64 and f64 both hold"
)]
fn iterations_for(nanoseconds: f64) -> u64 {
    let wanted = RUN_NANOSECONDS / nanoseconds.max(f64::MIN_POSITIVE);
    wanted.clamp(1.0, ITERATIONS_MAX).round() as u64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "instruction counts stay far below 2^53")]
fn instructions(case: &Case) -> Result<f64, Failure> {
    let (few, many) = COUNTED_ITERATIONS;
    let difference = total_instructions(case, many)?.saturating_sub(total_instructions(case, few)?);
    Ok(difference as f64 / (many - few) as f64)
}

/// Runs a case under callgrind and returns the instructions of the whole process.
fn total_instructions(case: &Case, iterations: u64) -> Result<u64, Failure> {
    let counts = OutFile::new();
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", counts.0.display()));
    valgrind.arg(&case.executable).args(case.arguments(iterations)).stdout(Stdio::null());
    cargo::run(&mut valgrind)?;
    let text = std::fs::read_to_string(&counts.0)
        .map_err(|error| Failure::Failed(format!("callgrind left no {}: {error}", counts.0.display())))?;
    callgrind_total(&text)
        .ok_or_else(|| Failure::Failed(format!("callgrind counted nothing for {}", case.label())))
}

/// A file for callgrind's counts, removed when no longer needed.
struct OutFile(PathBuf);

impl OutFile {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("gantry-callgrind-{}.out", std::process::id())))
    }
}

impl Drop for OutFile {
    fn drop(&mut self) {
        // A leftover file does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn reported_nanoseconds(printed: &str, name: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    line.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
}

fn callgrind_total(text: &str) -> Option<u64> {
    let line =
        text.lines().find_map(|line| line.strip_prefix("totals:").or(line.strip_prefix("summary:")))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_case_is_read_and_no_other() {
        assert_eq!(reported_nanoseconds("noise\nten-sets 812.5\n", "ten-sets"), Some(812.5));
        assert_eq!(reported_nanoseconds("ten-sets-more 812.5\n", "ten-sets"), None);
        assert_eq!(reported_nanoseconds("ten-sets NaN\n", "ten-sets"), None);
        assert_eq!(reported_nanoseconds("", "ten-sets"), None);
    }

    #[test]
    fn callgrinds_total_is_read_from_either_line() {
        assert_eq!(callgrind_total("version: 1\nevents: Ir\ntotals: 123456\n"), Some(123_456));
        assert_eq!(callgrind_total("summary: 77\n"), Some(77));
        assert_eq!(callgrind_total("events: Ir\n"), None);
    }

    #[test]
    fn a_run_lasts_about_a_tenth_of_a_second() {
        assert_eq!(iterations_for(1_000.0), 100_000);
        assert_eq!(iterations_for(1e12), 1);
        assert_eq!(iterations_for(0.0), 10_000_000);
    }

    #[test]
    fn one_slow_run_does_not_move_the_median() {
        assert!((median(vec![5.0, 900.0, 4.0, 6.0, 5.5]) - 5.5).abs() < f64::EPSILON);
    }
}
