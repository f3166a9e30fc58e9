//! Comparing pods that are alike at first glance.
//!
//! Two pods that became ready at different moments of the same age are ordered by uid; two that became ready at the
//! same moment by restarts and age. Mixed, these rules can contradict themselves: with `a` and `b` ready at the same
//! moment and `c` at another, `b` may go before `a` for its restarts while `a < c < b` by uid. The standard library's
//! sorts may panic on such an order, so there is one here that does not: each pair that it compares comes out as the
//! rules say, and where they contradict themselves, some order is as good as any.

use std::cmp::{Ordering, Reverse};

use gantry_model::{Pod, Readiness, Restarts, Timestamp, Uid};

use super::age_bucket;

/// What is compared of a pod that the coarse key does not tell from another.
#[derive(Clone, Copy)]
pub(super) struct Fine<'a> {
    pub(super) pod: &'a Pod,
    /// The same for all pods that are not ready.
    ready_since: Option<Timestamp>,
    restarts: Reverse<Restarts>,
    age: i8,
    /// The beginning of the uid, which nearly always decides without a look at the rest.
    uid_head: u64,
}

/// The pods that go first, so many of them.
pub(super) fn first(wanted: usize, mut alike: Vec<Fine<'_>>) -> Vec<Fine<'_>> {
    // By uid first: what comes out must not depend on how the pods came in.
    alike.sort_unstable_by(Fine::by_uid);
    if wanted < alike.len() {
        merge_sort(&mut alike);
        alike.truncate(wanted);
    }
    alike
}

/// A stable merge sort, from runs of one upwards.
fn merge_sort(pods: &mut Vec<Fine<'_>>) {
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

fn merge<'a>(mut left: &[Fine<'a>], mut right: &[Fine<'a>], merged: &mut Vec<Fine<'a>>) {
    // Pods that became ready at different moments are in order already.
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

impl<'a> Fine<'a> {
    pub(super) fn of(now: Timestamp, pod: &'a Pod) -> Self {
        let ready_since = match pod.readiness {
            Readiness::NotReady => None,
            Readiness::Ready { since } => since,
        };
        let restarts = Reverse(pod.restarts);
        let age = age_bucket(now, pod.meta.created);
        Self { pod, ready_since, restarts, age, uid_head: head(&pod.meta.uid) }
    }

    /// Which of two goes first. No order: see the top of the file.
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
    for (to, from) in head.iter_mut().zip(uid.as_str().bytes()) {
        *to = from;
    }
    u64::from_be_bytes(head)
}
