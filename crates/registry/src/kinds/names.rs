//! Names of kinds, each kept once for as long as the program runs.
//!
//! Almost all of them are compiled in, and what handles kinds should not have to care which are not. Those that
//! definitions bring are few and short, and the same names come again and again.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// This name, for as long as the program runs.
pub fn name(text: &str) -> &'static str {
    // A set is whole at any moment, whoever panicked.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.get(text) {
        Some(known) => known,
        None => {
            let kept: &'static str = Box::leak(text.into());
            names.insert(kept);
            kept
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let (one, other) = (name("widgets"), name(&String::from("widgets")));
        assert!(std::ptr::eq(one, other));
    }
}
