//! The ranking of pods with equal coarse keys.
//!
//! Two pods that became ready at different times in the same age bucket are ordered by uid; two that became ready at
//! the same time by restarts and age. Mixed, these rules are not transitive: with `a` and `b` ready at the same time
//! and `c` at another, `b` may rank before `a` for its restarts while `a < c < b` by uid. The standard library's
//! sorts may panic on such an order, so this file has a merge sort: each compared pair is ordered as the rules say.

use std::cmp::{Ordering, Reverse};

use gantry_model::{Pod, Readiness, Restarts, Timestamp, Uid};

use super::age_bucket;

/// The criteria that the coarse key leaves out.
#[derive(Clone, Copy)]
pub(super) struct RankedPod<'a> {
    pub(super) pod: &'a Pod,
    /// `None` for all pods that are not ready.
    ready_since: Option<Timestamp>,
    restarts: Reverse<Restarts>,
    age: i8,
    /// The first bytes of the uid, which nearly always decide.
    uid_head: u64,
}

/// The first `wanted` pods of the ranking.
pub(super) fn first(wanted: usize, mut alike: Vec<RankedPod<'_>>) -> Vec<RankedPod<'_>> {
    // By uid first: the result must not depend on the order of the input.
    alike.sort_unstable_by(RankedPod::by_uid);
    if wanted < alike.len() {
        merge_sort(&mut alike);
        alike.truncate(wanted);
    }
    alike
}

/// A stable bottom-up merge sort.
fn merge_sort(pods: &mut Vec<RankedPod<'_>>) {
    let mut run = 1;
    let mut merged = Vec::with_capacity(pods.len());
    while run < pods.len() {
        merged.clear();
        for pair in pods.chunks(run * 2) {
            let (left, right) = pair.split_at(run.min(pair.len()));
            merge(left, right, &mut merged);
        }
        std::mem::swap(pods, &mut merged);
        run *= 2;
    }
}

fn merge<'a>(mut left: &[RankedPod<'a>], mut right: &[RankedPod<'a>], merged: &mut Vec<RankedPod<'a>>) {
    // Pods that became ready at different times are in order already.
    if let (Some(end), Some(start)) = (left.last(), right.first())
        && end.cmp(start).is_gt()
    {
        while let (Some((a, rest_left)), Some((b, rest_right))) = (left.split_first(), right.split_first()) {
            if a.cmp(b).is_gt() {
                merged.push(*b);
                right = rest_right;
            } else {
                merged.push(*a);
                left = rest_left;
            }
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
}

impl<'a> RankedPod<'a> {
    pub(super) fn of(now: Timestamp, pod: &'a Pod) -> Self {
        let ready_since = match pod.readiness {
            Readiness::NotReady => None,
            Readiness::Ready { since } => since,
        };
        let restarts = Reverse(pod.restarts);
        let age = age_bucket(now, pod.meta.created);
        Self { pod, ready_since, restarts, age, uid_head: head(&pod.meta.uid) }
    }

    /// Which of two ranks first. Not a total order, see the top of the file.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.ready_since == other.ready_since {
            let by_life = (self.restarts, self.age).cmp(&(other.restarts, other.age));
            by_life.then_with(|| self.by_uid(other))
        } else {
            self.by_uid(other)
        }
    }

    fn by_uid(&self, other: &Self) -> Ordering {
        self.uid_head.cmp(&other.uid_head).then_with(|| self.pod.meta.uid.cmp(&other.pod.meta.uid))
    }
}

/// The first eight bytes, which compare as the text does.
fn head(uid: &Uid) -> u64 {
    let mut head = [0; 8];
    for (to, from) in head.iter_mut().zip(uid.text().bytes()) {
        *to = from;
    }
    u64::from_be_bytes(head)
}
