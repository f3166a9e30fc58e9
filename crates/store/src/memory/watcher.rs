//! One watch: first it reads history until there is no more, then it drains what the hub leaves for it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::memory::hub::{Queue, Slot, Ticket};
use crate::memory::live::Live;
use crate::memory::state::State;
use crate::watch::{Notice, Watching};
use crate::{Error, Event, Prefix, Revision};

/// A watch on a [`Live`] state.
pub(crate) struct Watcher {
    live: Arc<Live>,
    prefix: Prefix,
    phase: Phase,
    /// What has been read but not yet told.
    ready: VecDeque<Arc<Event>>,
    progress_wanted: bool,
}

/// How the watcher learns what comes next.
enum Phase {
    /// From history, after this revision.
    CatchingUp { after: Revision },
    /// From the hub.
    Following { slot: Arc<Slot>, ticket: Ticket, after: Revision },
    /// Not at all.
    Ended,
}

/// Records of history looked at under the lock at once.
const STEP: usize = 4096;

impl Watcher {
    /// A watch that misses nothing from here on, unless it is too late already.
    pub(crate) fn start(live: Arc<Live>, prefix: Prefix, after: Revision) -> Result<Self, Error> {
        let phase = Phase::CatchingUp { after };
        let mut watcher = Self { live, prefix, phase, ready: VecDeque::new(), progress_wanted: false };
        watcher.catch_up(after)?;
        Ok(watcher)
    }

    /// Reads a step of history; at its end, follows the hub.
    fn catch_up(&mut self, after: Revision) -> Result<(), Error> {
        let reached = self.read_step(&self.live.clone().state(), after)?;
        if reached < self.live.bounds().current {
            self.phase = Phase::CatchingUp { after: reached };
            return Ok(());
        }
        // With the hub in hand nobody publishes: what is read now plus what the hub leaves is everything.
        let live = Arc::clone(&self.live);
        let mut hub = live.hub();
        let reached = self.read_step(&live.state(), reached)?;
        if reached < live.bounds().current {
            self.phase = Phase::CatchingUp { after: reached };
            return Ok(());
        }
        let slot = Slot::after(reached);
        let ticket = hub.register(&self.prefix, &slot);
        self.phase = Phase::Following { slot, ticket, after: reached };
        Ok(())
    }

    /// Reads whole revisions after `after`, and says through which.
    fn read_step(&mut self, state: &State, after: Revision) -> Result<Revision, Error> {
        let bounds = state.bounds();
        if after < bounds.floor {
            return Err(Error::Compacted { floor: bounds.floor });
        }
        let mut reached = after;
        for (looked_at, record) in state.history().after(after).enumerate() {
            if looked_at >= STEP && record.revision != reached {
                return Ok(reached);
            }
            reached = record.revision;
            if self.prefix.covers(&record.key) {
                self.ready.push_back(Arc::new(record.event()));
            }
        }
        Ok(after.max(bounds.current))
    }

    /// What the hub has left; `Pending` when nothing, with the waker in place.
    fn drain(&mut self, context: &mut Context<'_>) -> Poll<Result<Notice, Error>> {
        let Phase::Following { slot, after, .. } = &self.phase else { return Poll::Pending };
        // Read before the queue: whatever is published up to here is in the queue, or was, by the time we look.
        let published = self.live.published();
        let mut inner = slot.lock();
        match &mut inner.queue {
            Queue::Ready(queue) => match queue.pop_front() {
                Some(event) => {
                    std::mem::swap(queue, &mut self.ready);
                    return Poll::Ready(Ok(Notice::Change(event)));
                }
                None if self.progress_wanted && published >= *after => {
                    self.progress_wanted = false;
                    return Poll::Ready(Ok(Notice::Progress(published)));
                }
                None => inner.waker = Some(context.waker().clone()),
            },
            Queue::Closed { why } => return Poll::Ready(Err(Error::Unavailable { why: why.clone() })),
            Queue::Behind { after } => {
                let after = *after;
                drop(inner);
                self.leave_hub();
                self.phase = Phase::CatchingUp { after };
            }
        }
        Poll::Pending
    }

    fn leave_hub(&self) {
        if let Phase::Following { ticket, .. } = &self.phase {
            self.live.hub().unregister(&self.prefix, *ticket);
        }
    }

    fn end(&mut self, error: Error) -> Poll<Option<Result<Notice, Error>>> {
        self.leave_hub();
        self.phase = Phase::Ended;
        Poll::Ready(Some(Err(error)))
    }
}

impl Watching for Watcher {
    fn poll_notice(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Notice, Error>>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(Notice::Change(event))));
            }
            match self.phase {
                Phase::Ended => return Poll::Ready(None),
                Phase::CatchingUp { after } => {
                    if let Err(error) = self.catch_up(after) {
                        return self.end(error);
                    }
                }
                Phase::Following { .. } => match self.drain(context) {
                    Poll::Ready(Ok(notice)) => return Poll::Ready(Some(Ok(notice))),
                    Poll::Ready(Err(error)) => return self.end(error),
                    Poll::Pending if matches!(self.phase, Phase::CatchingUp { .. }) => {}
                    Poll::Pending => return Poll::Pending,
                },
            }
        }
    }

    fn request_progress(&mut self) {
        // Readers see a change a moment before its watchers are told. With the hub in hand nobody is in that moment, so
        // the mark cannot be older than what the asker has seen.
        drop(self.live.hub());
        self.progress_wanted = true;
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.leave_hub();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::memory::history::HistoryLimits;
    use crate::{Key, Transaction};

    /// Whoever saw a revision and asks gets a mark at or behind it, though nothing that they watch has changed.
    #[test]
    fn a_mark_is_never_older_than_what_was_seen() {
        let live = Live::new(State::empty(HistoryLimits::default()));
        let mut watch = Watcher::start(Arc::clone(&live), Prefix::new("/quiet/"), Revision::EMPTY).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0_u32.. {
                    if is_over.load(Ordering::Acquire) {
                        break;
                    }
                    let key = Key::new(format!("/busy/{number}")).unwrap();
                    live.commit(Transaction::create(key, "v"), 0).unwrap().1.wake();
                }
            });
            let mut context = Context::from_waker(std::task::Waker::noop());
            for _ in 0..20_000 {
                let seen = live.bounds().current;
                watch.request_progress();
                let notice = watch.poll_notice(&mut context);
                let is_told = matches!(notice, Poll::Ready(Some(Ok(Notice::Progress(mark)))) if mark >= seen);
                if !is_told {
                    is_over.store(true, Ordering::Release);
                }
                assert!(is_told, "{notice:?} after {seen:?}");
            }
            is_over.store(true, Ordering::Release);
        });
    }
}
