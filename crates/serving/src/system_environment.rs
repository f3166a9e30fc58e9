//! The system clock and secure randomness.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use gantry_apiserver::Environment;
use gantry_primitives::Timestamp;

/// The environment of a real server.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEnvironment;

/// The alphabet of generated names: without vowels and ambiguous characters, so that names contain no words.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

impl Environment for SystemEnvironment {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_secs(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }

    fn uid(&self) -> String {
        // Version 4: random.
        gantry_formats::uuid::encode(chance(), 4)
    }

    fn name_suffix(&self) -> String {
        let mut suffix = String::with_capacity(5);
        while suffix.len() < 5 {
            // 243 is 9 × 27: bytes beyond would bias the distribution.
            let fair = chance::<8>().into_iter().filter(|byte| *byte < 243);
            let letters = fair.map(|byte| char::from(LETTERS[usize::from(byte % 27)]));
            suffix.extend(letters.take(5 - suffix.len()));
        }
        suffix
    }
}

thread_local! {
    /// Unused random bytes. Every response has a random id, and requesting a few bytes costs as much as many.
    static UNUSED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// How many random bytes are requested at once.
const REQUESTED: usize = 1024;

fn chance<const N: usize>() -> [u8; N] {
    UNUSED.with_borrow_mut(|unused| {
        if unused.len() < N {
            unused.resize(REQUESTED.max(N), 0);
            aws_lc_rs::rand::fill(unused).expect("the system's source of randomness works");
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&unused.split_off(unused.len() - N));
        bytes
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn uids_look_like_uids_and_differ() {
        let uids: BTreeSet<String> = (0..1000).map(|_| SystemEnvironment.uid()).collect();
        assert_eq!(uids.len(), 1000);
        for uid in uids {
            let lengths: Vec<usize> = uid.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{uid}");
            assert!(uid.as_bytes()[14] == b'4' && b"89ab".contains(&uid.as_bytes()[19]), "{uid}");
        }
    }

    #[test]
    fn suffixes_use_every_letter_and_no_other() {
        let seen: BTreeSet<u8> =
            (0..2000).flat_map(|_| SystemEnvironment.name_suffix().into_bytes()).collect();
        assert_eq!(seen, LETTERS.iter().copied().collect());
        assert_eq!(SystemEnvironment.name_suffix().len(), 5);
    }
}
