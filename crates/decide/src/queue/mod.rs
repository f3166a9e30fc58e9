//! Which key is worked on next, and when: the work queue of a controller as plain data.
//!
//! ```text
//! add ───────────────────────────► ready (FIFO) ──next──► running ──done──► gone
//! add_after ────► delayed ──due──►   ▲                       │
//! add_rate_limited ─┘                └── added meanwhile ◄───┘
//! ```
//!
//! [`WorkQueue`] holds the keys, [`RateLimiter`] says how long a failed key has to wait, and [`RetryPolicy`] whether
//! it is tried again at all. Nothing here waits, wakes or locks: a shell or the simulator calls with its `now` and
//! asks [`WorkQueue::next_wake`] when to call again. That `now` should come from a clock that never steps back; if it
//! does step back, delayed keys come late.
//!
//! What is absent: priorities (the order is the order of arrival) and metrics (the numbers behind the usual
//! `workqueue_*` series can be read off the queue, nobody is called back).

mod delayed;
mod rate_limit;
mod retry;
mod token_bucket;
mod work_queue;

#[cfg(test)]
mod tests;

pub use rate_limit::RateLimiter;
pub use retry::{OnTerminatingNamespace, Outcome, Retry, RetryPolicy};
pub use token_bucket::TokenBucket;
pub use work_queue::{Work, WorkQueue};
