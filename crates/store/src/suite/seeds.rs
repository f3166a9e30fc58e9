//! The seeds of randomized tests.

/// Whether the long version of a test was requested, with `GANTRY_LONG=1`.
pub fn is_long_run() -> bool {
    std::env::var_os("GANTRY_LONG").is_some_and(|value| value != "0")
}

/// The seeds a test runs: `GANTRY_SEED` alone if it is set, otherwise the first `short` or, in the long run, `long`.
pub fn seeds(short: u64, long: u64) -> impl Iterator<Item = u64> {
    let chosen = std::env::var("GANTRY_SEED").ok().and_then(|seed| seed.parse().ok());
    let all = if is_long_run() { long } else { short };
    chosen.map_or(0..all, |seed: u64| seed..seed + 1)
}
