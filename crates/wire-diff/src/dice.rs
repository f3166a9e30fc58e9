//! Seeded choices: the same seed makes the same choices on every machine.

/// A seeded source of choices (`splitmix64`).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Returns the dice of a seed. The family is mixed in, so that families make different choices from equal seeds.
    pub(crate) fn new(family: &str, seed: u64) -> Self {
        let mixed = family.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Self(mixed)
    }

    /// Returns a number below `limit`; zero if the limit is zero.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(mixed % limit).unwrap_or(0)
    }

    /// Returns a number from `least` to `most`, both included.
    pub(crate) fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Returns true in this many of a hundred cases.
    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// Returns one of the choices, of which there must be at least one.
    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// Returns up to `count` different choices, in random order.
    pub(crate) fn sample<T: Clone>(&mut self, choices: &[T], count: usize) -> Vec<T> {
        let mut left = choices.to_vec();
        let mut taken = Vec::new();
        while taken.len() < count && !left.is_empty() {
            taken.push(left.swap_remove(self.below(left.len())));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_all_choices_and_families_choose_differently() {
        let rolls = |mut dice: Dice| (0..20).map(|_| dice.below(1000)).collect::<Vec<_>>();
        assert_eq!(rolls(Dice::new("lists", 7)), rolls(Dice::new("lists", 7)));
        assert_ne!(rolls(Dice::new("lists", 7)), rolls(Dice::new("lists", 8)));
        assert_ne!(rolls(Dice::new("lists", 7)), rolls(Dice::new("watches", 7)));
    }

    #[test]
    fn a_sample_holds_no_choice_twice_and_never_more_than_there_are() {
        let mut taken = Dice::new("", 1).sample(&[1, 2, 3], 9);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3]);
    }
}
