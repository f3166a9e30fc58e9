//! Whether the server is well, as its host and its store see it.

use std::sync::atomic::{AtomicU8, Ordering};

/// How far a server is in its life. Its host says so; a new server is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It is being prepared: alive, but not ready.
    Starting,
    /// It answers.
    Ready,
    /// It finishes what it has and wants nothing new.
    ShuttingDown,
}

/// The health of a server, which may change while others look.
#[derive(Debug)]
pub(crate) struct Pulse(AtomicU8);

impl Default for Pulse {
    fn default() -> Self {
        Self(AtomicU8::new(code(Health::Ready)))
    }
}

impl Pulse {
    pub(crate) fn get(&self) -> Health {
        let now = self.0.load(Ordering::Relaxed);
        [Health::Starting, Health::ShuttingDown]
            .into_iter()
            .find(|health| code(*health) == now)
            .unwrap_or(Health::Ready)
    }

    pub(crate) fn set(&self, health: Health) {
        self.0.store(code(health), Ordering::Relaxed);
    }
}

fn code(health: Health) -> u8 {
    match health {
        Health::Starting => 0,
        Health::Ready => 1,
        Health::ShuttingDown => 2,
    }
}
