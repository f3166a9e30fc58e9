//! Randomness that comes out the same every time: a seed, and what follows from it.

/// A seeded source of choices (`splitmix64`).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of `sides` faces, counted from zero; zero if there are none.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let sides = u64::try_from(sides).unwrap_or(u64::MAX).max(1);
        usize::try_from(mixed % sides).unwrap_or(0)
    }
}
