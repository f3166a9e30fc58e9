//! A seeded random number generator, and the seeds to run.

/// A small deterministic random generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end.max(1)
    }

    /// An index below `end`; 0 when `end` is 0.
    pub fn index(&mut self, end: usize) -> usize {
        usize::try_from(self.below(end as u64)).unwrap_or(0)
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Another generator that does not disturb this one's future.
    pub fn split(&mut self) -> Self {
        Self(self.number())
    }

    /// That many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number().to_le_bytes()[0]).collect()
    }
}

/// Whether the long version of a test was asked for, with `GANTRY_LONG=1`.
pub fn is_long_run() -> bool {
    std::env::var_os("GANTRY_LONG").is_some_and(|value| value != "0")
}

/// The seeds a test runs: `GANTRY_SEED` alone if it is set, otherwise the first `short` or, in the long run, `long`.
pub fn seeds(short: u64, long: u64) -> impl Iterator<Item = u64> {
    let chosen = std::env::var("GANTRY_SEED").ok().and_then(|seed| seed.parse().ok());
    let all = if is_long_run() { long } else { short };
    chosen.map_or(0..all, |seed: u64| seed..seed + 1)
}
