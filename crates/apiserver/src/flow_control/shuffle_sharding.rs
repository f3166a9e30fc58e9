//! Shuffle sharding: each flow gets a small hand of the queues of a level, by its hash. Two flows rarely share all of them.

use aws_lc_rs::digest::{Context, SHA256};

/// The maximum number of queues of a hand: validation allows no more, as a hand is dealt from 60 bits.
const HAND_MAX: usize = 32;

/// The queues of a flow, in the order in which they are dealt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hand {
    queues: [u32; HAND_MAX],
    len: usize,
}

impl Hand {
    /// Deals a hand of different queues, each hand with the same probability.
    pub(super) fn deal(hash: u64, queues: u32, hand_size: u32) -> Self {
        let len = (hand_size.min(queues) as usize).min(HAND_MAX);
        let mut hand = Self { queues: [0; HAND_MAX], len };
        // The queues dealt so far, in ascending order.
        let mut dealt = [0_u32; HAND_MAX];
        let mut rest = hash;
        for index in 0..len {
            let left = u64::from(queues) - index as u64;
            let mut queue = u32::try_from(rest % left).unwrap_or_default();
            rest /= left;
            // `queue` is an index among the queues that are not dealt yet.
            let mut at = 0;
            while at < index && queue >= dealt[at] {
                queue += 1;
                at += 1;
            }
            dealt.copy_within(at..index, at + 1);
            dealt[at] = queue;
            hand.queues[index] = queue;
        }
        hand
    }

    pub(super) fn queues(&self) -> &[u32] {
        &self.queues[..self.len]
    }
}

/// The hash of a flow. Clients choose their names, so the hash must not let them choose a name that has a certain hand.
pub(super) fn flow_hash(schema: &str, distinguished: &str) -> u64 {
    let mut context = Context::new(&SHA256);
    context.update(schema.as_bytes());
    context.update(&[0]);
    context.update(distinguished.as_bytes());
    let hash = context.finish();
    hash.as_ref().iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gantry_rng::Rng;

    use super::*;

    /// Every hand has different queues of the level, as many as its size.
    #[test]
    fn a_hand_contains_no_queue_twice() {
        let mut rng = Rng::new(1);
        for _ in 0..10_000 {
            let queues = u32::try_from(rng.between(1, 200)).unwrap();
            let size = u32::try_from(rng.between(1, 8)).unwrap().min(queues);
            let hand = Hand::deal(rng.number() >> 4, queues, size);
            let mut sorted = hand.queues().to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), size as usize, "{hand:?} of {queues}");
            assert!(sorted.iter().all(|queue| *queue < queues), "{hand:?} of {queues}");
        }
    }

    /// Each of the 12 hands of 2 out of 4 queues is dealt once in 12 consecutive hashes.
    #[test]
    fn every_hand_is_dealt_equally_often() {
        let mut seen: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for hash in 0..12 {
            *seen.entry(Hand::deal(hash, 4, 2).queues().to_vec()).or_default() += 1;
        }
        assert_eq!(seen.len(), 12);
        assert!(seen.values().all(|count| *count == 1));
    }

    #[test]
    fn flows_have_different_hashes() {
        assert_ne!(flow_hash("a", "bc"), flow_hash("ab", "c"));
        assert_eq!(flow_hash("a", "b"), flow_hash("a", "b"));
    }
}
