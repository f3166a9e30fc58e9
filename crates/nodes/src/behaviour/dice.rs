//! Chance that comes out the same for the same pod.

/// Chance for one purpose of one pod.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The dice of a pod for a purpose: one more purpose does not change what the others roll.
    pub(crate) fn of(uid: &str, purpose: &str) -> Self {
        // FNV-1a.
        let bytes = uid.bytes().chain([0]).chain(purpose.bytes());
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    /// A number below `bound`; zero if that is zero.
    pub(crate) fn below(self, bound: u64) -> u64 {
        self.mixed(0) % bound.max(1)
    }

    /// So many hexadecimal digits.
    pub(crate) fn hex(self, digits: usize) -> String {
        let words: Vec<_> =
            (0..).take(digits.div_ceil(16)).map(|n| format!("{:016x}", self.mixed(n))).collect();
        let mut text = words.concat();
        text.truncate(digits);
        text
    }

    /// The `n`th number (`splitmix64`).
    fn mixed(self, n: u64) -> u64 {
        let mut mixed = self.0.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
