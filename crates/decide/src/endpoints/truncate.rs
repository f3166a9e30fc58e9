//! An Endpoints object holds at most a thousand addresses; ready ones are preferred.

use gantry_model::{EndpointAddress, EndpointSubset};

/// The most addresses of one object; Kubernetes' number.
const CAPACITY: usize = 1000;

/// Drops addresses beyond the capacity, of each subset its share. Returns whether any was dropped.
pub(super) fn truncate(subsets: &mut [EndpointSubset]) -> bool {
    let count = |of: fn(&EndpointSubset) -> &Vec<EndpointAddress>| -> usize {
        subsets.iter().map(|subset| of(subset).len()).sum()
    };
    let (ready, not_ready) = (count(|subset| &subset.ready), count(|subset| &subset.not_ready));
    if ready + not_ready <= CAPACITY {
        return false;
    }
    // As long as all ready addresses fit, only others are dropped; otherwise all others are.
    let drops_ready = ready > CAPACITY;
    let (total, capacity) = if drops_ready { (ready, CAPACITY) } else { (not_ready, CAPACITY - ready) };
    let mut left = capacity;
    for subset in subsets {
        let addresses = if drops_ready {
            subset.not_ready.clear();
            &mut subset.ready
        } else {
            &mut subset.not_ready
        };
        addresses.truncate((addresses.len() * capacity).div_ceil(total).min(left));
        left -= addresses.len();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subset(ready: usize, not_ready: usize) -> EndpointSubset {
        let address = EndpointAddress { ip: "10.0.0.1".to_owned(), hostname: None, node: None, target: None };
        EndpointSubset {
            ready: vec![address.clone(); ready],
            not_ready: vec![address; not_ready],
            ports: Vec::new(),
        }
    }

    fn after(mut subsets: Vec<EndpointSubset>) -> Option<Vec<(usize, usize)>> {
        let is_truncated = truncate(&mut subsets);
        is_truncated
            .then(|| subsets.iter().map(|subset| (subset.ready.len(), subset.not_ready.len())).collect())
    }

    #[test]
    fn a_thousand_addresses_are_not_too_many() {
        assert_eq!(after(vec![subset(600, 400)]), None);
        assert_eq!(after(Vec::new()), None);
    }

    #[test]
    fn addresses_that_are_not_ready_are_dropped_first() {
        assert_eq!(after(vec![subset(600, 600)]), Some(vec![(600, 400)]));
        assert_eq!(after(vec![subset(1000, 1)]), Some(vec![(1000, 0)]));
    }

    #[test]
    fn every_subset_keeps_its_share() {
        assert_eq!(after(vec![subset(800, 5), subset(800, 5)]), Some(vec![(500, 0), (500, 0)]));
        assert_eq!(after(vec![subset(1, 0), subset(1500, 0)]), Some(vec![(1, 0), (999, 0)]));
        assert_eq!(after(vec![subset(500, 300), subset(300, 100)]), Some(vec![(500, 150), (300, 50)]));
    }
}
