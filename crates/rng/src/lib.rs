//! A seeded random number generator: the same seed yields the same numbers on every machine.
//!
//! It is for simulations and tests, never for secrets. The algorithm is SplitMix64; recorded seeds and the names and
//! times of simulated pods depend on its output, so it must not change.

/// A seeded random number generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Creates the generator of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Creates the generator of a key and a purpose: the numbers for one purpose do not depend on other purposes.
    pub fn keyed(key: &str, purpose: &str) -> Self {
        // FNV-1a.
        let bytes = key.bytes().chain([0]).chain(purpose.bytes());
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound.max(1)
    }

    /// Returns an index below `len`; 0 if `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(u64::try_from(len).unwrap_or(u64::MAX))).unwrap_or(0)
    }

    /// Returns a number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.index(most.saturating_sub(least).saturating_add(1))
    }

    /// Returns true with a probability of one in `times`.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns true with a probability of `chance` percent.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// Returns one of `choices`; panics if there are none.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())].clone()
    }

    /// Returns up to `count` different elements of `choices`, in random order.
    pub fn sample<T: Clone>(&mut self, choices: &[T], count: usize) -> Vec<T> {
        let mut remaining = choices.to_vec();
        let mut taken = Vec::new();
        while taken.len() < count && !remaining.is_empty() {
            taken.push(remaining.swap_remove(self.index(remaining.len())));
        }
        taken
    }

    /// Returns `count` random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number().to_le_bytes()[0]).collect()
    }

    /// Returns that many hexadecimal digits.
    pub fn hex(&mut self, digits: usize) -> String {
        let words: Vec<_> = (0..digits.div_ceil(16)).map(|_| format!("{:016x}", self.number())).collect();
        let mut text = words.concat();
        text.truncate(digits);
        text
    }

    /// Returns another generator, whose use does not change this one's further numbers.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut rng = Rng::new(1_234_567);
        let numbers = [rng.number(), rng.number(), rng.number()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn purposes_of_a_key_have_different_seeds() {
        assert_eq!(Rng::keyed("u1", "pull").number(), Rng::keyed("u1", "pull").number());
        assert_ne!(Rng::keyed("u1", "pull").number(), Rng::keyed("u1", "start").number());
        assert_ne!(Rng::keyed("u1", "pull").number(), Rng::keyed("u2", "pull").number());
    }

    #[test]
    fn numbers_are_within_bounds() {
        let mut rng = Rng::new(7);
        assert_eq!((rng.below(0), rng.index(0), rng.between(3, 3)), (0, 0, 3));
        assert!((0..100).all(|_| (2..=5).contains(&rng.between(2, 5))));
        assert_eq!((rng.hex(20).len(), rng.bytes(9).len()), (20, 9));
    }

    #[test]
    fn a_sample_has_no_duplicates_and_at_most_all_choices() {
        let mut taken = Rng::new(1).sample(&[1, 2, 3], 9);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3]);
    }
}
