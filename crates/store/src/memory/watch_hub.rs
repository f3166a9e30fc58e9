//! The live watchers by prefix, and their queues.
//!
//! A change is put into the queue of every watcher whose prefix covers it, as one shared `Arc<Event>`. A slow watcher
//! blocks no writer and loses nothing: its queue is dropped, and it reads what it missed from history, like a new
//! one.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::{Event, Prefix, Revision};

/// The maximum length of a watcher's queue; 4,096 pointers are 32 KiB per watcher, and about one second of the
/// fastest writing.
const QUEUE_MAX: usize = 4096;
/// The maximum size of the values in a watcher's queue. History has a limit of its own: a queue of large objects would keep
/// them in memory long after it.
const QUEUE_BYTES_MAX: usize = 8 << 20;

#[derive(Debug, Default)]
pub(crate) struct WatchHub {
    by_prefix: HashMap<Prefix, BTreeMap<u64, Arc<Slot>>>,
    /// The number of watched prefixes of each length: a key is looked up once per length, not once per watcher.
    lengths: BTreeMap<usize, usize>,
    registered: u64,
    closed: Option<String>,
}

/// The queue of one watcher.
#[derive(Debug)]
pub(crate) struct Slot {
    inner: Mutex<SlotInner>,
}

#[derive(Debug)]
pub(crate) struct SlotInner {
    /// The watcher has the changes up to here already.
    pub(crate) after: Revision,
    pub(crate) queue: Queue,
    /// The size of the values in the queue.
    bytes: usize,
    pub(crate) waker: Option<Waker>,
}

#[derive(Debug)]
pub(crate) enum Queue {
    /// All events since it was registered or last drained.
    Ready(VecDeque<Arc<Event>>),
    /// It overflowed; the watcher has to read history after this revision.
    Behind { after: Revision },
    /// The store was closed.
    Closed { why: String },
}

/// A registration, for [`WatchHub::unregister`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(u64);

impl WatchHub {
    /// Adds a watcher that has all changes up to now.
    pub(crate) fn register(&mut self, prefix: &Prefix, slot: &Arc<Slot>) -> Ticket {
        self.registered += 1;
        let id = self.registered;
        if let Some(why) = &self.closed {
            slot.lock().queue = Queue::Closed { why: why.clone() };
            return Ticket(id);
        }
        if !self.by_prefix.contains_key(prefix) {
            *self.lengths.entry(prefix.as_bytes().len()).or_default() += 1;
        }
        self.by_prefix.entry(prefix.clone()).or_default().insert(id, Arc::clone(slot));
        Ticket(id)
    }

    pub(crate) fn unregister(&mut self, prefix: &Prefix, ticket: Ticket) {
        let Some(slots) = self.by_prefix.get_mut(prefix) else { return };
        slots.remove(&ticket.0);
        if slots.is_empty() {
            self.by_prefix.remove(prefix);
            self.forget_length(prefix.as_bytes().len());
        }
    }

    /// Whether there are no watchers, so that no event has to be created.
    pub(crate) fn is_idle(&self) -> bool {
        self.by_prefix.is_empty()
    }

    /// Queues the changes of one revision for all watchers of their keys; wakers of waiting ones are added to
    /// `wakers`.
    pub(crate) fn publish(&self, events: &[Arc<Event>], wakers: &mut Vec<Waker>) {
        for event in events {
            let key = event.key.as_bytes();
            for length in self.lengths.keys().take_while(|length| **length <= key.len()) {
                let slots = self.by_prefix.get(&key[..*length]).into_iter().flat_map(BTreeMap::values);
                for slot in slots {
                    wakers.extend(slot.lock().push(event));
                }
            }
        }
    }

    /// Ends all current and future watches.
    pub(crate) fn close(&mut self, why: &str) -> Vec<Waker> {
        self.closed = Some(why.to_owned());
        let slots = std::mem::take(&mut self.by_prefix).into_values().flat_map(BTreeMap::into_values);
        slots.filter_map(|slot| slot.lock().close(why)).collect()
    }

    fn forget_length(&mut self, length: usize) {
        if let Some(prefixes) = self.lengths.get_mut(&length) {
            *prefixes -= 1;
            if *prefixes == 0 {
                self.lengths.remove(&length);
            }
        }
    }
}

impl Slot {
    /// A slot for a watcher that has all changes up to a revision.
    pub(crate) fn after(after: Revision) -> Arc<Self> {
        let inner = SlotInner { after, queue: Queue::Ready(VecDeque::new()), bytes: 0, waker: None };
        Arc::new(Self { inner: Mutex::new(inner) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, SlotInner> {
        // No operation under this lock leaves it half done, so a poisoned lock has valid content.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SlotInner {
    /// Exchanges the queue, which must not be the one that overflowed, for an empty one.
    pub(crate) fn swap_queue(&mut self, empty: &mut VecDeque<Arc<Event>>) {
        if let Queue::Ready(queue) = &mut self.queue {
            std::mem::swap(queue, empty);
            self.bytes = 0;
        }
    }

    fn push(&mut self, event: &Arc<Event>) -> Option<Waker> {
        if event.revision <= self.after {
            return None;
        }
        let Queue::Ready(queue) = &mut self.queue else { return None };
        // A revision is queued as a whole: only its first change may find the queue full.
        let continues = queue.back().is_some_and(|last| last.revision == event.revision);
        let bytes = self.bytes.saturating_add(event.bytes());
        let has_room = queue.is_empty() || queue.len() < QUEUE_MAX && bytes <= QUEUE_BYTES_MAX;
        if has_room || continues {
            self.bytes = bytes;
            queue.push_back(Arc::clone(event));
        } else {
            let first = queue.front().map_or(event.revision, |first| first.revision);
            self.queue = Queue::Behind { after: first.before() };
        }
        self.waker.take()
    }

    fn close(&mut self, why: &str) -> Option<Waker> {
        self.queue = Queue::Closed { why: why.to_owned() };
        self.waker.take()
    }
}
