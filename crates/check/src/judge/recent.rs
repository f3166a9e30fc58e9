//! The recent values of a number.

use std::collections::VecDeque;
use std::time::Duration;

/// The values of a number, each with the time since when, as far back as a stale reader may have read.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    values: VecDeque<(Duration, i64)>,
}

impl Recent {
    pub(super) fn new(at: Duration, value: i64) -> Self {
        Self { values: VecDeque::from([(at, value)]) }
    }

    /// Sets the value, and drops those that were replaced before `from`.
    pub(super) fn set(&mut self, at: Duration, value: i64, from: Duration) {
        if value != self.last() {
            self.values.push_back((at, value));
        }
        while self.values.get(1).is_some_and(|(since, _)| *since <= from) {
            self.values.pop_front();
        }
    }

    pub(super) fn last(&self) -> i64 {
        self.values.back().map_or(0, |(_, value)| *value)
    }

    /// The lowest value that was current after `from`.
    pub(super) fn least(&self, from: Duration) -> i64 {
        self.after(from).min().unwrap_or(0)
    }

    /// The highest value that was current after `from`.
    pub(super) fn most(&self, from: Duration) -> i64 {
        self.after(from).max().unwrap_or(0)
    }

    /// Whether the value did not change after `from`.
    pub(super) fn is_constant(&self, from: Duration) -> bool {
        self.least(from) == self.most(from)
    }

    fn after(&self, from: Duration) -> impl Iterator<Item = i64> {
        let replaced =
            move |index: usize| self.values.get(index + 1).is_some_and(|(since, _)| *since <= from);
        self.values
            .iter()
            .enumerate()
            .filter(move |(index, _)| !replaced(*index))
            .map(|(_, (_, value))| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_until_it_was_replaced_before_the_given_time() {
        let at = Duration::from_secs;
        let mut recent = Recent::new(at(0), 5);
        recent.set(at(10), 3, at(0));
        recent.set(at(20), 4, at(0));
        assert_eq!((recent.least(at(15)), recent.most(at(15))), (3, 4));
        assert_eq!((recent.least(at(5)), recent.most(at(5))), (3, 5));
        assert_eq!((recent.least(at(20)), recent.most(at(25)), recent.last()), (4, 4, 4));
    }
}
