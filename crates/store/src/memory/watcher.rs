//! One watch: first it reads history to its end, then it drains its queue in the watch hub.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::memory::live::Live;
use crate::memory::state::State;
use crate::memory::watch_hub::{Queue, Slot, Ticket};
use crate::watch::{Notice, Watching};
use crate::{Error, Event, Prefix, Revision};

/// A watch on a [`Live`] state.
pub(crate) struct Watcher {
    live: Arc<Live>,
    prefix: Prefix,
    phase: Phase,
    /// Events that have been read but not returned yet.
    ready: VecDeque<Arc<Event>>,
    progress_wanted: bool,
}

/// Where the next events come from.
enum Phase {
    /// From history, after this revision.
    CatchingUp { after: Revision },
    /// From the hub.
    Following { slot: Arc<Slot>, ticket: Ticket, after: Revision },
    /// The watch has ended.
    Ended,
}

/// The maximum number of records of history that are read under the lock at once, and the maximum size of their values.
const STEP: usize = 4096;
const STEP_BYTES: usize = 4 << 20;

impl Watcher {
    /// Fails if the revision is compacted already.
    pub(crate) fn start(live: Arc<Live>, prefix: Prefix, after: Revision) -> Result<Self, Error> {
        let phase = Phase::CatchingUp { after };
        let mut watcher = Self { live, prefix, phase, ready: VecDeque::new(), progress_wanted: false };
        watcher.catch_up(after)?;
        Ok(watcher)
    }

    /// Reads a step of history; at its end, registers with the hub.
    fn catch_up(&mut self, after: Revision) -> Result<(), Error> {
        let reached = self.read_step(&self.live.clone().state(), after)?;
        if reached < self.live.bounds().current {
            self.phase = Phase::CatchingUp { after: reached };
            return Ok(());
        }
        // While the hub is locked no change is published: the records read now and the events queued by the hub are
        // complete.
        let live = Arc::clone(&self.live);
        let mut watch_hub = live.watch_hub();
        let reached = self.read_step(&live.state(), reached)?;
        if reached < live.bounds().current {
            self.phase = Phase::CatchingUp { after: reached };
            return Ok(());
        }
        let slot = Slot::after(reached);
        let ticket = watch_hub.register(&self.prefix, &slot);
        self.phase = Phase::Following { slot, ticket, after: reached };
        Ok(())
    }

    /// Reads whole revisions after `after`, and returns the last one that was read.
    fn read_step(&mut self, state: &State, after: Revision) -> Result<Revision, Error> {
        let bounds = state.bounds();
        if after < bounds.floor {
            return Err(Error::Compacted { floor: bounds.floor });
        }
        let (mut reached, mut bytes) = (after, 0_usize);
        for (looked_at, record) in state.history().after(after).enumerate() {
            if (looked_at >= STEP || bytes >= STEP_BYTES) && record.revision != reached {
                return Ok(reached);
            }
            reached = record.revision;
            if state.history().key(record).starts_with(self.prefix.as_bytes()) {
                let event = state.event(record);
                bytes = bytes.saturating_add(event.bytes());
                self.ready.push_back(Arc::new(event));
            }
        }
        Ok(after.max(bounds.current))
    }

    /// The hub's queue; `Pending` when it is empty, with the waker registered.
    fn drain(&mut self, context: &mut Context<'_>) -> Poll<Result<Notice, Error>> {
        let Phase::Following { slot, after, .. } = &self.phase else { return Poll::Pending };
        // Read before the queue: everything published up to here is, or was, in the queue.
        let published = self.live.published();
        let mut inner = slot.lock();
        match &mut inner.queue {
            Queue::Ready(queue) => match queue.pop_front() {
                Some(event) => {
                    inner.swap_queue(&mut self.ready);
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
            self.live.watch_hub().unregister(&self.prefix, *ticket);
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
        // A writer holds the hub between making a change visible and queueing it. Every change that readers have seen
        // must be queued.
        drop(self.live.watch_hub());
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
    use std::task::Waker;

    use super::*;
    use crate::memory::HistoryLimits;
    use crate::{Key, Transaction, Watch};

    /// The next progress notice, if there is one already.
    fn progress(watch: &mut Watch) -> Option<Revision> {
        let mut context = Context::from_waker(Waker::noop());
        match std::pin::pin!(watch.next()).poll(&mut context) {
            Poll::Ready(Some(Ok(Notice::Progress(revision)))) => Some(revision),
            _ => None,
        }
    }

    /// A progress request after a read returns at least the revision of that read, however busy writers are. Otherwise
    /// a client could wait for it without end.
    #[test]
    fn progress_is_never_behind_what_readers_see() {
        const WRITES: usize = 20_000;
        let live = Live::new(State::empty(HistoryLimits::default()));
        let writing = Arc::clone(&live);
        let writer = std::thread::spawn(move || {
            for number in 0..WRITES {
                let key = Key::new(format!("/busy/{number}")).unwrap();
                writing.commit(Transaction::create(key, "v"), 0).unwrap().1.wake();
            }
        });
        let mut watch = live.watch(Prefix::new("/quiet"), Revision::EMPTY).unwrap();
        loop {
            let seen = live.bounds().current;
            watch.request_progress();
            let reported = progress(&mut watch);
            assert!(
                reported.is_some_and(|reported| reported >= seen),
                "{seen:?} was read, {reported:?} was reported"
            );
            if writer.is_finished() {
                break;
            }
        }
        writer.join().unwrap();
    }

    /// A watcher that does not read keeps few large values in memory, and misses no change when it reads again.
    #[test]
    fn a_queue_of_large_values_is_given_up_and_read_from_history() {
        const WRITES: usize = 12;
        let live = Live::new(State::empty(HistoryLimits::UNLIMITED));
        let mut watcher = Watcher::start(Arc::clone(&live), Prefix::new("/"), Revision::EMPTY).unwrap();
        for number in 0..WRITES {
            let key = Key::new(format!("/large/{number}")).unwrap();
            live.commit(Transaction::create(key, vec![7; 1 << 20]), 0).unwrap().1.wake();
        }
        let Phase::Following { slot, .. } = &watcher.phase else { panic!("it has read all of history") };
        assert!(matches!(slot.lock().queue, Queue::Behind { .. }));
        let mut context = Context::from_waker(Waker::noop());
        let mut received = Vec::new();
        while let Poll::Ready(Some(Ok(Notice::Change(event)))) = watcher.poll_notice(&mut context) {
            assert!(watcher.ready.len() <= 8, "history is read in small steps");
            received.push(event.key.to_string());
        }
        let all: Vec<String> = (0..WRITES).map(|number| format!("/large/{number}")).collect();
        assert_eq!(received, all);
    }
}
