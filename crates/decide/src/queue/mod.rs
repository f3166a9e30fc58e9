//! The work queue of a controller as plain data.
//!
//! ```text
//! add ───────────────────────────► ready (FIFO) ──next──► running ──done──► gone
//! add_after ────► delayed ──due──►   ▲                       │
//! add_rate_limited ─┘                └── added meanwhile ◄───┘
//! ```
//!
//! [`WorkQueue`] holds the keys, [`RateLimiter`] computes the delay of a retry, and [`RetryPolicy`] decides whether a
//! key is retried at all. Nothing here blocks, wakes or locks: a shell or the simulator passes `now` and gets from
//! [`WorkQueue::next_wake`] when to call again. `now` should come from a monotonic clock; if it steps back, delayed
//! keys become ready late.
//!
//! Not here: priorities (the order is first in, first out) and metrics (the values of the usual `workqueue_*` series
//! can be read from the queue).

mod delayed;
mod rate_limit;
mod retry;
mod token_bucket;
mod work_queue;

#[cfg(test)]
mod tests;

pub use rate_limit::RateLimiter;
pub use retry::{OnTerminatingNamespace, Outcome, RetryDecision, RetryPolicy};
pub use token_bucket::TokenBucket;
pub use work_queue::{Work, WorkQueue};
